"""Hadoop's own clients on a cluster with Kerberos: tickets, tokens, and everything encrypted."""
import dataclasses
import re
import subprocess

import kdc
import peers
from cases_ha import on_two
from cases_mapreduce import require_pi
from registry import Spec, case, require_success

SECURED = Spec(hadoop="3.4.3", nodes=("fairlead",), kerberos="privacy")


def node_list(cluster):
    return cluster.java("org.apache.hadoop.yarn.client.cli.NodeCLI", "-list", timeout=180)


@case("all", spec=SECURED, own_cluster=True)
def kerberos_mapreduce(cluster, work):
    """`yarn node -list` with a ticket, and a MapReduce job whose master, tasks and client know each other by tokens; all with privacy."""
    listed = node_list(cluster)
    require_success(listed, "yarn node -list")
    assert "Total Nodes:1" in listed.stdout, listed.stdout
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
