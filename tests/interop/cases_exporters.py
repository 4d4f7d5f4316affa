"""Programs of others that watch a resource manager: yarn-apps-exporter (a text file for Prometheus), Burrow's doctor (which services there are)."""
import re
import sys

import peers
from cases_rest import scene
from cases_yarn import ONE_NODE
from jobs import Background
from registry import case

MONITORS = peers.LAB / "monitors"
ASKED = ("allocatedVCores", "allocatedMB", "vcoreSeconds")


@case("all", ONE_NODE, own_cluster=True)
def yarn_apps_exporter(cluster, work):
    """Each number that it asks for is there, and is the manager's."""
    peers.fetch("monitors")
    out = work / "yarn.prom"
    with scene(cluster, work) as apps:
        Background(work, "exporter", [sys.executable, MONITORS / "yarn_apps_exporter.py", cluster.page(), "--output-file", out], {})
        cluster.wait(out.exists, "what it writes")
        known = [cluster.app(apps[one]) for one in ("running", "finished", "killed")]
    found = dict(re.findall(r"^(yarn_apps_.*}) ([0-9.]+)$", out.read_text(), re.MULTILINE))
    for app in known:
        labels = f'name="{app["name"]}", user="{app["user"]}", queue="{app["queue"]}"'
        assert f'yarn_apps_by_state{{{labels}, state="{app["state"]}"}}' in found, (labels, found)
    numbers = [found[f'yarn_apps_{name}{{name="{known[0]["name"]}", user="{known[0]["user"]}", queue="{known[0]["queue"]}"}}'] for name in ASKED]
    assert [int(number) for number in numbers[:2]] == [known[0][name] for name in ASKED[:2]], (numbers, known[0])


@case("all", ONE_NODE)
def burrow_doctor(cluster, work):
    """It finds the manager active, and each node by what this says of itself."""
    peers.fetch("monitors")
    doctor = Background(work, "doctor", [MONITORS / "bin/burrow", "doctor", "--rm", cluster.page()], cluster.client_environment())
    doctor.finish(60)
    assert re.search(rf"{re.escape(cluster.page())} +ok +ACTIVE +{cluster.spec.hadoop} ", doctor.text()), doctor.text()
    for node in cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]:
        assert re.search(rf"{re.escape(node['nodeHTTPAddress'])} +ok +NodeManager", doctor.text()), doctor.text()
