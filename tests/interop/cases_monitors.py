"""What other people's monitors and gateways ask of a resource manager, held against Hadoop's own: /jmx, and the documents of REST that they read."""
import dataclasses
import json

import recordings
from cases_rest import Site, named, scene
from cases_yarn import ONE_NODE
from registry import case, require_success

BEANS = ("ClusterMetrics", "RMNMInfo", "QueueMetrics,q0=root", "QueueMetrics,q0=root,q1=alpha", "QueueMetrics,q0=root,q1=beta")
BASE = "/ws/v1/cluster"
# Not counted here (docs/differences.md), or measured; the machine's name; what a text in Fairlead's own words says.
DIFFERS = {"jmx .* (AM.*Delay.*|RmEventProc.*|AppAttemptFirst.*|MaxAMShare.*|Utilized.*|tag.Hostname)": ".*",
           "/(stacks|logLevel)": ".*", "/(cluster)?": ".*(html|302).*", "GET /scheduler/logs.*": ".*", "(TRACE|POST) /jmx": "40[45]"}


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
        rows.append(f"{path} | {answer.status} {json.dumps(json.loads(text))}")
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
    recordings.compare(recorded, [named(row, apps) for row in rows], work, DIFFERS)


@case("all", spec=dataclasses.replace(ONE_NODE, yarn_site=ONE_NODE.yarn_site + (("fairlead.scheduler.profile", "yarn-fair"),)), own_cluster=True)
def monitors(cluster, work):
    """Under the FairScheduler, whose counters begin with the cluster."""
    run(cluster, work, "monitors")


LABELS = ("/get-node-labels", "/get-node-to-labels", "/label-mappings", "/label-mappings?labels=x", "/label-mappings?labels=x&labels=y", "/label-mappings?labels=z")


@case("all", spec=dataclasses.replace(ONE_NODE, capacity=(("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50")),
                                      hadoop="3.4.3", yarn_site=ONE_NODE.yarn_site + (("yarn.node-labels.enabled", "true"), ("yarn.node-labels.fs-store.root-dir", "file:{directory}/labels"))))
def monitors_of_labels(cluster, work):
    """Partitions, before and after a node has one."""
    site = Site(f"127.0.0.1:{cluster.web}")
    rows = [row for path in LABELS for row in site.rows(f"none {path}", BASE + path)]

    def admin(*words):
        require_success(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", *words), words[0])
    admin("-addToClusterNodeLabels", "x(exclusive=true),y(exclusive=false)")
    node = json.loads(site.ask("GET", BASE + "/nodes")[1])["nodes"]["node"][0]["id"]
    admin("-replaceLabelsOnNode", f"{node}=x")
    for path in (*LABELS, f"/nodes/{node}/get-labels"):
        rows += [row.replace(node, "NODE") for row in site.rows(f"GET {path}", BASE + path)]
    recordings.compare("monitors-of-labels", rows, work, {})
