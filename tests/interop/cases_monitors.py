"""What other people's monitors and gateways ask of a resource manager, held against Hadoop's own: /jmx, and the documents of REST that they read."""
import json

import recordings
from cases_rest import Site, named, scene
from cases_yarn import ONE_NODE
from registry import case

BEANS = ("ClusterMetrics", "RMNMInfo", "QueueMetrics,q0=root", "QueueMetrics,q0=root,q1=alpha", "QueueMetrics,q0=root,q1=beta")
BASE = "/ws/v1/cluster"


def beans(site):
    """Of each bean the names of its attributes; the values that a monitor charts."""
    rows = []
    for name in BEANS:
        answer, text = site.ask("GET", f"/jmx?qry=Hadoop:service=ResourceManager,name={name}")
        found = json.loads(text)["beans"]
        rows.append(f"jmx {name} | {answer.status} {answer.getheader('Content-Type')} {len(found)} bean")
        for bean in found:
            for key, value in bean.items():
                if isinstance(value, str) and value.startswith("["):
                    value = [{field: inner if field in ("State", "NumContainers") else "..." for field, inner in one.items()} for one in json.loads(value)]
                rows.append(f"jmx {name} {key} | {value}")
    return rows


def addresses(site):
    rows = []
    for path in ("/jmx?qry=Hadoop:service=ResourceManager,name=None", "/jmx?qry=nonsense", "/jmx?get=Hadoop:service=ResourceManager,name=ClusterMetrics::NumActiveNMs",
                 "/jmx?get=Hadoop:service=ResourceManager,name=ClusterMetrics::Nothing", "/jmx?get=Hadoop:service=ResourceManager,name=None::NumActiveNMs",
                 "/jmx?get=nonsense"):
        answer, text = site.ask("GET", path)
        rows.append(f"{path} | {answer.status} {' '.join(text.split())[:300]}")
    for path in ("/jmx", "/conf", "/conf?format=json", "/conf?name=yarn.resourcemanager.address", "/conf?format=nonsense", "/stacks", "/logLevel", "/", "/cluster"):
        answer, text = site.ask("GET", path)
        rows.append(f"{path} | {answer.status} {answer.getheader('Content-Type')} {answer.getheader('Location')}")
    for method in ("TRACE", "POST"):
        rows.append(f"{method} /jmx | {site.ask(method, '/jmx')[0].status}")
    return rows


def documents(site):
    rows = []
    for path in ("/queues/root.alpha/access?user=ann", "/queues/root.alpha/access?user=ann&queue-acl-type=ADMINISTER_QUEUE", "/queues/alpha/access?user=root",
                 "/queues/root.beta/access?user=root", "/queues/root.beta/access?user=ann", "/queues/root.beta/access?user=ann&queue-acl-type=NOTHING",
                 "/queues/root.nowhere/access?user=root", "/queues/root.alpha/access", "/queues/root.alpha/access?user=ann&user.name=ann",
                 "/userinfo", "/userinfo?user.name=ann", "/label-mappings", "/label-mappings?labels=x", "/get-node-labels", "/get-node-to-labels",
                 "/get-labels-on-node", "/nodes/127.0.0.1:1/get-labels", "/reservation/list?queue=root.alpha", "/scheduler/logs", "/metrics/x", "/info/x", "/nodes/x/y/z"):
        rows += site.rows(f"GET {path}", BASE + path)
    return rows


def run(cluster, work, recorded):
    site = Site(f"127.0.0.1:{cluster.web}")
    with scene(cluster, work) as apps:
        rows = beans(site) + addresses(site) + documents(site)
    recordings.compare(recorded, [named(row, apps) for row in rows], work, {})


@case("all", spec=ONE_NODE)
def monitors(cluster, work):
    """Under the FairScheduler."""
    run(cluster, work, "monitors")
