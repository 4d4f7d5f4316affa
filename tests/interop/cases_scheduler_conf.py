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
# makes of the file's queues, not of those in use; versions in memory, which begin again.
DIFFERS = {
    "PUT (no JSON|an array|nothing at all|no XML|no name)": "400 application/json;charset=utf-8 .*BadRequestException.*",
    "POST|DELETE|GET validate|PUT version": "405",
    "validate remove what runs": ".*Failed to re-init queues : root.gamma cannot be deleted from the capacity scheduler configuration.*",
    "format: version": '{"versionID":"15"}',
    "(validate|PUT) unknown state": ".*Failed to re-init queues : .*root.beta.state is 'RUNS'; write RUNNING or STOPPED",
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
    ("nothing", "{}"),
    ("wrapped", json.dumps({"sched-conf": {"update-queue": queue("root.alpha", user_limit_factor="3")}})),
    ("an unknown field", json.dumps({"nonsense": 1})),
    ("two at once", change(add_queue=[queue("root.delta", capacity="0"), queue("root.delta.one", capacity="100")])),
    ("remove both", change(update_queue=[queue("root.delta", state="STOPPED"), queue("root.delta.one", state="STOPPED")])),
    ("removed", change(remove_queue=["root.delta.one", "root.delta"])),
)
BROKEN = (("no JSON", "nonsense"), ("an array", "[]"), ("nothing at all", ""), ("no XML", "<sched-conf"), ("no name", change(add_queue={"params": {}})))


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
