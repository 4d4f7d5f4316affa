"""Queues that are changed by REST and by `yarn schedulerconf`: /ws/v1/cluster/scheduler-conf, held against Hadoop's own daemon."""
import json
import xml.etree.ElementTree as ElementTree

import recordings
from cases_rest import Site, from_xml
from registry import Spec, case

BASE = "/ws/v1/cluster/scheduler-conf"
QUEUES = (("root.queues", "alpha,beta"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "50"), ("root.beta.maximum-capacity", "${yarn.scheduler.capacity.most}"),
          ("root.beta.acl_administer_queue", "ann"), ("root.acl_administer_queue", "root"), ("most", "80"))
STORE = "yarn.scheduler.configuration.store.class"
KEPT = ((STORE, "leveldb"), ("yarn.scheduler.configuration.leveldb-store.path", "{directory}/conf-store"))
ALONE = dict(hadoop="3.4.3", nodes=(), history=False, capacity=QUEUES)
# Words of Java's parsers; what Jersey makes of a method that no resource has; a text that says what to write; a copy that Hadoop
# makes of the file's queues, not of those in use; versions in memory, which begin again. What is not understood is refused, where Hadoop
# says that it is done and does nothing (docs/differences.md); so ours counts fewer versions.
DIFFERS = {
    "PUT (no JSON|an array|nothing at all|no XML|no name)": "400 application/json;charset=utf-8 .*BadRequestException.*",
    "POST|DELETE|GET validate|PUT version": "405",
    "validate remove what runs": ".*Failed to re-init queues : root.gamma cannot be deleted from the capacity scheduler configuration.*",
    "broken: version": '{"versionID":"15"}',
    "format: version": '{"versionID":"16"}',
    "PUT (a plain list|a plain map|names alone|wrapped|an unknown field)": "400 application/json;charset=utf-8 .*BadRequestException.* has (an unknown field|string where).*",
    "(validate|PUT) unknown state": ".*Failed to re-init queues : Invalid queue state configuration. We can only use RUNNING or STOPPED. .*root.beta.state is 'RUNS'; write RUNNING or STOPPED",
}
QUEUE_ADMINS = (("yarn.scheduler.configuration.mutation.acl-policy.class",
                 "org.apache.hadoop.yarn.server.resourcemanager.scheduler.capacity.conf.QueueAdminConfigurationMutationACLPolicy"),
                ("yarn.admin.acl", "root"))


def queue(name, **settings):
    return {"queue-name": name, "params": {"entry": [{"key": key.replace("_", "-"), "value": value} for key, value in settings.items()]}}


def change(**parts):
    return json.dumps({key.replace("_", "-"): value for key, value in parts.items()})


ALPHA_AND_BETA = "<sched-conf><update-queue><queue-name>root.%s</queue-name><params><entry><key>capacity</key><value>%s</value></entry></params></update-queue>" \
    "<update-queue><queue-name>root.%s</queue-name><params><entry><key>capacity</key><value>%s</value></entry></params></update-queue></sched-conf>"
# Name, body; XML where it begins with "<".
CHANGES = (
    ("update", change(update_queue=[queue("root.alpha", capacity="60"), queue("root.beta", capacity="40")])),
    ("update by XML", ALPHA_AND_BETA % ("alpha", "70", "beta", "30")),
    ("sum", change(update_queue=queue("root.alpha", capacity="60"))),
    ("sum by XML", ALPHA_AND_BETA % ("alpha", "70", "beta", "31")),
    ("add", change(add_queue=queue("root.gamma", capacity="0", maximum_capacity="10"))),
    ("add again", change(add_queue=queue("root.gamma", capacity="0"))),
    ("add at the top", change(add_queue=queue("gamma", capacity="0"))),
    ("add below nothing", change(add_queue=queue("root.nowhere.one", capacity="100"))),
    ("add below a leaf", change(add_queue=queue("root.alpha.one", capacity="100"))),
    ("remove what runs", change(remove_queue="root.gamma")),
    ("remove nothing", change(remove_queue=["root.nowhere"])),
    ("remove all", change(remove_queue="root")),
    ("stop", change(update_queue=queue("root.gamma", state="STOPPED"))),
    ("unset", change(update_queue={"queue-name": "root.gamma", "params": {"entry": [{"key": "maximum-capacity", "value": ""}, {"key": "none"}]}})),
    ("remove", change(remove_queue="root.gamma")),
    ("remove again", change(remove_queue="root.gamma")),
    ("global", change(global_updates={"entry": {"key": "yarn.scheduler.capacity.maximum-applications", "value": "77"}})),
    ("global unset", change(global_updates={"entry": [{"key": "yarn.scheduler.capacity.maximum-applications"}]})),
    ("unknown state", change(update_queue=queue("root.beta", state="RUNS"))),
    ("a list of entries", change(update_queue={"queue-name": "root.alpha", "params": [{"entry": [{"key": "user-limit-factor", "value": "4"}]}]})),
    ("a list of a map", change(global_updates=[{"entry": [{"key": "k", "value": "v"}, {"key": "l", "value": 1}]}])),
    ("null", change(global_updates=None, update_queue=None)),
    ("nothing", "{}"),
    ("two at once", change(add_queue=[queue("root.delta", capacity="0"), queue("root.delta.one", capacity="100")])),
    ("remove both", change(update_queue=[queue("root.delta", state="STOPPED"), queue("root.delta.one", state="STOPPED")])),
    ("removed", change(remove_queue=["root.delta.one", "root.delta"])),
)
BROKEN = (("no JSON", "nonsense"), ("an array", "[]"), ("nothing at all", ""), ("no XML", "<sched-conf"), ("no name", change(add_queue={"params": {}})),
          ("a plain list", change(global_updates=[{"key": "k", "value": "w"}])), ("a plain map", change(global_updates={"k": "w"})),
          ("names alone", change(update_queue=["root.alpha"])), ("an unknown field", json.dumps({"nonsense": 1})),
          ("wrapped", json.dumps({"sched-conf": {"update-queue": queue("root.alpha", user_limit_factor="3")}})))


def content(body):
    return "application/xml" if body.startswith("<") else "application/json"


def keys(properties):
    return " ".join(sorted(f"{one['name']}={one['value']}" for one in properties))


def state(site, name):
    rows = [f"{name}: conf | " + keys(json.loads(site.ask("GET", BASE)[1])["property"])]
    return rows + [f"{name}: version | " + site.ask("GET", BASE + "/version")[1]]


def text(site, name, method, path, body=None, **how):
    """The answer as it is."""
    answer, words = site.ask(method, path, body, **how)
    return f"{name} | {answer.status} {(answer.getheader('Content-Type') or 'none').replace(' ', '').lower()} {words}"


def changes(site):
    rows = site.rows("GET", BASE) + site.rows("GET version", BASE + "/version")
    for name, body in CHANGES:
        validated = site.ask("POST", BASE + "/validate", body, content=content(body))[1]
        if validated.startswith("{"):
            validated = keys(json.loads(validated)["property"])
        rows.append(f"validate {name} | {validated}")
        rows.append(text(site, f"PUT {name}", "PUT", BASE, body, content=content(body)))
        rows += state(site, name)
    for name, body in BROKEN:
        rows.append(text(site, f"PUT {name}", "PUT", BASE, body, content=content(body)))
    rows += state(site, "broken")
    for name, method, path in (("POST", "POST", ""), ("DELETE", "DELETE", ""), ("GET validate", "GET", "/validate"), ("PUT version", "PUT", "/version"),
                               ("no such", "GET", "/nothing")):
        rows.append(f"{name} | {site.ask(method, BASE + path)[0].status}")
    rows += site.rows("validate", BASE + "/validate", "POST", change(update_queue=queue("root.beta", priority="3")))
    rows.append(text(site, "format", "GET", BASE + "/format"))
    return rows + state(site, "format")


@case("all", Spec(yarn_site=((STORE, "memory"),), **ALONE), name="scheduler-conf-changes")
def all_changes(cluster, work):
    """Mutations by REST, valid and not, in JSON and XML. In memory: Hadoop validates nothing beside its own leveldb."""
    recordings.compare("scheduler-conf-changes", changes(Site(f"127.0.0.1:{cluster.web}")), work, DIFFERS)


def schedulerconf(cluster, *words):
    return cluster.java("org.apache.hadoop.yarn.client.cli.SchedConfCLI", *words)


def told(run):
    if run.stdout.startswith("<?xml"):
        return f"{run.returncode} " + keys(from_xml(ElementTree.fromstring(run.stdout))["property"])
    words = [line for line in (run.stdout + run.stderr).splitlines() if not line.startswith(("SLF4J", "log4j", "WARNING")) and " INFO " not in line]
    return f"{run.returncode} " + "\\n".join(words)


COMMANDS = (("-update", "root.alpha:capacity=20;root.beta:capacity=80"), ("-add", "root.gamma:capacity=0,state=STOPPED", "-global", "yarn.scheduler.capacity.maximum-applications=9"),
            ("-update", "root.alpha:capacity=21"),
            ("-remove", "root.alpha"), ("-remove", "root.gamma"), ("-remove", "root.gamma"), ("-update", "root.alpha:maximum-capacity="), ("-getConf",), ("-format",))


@case("all", Spec(yarn_site=KEPT, **ALONE), own_cluster=True)
def scheduler_conf(cluster, work):
    """`yarn schedulerconf`; a refresh is refused; what was changed outlives the manager."""
    site = Site(f"127.0.0.1:{cluster.web}")
    rows = state(site, "first")
    for number, words in enumerate(COMMANDS):
        rows.append(f"schedulerconf {number} {' '.join(words)} | " + told(schedulerconf(cluster, *words)))
        rows += state(site, f"schedulerconf {number}")
    rows.append("refresh | " + told(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshQueues")))
    rows.append(text(site, "PUT", "PUT", BASE, change(update_queue=[queue("root.alpha", capacity="15"), queue("root.beta", capacity="85")])))
    cluster.restart("rm")
    rows += state(site, "restart")
    recordings.compare("scheduler-conf", rows, work, {"refresh": ".*refreshQueues is not allowed in this scenario."})


@case("all", Spec(**ALONE))
def scheduler_conf_of_a_file(cluster, work):
    """The store that is the default takes no changes."""
    site = Site(f"127.0.0.1:{cluster.web}")
    body = change(update_queue=queue("root.alpha", user_limit_factor="3"))
    rows = [text(site, name, method, BASE + path, body if method != "GET" else None)
            for name, method, path in (("GET", "GET", ""), ("version", "GET", "/version"), ("PUT", "PUT", ""), ("validate", "POST", "/validate"), ("format", "GET", "/format"))]
    rows.append("schedulerconf | " + told(schedulerconf(cluster, "-update", "root.alpha:user-limit-factor=3")))
    rows.append("schedulerconf -getConf | " + told(schedulerconf(cluster, "-getConf")))
    recordings.compare("scheduler-conf-file", rows, work)


def as_users(cluster):
    site = Site(f"127.0.0.1:{cluster.web}")
    parts = {"alpha": change(update_queue=queue("root.alpha", user_limit_factor="3")), "beta": change(update_queue=queue("root.beta", user_limit_factor="3")),
             "new below beta": change(add_queue=queue("root.beta.new", capacity="100")), "global": change(global_updates={"entry": {"key": "k", "value": "v"}})}
    rows = []
    for user in ("root", "ann", "bob"):
        for name, body in parts.items():
            rows.append(text(site, f"{user} {name}", "PUT", f"{BASE}?user.name={user}", body))
        for name, path in (("conf", ""), ("version", "/version")):
            rows.append(f"{user} {name} | {site.ask('GET', f'{BASE}{path}?user.name={user}')[0].status}")
        rows.append(text(site, f"{user} validate", "POST", f"{BASE}/validate?user.name={user}", parts["alpha"]).split('{"property"')[0])
    rows.append(text(site, "nobody's format", "GET", f"{BASE}/format?user.name=bob"))
    return rows


def policy_case(name, keys):
    @case("all", Spec(yarn_site=((STORE, "memory"), *keys), **ALONE), name=f"scheduler-conf-{name}")
    def run(cluster, work):
        recordings.compare(f"scheduler-conf-{name}", as_users(cluster), work, {"nobody's format": "403 .*Only admins can carry out this operation.*"})


policy_case("admins", QUEUE_ADMINS[1:])
policy_case("acls", QUEUE_ADMINS[1:] + (("yarn.acl.enable", "true"),))
policy_case("queue-admins", QUEUE_ADMINS)


WEIGHTS = {"root.alpha.capacity": "5w", "root.beta.capacity": "1w", "root.parent.capacity": "1w"}
# Changes of PARENTED that a refresh meets; None takes a key away.
REFRESHES = {
    "a running queue is gone": {"root.queues": "alpha,parent", "root.alpha.capacity": "80"},
    "a leaf becomes a parent": {"root.alpha.queues": "one", "root.alpha.one.capacity": "100"},
    "a parent becomes a leaf": {"root.parent.queues": None},
    "90 per cent": {"root.alpha.capacity": "40"},
    "90 per cent below": {"root.parent.one.capacity": "90"},
    "no queues": {"root.queues": None},
    "a queue listed twice": {"root.queues": "alpha,beta,parent,alpha"},
    "a queue below itself": {"root.beta.queues": "beta", "root.beta.beta.capacity": "100"},
    "weights beside percentages": {"root.alpha.capacity": "2w"},
    "amounts beside percentages": {"root.alpha.capacity": "[memory=1024,vcores=1]"},
    "no capacity": {"root.alpha.capacity": "much"},
    "above 100": {"root.alpha.capacity": "140"},
    "below 0": {"root.alpha.capacity": "-10"},
    "a maximum above 100": {"root.alpha.maximum-capacity": "140"},
    "the root's capacity": {"root.capacity": "50"},
    "labels that the parent has not": {"root.parent.accessible-node-labels": "fast", "root.parent.one.accessible-node-labels": "slow"},
    "a default label without access": {"root.alpha.accessible-node-labels": " ", "root.alpha.default-node-label-expression": "fast"},
    "a mapping to no queue": {"queue-mappings": "u:ann:nowhere"},
    "mappings to no queues": {"queue-mappings": "u:ann:nowhere,u:bob:neither"},
    "a mapping to a parent": {"queue-mappings": "u:ann:parent"},
    "a mapping that is none": {"queue-mappings": "ann:alpha"},
    "rules that are no JSON": {"mapping-rule-format": "json", "mapping-rule-json": "nonsense"},
    "a state that is none": {"root.beta.state": "DRAINING"},
    "an ordering policy that is none": {"root.alpha.ordering-policy": "random"},
    "a weight of a user": {"root.alpha.user-settings.ann.weight": "200"},
    "a lifetime above the maximum": {"root.alpha.maximum-application-lifetime": "10", "root.alpha.default-application-lifetime": "20"},
    "a smaller largest container": {"root.alpha.maximum-allocation-mb": "512"},
    "a largest container above the cluster's": {"root.alpha.maximum-allocation-mb": "999999"},
    "a queue listed twice within 100": {"root.queues": "alpha,alpha,beta,parent", "root.alpha.capacity": "25"},
    "a weight listed twice": {**WEIGHTS, "root.queues": "alpha,alpha,beta,parent"},
    "a weight above 10000": {**WEIGHTS, "root.alpha.capacity": "20000w"},
    "no weight": {**WEIGHTS, "root.alpha.capacity": "xw"},
    "no amount": {"root.alpha.capacity": "[memory=12x4,vcores=1]"},
    "an amount without digits": {"root.alpha.capacity": "[memory=much,vcores=1]"},
    "no number": {"root.alpha.user-limit-factor": "much"},
    "no whole number": {"root.alpha.maximum-applications": "1.5"},
    "no largest container": {"root.alpha.maximum-allocation": "memory=much"},
    "queues below a queue that makes its own": {"root.parent.auto-create-child-queue.enabled": "true"},
    "above 100 of a label": {"root.alpha.accessible-node-labels": "fast", "root.alpha.accessible-node-labels.fast.capacity": "140"},
    "the file as it was": {},
    # Hadoop takes these.
    "a listed queue without keys": {"root.queues": "alpha,beta,parent,gamma"},
    "the root below itself": {"root.queues": "alpha,beta,parent,gamma,root", "root.root.capacity": "0"},
}


PARENTED = (("root.queues", "alpha,beta,parent"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "30"), ("root.parent.capacity", "20"),
            ("root.parent.queues", "one"), ("root.parent.one.capacity", "100"))
# Hadoop's words, then which key it is and what to write; words of Jackson's are ours.
def refused(words, key, remedy):
    return f"{words}[;.] yarn.scheduler.capacity.{key}; {remedy}"


REFRESHES_DIFFER = {name: r"255 refreshQueues: java.io.IOException: Failed to re-init queues : " + words for name, words in {
    "a queue listed twice": "Illegal capacity sum of 1.5 .* either 0 or 1.0; root.alpha is listed twice; name it once in .*root.queues",
    "a queue listed twice within 100|a weight listed twice": "root.alpha is listed twice; name it once in .*root.queues",
    "no capacity": refused('For input string: "much"', "root.alpha.capacity is 'much'", "write a percentage such as .*"),
    "above 100": refused("Illegal capacity of 140.0 for queue root.alpha", "root.alpha.capacity is '140'", "write 0 to 100"),
    "below 0": refused("Illegal capacity of -10.0 for queue root.alpha", "root.alpha.capacity is '-10'", "write 0 to 100"),
    "above 100 of a label": refused(r"Illegal capacity of 140.0 for node-label=fast in queue=root.alpha, valid capacity should in range of \[0, 100\]",
                                    "root.alpha.accessible-node-labels.fast.capacity is '140'", "write 0 to 100"),
    "a weight above 10000": refused(r"Illegal weight=20000.0 for queue=root.alphalabel=. Acceptable values: \[0, 10000\], -1 is same as not set",
                                    "root.alpha.capacity is '20000w'", "write 0w to 10000w"),
    "no weight": refused('For input string: "x"', "root.alpha.capacity is 'xw'", "write a number and w, .*"),
    "no amount": refused('For input string: "12x4"', r"root.alpha.capacity is '\[memory=12x4,vcores=1\]'", "write amounts such as .*"),
    "an amount without digits": refused("empty String", "root.alpha.capacity is 'memory=much'", "write amounts such as .*"),
    "no number": refused('For input string: "much"', "root.alpha.user-limit-factor is 'much'", "write a number"),
    "no whole number": refused('For input string: "1.5"', "root.alpha.maximum-applications is '1.5'", "write a whole number"),
    "no largest container": refused('"memory=much" is not a valid resource type/amount pair. Please provide key=amount pairs separated by commas',
                                    "root.alpha.maximum-allocation is 'memory=much'", "write amounts such as .*"),
    "queues below a queue that makes its own": "Can not convert parent queue: root.parent to auto create enabled parent queue since it could have other "
                                               "pre-configured queues which is not supported; take out .*",
    "rules that are no JSON": "mapping-rule-json: no JSON: .*",
    "a state that is none": refused("Invalid queue state configuration. We can only use RUNNING or STOPPED", "root.beta.state is 'DRAINING'", "write RUNNING or STOPPED"),
}.items()}
# Hadoop has taken the weights among which a queue is twice, shares of no node, and keeps them up to the next file that it takes.
REFRESHES_DIFFER["(a weight .*|no weight|no amount|an amount without digits|no number|no whole number|no largest container|queues below a queue .*"
                 "|above 100 of a label): queues"] = "alpha=50 beta=30 one=100 parent=20 root=100"


def queues_in_use(site):
    """"name=capacity" of all queues; the order of children is that of a hash after a refresh."""
    found = []

    def walk(queue):
        found.append(f"{queue['queueName']}={queue['capacity']:g}")
        for child in queue.get("queues", {}).get("queue", ()):
            walk(child)
    walk(json.loads(site.ask("GET", "/ws/v1/cluster/scheduler")[1])["scheduler"]["schedulerInfo"])
    return " ".join(sorted(found))


@case("all", Spec(**{**ALONE, "capacity": PARENTED}), own_cluster=True)
def refreshes(cluster, work):
    """`yarn rmadmin -refreshQueues` with bad files, most of which Hadoop refuses: its words, and the queues stay."""
    site, rows = Site(f"127.0.0.1:{cluster.web}"), []
    for name, changes_of_file in REFRESHES.items():
        keys_now = {**dict(PARENTED), **changes_of_file}
        cluster.write_capacity(tuple((key, value) for key, value in keys_now.items() if value is not None))
        rows.append(f"{name} | " + told(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshQueues")).split("\\n")[0])
        rows.append(f"{name}: queues | " + queues_in_use(site))
    recordings.compare("refreshes", rows, work, REFRESHES_DIFFER)
