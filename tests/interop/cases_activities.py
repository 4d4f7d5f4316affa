"""/ws/v1/cluster/scheduler/activities of the CapacityScheduler: what a pass over a node did, held against Hadoop's own."""
import json
import re

import recordings
from cases_rest import Site, flatten
from registry import Spec, case

QUEUES = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"), ("root.alpha.maximum-capacity", "100"),
          ("root.beta.maximum-capacity", "50"), ("root.alpha.user-limit-factor", "2"), ("maximum-am-resource-percent", "1"))
PATH = "/ws/v1/cluster/scheduler/activities"
BULK = "/ws/v1/cluster/scheduler/bulk-activities"
# Hadoop names a container by all that it knows of it.
DIFFERS = {r".*\.name": r".*container_<start>_#\d+_01_\d+.*",
           # Hadoop says of a wrong question that it is not available (503).
           r"bulk \?activitiesCount=(some|9+) json.*": r".*(400 |BadRequestException|write a whole number).*"}


def submit(site, queue, mib):
    """Its master holds its container until it is killed."""
    app = json.loads(site.ask("POST", "/ws/v1/cluster/apps/new-application?user.name=ann", "")[1])["application-id"]
    answer, text = site.ask("POST", "/ws/v1/cluster/apps?user.name=ann", json.dumps({
        "application-id": app, "application-name": "holds", "queue": queue, "max-app-attempts": 1, "resource": {"memory": mib, "vCores": 1},
        "am-container-spec": {"commands": {"command": "tail -f /dev/null"}}}))
    assert answer.status == 202, f"{answer.status} {text}"
    return app


def until(cluster, site, *words, query=""):
    """The first answer that has all `words`. Each question has the next pass written down."""
    seen = []

    def asked():
        seen.append(site.ask("GET", PATH + query)[1])
        return all(word in seen[-1] for word in words)
    try:
        cluster.wait(asked, f"activities with {words}", 60, pause=0.02)
    except AssertionError as failed:
        raise AssertionError(f"{failed}; the last were {seen[-1]}") from failed
    return json.loads(seen[-1])


def rows_of(name, document):
    rows = []
    flatten(name, "", document, rows)
    return [re.sub(r"Container: \[ContainerId: (\S+),.*\]", r"\1", re.sub(r'(?<=dateTime \| ).*', '"<date>"', row)) for row in rows]


@case("all", Spec(hadoop="3.4.3", nodes=("fairlead",), history=False, capacity=QUEUES), own_cluster=True)
def activities(cluster, work):
    """Nothing to do, grants, a queue without headroom, several passes at once; nodes that are not there."""
    site = Site(f"127.0.0.1:{cluster.web}")
    cluster.wait(lambda: cluster.get("/ws/v1/cluster/metrics")["clusterMetrics"]["activeNodes"] == 1, "the node", 60)
    node = cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"][0]["id"]
    rows = site.rows("no such node", PATH + "?nodeId=nowhere:1", forms=("json",)) + site.rows("bad group", PATH + "?groupBy=colour", forms=("json",))
    rows += rows_of("idle", until(cluster, site, "does not need more"))
    rows += rows_of("idle node", until(cluster, site, "does not need more", query=f"?nodeId={node}"))
    rows += rows_of("idle host", until(cluster, site, "does not need more", query=f"?nodeId={node.split(':')[0]}"))
    for name, queue, mib in (("small", "root.alpha", 1024), ("large", "root.beta", 2560)):
        app = submit(site, queue, mib)
        rows += rows_of(name, until(cluster, site, app, '"ALLOCATED"'))
    submit(site, "root.alpha", 3072)
    rows += rows_of("headroom", until(cluster, site, "headroom"))
    site.ask("GET", BULK + "?activitiesCount=1")  # Hadoop's next answer begins with what was written down for others before
    for query in ("?activitiesCount=2", "?activitiesCount=2&groupBy=diagnostic"):
        rows += rows_of("bulk " + query, json.loads(site.ask("GET", BULK + query)[1]))
    rows += rows_of("bulk by default", {"count": len(json.loads(site.ask("GET", BULK)[1])["bulkActivities"]["activities"])})
    for query in ("?groupBy=colour", "?activitiesCount=some", "?activitiesCount=99999999999"):
        rows += site.rows("bulk " + query, BULK + query, forms=("json",))
    rows += rows_of("priority", {"priority": json.loads(site.ask("GET", f"/ws/v1/cluster/apps/{app}")[1])["app"]["priority"]})
    recordings.compare("activities", rows, work, DIFFERS)
