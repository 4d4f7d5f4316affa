"""YARN's own client surface."""
import peers
from registry import case, require_success


@case("smoke")
def yarn_client(cluster, work):
    require_success(cluster.java(peers.HERE / "java/YarnClientCase.java", timeout=180), "YarnClientCase")
