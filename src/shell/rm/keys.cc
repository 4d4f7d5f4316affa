#include "shell/rm/keys.h"

#include <algorithm>

namespace fairlead::shell {
namespace {

using config::Key;
using config::KeyOf;
using config::kHadoops;
using config::Range;
using config::Unsupported;
using Manager = process::rm::ResourceManagerOptions;
using Core = fairlead::rm::Config;
using process::rm::DelegationTimes;
using process::rm::KeyTimes;
using process::rm::LogAggregationOptions;
using process::rm::PortSecurity;
using process::rm::RenewalTimes;

constexpr int64_t kSecond = 1'000'000'000;

consteval Key<RmSettings> By(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<RmSettings>(name, fallback, meaning);
}

constexpr Key<RmSettings> kKeys[] = {
    By("yarn.resourcemanager.hostname", kHadoops,
       "host that clients and nodes connect to; without files of Hadoop's: 127.0.0.1"),
    By("yarn.resourcemanager.address", kHadoops, "of ApplicationClientProtocol"),
    By("yarn.resourcemanager.scheduler.address", kHadoops, "of ApplicationMasterProtocol"),
    By("yarn.resourcemanager.resource-tracker.address", kHadoops, "of ResourceTracker"),
    By("yarn.resourcemanager.admin.address", kHadoops, "of ResourceManagerAdministrationProtocol"),
    By("yarn.resourcemanager.webapp.address", kHadoops, "of pages, REST and metrics"),
    By("yarn.resourcemanager.webapp.https.address", kHadoops, "the same with yarn.http.policy HTTPS_ONLY"),
    By("yarn.resourcemanager.bind-host", kHadoops, "address on which all of these listen instead"),
    By("yarn.web-proxy.address", "none", "a port of its own for the pages of masters"),
    By("yarn.resourcemanager.cluster-id", kHadoops, "name shown on pages and in metrics; needed with several managers"),
    By("yarn.resourcemanager.ha.*", "false",
       "`.enabled`, `.rm-ids`, `.id` and automatic failover ([high availability](high-availability.md)); addresses "
       "with "
       "an id are a member's"),
    By("hadoop.zk.address", "none", "servers of ZooKeeper; `.auth`, `.acl`, `.timeout-ms` (2000) with it"),
    By("yarn.resourcemanager.zk-address", "none",
       "the same by its older name, as `.zk-auth`, `.zk-acl`, `.zk-timeout-ms`"),
    By("yarn.resourcemanager.store.class", "ZKRMStateStore with several managers", "only this one is supported then"),
    By("fairlead.ha.zookeeper-path", "/fairlead", "where several managers keep their state in ZooKeeper"),
    By("fairlead.rm.state-dir", "${hadoop.tmp.dir}/yarn/system/rmstore", "directory of state and journal"),
    By("yarn.resourcemanager.fs.state-store.uri", "none", "the same as a file: URL"),
    KeyOf<&RmSettings::journal_bytes_max>(
        "fairlead.rm.journal-bytes",
        "bound of the journal, all [segments](state.md#segments-of-the-journal) together; 0: none",
        Range{0, INT64_MAX}),
    KeyOf<&RmSettings::manager, &Manager::recovery>("yarn.resourcemanager.recovery.enabled",
                                                    "applications outlive a restart"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::keep_work>(
        "yarn.resourcemanager.work-preserving-recovery.enabled", "and their containers"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::configured_maximum_for>(
        "yarn.resourcemanager.work-preserving-recovery.scheduling-wait-ms",
        "after a start asks are capped at the configured maximum alone for so long"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::max_attempts>(
        "yarn.resourcemanager.am.max-attempts", "attempts of an application that asks for no number", Range{1}),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::global_max_attempts>(
        "yarn.resourcemanager.am.global.max-attempts", "attempts of an application at most", Range{1})
        .Shown("as yarn.resourcemanager.am.max-attempts"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::max_priority>("yarn.cluster.max-application-priority",
                                                                     "highest priority of an application; 0: none")
        .Shown("0"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::max_completed_apps>(
        "yarn.resourcemanager.max-completed-applications", "ended applications that are remembered"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::max_stored_apps>(
        "yarn.resourcemanager.state-store.max-completed-applications", "and stored; not more than that")
        .Shown("as yarn.resourcemanager.max-completed-applications"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::master_expiry>("yarn.am.liveness-monitor.expiry-interval-ms",
                                                                      "a master that is silent for so long is lost"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::node_expiry>("yarn.nm.liveness-monitor.expiry-interval-ms",
                                                                    "and a node"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::grant_expiry>(
        "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms",
        "a granted container that is not started for so long ends"),
    KeyOf<&RmSettings::manager, &Manager::heartbeat>("yarn.resourcemanager.nodemanagers.heartbeat-interval-ms",
                                                     "time between two reports of a node"),
    KeyOf<&RmSettings::manager, &Manager::keys, &KeyTimes::amrm_roll>(
        "yarn.resourcemanager.am-rm-tokens.master-key-rolling-interval-secs",
        "time between two master keys of masters' tokens: more than 3 x yarn.am.liveness-monitor.expiry-interval-ms",
        Range{.unit = kSecond}),
    KeyOf<&RmSettings::manager, &Manager::keys, &KeyTimes::node_roll>(
        "yarn.resourcemanager.nm-tokens.master-key-rolling-interval-secs",
        "of those for nodes: more than 3 x yarn.nm.liveness-monitor.expiry-interval-ms", Range{.unit = kSecond}),
    KeyOf<&RmSettings::manager, &Manager::keys, &KeyTimes::container_roll>(
        "yarn.resourcemanager.container-tokens.master-key-rolling-interval-secs",
        "and of those of containers: as for nodes", Range{.unit = kSecond}),
    KeyOf<&RmSettings::manager, &Manager::delegation, &DelegationTimes::key_update>(
        "yarn.resourcemanager.delegation.key.update-interval",
        "with [Kerberos](kerberos.md): life of a master key of delegation tokens"),
    KeyOf<&RmSettings::manager, &Manager::delegation, &DelegationTimes::max_life>(
        "yarn.resourcemanager.delegation.token.max-lifetime", "and of a token, however often it is renewed"),
    KeyOf<&RmSettings::manager, &Manager::delegation, &DelegationTimes::renewal>(
        "yarn.resourcemanager.delegation.token.renew-interval", "and of one that is not renewed"),
    KeyOf<&RmSettings::manager, &Manager::delegation, &DelegationTimes::sweep>(
        "yarn.resourcemanager.delegation.token.remove-scan-interval",
        "time between two looks for those that have ended"),
    KeyOf<&RmSettings::manager, &Manager::renewal, &RenewalTimes::at_once>(
        "yarn.resourcemanager.delegation-token-renewer.thread-count", "tokens of applications that are renewed at once",
        Range{1, 1000}),
    By("yarn.resourcemanager.delegation-token-renewer.thread-timeout", "60000", "and how long one may take"),
    KeyOf<&RmSettings::manager, &Manager::renewal, &RenewalTimes::retry>(
        "yarn.resourcemanager.delegation-token-renewer.thread-retry-interval",
        "where nobody answers, a submission is tried again after so long"),
    KeyOf<&RmSettings::manager, &Manager::renewal, &RenewalTimes::tries>(
        "yarn.resourcemanager.delegation-token-renewer.thread-retry-max-attempts", "and so often", Range{1, 1000}),
    KeyOf<&RmSettings::manager, &Manager::renewal, &RenewalTimes::always_cancel>(
        "yarn.resourcemanager.delegation-token.always-cancel",
        "tokens end with their applications, whatever these say of that"),
    KeyOf<&RmSettings::manager, &Manager::renewal, &RenewalTimes::cancel_look>(
        "yarn.resourcemanager.delayed.delegation-token.removal-interval-ms",
        "with log aggregation tokens end at the first look after `yarn.nm.liveness-monitor.expiry-interval-ms`: time "
        "between two looks"),
    By("yarn.resourcemanager.proxy-user-privileges.enabled", "false",
       "HDFS tokens that near their greatest life are got anew [in the name of their "
       "users](kerberos.md#tokens-beyond-their-life)"),
    By("yarn.resourcemanager.system-credentials.valid-time-remaining", "10800000",
       "which is when a renewal leads nearer to that end than so"),
    By("yarn.resourcemanager.nodes.include-path", kHadoops,
       "file of the hosts or addresses that may be nodes; a name that ends in .xml: Hadoop's XML"),
    By("yarn.resourcemanager.nodes.exclude-path", kHadoops,
       "and of those that may not, in XML with a time for each host's graceful decommissioning"),
    By("net.topology.script.file.name", "none", "program that says the rack of a host"),
    By("net.topology.table.file.name", "none", "or file with a host and its rack a line"),
    By("yarn.resource-types", "none", "names of further resource types; sizes of asks in `yarn.resource-types.TYPE.*`"),
    By("yarn.scheduler.minimum-allocation-mb", kHadoops, "smallest container; `-vcores` (1) as well"),
    By("yarn.scheduler.maximum-allocation-mb", kHadoops, "largest container; `-vcores` (4) as well"),
    By("yarn.scheduler.increment-allocation-mb", "1024",
       "asks are rounded up to multiples; `-vcores` (1) as well; profile yarn-capacity rounds to the smallest "
       "container"),
    By("yarn.node-labels.enabled", "false",
       "partitions of nodes, in profile [yarn-capacity](scheduler-yarn-capacity.md#node-labels)"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::master_label>(
        "yarn.resourcemanager.node-labels.am.default-node-label-expression",
        "the label of masters that ask for none; it goes before their application's"),
    By("yarn.resourcemanager.scheduler.class", "none",
       "FairScheduler: profile fairlead; CapacityScheduler: profile yarn-capacity; any other is refused"),
    By("fairlead.scheduler.profile", "fairlead",
       "the profile; not set, and no scheduler's class: yarn-capacity where there is a capacity-scheduler.xml and no "
       "fair-scheduler.xml"),
    By("yarn.scheduler.configuration.store.class", "file",
       "whether `yarn schedulerconf` changes queues, in profile "
       "[yarn-capacity](scheduler-yarn-capacity.md#queues-by-rest); "
       "`.mutation.acl-policy.class` says who"),
    By("yarn.resourcemanager.principal", "none",
       "and `.keytab`, with `yarn.nodemanager.principal`: who the manager and who a node is ([Kerberos](kerberos.md))"),
    By("yarn.resourcemanager.webapp.spnego-principal", "none",
       "and `.spnego-keytab-file`: whose tickets the web port takes ([Kerberos](kerberos.md))"),
    By("dfs.namenode.kerberos.principal", "none",
       "whose tokens of HDFS are renewed; `dfs.nameservices`, `dfs.ha.namenodes.*` and `dfs.namenode.rpc-address.*` "
       "say "
       "where its name nodes are"),
    By("mapreduce.jobhistory.principal", "none", "whose tokens of the history server are renewed"),
    By("yarn.resourcemanager.principal.pattern", "none",
       "[what another manager may say it is](kerberos.md#servers-by-a-pattern); "
       "`dfs.namenode.kerberos.principal.pattern` and `mapreduce.jobhistory.principal.pattern` likewise"),
    KeyOf<&RmSettings::manager, &Manager::security, &PortSecurity::filters_lists>(
        "yarn.webapp.filter-entity-list-by-user",
        "lists of applications (REST, RPC, pages) have those alone that the caller may see"),
    By("yarn.resourcemanager.display.per-user-apps", "false", "the same by its older name"),
    KeyOf<&RmSettings::manager, &Manager::security, &PortSecurity::rest_submissions>(
        "yarn.webapp.enable-rest-app-submissions", "REST takes applications"),
    By("hadoop.proxyuser.*", "none",
       "who may act for whom, as `yarn.resourcemanager.proxyuser.*`, without Kerberos too "
       "([Kerberos](kerberos.md#what-works))"),
    KeyOf<&RmSettings::manager, &Manager::core, &Core::log_aggregation>("yarn.log-aggregation-enable",
                                                                        "said in reports of applications"),
    KeyOf<&RmSettings::manager, &Manager::log_aggregation, &LogAggregationOptions::time_out>(
        "yarn.log-aggregation-status.time-out.ms",
        "a node that has not said how it went with them so long after an application's end is given up", Range{-1}),
    KeyOf<&RmSettings::manager, &Manager::log_aggregation, &LogAggregationOptions::messages>(
        "yarn.resourcemanager.max-log-aggregation-diagnostics-in-memory",
        "what a node said of them, shown on the application's page: the last ones", Range{0, 1000}),
};

constexpr Unsupported kUnsupported[] = {
    {"hadoop.security.saslproperties.resolver.class", "*", "", "other resolvers of protections are not supported",
     "drop it, and use hadoop.rpc.protection"},
    {"hadoop.security.impersonation.provider.class", "*",
     "org.apache.hadoop.security.authorize.DefaultImpersonationProvider",
     "who may act for whom is what hadoop.proxyuser.* says", "drop it, and write hadoop.proxyuser.*"},
    {"yarn.authorization-provider", "*", "org.apache.hadoop.yarn.security.ConfiguredYarnAuthorizer",
     "other judges of rights are not asked, and without them lists would count that they overrule",
     "drop it, and write the lists of queues, yarn.acl.enable and yarn.admin.acl"},
    {"hadoop.security.sasl.mechanism", "*", "DIGEST-MD5", "other SASL mechanisms are not supported",
     "write DIGEST-MD5"},
    {"yarn.node-labels.configuration-type", "*", "centralized", "node labels are given by an administrator alone",
     "write centralized, and use yarn rmadmin -replaceLabelsOnNode"},
    {"yarn.federation.enabled", "true", "", "federation is not supported", "write false"},
    {"yarn.resourcemanager.reservation-system.enable", "true", "", "planned reservations are not supported",
     "write false"},
    {"yarn.resourcemanager.placement-constraints.handler", "*", "disabled", "placement constraints are not supported",
     "write disabled"},
    {"yarn.resourcemanager.opportunistic-container-allocation.enabled", "true", "",
     "opportunistic containers are not supported", "write false"},
};

}  // namespace

void ReadManagerKeys(const config::HadoopConf& conf, RmSettings& out) {
  out.manager.security.filters_lists = conf.Bool("yarn.resourcemanager.display.per-user-apps", false);
  config::ReadKeys<RmSettings>(conf, kKeys, out);
  fairlead::rm::Config& core = out.manager.core;
  if (!conf.IsSet("yarn.resourcemanager.am.global.max-attempts")) core.global_max_attempts = core.max_attempts;
  if (!conf.IsSet("yarn.resourcemanager.state-store.max-completed-applications"))
    core.max_stored_apps = core.max_completed_apps;
  core.max_stored_apps = std::min(core.max_stored_apps, core.max_completed_apps);
  if (core.max_priority == 0) core.max_priority = INT32_MAX;
  DelegationTimes& times = out.manager.delegation;
  for (base::Duration* time : {&times.key_update, &times.max_life, &times.renewal, &times.sweep})
    *time = std::max(*time, base::Duration::Millis(100));
  base::Duration& logs_time_out = out.manager.log_aggregation.time_out;
  if (logs_time_out <= base::Duration()) logs_time_out = LogAggregationOptions().time_out;  // as Hadoop
  if (core.log_aggregation) out.manager.renewal.cancel_delay = core.node_expiry;  // logs are aggregated with them
}

void RefuseUnsupportedOfManager(const config::HadoopConf& conf) { config::RefuseUnsupported(conf, kUnsupported); }

std::vector<config::Setting> ManagerKeys() {
  std::vector<config::Setting> out;
  config::AppendSettings<RmSettings>(kKeys, {}, out);
  config::AppendSettings(kUnsupported, out);
  return out;
}

}  // namespace fairlead::shell
