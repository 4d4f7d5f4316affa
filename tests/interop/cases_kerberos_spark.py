"""Spark on a cluster with Kerberos: by a ticket and by a keytab, its shuffle with a secret, daemons that are killed."""
import dataclasses
import os
import pathlib
import pwd
import shutil
import subprocess

import cases_ha
import cases_restart
import cases_spark
import kdc
import peers
from cases_logs import GATHERED, MOUNTED
from jobs import PausedJob, require_end
from registry import Spec, case, require_success

# spark_shuffle asks for the secret of an application, as Spark's own service does where its node's yarn-site.xml says so.
TWO_NODES = Spec(hadoop="3.4.3", history=False, yarn_site=(("spark.authenticate", "true"),))


def secret():
    """What goes with Kerberos in Spark: drivers, executors and shuffle services know each other by a secret of the application."""
    return "--conf", "spark.authenticate=true", "--conf", "spark.network.crypto.enabled=true"


def keytab(cluster):
    return "--principal", f"{cluster.user}@{kdc.REALM}", "--keytab", cluster.kdc.keytab(cluster.user)


def by_keytab(cluster, work, job):
    """Nobody has run kinit: the client logs in itself, and in cluster mode so does the driver, by the keytab that Spark brings it."""
    with cluster.without_tickets():
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


# ---- Two managers ----

for _spark, _protection in (("3.5.9", "authentication"), ("4.3.0", "privacy")):
    _two = dataclasses.replace(TWO_NODES, rm=None, spark=_spark, kerberos=_protection, nodes=("java", "fairlead"),
                               yarn_site=(*cases_ha.DEFAULTS, *TWO_NODES.yarn_site))
    for _mode, _job in {"client": cases_ha.spark_client, "cluster": cases_ha.spark}.items():
        case("all", spec=_two, own_cluster=True, name=f"kerberos-ha-spark-{_mode}-killed-{_spark}")(
            lambda cluster, work, spec=_two, job=_job: cases_ha.on_two(work, spec, lambda two, work: job(two, work, cases_ha.killed, *keytab(two), *secret())))


# ---- Logs ----

def as_other(cluster, work, command):
    """Another user of this machine who has a ticket of his own runs a command."""
    other = pwd.getpwnam("nobody")
    environment = {**cluster.client_environment(), **cluster.kdc.cache("bob"), "HOME": str(work)}
    ticket = pathlib.Path(shutil.copy(environment["KRB5CCNAME"], work / "ticket"))
    os.chown(ticket, other.pw_uid, other.pw_gid)
    work.chmod(0o755)
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=180, user=other.pw_uid, group=other.pw_gid, extra_groups=[],
                          env={**environment, "KRB5CCNAME": str(ticket)}, cwd=work)


@case("all", spec=dataclasses.replace(TWO_NODES, kerberos="privacy", web_login="kerberos", spark="3.5.9",
                                      yarn_site=(*GATHERED, *MOUNTED, ("yarn.acl.enable", "true"), ("yarn.admin.acl", "yarn"))))
def kerberos_logs(cluster, work):
    """Logs of a job while it runs, from its nodes, and when they were gathered: their owner reads them with his ticket, by `yarn logs` and `fairlead logs`; another
    user's is refused."""
    def fairlead(app_id):
        return [peers.BINARY, "logs", app_id, "--hadoop-conf", cluster.conf]
    yarn = "org.apache.hadoop.yarn.client.cli.LogsCLI"
    job = PausedJob(cluster, work, "--deploy-mode", "cluster", "--num-executors", "1", tasks=1)
    app_id = job.await_round()
    own = subprocess.run(fairlead(app_id), capture_output=True, text=True, env=cluster.client_environment(), timeout=60)
    require_success(own, "fairlead logs of a running job")
    assert "ApplicationMaster" in own.stdout, own.stdout[-2000:]
    refused = as_other(cluster, work, fairlead(app_id))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused
    job.release()
    job.result()
    require_end(cluster, app_id)
    cluster.wait(lambda: cluster.app(app_id)["logAggregationStatus"] == "SUCCEEDED", "the logs", 60)
    shown = cluster.java(yarn, "-applicationId", app_id, timeout=180)
    require_success(shown, "yarn logs")
    assert shown.stdout.count("Container: container_") >= 2 and "ApplicationMaster" in shown.stdout, shown.stdout[-2000:]
    refused = as_other(cluster, work, cluster.java_command(yarn, "-applicationId", app_id, "-appOwner", cluster.user))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused
    print(refused.stderr[-1500:])
    require_success(subprocess.run(fairlead(app_id), capture_output=True, text=True, env=cluster.client_environment(), timeout=60), "fairlead logs")
    refused = as_other(cluster, work, fairlead(app_id))
    assert refused.returncode != 0 and "ApplicationMaster" not in refused.stdout, refused
