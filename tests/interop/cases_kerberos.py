"""Hadoop's own clients on a cluster with Kerberos: tickets, tokens, and everything encrypted."""
import dataclasses
import re
import subprocess
import urllib.request

import kdc
import peers
from cases_ha import on_two
from cases_mapreduce import require_pi
from registry import Spec, case, require_success

SECURED = Spec(hadoop="3.4.3", nodes=("fairlead",), kerberos="privacy")


def node_list(cluster):
    return cluster.java("org.apache.hadoop.yarn.client.cli.NodeCLI", "-list", timeout=180)


@case("all", spec=SECURED, own_cluster=True)
@case("smoke", spec=dataclasses.replace(SECURED, hadoop=peers.HADOOP_VERSION, nodes=("java", "fairlead")), own_cluster=True,
      name=f"kerberos-mapreduce-mixed-nodes-{peers.HADOOP_VERSION}")
def kerberos_mapreduce(cluster, work):
    """`yarn node -list` with a ticket, and a MapReduce job whose master, tasks and client know each other by tokens; all with privacy."""
    listed = node_list(cluster)
    require_success(listed, "yarn node -list")
    assert f"Total Nodes:{len(cluster.spec.nodes)}" in listed.stdout, listed.stdout
    assert "(auth:KERBEROS)" in (cluster.directory / "rm.log").read_text()
    run = cluster.example("pi", "2", "1000", cwd=work)
    require_success(run, "pi")
    require_pi(run.stdout, within=0.1)
    app = cluster.apps()[-1]
    assert (app["user"], app["finalStatus"]) == (cluster.user, "SUCCEEDED"), app


@case("all", spec=dataclasses.replace(SECURED, kerberos="integrity,authentication", history=False), own_cluster=True)
def kerberos_delegation_tokens(cluster, work):
    """YarnClient gets a delegation token, its renewer renews it, a program without a ticket lists applications with it, before and after a restart
    of the resource manager; once it is cancelled it is refused."""
    token = work / "token"

    def program(*words):
        return cluster.java(peers.HERE / "java/DelegationTokenCase.java", *words, timeout=180)
    require_success(program("get", token, cluster.user), "get")
    require_success(program("renew", token), "renew")
    require_success(program("use", token), "use")
    cluster.restart("rm")
    require_success(program("use", token), "use after a restart")
    require_success(program("cancel", token), "cancel")
    refused = program("use", token)
    assert refused.returncode != 0 and "can't be found in cache" in refused.stderr, refused.stderr[-2000:]
    owner = re.search(r"owner=(\S+),", program("get", token, "bob").stdout)[1]
    assert owner == f"{cluster.user}@{kdc.REALM}", owner


GATEWAY = (("hadoop.proxyuser.livy.users", "alice"), ("hadoop.proxyuser.livy.hosts", "127.0.0.1"))


@case("all", spec=dataclasses.replace(SECURED, kerberos="integrity", history=False, yarn_site=GATEWAY,
                                      policy=(("security.applicationclient.protocol.acl.blocked", "bob"),)), own_cluster=True)
def kerberos_proxy_users_and_policy(cluster, work):
    """A gateway acts for its users (HADOOP_PROXY_USER) and for nobody else; whom hadoop-policy.xml blocks is refused until the file is another
    and `yarn rmadmin -refreshServiceAcl` has read it. Hadoop's client gets Hadoop's texts, and does not try again and again."""
    def nodes(user, **environment):
        command = cluster.java_command("org.apache.hadoop.yarn.client.cli.NodeCLI", "-list")
        environment = {**cluster.client_environment(), **cluster.kdc.cache(user), **environment}
        return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=180)
    require_success(nodes("livy", HADOOP_PROXY_USER="alice"), "a gateway for its user")
    for refused, text in ((nodes("livy", HADOOP_PROXY_USER="eve"), "User: livy@EXAMPLE.COM is not allowed to impersonate eve"),
                          (nodes("alice", HADOOP_PROXY_USER="livy"), "User: alice@EXAMPLE.COM is not allowed to impersonate livy"),
                          (nodes("bob"), "User bob@EXAMPLE.COM (auth:KERBEROS) is not authorized for protocol interface "
                                         "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB: denied by configured ACL")):
        assert refused.returncode != 0 and text in refused.stdout + refused.stderr, refused.stdout + refused.stderr[-2000:]
    peers.write_site(cluster.conf / "hadoop-policy.xml", {"security.applicationclient.protocol.acl.blocked": "eve"})
    require_success(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshServiceAcl", timeout=180), "rmadmin -refreshServiceAcl")
    require_success(cluster.java("org.apache.hadoop.yarn.client.cli.RMAdminCLI", "-refreshSuperUserGroupsConfiguration", timeout=180), "rmadmin")
    require_success(nodes("bob"), "who is blocked no longer")


@case("all", spec=Spec(hadoop="3.4.3", rm=None))
def kerberos_ha_delegation_tokens(cluster, work):
    """Two managers: YarnClient's token carries the service of both (ha-rm), and is good at the one that takes over; so is a ticket."""
    def test(two, work):
        token = work / "token"

        def program(*words):
            return two.java(peers.HERE / "java/DelegationTokenCase.java", *words, timeout=180)
        require_success(program("get", token, two.user), "get")
        require_success(program("use", token), "use")
        first = two.await_active()
        two.kill(first)
        two.await_active(other_than=first)
        require_success(program("use", token), "use at the manager that took over")
        require_success(program("renew", token), "renew there")
        require_success(node_list(two), "yarn node -list with a ticket")
    on_two(work, dataclasses.replace(SECURED, history=False, web_login="kerberos"), test)


# Of a NameNode: tokens that live for twenty seconds, unless somebody renews them.
SHORT = {"dfs.namenode.delegation.token.renew-interval": 20_000, "dfs.namenode.delegation.key.update-interval": 600_000}


@case("all", spec=dataclasses.replace(SECURED, hadoop=peers.HADOOP_VERSION, kerberos="authentication", hdfs=True, history=False, hdfs_site=tuple(SHORT.items())), own_cluster=True)
def kerberos_hdfs_tokens(cluster, work):
    """A secured NameNode of Hadoop's: a MapReduce job outlives its token's interval because the resource manager renews it; a manager that is killed meanwhile
    goes on with that after its restart; at the job's end the token is cancelled."""
    def renewals():
        return (cluster.directory / "namenode.log").read_text().count("Token renewal for identifier")

    def said(text):
        return text in (cluster.directory / "namenode.log").read_text()
    cluster.hdfs.shell("-mkdir", "-p", cluster.hdfs.uri + "/tmp", cluster.hdfs.uri + "/user/" + cluster.user)
    job = subprocess.Popen(cluster.example_command("pi", "-Dmapreduce.job.queuename=root.alpha", "2", "20000000000"), cwd=work, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, env=cluster.client_environment())
    try:
        cluster.wait(lambda: renewals() >= 2, "a renewal while the job runs", 180)
        cluster.restart("rm")
        before = renewals()
        cluster.wait(lambda: renewals() >= before + 2, "the next run's renewals", 120)
        [app] = cluster.apps()
        assert app["state"] == "RUNNING", app
        assert not said("Token cancellation requested"), "see the NameNode's log"
        killed = subprocess.run([str(peers.BINARY), "kill", app["id"], "--hadoop-conf", str(cluster.conf)], env=cluster.client_environment(), capture_output=True,
                                text=True, timeout=60)
        require_success(killed, "fairlead kill")
        cluster.wait(lambda: said("Token cancellation requested"), "the token's end", 60)
    finally:
        job.kill()
        job.wait()


@case("all", spec=dataclasses.replace(SECURED, hadoop=peers.HADOOP_VERSION, kerberos="authentication", web_login="kerberos", hdfs=True, history=False), own_cluster=True)
def kerberos_webhdfs_tokens(cluster, work):
    """A job brings a token that `hdfs fetchdt --webservice` got: the resource manager renews it at the NameNode's web port, and ends it with the job."""
    tokens = work / "tokens"
    fetched = cluster.java("org.apache.hadoop.hdfs.tools.DelegationTokenFetcher", "--webservice", f"http://localhost:{cluster.hdfs.http}", "--renewer", "yarn", tokens,
                           timeout=120)
    require_success(fetched, "fetchdt")
    cluster.hdfs.shell("-mkdir", "-p", cluster.hdfs.uri + "/tmp", cluster.hdfs.uri + "/user/" + cluster.user)

    def said(text):
        return sum(1 for line in (cluster.directory / "namenode.log").read_text().splitlines() if text in line)
    cluster.tokens = tokens
    try:
        run = cluster.example("pi", "2", "1000", cwd=work)
    finally:
        cluster.tokens = None
    require_success(run, "pi")
    assert said("Token renewal for identifier") >= 2, "that of HDFS, and that of WebHDFS"
    cluster.wait(lambda: said("Token cancellation requested") >= 2, "the tokens' end", 60)


# Tokens of HDFS beyond their greatest life, and logs that are gathered there. Nobody's name is believed by WebHDFS here (web_login).
PROXY = {f"hadoop.proxyuser.yarn.{what}": "*" for what in ("users", "groups", "hosts")}
MORTAL = {**SHORT, **PROXY, "dfs.namenode.delegation.token.max-lifetime": 40_000}
GATHERED = (("yarn.log-aggregation-enable", "true"), ("yarn.nodemanager.remote-app-log-dir", "/gathered"))
IN_HDFS = dataclasses.replace(SECURED, hadoop=peers.HADOOP_VERSION, kerberos="authentication", web_login="kerberos", hdfs=True, history=False, yarn_site=GATHERED)


def submit_late(cluster, work):
    """A master that runs, whose container waits for work/go. Its application's id."""
    for directory, mode in (("/tmp", "1777"), ("/gathered", "1777")):
        cluster.hdfs.shell("-mkdir", "-p", cluster.hdfs.uri + directory)
        cluster.hdfs.shell("-chmod", mode, cluster.hdfs.uri + directory)
    program = peers.HERE / "java/LateContainer.java"
    submitted = cluster.java(program, "submit", work, " ".join(cluster.java_command(program)), timeout=180)
    require_success(submitted, "the submission")
    app = submitted.stdout.split()[-1]
    cluster.wait(lambda: cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["state"] == "RUNNING", "the master", 120)
    return app


def end_late(cluster, work, app):
    """The container gets its file from HDFS, and its owner reads what it printed with `yarn logs`."""
    (work / "go").touch()
    cluster.wait((work / "result").exists, "the container's end", 120)
    assert (work / "result").read_text().startswith("0 "), (work / "result").read_text()
    cluster.wait(lambda: cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["logAggregationStatus"] in ("SUCCEEDED", "FAILED"), "the logs", 120)
    shown = cluster.java("org.apache.hadoop.yarn.client.cli.LogsCLI", "-applicationId", app, timeout=180)
    require_success(shown, "yarn logs")
    assert "what came late" in shown.stdout, shown.stdout[-2000:]


def takes(cluster, token):
    """Whether WebHDFS lets somebody in with this token."""
    answer = subprocess.run(["curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", f"http://127.0.0.1:{cluster.hdfs.http}/webhdfs/v1/tmp?op=GETFILESTATUS&delegation={token}"],
                            capture_output=True, text=True, check=True)
    return answer.stdout == "200"


@case("all", spec=IN_HDFS, own_cluster=True)
def kerberos_hdfs_logs(cluster, work):
    """Files come from a secured HDFS, and logs go there, by the application's token; `yarn logs` and `fairlead logs` of its owner read them. The
    token stands in no log."""
    app = submit_late(cluster, work)
    end_late(cluster, work, app)
    place = f"yarn.nodemanager.remote-app-log-dir=hdfs://localhost:{cluster.hdfs.rpc}/gathered"  # tickets are for names
    shown = subprocess.run([str(peers.BINARY), "logs", app, "--hadoop-conf", str(cluster.conf), "--set", place], env=cluster.client_environment(),
                           capture_output=True, text=True, timeout=60)
    require_success(shown, "fairlead logs")
    assert "what came late" in shown.stdout, shown.stdout
    token = (work / "token").read_text()
    for log in ("rm.log", "nm1.log"):
        assert token not in (cluster.directory / log).read_text(), f"a token is in {log}"


@case("all", spec=dataclasses.replace(IN_HDFS, yarn_site=()), own_cluster=True)
def kerberos_engine_hdfs(cluster, work):
    """`fairlead submit` gets a token of the secured HDFS with the caller's ticket; driver and executors read and write there with it, and it ends
    with the job. Without a ticket the job is refused before it runs."""
    hdfs = cluster.hdfs
    words = work / "words"
    words.write_text("red blue\nblue\n" * 20000)
    hdfs.shell("-mkdir", "-p", hdfs.uri + "/jobs")
    hdfs.shell("-chmod", "1777", hdfs.uri + "/jobs")
    hdfs.shell("-put", words, hdfs.uri + "/jobs/words")
    command = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--executors", "2", "--executor-memory", "256", "--event-log", work,
               peers.ROOT / "build/examples/word_count", hdfs.web + "/jobs/words", hdfs.web + "/jobs/out"]

    def submit(environment):
        return subprocess.run([str(word) for word in command], cwd=work, env=environment, capture_output=True, text=True, timeout=180)
    stranger = submit(cluster.client_environment() | cluster.kdc.without_ticket("nobody"))
    assert stranger.returncode != 0 and "kinit" in stranger.stderr, stranger.stderr
    require_success(submit(cluster.client_environment()), "the job")
    shown = hdfs.shell("-cat", hdfs.uri + "/jobs/out/part-*")
    assert sorted(shown.split()) == sorted(["red", "20000", "blue", "40000"]), shown
    cluster.wait(lambda: "Token cancellation requested" in (cluster.directory / "namenode.log").read_text(), "the token's end", 60)


@case("all", spec=dataclasses.replace(IN_HDFS, name_nodes=2), own_cluster=True)
def kerberos_engine_hdfs_of_two_name_nodes(cluster, work):
    """A token of the name service is good at whichever of its NameNodes serves: the engine reads and writes there."""
    hdfs = cluster.hdfs
    words = work / "words"
    words.write_text("red blue\nblue\n" * 20000)
    hdfs.shell("-mkdir", "-p", "/jobs")
    hdfs.shell("-chmod", "1777", "/jobs")
    hdfs.shell("-put", words, "/jobs/words")
    job = [peers.BINARY, "submit", "--hadoop-conf", cluster.conf, "--executors", "2", "--executor-memory", "256", "--event-log", work,
           peers.ROOT / "build/examples/word_count", hdfs.uri + "/jobs/words"]
    for serves in ("nn2", "nn1"):
        cluster.wait(lambda serves=serves: hdfs.serve(serves), "the other NameNode to serve", 60)
        run = subprocess.run([str(word) for word in (*job, f"{hdfs.uri}/jobs/{serves}")], cwd=work, env=cluster.client_environment(), capture_output=True,
                             text=True, timeout=180)
        require_success(run, "the job")
        shown = hdfs.shell("-cat", f"/jobs/{serves}/part-*")
        assert sorted(shown.split()) == sorted(["red", "20000", "blue", "40000"]), shown


@case("all", spec=dataclasses.replace(IN_HDFS, hdfs_site=tuple(MORTAL.items()),
                                      yarn_site=(*GATHERED, ("yarn.resourcemanager.proxy-user-privileges.enabled", "true"))), own_cluster=True)
def kerberos_hdfs_tokens_beyond_life(cluster, work):
    """A job outlives its token's greatest life: the resource manager gets new ones in its user's name, also after a restart, and gives them to the
    node, which fetches files and gathers logs with them."""
    def issued():
        with urllib.request.urlopen(urllib.request.Request(cluster.page("/metrics"), headers=cluster.login()), timeout=10) as answer:
            return int(re.search(r"^fairlead_rm_tokens_issued_total (\d+)", answer.read().decode(), re.M)[1])
    app = submit_late(cluster, work)
    old = (work / "token").read_text()
    assert takes(cluster, old)
    cluster.wait(lambda: issued() >= 1, "a new token", 60)
    cluster.wait(lambda: not takes(cluster, old), "the old token's end", 90)
    cluster.restart("rm")
    cluster.wait(lambda: issued() >= 1, "a new token after the restart", 60)
    cluster.wait(lambda: cluster.get(f"/ws/v1/cluster/apps/{app}")["app"]["state"] == "RUNNING", "the master's return", 60)
    end_late(cluster, work, app)
