"""Standalone clusters: Spark's Master or ours, Spark's Workers or ours, and Spark's drivers."""
import base64
import dataclasses
import gzip
import hmac
import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

import peers
import recordings
import spark_cluster
from jobs import Background, PausedJob
from registry import case, require_success
from standalone import listening

RELEASES = ("3.5.9", "4.3.0")


def client_mode(cluster, work):
    """A job in client mode is right, and its executors end with it."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    assert sorted(cluster.processes_of(app_id)) == ["0", "1"], cluster.processes_of(app_id)
    job.release()
    assert job.result()["task_retries"] == 0
    cluster.wait(lambda: not cluster.processes_of(app_id), "the executors' end", 20)


def executor_killed(cluster, work):
    """An executor that is killed is replaced by one with the next number, and the job ends well."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    os.kill(cluster.processes_of(app_id)["1"], signal.SIGKILL)
    cluster.wait(lambda: sorted(cluster.processes_of(app_id)) == ["0", "2"], "a new executor", 30)
    job.release()
    job.result()


def worker_killed(cluster, work):
    """Of a worker that is killed the driver hears at once; what it had is started elsewhere."""
    job = PausedJob(cluster, work, "--conf", "spark.cores.max=2")
    app_id = job.await_round()
    cluster.kill("worker-0")
    cluster.wait(lambda: job.running() and "worker lost" in job.text(), "the driver to hear of it", 30)
    cluster.wait(lambda: "2" in cluster.processes_of(app_id), "a new executor", 30)
    job.release()
    job.result()


def living_driver(cluster, work):
    """A driver on the cluster that runs: its directory and its id."""
    drivers = work / "driver"
    drivers.mkdir()
    driver = submit(cluster, drivers)
    cluster.wait(lambda: lives(drivers), "the driver's life", 60)
    return drivers, driver


def worker_returns(cluster, work):
    """A worker that is killed and started again within ten seconds is the same, and so are its executors and drivers."""
    drivers, driver = living_driver(cluster, work)
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    before, ids = cluster.processes_of(app_id), {worker["id"] for worker in cluster.page()["workers"]}
    for number in (0, 1):
        cluster.kill(f"worker-{number}")
        cluster.start_worker(number, cluster.spec.workers[number])
    cluster.wait(lambda: cluster.log().count("a worker is back") == 2, "both workers", 10)
    assert {worker["id"] for worker in cluster.page()["workers"]} == ids, cluster.page()["workers"]
    assert (cluster.processes_of(app_id), len(lives(drivers))) == (before, 1)
    assert status(cluster, driver)["driverState"] == "RUNNING"
    os.kill(before["1"], signal.SIGKILL)
    cluster.wait(lambda: sorted(cluster.processes_of(app_id)) == ["0", "2"], "a new executor", 30)
    job.release()
    job.result()
    (drivers / "go").write_text("")
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "FINISHED", "the driver's end", 60)


def worker_stays_away(cluster, work):
    """What a worker that is killed has run ends: before a master of ours when it has not returned, before Spark's at once."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    cluster.kill("worker-0")
    killed = time.monotonic()
    cluster.wait(lambda: len(cluster.processes_of(app_id)) < 2 or "2" in cluster.processes_of(app_id), "the end of its executor", 20)
    waited = time.monotonic() - killed
    assert waited > 9 if cluster.spec.master == "fairlead" else waited < 3, waited
    cluster.wait(lambda: "2" in cluster.processes_of(app_id), "a new executor", 30)
    job.release()
    job.result()


def cluster_job(cluster, work):
    """ClusterJob.java as a jar."""
    classes, jar = work / "classes", work / "job.jar"
    java = peers.java()
    subprocess.run([java + "c", "-nowarn", "-proc:none", "-d", classes, "-cp", f"{cluster.home}/jars/*", peers.HERE / "java/standalone/ClusterJob.java"], check=True)
    subprocess.run([java[:-4] + "jar", "--create", "--file", jar, "-C", classes, "."], check=True)
    return jar


def submit(cluster, work, *options, rest=True):
    """spark-submit --deploy-mode cluster; gives the driver's id."""
    jar = cluster_job(cluster, work)
    command, environment = cluster.spark_command("--deploy-mode", "cluster", *options, "--class", "ClusterJob", jar, work, **{
        "spark.master.rest.enabled": str(rest).lower(), "spark.driver.extraJavaOptions": " ".join([*peers.JVM, *peers.OPENS])})
    if rest:
        command[command.index(cluster.url)] = "spark://" + ",".join(f"127.0.0.1:{port}" for _, _, port in cluster.ports)
    run = subprocess.run([str(word) for word in command], env=environment, capture_output=True, text=True, timeout=120)
    require_success(run, "spark-submit")
    return re.search(r"driver-\d{14}-\d{4}", run.stdout + run.stderr)[0]


def lives(work):
    return sorted(int(path.name.split("-")[1]) for path in work.glob("life-*"))


def status(cluster, driver):
    return rest(cluster, "GET", f"/v1/submissions/status/{driver}")[1]


def cluster_mode(cluster, work, **how):
    """A driver that runs on a worker gets its executors, and its end is known."""
    driver = submit(cluster, work, **how)
    (work / "go").write_text("")
    cluster.wait(lambda: (work / "result").exists(), "the driver's result", 120)
    assert (work / "result").read_text() == "999000"
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "FINISHED", "the driver's end", 30)
    assert len(list(cluster.directory.rglob(f"{driver}/job.jar"))) == 1, "programs look for the driver's jar in its directory"


def cluster_mode_rpc(cluster, work):
    cluster_mode(cluster, work, rest=False)


def supervised(cluster, work):
    """A supervised driver that is killed lives again; killed on request it does not."""
    driver = submit(cluster, work, "--supervise")
    cluster.wait(lambda: len(lives(work)) == 1, "the driver's first life", 60)
    os.kill(lives(work)[0], signal.SIGKILL)
    cluster.wait(lambda: len(lives(work)) == 2, "its second life", 60)
    assert rest(cluster, "POST", f"/v1/submissions/kill/{driver}")[1]["success"]
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "KILLED", "the driver's end", 30)
    assert len(lives(work)) == 2


def rest(cluster, method, path, body=None):
    """Status and JSON (None for any other answer)."""
    request = urllib.request.Request(f"http://127.0.0.1:{cluster.rest}{path}", method=method, data=body.encode() if body is not None else None)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            code, text = answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        code, text = error.code, error.read().decode()
    try:
        return code, json.loads(text)
    except ValueError:
        return code, None


def rest_answers(cluster, work):
    """What the REST port answers is what Spark's own Master answered when it was recorded."""
    driver, different = "none", []
    cluster.wait(lambda: listening(cluster.rest), "the REST port")
    for line in gzip.open(peers.HERE / f"recordings/spark-rest-{cluster.spec.spark}.jsonl.gz", "rt"):
        asked = json.loads(line)
        body = asked["body"] and asked["body"].replace("HOST:PORT", f"127.0.0.1:{cluster.port}")
        code, answer = rest(cluster, asked["method"], asked["path"].replace("DRIVER", driver), body)
        if answer and answer["action"] == "CreateSubmissionResponse":
            driver = answer["submissionId"]
        if answer:
            answer = json.loads(json.dumps(answer).replace(driver, "DRIVER"))
            if answer.get("message", "").startswith("Malformed request"):
                answer["message"] = "Malformed request"  # Spark's own has a stack trace of its own behind it
        if (code, answer) != (asked["status"], asked["answer"]):
            different.append((asked, code, answer))
    assert not different, different


def page(cluster, work):
    """The page's JSON has the keys of Spark's own."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    found = cluster.page()
    assert set(found) == {"url", "workers", "aliveworkers", "cores", "coresused", "memory", "memoryused", "resources", "resourcesused", "activeapps",
                          "completedapps", "activedrivers", "completeddrivers", "status"}, found
    assert (found["aliveworkers"], found["cores"], found["coresused"], found["status"]) == (2, 4, 2, "ALIVE"), found
    assert set(found["workers"][0]) == {"id", "host", "port", "webuiaddress", "cores", "coresused", "coresfree", "memory", "memoryused", "memoryfree",
                                        "resources", "resourcesused", "resourcesfree", "state", "lastheartbeat"}, found
    application, = found["activeapps"]
    assert set(application) == {"id", "starttime", "name", "cores", "user", "memoryperexecutor", "memoryperslave", "resourcesperexecutor",
                                "resourcesperslave", "submitdate", "state", "duration"}, application
    assert (application["id"], application["cores"], application["state"]) == (app_id, 2, "RUNNING"), application
    job.release()
    job.result()
    cluster.wait(lambda: cluster.page()["completedapps"][0]["state"] == "FINISHED", "the application's end", 20)


def shape(value, known):
    """A JSON value as its keys, in their order, and kinds of values; what is equal in every run stays."""
    if isinstance(value, dict):
        return {re.sub(r"\d{2,}", "N", key): shape(each, known) for key, each in value.items()}
    if isinstance(value, list):
        shaped = [shape(each, known) for each in value]
        return sorted(shaped, key=json.dumps) if any(isinstance(each, dict) for each in shaped) else shaped  # Spark's are in the order of hashes
    if isinstance(value, bool) or value is None or (isinstance(value, int) and 0 <= value < 10_000):
        return value
    if isinstance(value, (int, float)):
        return type(value).__name__
    for text, name in known.items():
        value = value.replace(text, name)
    value = re.sub(r"[A-Z][a-z]{2} [A-Z][a-z]{2} \d\d [\d:]{8} \w+ \d{4}", "DATE", value)
    value = re.sub(r"\b(worker|driver|app)-\d{14}-[\w.-]+", r"\1-ID", value)
    return re.sub(r"\d{13}", "MS", re.sub(r":\d{4,5}\b", ":PORT", value))


def without_durations(document):
    """Times since something began, and what a command line is like, are no part of what is compared."""
    text = re.sub(r'"(duration|command|lastheartbeat|starttime|webuiaddress|port)": ?("(?:[^"\\\\]|\\\\.)*"|\d+)', r'"\1": "..."', json.dumps(document))
    return json.loads(text)


def documents(cluster, work):
    """What Master and Worker say in JSON with an application and a driver that run and ones that have ended is, key by key and but
    for ids and times, what Spark's own said when it was recorded."""
    (work / "ended").mkdir()
    ended = PausedJob(cluster, work / "ended")
    ended.await_round()
    ended.release()
    ended.result()
    (work / "over").mkdir()
    over = submit(cluster, work / "over")
    (work / "over/go").write_text("")
    cluster.wait(lambda: status(cluster, over)["driverState"] == "FINISHED", "the first driver's end", 120)
    drivers, driver = living_driver(cluster, work)
    job = PausedJob(cluster, work, "--conf", "spark.executor.resource.gpu.amount=1", "--conf", "spark.task.resource.gpu.amount=1")
    job.await_round()
    cluster.wait(lambda: len(cluster.page()["completedapps"]) == 2, "the ended applications", 30)
    worker = int(cluster.page()["workers"][0]["webuiaddress"].rsplit(":", 1)[1])
    def own(metrics):
        return {name: gauge for name, gauge in metrics["gauges"].items() if name.startswith(("master.", "worker."))}

    found = {"master": cluster.page(), "gauges": own(cluster.page("/metrics/master/json/")),
             "worker": cluster.page(web=worker), "worker gauges": own(cluster.page("/metrics/json/", web=worker)),
             "field": cluster.page("/json/aliveworkers"), "use": cluster.page("/json/clusterutilization"), "unknown": cluster.page("/json/nothing")}
    for application in found["master"]["completedapps"]:
        del application["cores"]  # which of its executors was heard to end before it did
    if cluster.spec.spark.startswith("3"):
        del found["field"], found["use"], found["unknown"]  # each is the whole document
    known = {str(cluster.home): "HOME", str(work): "WORK", str(cluster.directory): "CLUSTER", "localhost": "127.0.0.1"}
    recordings.compare_json(f"spark-json-{cluster.spec.spark}", shape(without_durations(found), known))
    job.release()
    job.result()
    (drivers / "go").write_text("")
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "FINISHED", "the driver's end", 120)


def probe(web, path):
    """Status and text of one of our own pages."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{web}{path}", timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def probes(cluster, work):
    """What an operator's tools ask: is it alive, may it be used, how much is in use."""
    job = PausedJob(cluster, work)
    job.await_round()
    worker = int(cluster.page()["workers"][0]["webuiaddress"].rsplit(":", 1)[1])
    for web, metric in ((cluster.web, "fairlead_spark_master_cores_used 2"), (worker, "fairlead_spark_worker_cores_used 1")):
        assert probe(web, "/healthz") == (200, "ok\n")
        assert probe(web, "/readyz") == (200, "ok\n")
        assert f"\n{metric}\n" in probe(web, "/metrics")[1], probe(web, "/metrics")
    run, = cluster.page("/fairlead/runs", web=worker)
    assert (run["kind"], run["state"], run["cores"], run["exit_code"], run["ended_ms"]) == ("executor", "RUNNING", 1, None, 0) and run["started_ms"] > 0, run
    about = cluster.page("/fairlead/about")
    assert about == {"release": cluster.spec.spark, "rest_url": f"spark://127.0.0.1:{cluster.rest}", "profile": "spark-standalone", "wishes": "none"}, about
    gauges = cluster.page("/metrics/master/json/")["gauges"]
    assert gauges["master.aliveWorkers"]["value"] == 2 and gauges["master.apps"]["value"] == 1, gauges
    cluster.kill("master")
    cluster.wait(lambda: probe(worker, "/readyz") == (503, "not registered yet\n"), "the worker to say so", 10)


def next_ports(cluster, work):
    """Whose page's and REST port is taken goes on to the next free one, tells others of it, and runs."""
    port, = peers.free_ports(1)
    words = [peers.BINARY, "spark-master", "--host", "127.0.0.1", "--port", port, "--webui-port", cluster.web, "--rest-port", cluster.rest, "--properties-file", cluster.properties]
    cluster.spawn("other", words, env=cluster.environment)
    cluster.wait(lambda: "the Spark master is ready" in cluster.log("other"), "the other master")
    assert cluster.log("other").count("the port is taken, the next one is tried") >= 2, cluster.log("other")
    url, rest_port = re.search(r"page=(\S+) rest=spark://127\.0\.0\.1:(\d+)", cluster.log("other")).groups()
    web = int(url.rsplit(":", 1)[1])
    assert web > cluster.web and int(rest_port) > cluster.rest, (url, rest_port)
    assert cluster.page(web=web)["url"] == f"spark://127.0.0.1:{port}"
    assert cluster.page("/fairlead/about", web=web)["rest_url"] == f"spark://127.0.0.1:{rest_port}"
    cluster.may_end.add("third")
    cluster.spawn("third", words, env={**cluster.environment, "SPARK_DAEMON_JAVA_OPTS": "-Dspark.port.maxRetries=0"})
    cluster.wait(lambda: "says another port" in cluster.log("third"), "the third master to give up")


def fetched(cluster, path, referer=None, **headers):
    """Status, where it was at the end, and text of what a browser gets at the master's web port."""
    request = urllib.request.Request(f"http://127.0.0.1:{cluster.web}{path}", headers={**({"Referer": referer} if referer else {}), **headers})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.url, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        return error.code, error.url, error.read().decode(errors="replace")


def require_parts(cluster, path):
    """A page that comes through the proxy, and every style sheet, script and picture that it names."""
    code, url, text = fetched(cluster, path)
    assert code == 200, (path, code, text)
    parts = set(re.findall(r'(?:src|href)="([^"]*/static/[^"]+)"', text))
    assert parts, text
    for part in parts:
        where = urllib.parse.urlparse(urllib.parse.urljoin(url, part))
        code, _, _ = fetched(cluster, where.path, referer=url)
        assert code == 200, (path, part, where.path, code)
    return text


def reverse_proxied(cluster, work):
    """Pages of a worker and of a driver through the master's, with all their parts; the executors' logs are linked that way."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    worker = cluster.page()["workers"][0]
    assert json.loads(fetched(cluster, f"/proxy/{worker['id']}/json/")[2])["id"] == worker["id"]
    require_parts(cluster, f"/proxy/{worker['id']}")
    code, url, _ = fetched(cluster, f"/proxy/{app_id}/")
    assert code == 200 and f":{cluster.web}/proxy/{app_id}/jobs" in url, (code, url)
    require_parts(cluster, f"/proxy/{app_id}/jobs/")
    executors = json.loads(fetched(cluster, f"/proxy/{app_id}/api/v1/applications/{app_id}/executors")[2])
    logs = [executor["executorLogs"]["stderr"] for executor in executors if executor["id"] != "driver"]
    assert len(logs) == 2 and all(re.match(rf"/proxy/worker-[^/]+/logPage/\?appId={app_id}&executorId=\d&logType=stderr$", log) for log in logs), logs
    for log in logs:
        require_parts(cluster, log)
        assert "Spark Executor Command" in fetched(cluster, log.replace("/logPage/", "/log/") + "&offset=0")[2], log
    assert fetched(cluster, "/proxy/nobody/")[0] == 403
    if cluster.spec.master == "fairlead":
        assert fetched(cluster, f"/proxy/{app_id}/jobs/", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"})[0] == 403
        assert fetched(cluster, f"/proxy/{app_id}/jobs/", Via="1.1 fairlead-proxy")[0] == 508
        assert cluster.page("/fairlead/pages")[app_id] == f"/proxy/{app_id}/", cluster.page("/fairlead/pages")
    job.release()
    job.result()


def back(cluster, workers=2):
    found = cluster.page()
    return found["status"] == "ALIVE" and found["aliveworkers"] == workers


def master_killed(cluster, work, takes_over=False):
    """A master that is killed comes back with its workers, executors and drivers, and goes on."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    before = cluster.processes_of(app_id)
    drivers, driver = living_driver(cluster, work)
    cluster.kill("master")
    if takes_over:
        cluster.spec = dataclasses.replace(cluster.spec, master="fairlead")
    started = time.monotonic()
    cluster.start_master()
    cluster.wait(lambda: back(cluster), "the master with its workers", 90)
    if cluster.spec.master == "fairlead":
        assert time.monotonic() - started < 3, "it took too long"
        assert int(re.search(r"ALIVE again .*after_ms=(\d+)", cluster.log())[1]) <= 500, cluster.log()
    assert cluster.processes_of(app_id) == before
    assert status(cluster, driver)["driverState"] == "RUNNING"
    assert len(lives(drivers)) == 1
    os.kill(before["1"], signal.SIGKILL)
    cluster.wait(lambda: sorted(cluster.processes_of(app_id)) == ["0", "2"], "a new executor", 30)
    job.release()
    job.result()
    (drivers / "go").write_text("")
    cluster.wait(lambda: (drivers / "result").exists(), "the driver's result", 60)
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "FINISHED", "the driver's end", 30)


def master_replaced(cluster, work):
    """Our master in place of Spark's, with a job and a driver running: docs/replace-spark-standalone.md."""
    master_killed(cluster, work, takes_over=True)


def goes_on(cluster, job, app_id, before, driver):
    """After a takeover executors and driver are the same, and a lost executor is replaced."""
    assert cluster.processes_of(app_id) == before
    assert status(cluster, driver)["driverState"] == "RUNNING"
    os.kill(before["1"], signal.SIGKILL)
    cluster.wait(lambda: sorted(cluster.processes_of(app_id)) == ["0", "2"], "a new executor", 30)
    job.release()
    job.result()


def leader_lost(cluster, work):
    """Of two masters the leader is killed, the other one stopped for longer than its session: jobs and drivers go on."""
    first = cluster.leader
    assert cluster.status(1 - first) == "STANDBY"
    require_standby(cluster, 1 - first)
    drivers, driver = living_driver(cluster, work)
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    before = cluster.processes_of(app_id)
    cluster.kill(cluster.master_name(first))
    took = time.monotonic()
    second = cluster.await_leader(other_than=first)
    cluster.wait(lambda: back(cluster), "the workers")
    print(f"master killed to ALIVE with its workers {time.monotonic() - took:.2f} s")
    goes_on(cluster, job, app_id, before, driver)
    cluster.start_master(first)
    cluster.wait(lambda: cluster.status(first) == "STANDBY", "the first one in standby", 30)
    stopped = cluster.processes[cluster.master_name(second)].pid
    again = work / "again"
    again.mkdir()
    job = PausedJob(cluster, again)
    app_id = job.await_round()
    before = cluster.processes_of(app_id)
    os.kill(stopped, signal.SIGSTOP)
    cluster.await_leader(other_than=second)
    cluster.wait(lambda: back(cluster), "the workers")
    if cluster.spec.master == "fairlead":  # Spark's own ends when it hears of it
        os.kill(stopped, signal.SIGCONT)
        cluster.wait(lambda: cluster.status(second) == "STANDBY", "the stopped one in standby", 30)
        assert cluster.status(first) == "ALIVE"
    goes_on(cluster, job, app_id, before, driver)
    (drivers / "go").write_text("")
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "FINISHED", "the driver's end", 60)
    assert len(lives(drivers)) == 1


def require_standby(cluster, number):
    """What a master in standby answers by REST, but for the stack traces of Spark's own."""
    leader, cluster.leader = cluster.leader, number
    try:
        cluster.wait(lambda: listening(cluster.rest), "its REST port")
        said = {}
        answers = [("POST", "kill/driver-0"), ("GET", "status/driver-0")]
        answers += [("POST", "killall"), ("POST", "clear"), ("GET", "readyz")] if cluster.spec.spark.startswith("4") else []
        for method, path in answers:
            code, answer = rest(cluster, method, f"/v1/submissions/{path}", "" if method == "POST" else None)
            said[path] = (code, answer.get("success"), answer["message"].split("\n\t")[0].replace("java.lang.Exception: ", ""))
    finally:
        cluster.leader = leader
    not_alive = "Current state is not alive: STANDBY. Can only {} in ALIVE state."
    expected = {"kill/driver-0": (200, False, not_alive.format("kill drivers")),
                "status/driver-0": (200, False, "Exception from the cluster:\n" + not_alive.format("request driver status")),
                "killall": (200, False, not_alive.format("kill drivers")), "clear": (200, True, ""), "readyz": (503, None, "Master is not ready.")}
    assert said == {path: expected[path] for path in said}, said


def authenticated(cluster, work):
    """With the same secret all goes on as without; with another one a worker stays out, and both sides say why."""
    client_mode(cluster, work)
    wrong = cluster.directory / "wrong.conf"
    wrong.write_text(cluster.properties.read_text().replace("one secret", "another"))
    cluster.start_worker(9, 1, properties=wrong)
    cluster.wait(lambda: "Authentication failed" in cluster.log("worker-9") or "DIGEST-MD5" in cluster.log("worker-9"), "the worker's word", 60)
    if cluster.spec.master == "fairlead":
        assert "spark.authenticate.secret" in cluster.log(), cluster.log()
    assert cluster.page()["aliveworkers"] == 2
    cluster.may_end.add("worker-9")
    cluster.kill("worker-9")


def order(cluster, path, **form):
    """POST to the master's page; gives the status, of the answer itself and not of where it leads."""
    connection = http.client.HTTPConnection("127.0.0.1", cluster.web, timeout=20)
    origin = form.pop("origin", None)
    connection.request("POST", path, urllib.parse.urlencode(form),
                       {"Content-Type": "application/x-www-form-urlencoded", **({"Origin": origin} if origin else {})})
    return connection.getresponse().status


def killed_by_page(cluster, work):
    """An application and a driver that are killed on the page end; a page of another site kills nothing."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    assert order(cluster, "/app/kill/", id=app_id, terminate="true", origin="http://elsewhere.example") == 403
    assert order(cluster, "/app/kill/", id=app_id) == 302  # nothing that is to be ended
    assert cluster.page()["activeapps"][0]["id"] == app_id
    assert order(cluster, "/app/kill/", id=app_id, terminate="true") == 302
    job.finish(60, code=None)
    assert "KILLED" in job.text(), job.text()
    cluster.wait(lambda: not cluster.processes_of(app_id), "the executors' end", 20)
    assert cluster.page()["completedapps"][0]["state"] == "KILLED"
    driver = submit(cluster, work)
    cluster.wait(lambda: lives(work), "the driver's life", 60)
    assert order(cluster, "/driver/kill/", id=driver, terminate="true") == 302
    cluster.wait(lambda: status(cluster, driver)["driverState"] == "KILLED", "the driver's end", 30)


def decommissioned(cluster, work):
    """A worker that is decommissioned, by signal or on request, gets nothing more; the job ends well."""
    job = PausedJob(cluster, work)
    job.await_round()
    os.kill(cluster.processes["worker-0"].pid, signal.SIGPWR)
    cluster.wait(lambda: sorted(w["state"] for w in cluster.page()["workers"]) == ["ALIVE", "DECOMMISSIONED"], "the worker's state", 20)
    job.release()
    job.result()
    assert order(cluster, "/workers/kill/", host="nowhere") == 404
    assert order(cluster, "/workers/kill/", host="127.0.0.1") == 200
    cluster.wait(lambda: [w["state"] for w in cluster.page()["workers"]] == ["DECOMMISSIONED"] * 2, "the other one's state", 20)


def custom_resources(cluster, work):
    """Each executor has an address of its own of what its worker has found, and no more executors run than there are."""
    job = PausedJob(cluster, work, "--conf", "spark.executor.resource.gpu.amount=1", "--conf", "spark.task.resource.gpu.amount=1",
                    "--conf", "spark.cores.max=3")
    app_id = job.await_round()
    worker, = cluster.page()["workers"]
    assert worker["resources"]["gpu"]["addresses"] == ["0", "1"], worker
    assert sorted(worker["resourcesused"]["gpu"]["addresses"]) == ["0", "1"], worker
    assert sorted(cluster.processes_of(app_id)) == ["0", "1"], cluster.processes_of(app_id)
    if cluster.spec.worker == "fairlead":
        given = [(cluster.directory / f"work-0/{app_id}/{executor}/resources.json").read_text() for executor in (0, 1)]
        assert len(set(given)) == 2, given
    job.release()
    job.result()


def idled_out(cluster, work):
    """Dynamic allocation gives executors back that are idle; the shuffle service inside their Worker serves what they wrote."""
    job = PausedJob(cluster, work, "--conf", "spark.dynamicAllocation.enabled=true", "--conf", "spark.dynamicAllocation.executorIdleTimeout=1s",
                    "--conf", "spark.dynamicAllocation.maxExecutors=2", "--conf", "spark.shuffle.readHostLocalDisk=false", again=True)
    app_id = job.await_round()
    job.release()
    cluster.wait(lambda: job.running() and (work / "idle").exists() and not cluster.processes_of(app_id), "the release of the executors", 120)
    (work / "go-on").write_text("")
    result = job.result()
    assert result["task_runs"] == 2, result


def in_pool(cluster, work, pool, *options, tasks=2, priority=0, cores_max=4):
    """A paused job of a pool."""
    work = work / pool
    work.mkdir()
    return PausedJob(cluster, work, "--conf", f"spark.executorEnv.FAIRLEAD_QUEUE=root.{pool}", "--conf", f"spark.executorEnv.FAIRLEAD_PRIORITY={priority}",
                     "--conf", f"spark.cores.max={cores_max}", *options, tasks=tasks)


def cores_of(cluster):
    """{application: its cores}."""
    return {app["id"]: app["cores"] for app in cluster.page()["activeapps"]}


def shares(cluster, work):
    """A pool that has everything gives half of it back to another one; its job does not suffer."""
    first = in_pool(cluster, work, "one", tasks=4)
    first.await_round()
    assert list(cores_of(cluster).values()) == [4], cores_of(cluster)
    second = in_pool(cluster, work, "two")
    second.await_round()
    assert sorted(cores_of(cluster).values()) == [2, 2], cores_of(cluster)
    for job in (first, second):
        job.release()
    for job in (first, second):
        job.result()


def urgent(cluster, work):
    """Of two applications that wait the more important one comes first, and the page says why the other waits."""
    running = in_pool(cluster, work, "running", cores_max=2)
    running.await_round()
    jobs = []
    for name, priority in (("calm", 0), ("urgent", 7)):
        (work / name).mkdir()
        jobs.append(PausedJob(cluster, work / name, "--conf", "spark.executorEnv.FAIRLEAD_QUEUE=root.running", "--conf",
                              f"spark.executorEnv.FAIRLEAD_PRIORITY={priority}"))
        cluster.wait(lambda: len(cluster.page()["activeapps"]) == len(jobs) + 1, "the application", 60)
    waiting = cluster.page("/fairlead/waiting")
    assert len(waiting) == 2, waiting
    running.release()
    running.result()
    app_id = jobs[1].await_round()
    states = {app["id"]: app["state"] for app in cluster.page()["activeapps"]}
    assert states.pop(app_id) == "RUNNING" and list(states.values()) == ["WAITING"], states
    for job in reversed(jobs):
        job.release()
        job.result()


def loaded_worker(cluster, work):
    """Executors go to the Worker whose machine is used least; an overloaded one takes nothing until it calms, and the page says so."""
    mib = 1 << 20

    def use(number, memory):
        (cluster.directory / f"machine-{number}/memory.current").write_text(f"{memory * mib}\n")

    for number, memory in enumerate((2000, 1000, 100)):
        machine = cluster.directory / f"machine-{number}"  # as a control group of version 2 looks
        machine.mkdir()
        (machine / "memory.max").write_text(f"{2048 * mib}\n")
        use(number, memory)
        properties = cluster.directory / f"worker-{number}.conf"
        properties.write_text(cluster.properties.read_text() + f"spark.fairlead.machine.control-groups {machine}\n")
        cluster.start_worker(number, 2, properties=properties)
    cluster.wait(lambda: len(cluster.page("/fairlead/use")) == 3, "what the workers use")

    def cores_used(app_id):
        return [len(list(cluster.directory.glob(f"work-{number}/{app_id}/*"))) for number in range(3)]

    first = in_pool(cluster, work, "first", cores_max=2)
    assert cores_used(first.await_round()) == [0, 0, 2]
    second = in_pool(cluster, work, "second", tasks=4)
    cluster.wait(lambda: len(list(second.work.glob("running-*"))) == 2, "the tasks that have room", 120)
    app_id = next(app["id"] for app in cluster.page()["activeapps"] if app["id"] != (first.work / "app-1").read_text())
    assert cores_used(app_id) == [0, 2, 0], cores_used(app_id)
    cluster.wait(lambda: "overloaded" in cluster.page("/fairlead/waiting").get(app_id, ""), "why it waits")
    use(0, 100)
    second.await_round()
    assert cores_used(app_id) == [2, 2, 0], cores_used(app_id)
    for job in (first, second):
        job.release()
        job.result()


def limited(cluster, work):
    """A pool with a maximum gets no more, and the page says so."""
    job = in_pool(cluster, work, "small", tasks=1)
    app_id = job.await_round()
    assert list(cores_of(cluster).values()) == [1], cores_of(cluster)
    assert "small" in cluster.page("/fairlead/waiting")[app_id], cluster.page("/fairlead/waiting")
    job.release()
    job.result()


def worker_page(cluster, work):
    """The Worker's JSON has the keys of Spark's own, and its log pages give what an executor wrote."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    web = int(cluster.page()["workers"][0]["webuiaddress"].rsplit(":", 1)[1])
    found = cluster.page(web=web)
    assert set(found) == {"id", "masterurl", "masterwebuiurl", "cores", "coresused", "memory", "memoryused", "resources", "resourcesused", "executors",
                          "finishedexecutors"}, found
    executor = found["executors"][0]
    assert set(executor) == {"id", "memory", "resources", "appid", "appdesc"}, executor
    assert set(executor["appdesc"]) == {"name", "cores", "memoryperexecutor", "resourcesperexecutor", "memoryperslave", "resourcesperslave", "user",
                                        "command"}, executor
    assert (executor["appid"], found["masterurl"], found["coresused"]) == (app_id, cluster.url, 1), found
    asked = f"?appId={app_id}&executorId={executor['id']}&logType=stderr&offset=0&byteLength=50"
    with urllib.request.urlopen(f"http://127.0.0.1:{web}/log/{asked}", timeout=10) as answer:
        head, text = answer.read().decode().split("\n", 1)
    assert re.match(rf"==== Bytes 0-50 of \d+ of .*/{app_id}/{executor['id']}/stderr ====", head), head
    assert text.startswith("Spark Executor Command: "), text
    with urllib.request.urlopen(f"http://127.0.0.1:{web}/logPage/{asked}", timeout=10) as answer:
        assert answer.status == 200
    job.release()
    job.result()


def https_pages(cluster, work):
    """Pages link to each other by HTTPS, and so do executors' logs; drivers come by REST as ever."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    pages = [worker["webuiaddress"] for worker in cluster.page()["workers"]]
    assert len(pages) == 2 and all(page.startswith("https://") for page in pages), pages
    seen = [cluster.fetch(page + "/json/") for page in pages]
    assert all(page["masterwebuiurl"].startswith("https://") for page in seen), seen
    assert {executor["appid"] for page in seen for executor in page["executors"]} == {app_id}, seen
    logs = [words[at + 1] for pid in cluster.processes_of(app_id).values() for words in [environment(pid)] for at in [words.index("SPARK_LOG_URL_STDERR")]]
    assert logs and all(address.startswith("https://") for address in logs), logs
    job.release()
    job.result()
    (work / "by-rest").mkdir()
    cluster_mode(cluster, work / "by-rest")


def environment(pid):
    """Names and values of a process's variables, one after the other."""
    return [word for line in pathlib.Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0") for word in line.partition("=")[::2]]


def logs_rolled(cluster, work):
    """An executor's log is rolled by size and its oldest parts go; the page gives what is left as one text."""
    job = PausedJob(cluster, work, "--conf", "spark.executor.extraJavaOptions=-verbose:class")
    app_id = job.await_round()
    logs = sorted((cluster.directory / "work-0" / app_id).glob("*/stdout*"))
    assert len(logs) == 3 and logs[0].name == "stdout", logs
    assert all(re.fullmatch(r"stdout--\d{4}-\d\d-\d\d--\d\d-\d\d-\d\d--\d{4}(--\d+)?", log.name) for log in logs[1:]), logs
    assert all(81920 - 8192 <= log.stat().st_size <= 81920 for log in logs[1:]), [log.stat().st_size for log in logs]
    for each in cluster.page()["workers"]:
        web = int(each["webuiaddress"].rsplit(":", 1)[1])
        asked = f"?appId={app_id}&executorId={logs[0].parent.name}&logType=stdout&offset=0&byteLength=100000"
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{web}/log/{asked}", timeout=10) as answer:
                head, text = answer.read().decode().split("\n", 1)
        except urllib.error.HTTPError:
            continue  # it runs on the other one
        if head.startswith("==== Bytes 0-0 of 0 of "):
            continue  # the same, as Spark's Worker says it
        begins = logs[1].read_text()
        assert re.match(r"==== Bytes 0-100000 of ", head) and text[:len(begins)] == begins, head
        break
    else:
        raise AssertionError("no worker shows the log")
    job.release()
    job.result()


def held_by_kernel(cluster, work):
    """An executor is in a control group of its own with its cores and memory, which goes with it."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    groups = {number: dict(line.split(":")[1:] for line in open(f"/proc/{pid}/cgroup").read().splitlines())
              for number, pid in cluster.processes_of(app_id).items()}
    mounts = {}
    for number, of in groups.items():
        path = next(path for name, path in of.items() if "fairlead-spark" in path and ("memory" in name.split(",") or not name))
        assert path.endswith(f"/fairlead-spark/{app_id}_{number}"), of
        mounts[number] = pathlib.Path("/sys/fs/cgroup/memory" if any("memory" in name.split(",") for name in of) else "/sys/fs/cgroup") / path[1:]
        limit = next(file for file in (mounts[number] / "memory.max", mounts[number] / "memory.limit_in_bytes") if file.exists())
        assert int(limit.read_text()) == (512 + 384) << 20, limit.read_text()
    job.release()
    job.result()
    cluster.wait(lambda: not any(path.exists() for path in mounts.values()), "the groups' end", 20)


OTHER_KEY = base64.urlsafe_b64encode(b"x" * 32).decode()
TOKEN_KEY = base64.urlsafe_b64encode(b"0123456789abcdef0123456789abcdef").decode()


def token(key):
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": "test"})]
    signature = hmac.new(base64.urlsafe_b64decode(key), b".".join(parts), "sha256").digest()
    return b".".join([*parts, base64.urlsafe_b64encode(signature).rstrip(b"=")]).decode()


def tokens(cluster, work):
    """The REST port takes who brings a token that is signed with the key."""
    def ask(authorization):
        request = urllib.request.Request(f"http://127.0.0.1:{cluster.rest}/v1/submissions/status/driver-1")
        if authorization:
            request.add_header("Authorization", authorization)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code
    assert ask(f"Bearer {token(TOKEN_KEY)}") == 200
    assert ask(f"Bearer {token(OTHER_KEY)}") == 403
    assert [ask(each) for each in (None, "Basic dTpw", "Bearer a.b.c")] == [403, 403, 403]


def ids(cluster, work):
    """Applications, drivers and workers are called as the patterns say."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    assert re.fullmatch(r"0000\.a\d{14}", app_id), app_id
    workers = [worker["id"] for worker in cluster.page()["workers"]]
    assert all(re.fullmatch(r"w\d+-127\.0\.0\.1", worker) for worker in workers), workers
    body = {"action": "CreateSubmissionRequest", "appArgs": [], "appResource": "file:/none.jar", "clientSparkVersion": cluster.spec.spark,
            "environmentVariables": {}, "mainClass": "None", "sparkProperties": {"spark.app.name": "none", "spark.master": cluster.url, "spark.driver.cores": "99"}}
    driver = rest(cluster, "POST", "/v1/submissions/create", json.dumps(body))[1]["submissionId"]
    assert re.fullmatch(r"d-\d{14}-00", driver), driver
    job.release()
    job.result()


def used_by_size(cluster):
    """{cores of a worker: those in use}."""
    return {worker["cores"]: worker["coresused"] for worker in cluster.page()["workers"]}


def placed(cluster, work, expected):
    """Four executors of one core on workers of 4, 2 and 1: where Spark's rules put them."""
    job = PausedJob(cluster, work, "--conf", "spark.cores.max=4", tasks=4)
    job.await_round()
    assert used_by_size(cluster) == expected, cluster.page()["workers"]
    job.release()
    job.result()


def spread_out(cluster, work):
    placed(cluster, work, {4: 2, 2: 1, 1: 1})


def packed(cluster, work):
    placed(cluster, work, {4: 4, 2: 0, 1: 0})


def first_come(cluster, work):
    """The second of two applications waits until the first one, which has everything, is over."""
    jobs = []
    for name in ("first", "second"):
        (work / name).mkdir()
        jobs.append(PausedJob(cluster, work / name, "--conf", "spark.cores.max=4"))
        cluster.wait(lambda: len(cluster.page()["activeapps"]) == len(jobs), "the application", 60)
        if name == "first":
            first = jobs[0].await_round()
    assert {app["id"]: (app["state"], app["cores"]) for app in cluster.page()["activeapps"]}[first] == ("RUNNING", 4)
    assert sorted(app["state"] for app in cluster.page()["activeapps"]) == ["RUNNING", "WAITING"], cluster.page()["activeapps"]
    jobs[0].release()
    jobs[0].result()
    second = jobs[1].await_round()
    assert cores_of(cluster) == {second: 4}, cores_of(cluster)
    jobs[1].release()
    jobs[1].result()


def master_forgets(cluster, work):
    """Without recovery a new master gets the workers back, ends the executors that it does not know, and serves the next job."""
    job = PausedJob(cluster, work)
    app_id = job.await_round()
    cluster.kill("master")
    cluster.start_master()
    cluster.wait(lambda: back(cluster), "the master with its workers", 90)
    cluster.wait(lambda: not cluster.processes_of(app_id), "the end of executors that nobody knows", 60)
    found = cluster.page()
    assert (found["activeapps"], found["coresused"]) == ([], 0), found
    (work / "next").mkdir()
    client_mode(cluster, work / "next")


SHUFFLE = (("spark.shuffle.service.enabled", "true"), ("spark.shuffle.service.port", "{shuffle}"))
SECRET = (("spark.authenticate", "true"), ("spark.authenticate.secret", "one secret"), ("spark.master.rest.enabled", "false"))


def recovery(mode):
    """The conf of a recovery mode; {directory} is the cluster's."""
    return (("spark.deploy.recoveryMode", mode), ("spark.deploy.recoveryDirectory", "{directory}/recovery"))


ZOOKEEPER = (("spark.deploy.recoveryMode", "ZOOKEEPER"), ("spark.deploy.zookeeper.url", "{zookeeper}"))
PAIRINGS = (("fairlead", "spark"), ("spark", "fairlead"), ("fairlead", "fairlead"))


def register(name, run, smoke=(), pairings=PAIRINGS, releases=RELEASES, **spec):
    for release in releases:
        for master, worker in pairings:
            full = f"standalone-{name}-{master}-master-{worker}-workers-{release}"
            made = spark_cluster.Spec(spark=release, master=master, worker=worker, **spec)
            case("smoke" if (release, master, worker) in smoke else "all", made, own_cluster=True, name=full)(run)


register("client-mode", client_mode, smoke={("4.3.0", "fairlead", "spark"), ("3.5.9", "spark", "fairlead")})
register("executor-killed", executor_killed)
register("worker-killed", worker_killed)
register("worker-returns", worker_returns, pairings=(PAIRINGS[2],), workers=(3, 3))
register("worker-stays-away", worker_stays_away, pairings=PAIRINGS[1:])
register("cluster-mode", cluster_mode)
register("cluster-mode-rpc", cluster_mode_rpc)
register("supervised", supervised)
register("page", page)
register("documents", documents, workers=(8,), memory="8g", conf=(
    ("spark.worker.resource.gpu.amount", "2"), ("spark.worker.resource.gpu.discoveryScript", str(peers.HERE / "gpus.sh"))))
register("ids", ids, releases=("4.3.0",), conf=(
    ("spark.deploy.appIdPattern", "%2$04d.a%1$s"), ("spark.deploy.driverIdPattern", "d-%s-%02d"), ("spark.worker.idPattern", "w%3$d-%2$s")))
register("probes", probes, pairings=(PAIRINGS[2],))
register("next-ports", next_ports, pairings=(PAIRINGS[2],), releases=("4.3.0",), workers=())
register("reverse-proxy", reverse_proxied, pairings=(*PAIRINGS, ("spark", "spark")), conf=(("spark.ui.reverseProxy", "true"), ("spark.ui.enabled", "true"), ("spark.ui.port", "0")))
register("spread-out", spread_out, workers=(4, 2, 1))
register("packed", packed, workers=(4, 2, 1), conf=(("spark.deploy.spreadOut", "false"), ("spark.deploy.spreadOutApps", "false")))
register("first-come", first_come)
register("master-killed-none", master_forgets)
register("master-killed-files", master_killed, pairings=(*PAIRINGS, ("spark", "spark")), workers=(3, 3), conf=recovery("FILESYSTEM"))
register("master-killed-rocksdb", master_killed, releases=("4.3.0",), pairings=(PAIRINGS[0], PAIRINGS[2]), workers=(3, 3), conf=recovery("ROCKSDB"))
register("master-replaced", master_replaced, pairings=(("spark", "spark"),), workers=(3, 3), conf=recovery("FILESYSTEM"))
register("standby", lambda cluster, work: require_standby(cluster, 1 - cluster.leader), pairings=(PAIRINGS[0], ("spark", "spark")), workers=(), masters=2, conf=ZOOKEEPER)
register("leader-lost", leader_lost, pairings=(PAIRINGS[0], PAIRINGS[2]), workers=(3, 3), masters=2, conf=ZOOKEEPER)
register("killed-by-page", killed_by_page, pairings=(PAIRINGS[0], PAIRINGS[2]))
register("decommissioned", decommissioned, conf=(("spark.decommission.enabled", "true"),))
register("custom-resources", custom_resources, workers=(4,), conf=(
    ("spark.worker.resource.gpu.amount", "2"), ("spark.worker.resource.gpu.discoveryScript", str(peers.HERE / "gpus.sh"))))
register("authenticated", authenticated, conf=SECRET)
register("encrypted", authenticated, conf=(*SECRET, ("spark.network.crypto.enabled", "true"), ("spark.network.crypto.saslFallback", "false")))
OURS = (PAIRINGS[0], PAIRINGS[2])
FAIR = ("--profile", "fairlead", "--set", "yarn.scheduler.fair.preemption=true", "--set", "fairlead.scheduler.preemption.starvation-ms=1000",
        "--set", "yarn.scheduler.fair.waitTimeBeforeKill=0", "--set", "fairlead.scheduler.preemption.interval-ms=500")
register("shares", shares, pairings=OURS, options=FAIR)
register("urgent", urgent, pairings=OURS, workers=(2,), options=FAIR)
register("limited", limited, pairings=OURS, options=FAIR,
         queues='<allocations><queue name="small"><maxResources>4096 mb, 1 vcores</maxResources></queue></allocations>')
register("loaded-worker", loaded_worker, pairings=(PAIRINGS[2],), workers=(), options=(
    "--profile", "fairlead", "--set", "fairlead.scheduler.wishes=measured-load,measured-use"))
register("profile-client-mode", client_mode, pairings=OURS, options=FAIR)
register("worker-page", worker_page, pairings=(*PAIRINGS, ("spark", "spark")))
register("https-pages", https_pages, pairings=(*PAIRINGS, ("spark", "spark")), releases=("4.3.0",), tls=True)
register("idled-out", idled_out, workers=(4,), conf=SHUFFLE)
register("idled-out-authenticated", idled_out, workers=(4,), pairings=(PAIRINGS[2],), conf=(*SHUFFLE, *SECRET))
register("logs-rolled", logs_rolled, pairings=(*PAIRINGS[1:], ("spark", "spark")), conf=(
    ("spark.executor.logs.rolling.strategy", "size"), ("spark.executor.logs.rolling.maxSize", "81920"), ("spark.executor.logs.rolling.maxRetainedFiles", "2")))
register("held-by-kernel", held_by_kernel, pairings=PAIRINGS[1:], conf=(("spark.fairlead.cgroups", "true"),))
register("tokens", tokens, pairings=(PAIRINGS[2],), releases=("4.3.0",), workers=(), conf=(
    ("spark.master.rest.filters", "org.apache.spark.ui.JWSFilter"), ("spark.org.apache.spark.ui.JWSFilter.param.secretKey", TOKEN_KEY)))
register("rest-answers", rest_answers, pairings=(("fairlead", "fairlead"), ("spark", "spark")), workers=())
