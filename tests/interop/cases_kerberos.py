"""Hadoop's own clients on a cluster with Kerberos: tickets, tokens, and everything encrypted."""
import dataclasses
import re

import kdc
import peers
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
