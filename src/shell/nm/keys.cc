#include "shell/nm/keys.h"

namespace fairlead::shell {
namespace {

using config::Key;
using config::KeyOf;
using config::kHadoops;
using config::Range;
using config::Unsupported;
using Agent = process::nm::Settings;
using Core = nm::Config;
using process::nm::LogSettings;

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kMebi = 1 << 20;

consteval Key<NmSettings> By(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<NmSettings>(name, fallback, meaning);
}

constexpr Key<NmSettings> kKeys[] = {
    By("yarn.nodemanager.hostname", kHadoops,
       "name or address under which the node registers; without files of Hadoop's: 127.0.0.1"),
    By("yarn.nodemanager.address", kHadoops,
       "of ContainerManagementProtocol; port 0: any, kept over restarts. The node's name is the canonical name of the "
       "host, as in Hadoop"),
    By("yarn.nodemanager.webapp.address", kHadoops, "of pages, REST and metrics"),
    By("yarn.nodemanager.webapp.https.address", kHadoops, "the same with yarn.http.policy HTTPS_ONLY"),
    By("yarn.nodemanager.bind-host", kHadoops, "address on which both listen instead"),
    By("yarn.resourcemanager.hostname", kHadoops, "where the resource manager runs"),
    By("yarn.resourcemanager.resource-tracker.address", kHadoops,
       "of the manager's port for nodes; with several managers the next one is tried when one refuses"),
    By("yarn.resourcemanager.ha.*", "none", "which managers there are ([high availability](high-availability.md))"),
    By("yarn.resourcemanager.webapp.address", kHadoops,
       "of the manager's pages, for the way back to them; `.https.address` with HTTPS_ONLY"),
    By("yarn.resourcemanager.connect.retry-interval.ms", "30000",
       "longest wait between two tries to register; at most 3000 is waited"),
    By("yarn.nodemanager.resource.memory-mb", "8192",
       "given to containers; -1 with detect-hardware-capabilities: 80 % of the machine's"),
    By("yarn.nodemanager.resource.cpu-vcores", "8",
       "given to containers; -1 with detect-hardware-capabilities: the machine's"),
    By("yarn.nodemanager.resource.detect-hardware-capabilities", "false", "ask the machine for what is -1"),
    By("yarn.resource-types", "none", "names of further resource types"),
    By("yarn.nodemanager.resource-type.*", "0", "of each such type, how much there is"),
    By("fairlead.nm.machine.control-groups", "none",
       "for a node that is only a part of its machine: directories of the control groups (version 1 or 2) that count "
       "its "
       "CPU and memory; their limits are the node's"),
    By("fairlead.nm.machine.disks", "all", "the disks that are the node's"),
    By("fairlead.nm.machine.interfaces", "all", "the network interfaces that are the node's"),
    KeyOf<&NmSettings::manager, &Agent::node_label>("yarn.nodemanager.node-labels.provider.configured-node-partition",
                                                    "the node's partition")
        .Shown("none"),
    KeyOf<&NmSettings::manager, &Agent::hadoop_version>("fairlead.hadoop-version",
                                                        "release that the agent tells the manager it is"),
    By("yarn.nodemanager.container-executor.class", "DefaultContainerExecutor",
       "DefaultContainerExecutor: containers run as the agent's user; LinuxContainerExecutor: as the submitter, or as "
       "the local user below ([privileges](privileges.md))"),
    By("fairlead.nm.user", "fairlead, where LinuxContainerExecutor runs and this user is there",
       "the user that the agent becomes when root starts it"),
    By("yarn.nodemanager.linux-container-executor.nonsecure-mode.limit-users", "true",
       "without Kerberos all containers run as the local user"),
    By("yarn.nodemanager.linux-container-executor.nonsecure-mode.local-user", "nobody", "that user"),
    By("min.user.id", "1000", "lowest uid that may run containers; here or in container-executor.cfg, as the next two"),
    By("banned.users", "as Hadoop's", "users who may not"),
    By("allowed.system.users", "none", "users below min.user.id who may"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::check_physical>("yarn.nodemanager.pmem-check-enabled",
                                                                     "containers over their memory end"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::check_virtual>("yarn.nodemanager.vmem-check-enabled",
                                                                    "and those over their virtual memory"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::virtual_ratio>(
        "yarn.nodemanager.vmem-pmem-ratio", "virtual memory of a container, in parts of its memory"),
    By("yarn.nodemanager.container-monitor.interval-ms", "as yarn.nodemanager.resource-monitor.interval-ms",
       "time between two measures of the use of containers"),
    By("yarn.nodemanager.resource-monitor.interval-ms", "3000", "the same, by its older name"),
    KeyOf<&NmSettings::use_cgroups>("fairlead.nm.cgroups", "limit containers by control groups where they can be made"),
    KeyOf<&NmSettings::cgroup_hierarchy>("yarn.nodemanager.linux-container-executor.cgroups.hierarchy",
                                         "where those are, whatever the executor"),
    KeyOf<&NmSettings::containers, &SupervisedOptions::limit_cpu>(
        "yarn.nodemanager.linux-container-executor.cgroups.strict-resource-usage",
        "a container gets no more cores than it booked, also on an idle node"),
    KeyOf<&NmSettings::containers, &SupervisedOptions::processes_max>(
        "fairlead.nm.container-processes-max", "processes and threads of one container at most; 0: no limit"),
    By("fairlead.nm.disk-rate-type", "none",
       "the resource type whose amount is MiB a second of disks: no container reads or writes faster"),
    By("fairlead.nm.network-rate-type", "none",
       "the resource type whose amount is megabits a second: no container sends faster "
       "([node agent](node-agent.md#network-rates))"),
    By("fairlead.nm.network-interface", "none", "the interface by which containers send"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::kill_delay>("yarn.nodemanager.sleep-delay-before-sigkill.ms",
                                                                 "time between SIGTERM and SIGKILL"),
    KeyOf<&NmSettings::containers, &SupervisedOptions::agent_away>("fairlead.nm.agent-absence-limit-ms",
                                                                   "how long a container outlives its agent"),
    KeyOf<&NmSettings::manager, &Agent::env_whitelist>("yarn.nodemanager.env-whitelist",
                                                       "variables of the agent's that containers inherit")
        .Shown("as Hadoop's"),
    KeyOf<&NmSettings::manager, &Agent::admin_env>("yarn.nodemanager.admin-env", "variables that all containers get"),
    KeyOf<&NmSettings::manager, &Agent::user_home>("yarn.nodemanager.user-home-dir", "HOME of containers"),
    KeyOf<&NmSettings::manager, &Agent::debug_info>("yarn.nodemanager.log-container-debug-info.enabled",
                                                    "keep the launch script and a list of files with the logs"),
    KeyOf<&NmSettings::containers, &SupervisedOptions::stderr_tail_bytes>(
        "yarn.nodemanager.container.stderr.tail.bytes", "of a failed container's stderr, shown in its diagnostics",
        Range{0, 1 << 20}),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::diagnostics_bytes_max>(
        "yarn.nodemanager.container-diagnostics-maximum-size", "bytes of a container's diagnostics at most",
        Range{0, 10 << 20}),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::remember_stopped>(
        "yarn.nodemanager.duration-to-track-stopped-containers", "how long an ended container is remembered"),
    KeyOf<&NmSettings::manager, &Agent::delete_delay>(
        "yarn.nodemanager.delete.debug-delay-sec", "seconds that a container's files stay after its end; -1: for good",
        Range{-1, INT32_MAX, kSecond}),
    KeyOf<&NmSettings::manager, &Agent::log_retain>("yarn.nodemanager.log.retain-seconds",
                                                    "seconds that logs stay on the node", Range{.unit = kSecond}),
    By("yarn.log-aggregation-enable", kHadoops, "gather an application's logs ([node agent](node-agent.md#logs))"),
    By("yarn.log-aggregation.file-formats", "TFile",
       "the first one is written: TFile or IFile; another one keeps logs here; `fairlead logs` reads all"),
    By("yarn.log-aggregation.file-controller.*", "by the format's name",
       "`.NAME.class`: which of the two it is (LogAggregationTFileController or LogAggregationIndexedFileController)"),
    By("yarn.nodemanager.remote-app-log-dir", kHadoops,
       "where they are gathered, on the default file system unless it says another: a file system that this "
       "machine mounts (file:), or HDFS by WebHDFS"),
    By("yarn.nodemanager.remote-app-log-dir-suffix", kHadoops,
       "and below a user's directory there, with the format's name"),
    By("yarn.log-aggregation.TFile.*", "none",
       "`.remote-app-log-dir`, `.remote-app-log-dir-suffix`: instead of these two, for one format; so for other names"),
    By("yarn.log-aggregation.IFile.*", "none", "the same for IFile"),
    By("yarn.nodemanager.log-aggregation.compression-type", "none", "none or gz"),
    By("yarn.nodemanager.log-aggregation.policy.class", "AllContainerLogAggregationPolicy",
       "which containers' logs are gathered, where the application says nothing: a class of Hadoop's"),
    By("yarn.nodemanager.log-aggregation.policy.parameters", "none", "its parameters"),
    By("yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds", "-1",
       "time between two gatherings of a running application's rolled logs; -1: none"),
    By("yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds.min", "3600", "the least that it may be"),
    By("yarn.nodemanager.log-aggregation.debug-enabled", "false", "it may be less"),
    By("yarn.nodemanager.log-aggregation.num-log-files-per-app", "30",
       "TFiles of one node that a rolling application has at most; the oldest go"),
    KeyOf<&NmSettings::manager, &Agent::logs, &LogSettings::remember>(
        "yarn.log-aggregation-status.time-out.ms",
        "a resource manager that begins anew is told how they left for so long after an application's end", Range{-1}),
    By("yarn.log-aggregation.retain-seconds", "-1",
       "no effect here: the MapReduce history server deletes gathered logs"),
    By("yarn.log-aggregation.retain-check-interval-seconds", "-1", "no effect here, either"),
    By("yarn.nodemanager.local-dirs", kHadoops, "scratch directories of containers"),
    By("yarn.nodemanager.log-dirs", "/tmp/hadoop-USER/userlogs", "log directories of containers"),
    KeyOf<&NmSettings::dirs, &NmDirsOptions::check>("yarn.nodemanager.disk-health-checker.enable",
                                                    "look whether these directories can be used"),
    KeyOf<&NmSettings::dirs, &NmDirsOptions::min_healthy>("yarn.nodemanager.disk-health-checker.min-healthy-disks",
                                                          "part of them that must be good, or the node is unhealthy"),
    KeyOf<&NmSettings::dirs, &NmDirsOptions::max_utilization>(
        "yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage",
        "a directory is not used while its disk is fuller"),
    KeyOf<&NmSettings::dirs, &NmDirsOptions::min_free_mib>(
        "yarn.nodemanager.disk-health-checker.min-free-space-per-disk-mb", "or has less room", Range{0, INT64_MAX}),
    KeyOf<&NmSettings::disk_check_interval>("yarn.nodemanager.disk-health-checker.interval-ms",
                                            "time between two looks"),
    KeyOf<&NmSettings::health_script>("yarn.nodemanager.health-checker.script.path",
                                      "a program that says whether the node is healthy")
        .Shown("none"),
    KeyOf<&NmSettings::health_script_options>("yarn.nodemanager.health-checker.script.opts", "its arguments")
        .Shown("none"),
    KeyOf<&NmSettings::health_interval>("yarn.nodemanager.health-checker.interval-ms", "time between two runs"),
    By("yarn.nodemanager.health-checker.script.timeout-ms", "as yarn.nodemanager.health-checker.timeout-ms",
       "longest run"),
    By("yarn.nodemanager.health-checker.timeout-ms", "1200000", "the same, by its newer name"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::cache_check_interval>(
        "yarn.nodemanager.localizer.cache.cleanup.interval-ms", "time between two looks at the size of the cache"),
    KeyOf<&NmSettings::manager, &Agent::core, &Core::cache_bytes_max>("yarn.nodemanager.localizer.cache.target-size-mb",
                                                                      "size of the cache of local resources",
                                                                      Range{0, int64_t{1} << 40, kMebi}),
    KeyOf<&NmSettings::errands, &Errands::Options::lane_max>("yarn.nodemanager.localizer.fetch.thread-count",
                                                             "downloads at the same time", Range{1, 64}),
    By("dfs.nameservices", "none",
       "with `dfs.ha.namenodes.*` and `dfs.namenode.http-address*`: where HDFS is read by WebHDFS"),
    By("dfs.namenode.http-address", "the host of the URL, 9870", "the name node's web port"),
    KeyOf<&NmSettings::recovery>("yarn.nodemanager.recovery.enabled", "containers outlive a restart of the agent"),
    By("yarn.nodemanager.recovery.dir", "${hadoop.tmp.dir}/yarn-nm-recovery/ADDRESS",
       "directory of the agent's state; a directory of its own for each agent"),
    KeyOf<&NmSettings::supervised>("yarn.nodemanager.recovery.supervised", "containers outlive a stop on request, too"),
    By("yarn.nodemanager.aux-services", "none",
       "Spark's YarnShuffleService and Hadoop's ShuffleHandler, served by Fairlead's own; another Java class is "
       "refused"),
    By("yarn.nodemanager.aux-services.*", "by its name", "`.NAME.class`: which of the two it is"),
    By("mapreduce.shuffle.port", kHadoops, "port of mapreduce_shuffle; 0 keeps the one of the last run"),
    By("mapreduce.shuffle.ssl.enabled", "false", "it speaks HTTPS alone, with the key of the pages ([TLS](tls.md))"),
    By("spark.shuffle.service.port", "7337", "port of spark_shuffle; its other `spark.*` keys are honoured, too"),
    KeyOf<&NmSettings::shuffle_extra_roots>("fairlead.shuffle.extra-local-roots",
                                            "roots of local directories besides yarn.nodemanager.local-dirs")
        .Shown("none"),
    By("fairlead.shuffle.bind-host", "the agent's address; 0.0.0.0 with extra local roots", "address of spark_shuffle"),
    KeyOf<&NmSettings::shuffle_stop_on_failure>("spark.yarn.shuffle.stopOnFailure",
                                                "the agent ends when spark_shuffle cannot start"),
    By("yarn.nodemanager.principal", "none", "and `.keytab`: who the agent is ([Kerberos](kerberos.md))"),
    By("yarn.resourcemanager.principal", "none",
       "and who the manager is; `.pattern`: [what it may say it is](kerberos.md#servers-by-a-pattern)"),
    By("yarn.nm.liveness-monitor.expiry-interval-ms", "600000",
       "with Kerberos: so long the manager keeps up an ended application's tokens; while its logs have not left, the "
       "agent asks for more"),
    By("yarn.nodemanager.webapp.spnego-principal", "none",
       "and `.spnego-keytab-file`: whose tickets the web port takes ([Kerberos](kerberos.md))"),
};

constexpr Unsupported kUnsupported[] = {
    {"hadoop.security.sasl.mechanism", "*", "DIGEST-MD5", "other SASL mechanisms are not supported",
     "write DIGEST-MD5"},
    {"yarn.nodemanager.amrmproxy.enabled", "*", "false", "federation's proxy is not supported", "write false"},
    {"yarn.nodemanager.distributed-scheduling.enabled", "*", "false", "distributed scheduling is not supported",
     "write false"},
    {"yarn.nodemanager.runtime.linux.allowed-runtimes", "*", "default", "containers of images are not supported",
     "write default"},
};

}  // namespace

void ReadNodeKeys(const config::HadoopConf& conf, NmSettings& out) {
  config::ReadKeys<NmSettings>(conf, kKeys, out);
  const auto either = [&](const char* key, const char* other, base::Duration& value) {
    value = conf.Time(key, conf.Time(other, value));
  };
  either("yarn.nodemanager.container-monitor.interval-ms", "yarn.nodemanager.resource-monitor.interval-ms",
         out.containers.usage_interval);
  either("yarn.nodemanager.health-checker.script.timeout-ms", "yarn.nodemanager.health-checker.timeout-ms",
         out.health_timeout);
  fairlead::nm::Config& core = out.manager.core;
  core.rm_retry_max = std::min(conf.Time("yarn.resourcemanager.connect.retry-interval.ms", base::Duration::Seconds(30)),
                               core.rm_retry_max);
  out.containers.limit_memory = core.check_physical;
  out.containers.leftover_grace = core.kill_delay;
}

void RefuseUnsupportedOfNode(const config::HadoopConf& conf) { config::RefuseUnsupported(conf, kUnsupported); }

std::vector<config::Setting> NodeKeys() {
  std::vector<config::Setting> out;
  config::AppendSettings<NmSettings>(kKeys, {}, out);
  config::AppendSettings(kUnsupported, out);
  return out;
}

}  // namespace fairlead::shell
