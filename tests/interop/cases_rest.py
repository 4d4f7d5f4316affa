"""Web services of resource manager and node, key by key, in JSON and XML; the proxy and the pages."""
import contextlib
import dataclasses
import http.client
import http.server
import json
import re
import subprocess
import threading
import time
import xml.etree.ElementTree as ElementTree

import recordings
from cases_yarn import ONE_NODE
from registry import case

# Values of these keys differ from run to run; what is kept of them is their type, and whether a number is zero.
VOLATILE = re.compile(
    r"(id|startedOn|startedTime|launchTime|finishedTime|elapsedTime|startTime|lastHealthUpdate|lastNodeUpdateTime|nmStartupTime"
    r"|memorySeconds|vcoreSeconds|.*Usage(Percentage)?|.*Utilization.*|node(Physical|Virtual)MemoryMB|aggregatedContainers.*"
    r"|(hadoop|resourceManager|nodeManager).*(Version|BuildVersion|VersionBuiltOn)|version|remainingTimeInSeconds|expiryTime|fileSize"
    r"|lastModifiedTime|healthReport|amRPCAddress|value|[a-zA-Z]*Time|nodeHTTPAddress|nodeHttpAddress|shortUserName|port)$")


def shape(name, value):
    """What of a value may be compared between two clusters."""
    if isinstance(value, str):
        value = recordings.plain(value)
        number = re.fullmatch(r"-?\d+(\.\d+)?(E-?\d+)?", value)
        if number and VOLATILE.match(name):
            return "string of " + ("0" if float(value) == 0 else "a number")
        return f'"{value}"' if not VOLATILE.match(name) or value.startswith(("application_", "UNLIMITED")) or not value else "string"
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    kind = "float" if isinstance(value, float) else "int"
    if VOLATILE.match(name):
        return f"{kind} 0" if value == 0 else kind
    return f"{kind} {value}"


def sort_key(value):
    """Lists come in no order that two clusters share; these keys say who is who."""
    if not isinstance(value, dict):
        return str(value)
    return str([value.get(k) for k in ("name", "fileName", "nodeHostName", "queueName", "key", "containerId", "state", "type", "appAttemptId", "id")])


def flatten(path, name, value, rows):
    if isinstance(value, dict):
        if not value:
            rows.append(f"{path} | {{}}")
        for key, inner in value.items():
            flatten(f"{path}.{key}", key, inner, rows)
    elif isinstance(value, list):
        rows.append(f"{path} | list of {len(value)}")
        for at, inner in enumerate(sorted(value, key=sort_key)):
            flatten(f"{path}[{at}]", name, inner, rows)
    else:
        rows.append(f"{path} | {shape(name, value)}")


def from_xml(element):
    """Elements as a tree: repeated ones as lists."""
    if len(element) == 0:
        return element.text or ""
    fields = {}
    for child in element:
        value = from_xml(child)
        if child.tag in fields:
            fields[child.tag] = fields[child.tag] if isinstance(fields[child.tag], list) else [fields[child.tag]]
            fields[child.tag].append(value)
        else:
            fields[child.tag] = value
    return fields


class Site:
    """One web server, asked without following redirects."""

    def __init__(self, address):
        self.address = address

    def ask(self, method, path, body=None, accept="application/json", content="application/json", headers=None):
        connection = http.client.HTTPConnection(self.address, timeout=30)
        sent = {"Accept": accept, **(headers or {})}
        if body is not None:
            sent["Content-Type"] = content
        connection.request(method, path, body=body, headers=sent)
        answer = connection.getresponse()
        text = answer.read().decode(errors="replace")
        connection.close()
        return answer, text

    def rows(self, name, path, method="GET", body=None, content="application/json", forms=("json", "xml")):
        """The answer in JSON and in XML as rows."""
        rows = []
        for form in forms:
            answer, text = self.ask(method, path, body, f"application/{form}", content)
            kind = (answer.getheader("Content-Type") or "none").replace(" ", "").lower()
            rows.append(f"{name} {form} status | {answer.status} {kind}")
            if "json" in kind and text:
                try:
                    flatten(f"{name} {form}", "", json.loads(text), rows)
                except ValueError:  # Hadoop calls some plain texts JSON
                    rows.append(f"{name} {form} text | {text[:200]}")
            elif "xml" in kind and text:
                try:
                    root = ElementTree.fromstring(text)
                    flatten(f"{name} {form} {root.tag}", root.tag, from_xml(root), rows)
                except ElementTree.ParseError:
                    rows.append(f"{name} {form} text | {text[:200]}")
        return rows


@contextlib.contextmanager
def scene(cluster, work, *arguments):
    """RestScene's applications by label, while they are there."""
    with open(work / "scene.err", "wb") as errors:
        process = subprocess.Popen(cluster.program_command("RestScene", *arguments), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   env={**cluster.client_environment(), "PUPPETS": str(work / "puppets")})
    apps = {}
    for line in process.stdout:
        if line.strip() == "ready":
            break
        label, _, app = line.strip().partition(" ")
        apps[label] = app
    else:
        raise AssertionError("RestScene ended: " + (work / "scene.err").read_text()[-3000:])
    try:
        yield apps
    finally:
        process.stdin.close()
        process.wait(timeout=60)


def reading(site, apps):
    """Rows of everything that can be read of the resource manager."""
    base = "/ws/v1/cluster"
    rows = []
    for path in ("", "/info", "/metrics", "/scheduler", "/nodes", "/nodes?states=RUNNING", "/nodes?states=LOST,decommissioned", "/nodes?states=nonsense",
                 "/nodes/127.0.0.1", "/nodes/nohost:1", "/appstatistics", "/appstatistics?states=FINISHED,KILLED&applicationTypes=SPARK",
                 "/appstatistics?states=nonsense", "/appstatistics?applicationTypes=A,B", "/apps/application_1_0001", "/apps/nonsense",
                 "/apps/application_x", "/no-such-thing"):
        rows += site.rows(f"GET {path}", base + path)
    nodes = json.loads(site.ask("GET", base + "/nodes")[1])["nodes"]["node"]
    for node in nodes:
        rows += site.rows(f"GET node {node['nodeHostName'].replace('localhost', '127.0.0.1')}", f"{base}/nodes/{node['id']}")
    for label, app in apps.items():
        rows += site.rows(f"GET {label}", f"{base}/apps/{app}")
        for part in ("state", "queue", "priority", "timeouts", "timeouts/LIFETIME", "timeouts/nonsense", "appattempts"):
            rows += site.rows(f"GET {label}/{part}", f"{base}/apps/{app}/{part}")
        attempt = app.replace("application", "appattempt") + "_000001"
        rows += site.rows(f"GET {label}/attempt", f"{base}/apps/{app}/appattempts/{attempt}")
        rows += site.rows(f"GET {label}/containers", f"{base}/apps/{app}/appattempts/{attempt}/containers")
        master = attempt.replace("appattempt", "container").replace("_000001", "_01_000001")
        rows += site.rows(f"GET {label}/master", f"{base}/apps/{app}/appattempts/{attempt}/containers/{master}")
    running = apps["running"]
    attempt = running.replace("application", "appattempt")
    rows += site.rows("GET unknown attempt", f"{base}/apps/{running}/appattempts/{attempt}_000009")
    rows += site.rows("GET nonsense attempt", f"{base}/apps/{running}/appattempts/nonsense")
    rows += site.rows("GET unknown container", f"{base}/apps/{running}/appattempts/{attempt}_000001/containers/"
                      + attempt.replace("appattempt", "container") + "_01_000099")
    return rows


FILTERS = ("", "states=FINISHED", "states=finished,KILLED", "states=nonsense", "state=FAILED", "state=nonsense", "finalStatus=SUCCEEDED", "finalStatus=nonsense",
           "user=root", "user=nobody", "queue=root.beta", "queue=beta", "queue=nowhere", "limit=2", "limit=0", "limit=-1", "limit=x",
           "applicationTypes=SPARK", "applicationTypes=spark,MAPREDUCE", "applicationTags=one", "applicationTags=ONE,alone", "applicationTags=none",
           "startedTimeBegin=1", "startedTimeEnd=1", "startedTimeBegin=-1", "startedTimeBegin=x", "startedTimeBegin=9&startedTimeEnd=3", "finishedTimeBegin=1",
           "finishedTimeEnd=5", "finishedTimeBegin=x", "name=killed", "name=kill", "deSelects=resourceRequests", "deSelects=timeouts,amNodeLabelExpression",
           "deSelects=nonsense", "states=RUNNING&queue=root.beta&user=root", "states=", "unknown=1")


def filters(site):
    rows = []
    for wanted in FILTERS:
        answer, text = site.ask("GET", "/ws/v1/cluster/apps?" + wanted)
        rows.append(f"apps?{wanted} | {answer.status}")
        document = json.loads(text)
        if "apps" not in document:
            flatten(f"apps?{wanted}", "", document, rows)
            continue
        found = document["apps"]
        listed = found.get("app", []) if isinstance(found, dict) else []
        names = sorted(a["name"] for a in listed)
        rows.append(f"apps?{wanted} names | {len(names) if 'limit' in wanted else names} of {type(found).__name__}")
    return rows


def changing(site, apps):
    """Rows of the calls that change something."""
    base = "/ws/v1/cluster"
    user = "?user.name=root"
    rows = []

    def change(name, method, path, body, content="application/json", forms=("json",)):
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        rows.extend(site.rows(f"{method} {name}", base + path, method, text, content, forms))

    running, finished = (f"/apps/{apps[label]}" for label in ("running", "finished"))
    change("state nonsense", "PUT", running + "/state" + user, {"state": "NONSENSE"})
    change("state RUNNING", "PUT", running + "/state" + user, {"state": "RUNNING"})
    change("state no body", "PUT", running + "/state" + user, "")
    change("state not json", "PUT", running + "/state" + user, "{")
    change("state of nobody", "PUT", "/apps/application_1_0001/state" + user, {"state": "KILLED"})
    change("state of finished", "PUT", finished + "/state" + user, {"state": "KILLED"})
    change("queue without user", "PUT", running + "/queue", {"queue": "root.alpha"})
    change("queue", "PUT", running + "/queue" + user, {"queue": "root.alpha"}, forms=("json", "xml"))
    change("queue nowhere", "PUT", running + "/queue" + user, {"queue": "root.nowhere"})
    change("queue of finished", "PUT", finished + "/queue" + user, {"queue": "root.beta"})
    change("priority of finished", "PUT", finished + "/priority" + user, {"priority": 3})
    later = {"timeout": {"type": "LIFETIME", "expiryTime": "2099-01-01T00:00:00.000+0000"}}
    change("timeout without user", "PUT", running + "/timeout", later)
    change("timeout", "PUT", running + "/timeout" + user, later, forms=("json", "xml"))
    change("timeout past", "PUT", running + "/timeout" + user, {"timeout": {"type": "LIFETIME", "expiryTime": "2001-01-01T00:00:00.000+0000"}})
    change("timeout nonsense", "PUT", running + "/timeout" + user, {"timeout": {"type": "LIFETIME", "expiryTime": "later"}})
    change("new-application without user", "POST", "/apps/new-application", "")
    change("new-application", "POST", "/apps/new-application" + user, "", forms=("json", "xml"))
    change("apps without user", "POST", "/apps", {"application-id": "application_1_0001"})
    change("apps no id", "POST", "/apps" + user, {"application-name": "x"})
    change("apps bad id", "POST", "/apps" + user, {"application-id": "x", "application-name": "x"})
    change("apps not json", "POST", "/apps" + user, "{")
    for form in ("json", "xml"):
        new = json.loads(site.ask("POST", base + "/apps/new-application" + user, "")[1])["application-id"]
        answer, text = submit(site, base + "/apps" + user, new, form)
        rows.append(f"POST apps {form} | {answer.status} {answer.getheader('Location', '').replace(new, 'ID').split('/ws')[-1]} {text}")
        ended = until_ended(site, new)
        rows += [f"POST apps {form} {key} | {shape(key, ended[key])}" for key in
                 ("name", "queue", "state", "finalStatus", "applicationType", "applicationTags", "priority", "user", "unmanagedApplication")]
    change("state", "PUT", running + "/state" + user, "<appstate><state>KILLED</state></appstate>", "application/xml", ("xml",))
    rows.append(f"state after | {until_ended(site, apps['running'])['state']}")
    change("state without user", "PUT", f"/apps/{apps['accepted']}/state", {"state": "KILLED"})
    rows.append(f"state without user after | {until_ended(site, apps['accepted'])['state']}")
    for method in ("DELETE", "POST", "PUT"):
        answer, _ = site.ask(method, base + "/info", "{}")
        rows.append(f"{method} info | {answer.status}")
    return rows


def submit(site, path, app, form):
    if form == "json":
        body = json.dumps({
            "application-id": app, "application-name": "by-rest", "queue": "root.beta", "application-type": "REST", "max-app-attempts": 1, "priority": 4,
            "application-tags": {"tag": ["left", "right"]}, "resource": {"memory": 256, "vCores": 1}, "am-container-spec": {
                "commands": {"command": "test \"$WORD\" = here"}, "environment": {"entry": [{"key": "WORD", "value": "here"}]}}})
    else:
        body = (f"<application-submission-context><application-id>{app}</application-id><application-name>by-rest</application-name>"
                "<queue>root.beta</queue><priority>4</priority><am-container-spec><environment><entry><key>WORD</key><value>here</value></entry>"
                "</environment><commands><command>test &quot;$WORD&quot; = here</command></commands></am-container-spec>"
                "<max-app-attempts>1</max-app-attempts><resource><memory>256</memory><vCores>1</vCores></resource>"
                "<application-type>REST</application-type><application-tags><tag>left</tag><tag>right</tag></application-tags>"
                "</application-submission-context>")
    return site.ask("POST", path, body, content=f"application/{form}")


def until_ended(site, app):
    deadline = time.monotonic() + 150
    while True:
        seen = json.loads(site.ask("GET", f"/ws/v1/cluster/apps/{app}")[1])["app"]
        if seen["state"] in ("FINISHED", "FAILED", "KILLED"):
            return seen
        if time.monotonic() > deadline:
            raise AssertionError(f"{app} is still {seen['state']}")
        time.sleep(0.1)


def node_rows(site, apps):
    """Rows of a node's web services."""
    rows = []
    running = apps["running"]
    containers = json.loads(site.ask("GET", "/ws/v1/node/containers")[1])["containers"]
    mine = sorted(c["id"] for c in (containers or {}).get("container", []) if running[len("application"):] in c["id"])
    for path in ("", "/info", "/apps", f"/apps/{running}", "/apps?state=RUNNING", "/apps?state=FINISHED", "/apps?user=root", "/apps?user=nobody", "/apps?state=nonsense",
                 "/apps/application_1_0001", "/apps/nonsense", "/containers", "/containers/nonsense",
                 f"/containers/{running.replace('application', 'container')}_01_000099", "/no-such-thing", "/auxiliaryservices"):
        rows += site.rows(f"node {path.replace(running, 'RUNNING')}", "/ws/v1/node" + path)
    for container in mine:
        label = container[-6:]
        rows += site.rows(f"node container {label}", f"/ws/v1/node/containers/{container}")
        rows += site.rows(f"node logs {label}", f"/ws/v1/node/containers/{container}/logs")
        for path in (f"/ws/v1/node/containerlogs/{container}/stdout", f"/ws/v1/node/containers/{container}/logs/stdout",
                     f"/ws/v1/node/containerlogs/{container}/stdout?size=3", f"/ws/v1/node/containerlogs/{container}/stdout?size=-3",
                     f"/ws/v1/node/containerlogs/{container}/nosuchfile"):
            answer, text = site.ask("GET", path, accept="text/plain")
            rows.append(f"node {path.replace(container, label)} | {answer.status} " + repr(recordings.plain(re.sub(r"at .* \d{4}", "at <date>", text))))
    return [row.replace(running, "RUNNING") for row in rows]


# Where Fairlead is meant to differ.
NOT_FOUND = '404 application/xml;charset=utf-8|"(NotFoundException|org.apache.hadoop.yarn.webapp.NotFoundException|java.lang.Exception: .*|.* exist in RM\\.)"'
REST_DIFFERS = {
    # An error that Hadoop cannot write as XML, and pages where it has no service.
    ".*(nohost:1|application_1_0001|/master|unknown attempt|unknown container|_01_000099) xml.*": NOT_FOUND,
    ".*/no-such-thing (json|xml).*": '404 application/(json|xml);charset=utf-8|".*NotFoundException"|"java.lang.Exception: .*"',
    # The profile `fairlead`: dominant shares, capped by demand, no share of its own for masters; priorities.
    "GET /scheduler .*(fairResources|steadyFairResources|amMaxResources|amUsedResources|minimumAllocation|maximumAllocation|schedulingPolicy|type).*": ".*",
    "POST apps (json|xml) priority": ".* 4|.*4.*",
    # The store's own name; use of this machine.
    "GET (/info)? .*rmStateStoreName": '"fairlead.SqliteStateStore"',
    ".*(cpuUtilization|CPUUsage|vcoreSeconds|resourceSecondsMap.*|utilizedMBPercent|utilizedVirtualCoresPercent|rmSchedulerBusyPercent)": ".*",
    # A body or a state that cannot be: said in Fairlead's own words, as an error of the request.
    "PUT state (no body|not json) json.RemoteException.*|POST apps (no id|bad id|not json) json.RemoteException.*": '".*"',
    "PUT state without user json.state": '"KILLING"',
    "PUT queue (nowhere|of finished) json.*": '400 application/json;charset=utf-8|".*"|.no such row.',
    "PUT timeout (nonsense|past) json.*": '400 application/json;charset=utf-8|".*"|.no such row.',
    "(DELETE|POST|PUT) info": "405",
    r"apps\?deSelects=nonsense.*": r"200|.no such row.|\['accepted', .*",  # an unknown part is ignored
}


@case("all", spec=ONE_NODE, own_cluster=True)
def rest_cluster(cluster, work):
    """/ws/v1/cluster: everything that can be read, every filter, everything that can be changed."""
    site = Site(f"127.0.0.1:{cluster.web}")
    with scene(cluster, work) as apps:
        rows = reading(site, apps) + filters(site) + changing(site, apps)
    recordings.compare("rest-cluster", [named(row, apps) for row in rows], work, REST_DIFFERS)


# Sums that the profile `fairlead` has another idea of: shares by what is asked for, one policy, no share of its own for masters.
SHARES = {r"scheduler .*(fairResources|steadyFairResources|amMaxResources|amUsedResources)\..*|scheduler .*schedulingPolicy": ".*"}


# An attribute in Hadoop's XML.
TYPES = {r"scheduler xml .*\.type": ".*"}


def scheduler_case(profile, differs, keys=(), recorded="rest-scheduler", **changes):
    """/ws/v1/cluster/scheduler, key by key."""
    spec = dataclasses.replace(ONE_NODE, yarn_site=ONE_NODE.yarn_site + keys, **changes)

    @case("all", spec=spec, name=f"rest-scheduler-{profile}")
    def run(cluster, work):
        with scene(cluster, work) as apps:
            rows = Site(f"127.0.0.1:{cluster.web}").rows("scheduler", "/ws/v1/cluster/scheduler")
        recordings.compare(recorded, [named(row, apps) for row in rows], work, {**TYPES, **differs})


scheduler_case("fairlead", SHARES)
# The largest share of masters is what Hadoop's queue computed when it last started one.
scheduler_case("yarn-fair", {r"scheduler .*amMaxResources\..*": ".*"}, (("fairlead.scheduler.profile", "yarn-fair"),))
# The scene's queues, and a parent.
CAPACITY = (("root.queues", "alpha,beta,gamma"), ("root.alpha.capacity", "50"), ("root.beta.capacity", "30"), ("root.gamma.capacity", "20"),
            ("root.gamma.queues", "one,two"), ("root.gamma.one.capacity", "25"), ("root.gamma.two.capacity", "75"),
            ("root.alpha.maximum-am-resource-percent", "0.8"), ("root.beta.maximum-am-resource-percent", "0.8"),
            ("root.beta.ordering-policy", "fair"), ("root.beta.maximum-capacity", "60"), ("root.alpha.acl_submit_applications", "ann staff"),
            ("resource-calculator", "org.apache.hadoop.yarn.util.resource.DominantResourceCalculator"))
scheduler_case("yarn-capacity", {}, recorded="rest-scheduler-capacity", capacity=CAPACITY, hadoop="3.4.3")


@case("all", spec=ONE_NODE)
def rest_node(cluster, work):
    """/ws/v1/node of the first node."""
    with scene(cluster, work) as apps:
        nodes = cluster.get("/ws/v1/cluster/nodes")["nodes"]["node"]
        first = next(n for n in nodes if n["nodeHostName"] != "127.0.0.2")
        rows = node_rows(Site(first["nodeHTTPAddress"]), apps)
    recordings.compare("rest-node", [named(row, apps) for row in rows], work, REST_DIFFERS)


class Page(http.server.BaseHTTPRequestHandler):
    """A master's web page: says what it was asked for."""

    def do_GET(self):
        length = int(self.headers.get("Content-Length") or 0)
        kept = {name: self.headers.get(name) for name in ("Cookie", "User-Agent", "Accept", "X-Own", "Content-Type")}
        body = f"{self.command} {self.path} {kept} {self.rfile.read(length).decode()}".encode()
        self.send_response(201 if "created" in self.path else 302 if "elsewhere" in self.path else 200)
        if "elsewhere" in self.path:
            self.send_header("Location", "http://127.0.0.1:1/elsewhere")
        self.send_header("Content-Type", "text/x-page; charset=utf-8")
        self.send_header("X-From-Page", "yes")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST = do_DELETE = do_GET

    def log_message(self, *arguments):
        pass


def proxied(site, apps):
    rows = []
    running = apps["running"]
    asked = [("GET", f"/proxy/{running}/", None), ("GET", f"/proxy/{running}", None), ("GET", f"/proxy/{running}/jobs/?id=1&x=a%20b", None),
             ("GET", f"/proxy/{running}/created", None), ("GET", f"/proxy/{running}/elsewhere", None), ("PUT", f"/proxy/{running}/put", "body"),
             ("POST", f"/proxy/{running}/post", "a=b"), ("DELETE", f"/proxy/{running}/x", None), ("GET", f"/proxy/{apps['finished']}/", None),
             ("GET", f"/proxy/{apps['killed']}/", None), ("GET", f"/proxy/{apps['accepted']}/", None), ("GET", "/proxy/application_1_0001/", None),
             ("GET", "/proxy/nonsense/", None), ("GET", "/proxy/", None), ("GET", f"/proxy/redirect/{running}/x", None), ("GET", "/", None)]
    for method, path, body in asked:
        answer, text = site.ask(method, path, body, "text/html", headers={"User-Agent": "browser", "X-Own": "mine"})
        rows.append(f"{method} {path} | {answer.status} {answer.getheader('Location')} {answer.getheader('X-From-Page')}")
        if answer.getheader("X-From-Page"):
            rows.append(f"{method} {path} page | {answer.getheader('Content-Type')} {text}")
    return rows


@case("all", spec=ONE_NODE)
def web_proxy(cluster, work):
    """/proxy/APPLICATION/ of masters in every state; the running one's page is served here."""
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        with scene(cluster, work, f"http://127.0.0.1:{page.server_port}/ui") as apps:
            rows = proxied(Site(f"127.0.0.1:{cluster.web}"), apps)
        page.shutdown()
    recordings.compare("web-proxy", [named(row, apps) for row in rows], work, differs={
        "GET /proxy/<running>/jobs.* page": ".* GET /ui/jobs/.id=1&x=a%20b .*",  # not written anew
        "GET /proxy/<running>/elsewhere": "502 None None",  # another server is not asked
        "GET /proxy/(nonsense/)?": "404 None None",
        "GET /proxy/redirect/<running>/x( page)?": "200 None yes|.* GET /ui/x .*",
        "GET /": "302 /cluster None",
    })


def named(row, apps):
    for label, app in apps.items():
        row = row.replace(app, f"<{label}>").replace(app[len("application"):], f"_<{label}>")
    return row
