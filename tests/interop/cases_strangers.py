"""Strangers at every port of a Standalone Master and a Worker of Fairlead's; the other daemons' are in tests/adversary/ports_test.py."""
import contextlib
import http.client

import spark_cluster
import strangers
from registry import case

SPEC = spark_cluster.Spec(worker="fairlead", workers=(2,), conf=(("spark.shuffle.service.enabled", "true"), ("spark.shuffle.service.port", "{shuffle}")))


def ports(cluster):
    """(daemon, address, crowds of it, hostile words of it) of each port."""
    master = strangers.Daemon(cluster.processes["master"], ("127.0.0.1", cluster.web), cluster.directory / "master.log")
    own = cluster.page()["workers"][0]
    worker = strangers.Daemon(cluster.processes["worker-0"], ("127.0.0.1", int(own["webuiaddress"].rsplit(":", 1)[1])), cluster.directory / "worker-0.log")
    webs = (cluster.web, cluster.rest, worker.web[1])
    for daemon in (master, worker):
        for address in strangers.listening(daemon.process.pid):
            is_web = address[1] in webs
            yield (daemon, address, strangers.WEB_KINDS if is_web else strangers.SPARK_KINDS, strangers.HOSTILE_WEB if is_web else strangers.HOSTILE_SPARK)


def status(address, headers, method="GET"):
    connection = http.client.HTTPConnection(*address, timeout=30)
    connection.request(method, "/", headers=headers)
    with contextlib.closing(connection):
        return connection.getresponse().status


@case("all", SPEC, own_cluster=True, name="strangers-at-standalone-ports")
def strangers_at_standalone_ports(cluster, _work):
    """Both answer, hold little for strangers, and keep each other."""
    strangers.raise_open_files()
    met = list(ports(cluster))
    assert len(met) == 6, met  # master: messages, page, REST; worker: messages, page, shuffle service
    registered = cluster.page()["workers"][0]["id"]
    for daemon, address, crowds, hostile in met:
        for kind, words in crowds.items():
            print(f"{daemon.log.stem} {address}: {kind}", flush=True)
            daemon.meet_crowd(address, words)
        daemon.meet_hostile(address, hostile, strangers.seed())
        if crowds is strangers.WEB_KINDS:
            assert status(address, {"Host": "evil.example"}) == 421
            assert status(address, {"Host": f"127.0.0.1:{address[1]}", "Origin": "http://evil.example"}, "POST") == 403
    assert [(worker["id"], worker["state"]) for worker in cluster.page()["workers"]] == [(registered, "ALIVE")]
