"""Fairlead's daemons beside Hadoop's own, in each pairing: the same jobs, the same results."""
import cases_mapreduce
import cases_restart
import cases_spark
from registry import Spec, case

PAIRINGS = {
    "java-nodes": ("fairlead", ("java", "java")),
    "java-rm": ("java", ("fairlead", "fairlead")),
    "mixed-nodes": ("fairlead", ("java", "fairlead")),
    "mixed-nodes-java-rm": ("java", ("fairlead", "java")),
}

for _hadoop, _spark in (("3.3.6", "3.5.9"), ("3.4.3", "4.3.0")):
    for _name, (_rm, _nodes) in PAIRINGS.items():
        _spec = Spec(hadoop=_hadoop, spark=_spark, rm=_rm, nodes=_nodes)
        for _job, _run in {
                "pi": cases_mapreduce.pi, "word-count": cases_mapreduce.word_count, "spark-cluster-mode": cases_spark.cluster_mode,
                "spark-dynamic-allocation": cases_spark.dynamic_allocation}.items():
            case("all", _spec, name=f"{_name}-{_hadoop}-{_job}")(_run)
        case("all", _spec, own_cluster=True, name=f"{_name}-{_hadoop}-daemons-killed")(cases_restart.daemons_killed)

# The same with Kerberos: the older release with everything encrypted, the newer with lists of who may speak which protocol.
SECURED = {"3.3.6": {"kerberos": "privacy"}, "3.4.3": {"kerberos": "authentication", "policy": (("security.applicationclient.protocol.acl", "*"),)}}
for _hadoop, _spark in (("3.3.6", "3.5.9"), ("3.4.3", "4.3.0")):
    for _name, (_rm, _nodes) in PAIRINGS.items():
        _spec = Spec(hadoop=_hadoop, spark=_spark, rm=_rm, nodes=_nodes, **SECURED[_hadoop])
        for _job, _run in {
                "pi": cases_mapreduce.pi, "spark-cluster-mode": cases_spark.cluster_mode,
                "spark-dynamic-allocation": cases_spark.dynamic_allocation}.items():
            case("all", _spec, name=f"kerberos-{_name}-{_hadoop}-{_job}")(_run)
        case("all", _spec, own_cluster=True, name=f"kerberos-{_name}-{_hadoop}-daemons-killed")(cases_restart.daemons_killed)

# The default scheduler profile is Fairlead's own; this is Hadoop's FairScheduler, decision by decision.
_exact = Spec(spark="3.5.9", yarn_site=(("fairlead.scheduler.profile", "yarn-fair"),))
for _job, _run in {
        "pi": cases_mapreduce.pi, "tera-sort": cases_mapreduce.tera_sort, "spark-cluster-mode": cases_spark.cluster_mode,
        "spark-dynamic-allocation": cases_spark.dynamic_allocation}.items():
    case("all", _exact, name=f"yarn-fair-{_job}")(_run)
case("all", _exact, own_cluster=True, name="yarn-fair-daemons-killed")(cases_restart.daemons_killed)
