"""Spark on a cluster with Kerberos: by a ticket and by a keytab, its shuffle with a secret, daemons that are killed."""
import dataclasses
import os
import pathlib
import pwd
import re
import shutil
import subprocess

import cases_ha
import cases_restart
import cases_spark
import kdc
import peers
from cases_logs import GATHERED, MOUNTED
from jobs import Background, PausedJob, container_processes, require_end
from registry import Spec, case, require_success
from texts import text_file

# spark_shuffle asks for the secret of an application, as Spark's own service does where its node's yarn-site.xml says so.
TWO_NODES = Spec(hadoop="3.4.3", spark="3.5.9", history=False, yarn_site=(("spark.authenticate", "true"),))


def secret():
    """What goes with Kerberos in Spark: drivers, executors and shuffle services know each other by a secret of the application."""
    return "--conf", "spark.authenticate=true", "--conf", "spark.network.crypto.enabled=true"


def keytab(cluster):
    return "--principal", f"{cluster.user}@{kdc.REALM}", "--keytab", cluster.kdc.keytab(cluster.user)


def by_keytab(cluster, work, job):
    """Nobody has run kinit: the client logs in itself, and in cluster mode so does the driver, by the keytab that Spark brings it."""
    with cluster.logins():
        job(cluster, work, *keytab(cluster))


def by_ticket(cluster, work, job):
    job(cluster, work)


for _spark, _protection in (("3.5.9", "privacy"), ("4.3.0", "authentication")):
    _spec = dataclasses.replace(TWO_NODES, spark=_spark, kerberos=_protection)
    for _mode, _job in {"client": cases_spark.client_mode, "cluster": cases_spark.cluster_mode}.items():
        for _login, _run in {"ticket": by_ticket, "keytab": by_keytab}.items():
            case("all", spec=_spec, name=f"kerberos-spark-{_mode}-{_login}-{_spark}")(lambda cluster, work, run=_run, job=_job: run(cluster, work, job))
    case("all", spec=_spec, name=f"kerberos-spark-dynamic-allocation-{_spark}")(lambda cluster, work: cases_spark.dynamic_allocation(cluster, work, *secret()))
    for _mode in ("client", "cluster"):
        case("all", spec=_spec, own_cluster=True, name=f"kerberos-spark-daemons-killed-{_mode}-{_spark}")(
            lambda cluster, work, mode=_mode: cases_restart.daemons_killed(cluster, work, "--deploy-mode", mode, *secret()))
    case("all", spec=_spec, name=f"kerberos-spark-master-killed-{_spark}")(lambda cluster, work: by_keytab(cluster, work, cases_restart.master_killed))


# ---- Gateways, and programs that have nothing but tokens ----

GATEWAY = (("hadoop.proxyuser.livy.users", "alice"), ("hadoop.proxyuser.livy.hosts", "127.0.0.1"))


def by_gateway(cluster, work, job):
    """spark-submit --proxy-user, as Livy does it: the application is the user's."""
    with cluster.logins("livy"):
        job(cluster, work, "--proxy-user", "alice")
    app = cluster.apps()[-1]
    assert app["user"] == "alice", app
    with cluster.logins("livy"):
        refused = cluster.spark_submit("--deploy-mode", "cluster", "--proxy-user", "bob", peers.HERE / "wordcount.py", work / "text", work / "refused", timeout=180)
    assert refused.returncode != 0 and "livy@EXAMPLE.COM is not allowed to impersonate bob" in refused.stderr, refused.stderr[-3000:]


def manager_token(cluster, work):
    """A file with a delegation token that the manager may renew."""
    got = cluster.java(peers.HERE / "java/DelegationTokenCase.java", "get", work / "token", "yarn", timeout=180)
    require_success(got, "a delegation token")
    return work / "token"


def is_over(cluster, token):
    """Whether the manager knows the token no more."""
    used = cluster.java(peers.HERE / "java/DelegationTokenCase.java", "use", token, timeout=180)
    return used.returncode != 0 and "can't be found in cache" in used.stderr


def by_token(cluster, work, job):
    """A job that is submitted from within a container, as Oozie's are: by a delegation token alone, which ends with the job."""
    token = manager_token(cluster, work)
    with cluster.logins(tokens=token):
        job(cluster, work)
    assert cluster.apps()[-1]["user"] == cluster.user, cluster.apps()[-1]
    cluster.wait(lambda: is_over(cluster, token), "the token's end", 60, pause=1)


for _spark in ("3.5.9", "4.3.0"):
    _spec = dataclasses.replace(TWO_NODES, spark=_spark, kerberos="authentication", yarn_site=(*TWO_NODES.yarn_site, *GATEWAY))
    for _mode, _job in {"client": cases_spark.client_mode, "cluster": cases_spark.cluster_mode}.items():
        case("all", spec=_spec, name=f"kerberos-spark-proxy-user-{_mode}-{_spark}")(lambda cluster, work, job=_job: by_gateway(cluster, work, job))
    case("all", spec=_spec, name=f"kerberos-spark-by-token-{_spark}")(lambda cluster, work: by_token(cluster, work, cases_spark.cluster_mode))


@case("all", spec=dataclasses.replace(TWO_NODES, kerberos="privacy", history=True, nodes=("fairlead",)))
def kerberos_mapreduce_history_token(cluster, work):
    """A job that brings a token of the manager gets one of the history server's, too: the manager renews both before it begins, and ends them with it."""
    token = manager_token(cluster, work)
    run = cluster.example("pi", f"-Dmapreduce.job.credentials.binary={token}", "2", "1000", cwd=work)
    require_success(run, "pi")

    def said(text):
        return re.search(text + " for identifier.*MR_DELEGATION_TOKEN|" + text + ".*owner=", (cluster.directory / "history.log").read_text())
    assert said("Token renewal"), "see the history server's log"
    cluster.wait(lambda: said("Token cancellation requested"), "the end of the history server's token", 60)
    cluster.wait(lambda: is_over(cluster, token), "the end of the manager's", 60, pause=1)


# ---- Two managers ----

for _spark, _protection in (("3.5.9", "authentication"), ("4.3.0", "privacy")):
    _two = dataclasses.replace(TWO_NODES, rm=None, spark=_spark, kerberos=_protection, nodes=("java", "fairlead"),
                               yarn_site=(*cases_ha.DEFAULTS, *TWO_NODES.yarn_site))
    for _mode, _job in {"client": cases_ha.spark_client, "cluster": cases_ha.spark}.items():
        case("all", spec=_two, own_cluster=True, name=f"kerberos-ha-spark-{_mode}-killed-{_spark}")(
            lambda cluster, work, spec=_two, job=_job: cases_ha.on_two(work, spec, lambda two, work: job(two, work, cases_ha.killed, *keytab(two), *secret())))


# ---- Logs ----

def as_user(cluster, work, account, principal, command, environment=None):
    """The words that run a command as a user of this machine, and its environment with a ticket of the principal's."""
    own = pwd.getpwnam(account)
    login = cluster.kdc.cache(principal)
    ticket = pathlib.Path(shutil.copy(login["KRB5CCNAME"], work / f"ticket-{principal}"))
    os.chown(ticket, own.pw_uid, own.pw_gid)
    words = ["setpriv", "--reuid", account, "--regid", own.pw_gid, "--clear-groups", *command]
    return [str(word) for word in words], {**(environment or cluster.client_environment()), "KRB5CCNAME": str(ticket), "HOME": str(work)}


def run_as(cluster, work, account, principal, command, environment=None):
    words, environment = as_user(cluster, work, account, principal, command, environment)
    return subprocess.run(words, capture_output=True, text=True, timeout=300, env=environment, cwd=work)


LOGS = "org.apache.hadoop.yarn.client.cli.LogsCLI"


@case("all", spec=dataclasses.replace(TWO_NODES, nodes=("fairlead",), kerberos="privacy", web_login="kerberos", spark="3.5.9",
                                      yarn_site=(*GATHERED, *MOUNTED, ("yarn.acl.enable", "true"), ("yarn.admin.acl", "yarn"))))
def kerberos_logs(cluster, work):
    """Logs of a job while it runs, from its nodes, and when they were gathered: their owner reads them with his ticket, by `yarn logs` and `fairlead logs`; another
    user's is refused."""
    def fairlead(app_id):
        return [peers.BINARY, "logs", app_id, "--hadoop-conf", cluster.conf]
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "1", tasks=1)
    app_id = job.await_round()
    own = subprocess.run(fairlead(app_id), capture_output=True, text=True, env=cluster.client_environment(), timeout=60)
    require_success(own, "fairlead logs of a running job")
    assert "ApplicationMaster" in own.stdout, own.stdout[-2000:]
    refused = run_as(cluster, work, "nobody", "bob", fairlead(app_id))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused
    job.release()
    job.result()
    require_end(cluster, app_id)
    cluster.wait(lambda: cluster.app(app_id)["logAggregationStatus"] == "SUCCEEDED", "the logs", 60)
    shown = cluster.java(LOGS, "-applicationId", app_id, timeout=180)
    require_success(shown, "yarn logs")
    assert shown.stdout.count("Container: container_") >= 2 and "ApplicationMaster" in shown.stdout, shown.stdout[-2000:]
    refused = run_as(cluster, work, "nobody", "bob", cluster.java_command(LOGS, "-applicationId", app_id, "-appOwner", cluster.user))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused
    require_success(subprocess.run(fairlead(app_id), capture_output=True, text=True, env=cluster.client_environment(), timeout=60), "fairlead logs")
    refused = run_as(cluster, work, "nobody", "bob", fairlead(app_id))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused


# ---- Containers of their users ----

SUBMITTER = "games"  # an account of every Debian


@case("all", spec=dataclasses.replace(TWO_NODES, nodes=("fairlead",), kerberos="authentication", history=True, yarn_site=(
    *GATHERED, *MOUNTED, ("yarn.nodemanager.container-executor.class", "org.apache.hadoop.yarn.server.nodemanager.LinuxContainerExecutor"),
    ("allowed.system.users", SUBMITTER))), own_cluster=True)
def kerberos_containers_of_users(cluster, work):
    """With LinuxContainerExecutor a MapReduce job runs as the principal's account, which alone can read its tokens and its logs; shuffle services of the
    node can read what it writes, and what Spark writes."""
    for shared in (cluster.directory / "staging", cluster.directory / "gathered", cluster.directory / "spark"):
        shared.mkdir(exist_ok=True)
        shared.chmod(0o1777)
    shutil.chown(work, SUBMITTER)
    words, environment = as_user(cluster, work, SUBMITTER, SUBMITTER, cluster.example_command("pi", "2", "200000000"))
    job = Background(work, "pi", words, environment)
    cluster.wait(lambda: job.running() and cluster.apps() and len(container_processes(cluster.apps()[0]["id"])) > 1, "tasks", 180)
    app_id = cluster.apps()[0]["id"]
    for pid in container_processes(app_id).values():
        assert pathlib.Path(f"/proc/{pid}").stat().st_uid == pwd.getpwnam(SUBMITTER).pw_uid, pid
    tokens = list(cluster.directory.glob(f"nm1-local/**/{app_id}/container_*/container_tokens"))
    assert tokens, "no container has tokens"
    for file in tokens:
        assert (file.owner(), file.stat().st_mode & 0o777) == (SUBMITTER, 0o600), (file.owner(), oct(file.stat().st_mode))
    job.finish()
    app = require_end(cluster, app_id)
    assert app["user"] == SUBMITTER, app
    cluster.wait(lambda: cluster.app(app_id)["logAggregationStatus"] == "SUCCEEDED", "the logs", 60)
    shown = run_as(cluster, work, SUBMITTER, SUBMITTER, cluster.java_command(LOGS, "-applicationId", app_id))
    require_success(shown, "yarn logs")
    assert "MRAppMaster" in shown.stdout, shown.stdout[-2000:]
    refused = run_as(cluster, work, "nobody", "bob", cluster.java_command(LOGS, "-applicationId", app_id, "-appOwner", SUBMITTER))
    assert refused.returncode != 0 and "MRAppMaster" not in refused.stdout, refused
    text_file(work / "text")
    command, environment = cluster.spark_command(
        "--deploy-mode", "cluster", "--num-executors", "2", "--conf", "spark.pyspark.python=/usr/bin/python3",
        "--conf", "spark.pyspark.driver.python=/usr/bin/python3", "--conf", "spark.shuffle.service.enabled=true",
        "--conf", "spark.shuffle.readHostLocalDisk=false", peers.HERE / "wordcount.py", work / "text", work / "counts")
    spark = run_as(cluster, work, SUBMITTER, SUBMITTER, command, environment)
    require_success(spark, "spark-submit")
    assert (work / "counts").owner() == SUBMITTER and (work / "counts").stat().st_size > 0
