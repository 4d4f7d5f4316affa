"""Logs of applications in both of Hadoop's formats, at their end and while they run, read by Hadoop's own programs."""
import dataclasses
import json
import os
import re
import subprocess
import urllib.request

import peers
from registry import Spec, case, require_success

CONTROLLERS = "org.apache.hadoop.yarn.logaggregation.filecontroller"
GATHERED = (
    ("yarn.log-aggregation-enable", "true"),
    ("yarn.log-aggregation.file-formats", "IFile,TFile"),
    ("yarn.log-aggregation.file-controller.IFile.class", f"{CONTROLLERS}.ifile.LogAggregationIndexedFileController"),
    ("yarn.log-aggregation.file-controller.TFile.class", f"{CONTROLLERS}.tfile.LogAggregationTFileController"),
)
COMPRESSED = (("yarn.nodemanager.log-aggregation.compression-type", "gz"),)
MOUNTED = (("yarn.nodemanager.remote-app-log-dir", "{directory}/gathered"),)
IN_HDFS = Spec(hdfs=True, yarn_site=(*GATHERED, *COMPRESSED, ("yarn.log-aggregation.IFile.remote-app-log-dir", "/indexed"),
                                     ("yarn.log-aggregation.IFile.remote-app-log-dir-suffix", "all")))
ROLLING = (
    ("yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds", "1"),
    ("yarn.nodemanager.log-aggregation.debug-enabled", "true"),
    ("yarn.nodemanager.log-aggregation.num-log-files-per-app", "3"),
)
ROLLED = Spec(history=False, nodes=("fairlead",), yarn_site=(*GATHERED, *MOUNTED, *ROLLING))

# A master that rolls its log, part by part as it is let.
PROGRAM = """cd $1
for n in 1 2 3 4 5; do
  echo part-$n > open
  mv open syslog.$n
  while [ ! -e {gate}$n ]; do sleep 0.05; done
done
echo the end
"""


def yarn_logs(cluster, *words):
    """What `yarn logs` prints."""
    shown = cluster.java("org.apache.hadoop.yarn.client.cli.LogsCLI", *words)
    require_success(shown, f"yarn logs {' '.join(words)}")
    return shown.stdout


def fairlead_logs(cluster, *words):
    """What `fairlead logs` prints, of an application whose logs no node has any more."""
    shown = subprocess.run([peers.BINARY, "logs", *words, "--hadoop-conf", cluster.conf], capture_output=True, text=True, timeout=60)
    require_success(shown, f"fairlead logs {' '.join(words)}")
    return shown.stdout


def containers_in(text):
    return sorted(set(re.findall(r"^Container: (container_\S+)", text, re.M)))


def status_of(cluster, app):
    return cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["logAggregationStatus"]


def run_pi(cluster, work):
    """An application of a master, two maps and a reduce, whose logs have been gathered."""
    run = cluster.example("pi", 2, 10, cwd=work)
    require_success(run, "pi")
    app = max(app["id"] for app in cluster.apps())
    cluster.wait(lambda: status_of(cluster, app) == "SUCCEEDED", "the logs", 60)
    return app


def assert_logs_are_shown(cluster, app):
    """All of them, of one container, of one name, and the lists."""
    shown = yarn_logs(cluster, "-applicationId", app)
    containers = containers_in(shown)
    assert len(containers) == 4 and "LogType:syslog" in shown and "LogAggregationType: AGGREGATED" in shown, (containers, shown[-2000:])
    assert "MRAppMaster" in shown, shown[-2000:]
    one = yarn_logs(cluster, "-applicationId", app, "-containerId", containers[-1], "-log_files", "syslog")
    assert containers_in(one) == containers[-1:] and set(re.findall(r"^LogType:(\S+)", one, re.M)) == {"syslog"}, one
    body = one.split("LogContents:\n", 1)[1]
    length = int(re.search(r"^LogLength:(\d+)", one, re.M)[1])
    assert body[length:].startswith("\nEnd of LogType:syslog"), (length, body[-300:])
    listed = yarn_logs(cluster, "-applicationId", app, "-show_application_log_info")
    assert all(container in listed for container in containers), listed
    files = yarn_logs(cluster, "-applicationId", app, "-containerId", containers[0], "-show_container_log_info")
    assert re.search(r"^\s*syslog\s+[1-9]", files, re.M), files
    own = fairlead_logs(cluster, app, "--file", "syslog", "--container", containers[-1])
    assert own == f"==> {containers[-1]} syslog <==\n{body[:length]}", (own[-300:], body[:length][-300:])
    return containers


@case("all", spec=IN_HDFS)
def ifile_logs(cluster, work):
    """Compressed indexed files in HDFS, in a place of their own: read by `yarn logs` and shown by MapReduce's history server."""
    app = run_pi(cluster, work)
    place = f"/indexed/{cluster.user}/bucket-all/{int(app[-4:]):04d}/{app}"
    files = [line.split()[-1] for line in cluster.hdfs.shell("-ls", place).splitlines() if app in line]
    assert files and all(re.search(r"/127\.0\.0\.\d+_\d+$|/localhost_\d+$", name) for name in files), files
    containers = assert_logs_are_shown(cluster, app)
    pages = []
    for name in files:
        node = name.rsplit("/", 1)[1].replace("_", ":")
        for container in containers:
            address = f"http://127.0.0.1:{cluster.history_web}/jobhistory/logs/{node}/{container}/{container}/{cluster.user}/syslog/?start=0"
            pages.append(urllib.request.urlopen(address, timeout=60).read().decode())
    shown = [page for page in pages if "Log Type: syslog" in page]
    assert len(shown) == len(containers), pages[0][-3000:]
    assert any("MRAppMaster" in page for page in shown), shown[0][-3000:]


@case("all", spec=Spec(hadoop="3.4.3", history=False, yarn_site=(*GATHERED, *MOUNTED)))
def ifile_logs_of_3_4(cluster, work):
    """Indexed files in a mounted file system, read by `yarn logs` of 3.4.3."""
    assert_logs_are_shown(cluster, run_pi(cluster, work))


def roll(cluster, work, formats):
    """A master writes parts of its log, which leave while it runs; the rest leaves at its end, and `yarn logs` shows each part once."""
    app, gate, program = cluster.new_application(), work / "gate", work / "program"
    program.write_text(PROGRAM.format(gate=gate))
    cluster.send("POST", "/ws/v1/cluster/apps", {
        "application-id": app, "application-name": "rolling", "queue": "root.alpha", "max-app-attempts": 1, "resource": {"memory": 256, "vCores": 1},
        "am-container-spec": {"commands": {"command": f"/bin/sh {program} <LOG_DIR> 1> <LOG_DIR>/stdout 2> <LOG_DIR>/stderr"}},
        "log-aggregation-context": {"rolled-log-include-pattern": "syslog\\.\\d", "rolled-log-exclude-pattern": "\\.9$", "log-exclude-pattern": "launch|info"}})
    place = f"{cluster.user}/bucket-logs-{formats.lower()}/{int(app[-4:]):04d}/{app}"

    def files():
        if cluster.hdfs:
            with urllib.request.urlopen(f"{cluster.hdfs.web.replace('webhdfs', 'http')}/webhdfs/v1/tmp/logs/{place}?op=LISTSTATUS&user.name={cluster.user}", timeout=30) as answer:
                names = [file["pathSuffix"] for file in json.loads(answer.read())["FileStatuses"]["FileStatus"]]
        else:
            names = os.listdir(cluster.directory / "gathered" / place)
        return sorted(name for name in names if not name.endswith(".tmp"))

    seen = set()
    for n in range(1, 6):
        cluster.wait(lambda: set(files()) - seen, f"roll {n}", 60)
        seen |= set(files())
        if n == 2:
            cluster.wait(lambda: status_of(cluster, app) == "RUNNING", "what the node tells of its rolls")
        (work / f"gate{n}").touch()
    cluster.wait(lambda: status_of(cluster, app) == "SUCCEEDED", "the last logs", 60)
    shown = yarn_logs(cluster, "-applicationId", app)
    parts = re.findall(r"^part-(\d)$", shown, re.M)
    kept = ["1", "2", "3", "4", "5"] if formats == "IFile" else parts[-2:]  # three TFiles of a node, the last has no part
    assert sorted(parts) == sorted(kept) and ("the end" in shown), (parts, files(), shown)
    assert formats == "IFile" or (len(files()) == 3 and len(parts) == 2), (files(), parts)
    assert "LogType:launch_container.sh" not in shown, shown
    assert fairlead_logs(cluster, app, "--grep", "the end").endswith(" stdout <==\nthe end\n")


@case("all", spec=ROLLED)
def rolled_logs(cluster, work):
    """Rolls in indexed files, a file each."""
    roll(cluster, work, "IFile")


@case("all", spec=dataclasses.replace(ROLLED, hdfs=True, yarn_site=(*GATHERED, *ROLLING, ("yarn.log-aggregation.file-formats", "TFile,IFile"), *COMPRESSED)))
def rolled_logs_in_tfiles(cluster, work):
    """Rolls in compressed TFiles in HDFS, of which the newest stay."""
    roll(cluster, work, "TFile")
