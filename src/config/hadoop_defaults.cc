#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "config/hadoop_conf.h"

namespace fairlead::config {
namespace {

// Defaults of Hadoop 3.3 and 3.4 (identical for these keys) that Fairlead reads or that other values refer to by
// ${...}. Sorted by key.
constexpr std::pair<std::string_view, const char*> kDefaults[] = {
    {"fs.defaultFS", "file:///"},
    {"hadoop.http.staticuser.user", "dr.who"},
    {"hadoop.security.authentication", "simple"},
    {"hadoop.security.authorization", "false"},
    {"hadoop.tmp.dir", "/tmp/hadoop-${user.name}"},
    {"mapreduce.shuffle.port", "13562"},
    {"yarn.acl.enable", "false"},
    {"yarn.admin.acl", "*"},
    {"yarn.app.mapreduce.am.staging-dir", "/tmp/hadoop-yarn/staging"},
    {"yarn.http.policy", "HTTP_ONLY"},
    {"yarn.log-aggregation-enable", "false"},
    {"yarn.nodemanager.address", "${yarn.nodemanager.hostname}:0"},
    {"yarn.nodemanager.bind-host", ""},
    {"yarn.nodemanager.container-executor.class", "org.apache.hadoop.yarn.server.nodemanager.DefaultContainerExecutor"},
    {"yarn.nodemanager.env-whitelist",
     "JAVA_HOME,HADOOP_COMMON_HOME,HADOOP_HDFS_HOME,HADOOP_CONF_DIR,CLASSPATH_PREPEND_DISTCACHE,HADOOP_YARN_HOME,"
     "HADOOP_HOME,PATH,LANG,TZ"},
    {"yarn.nodemanager.hostname", "0.0.0.0"},
    {"yarn.nodemanager.local-dirs", "${hadoop.tmp.dir}/nm-local-dir"},
    {"yarn.nodemanager.log-dirs", "/tmp/hadoop-${user.name}/userlogs"},
    {"yarn.nodemanager.recovery.dir", "${hadoop.tmp.dir}/yarn-nm-recovery"},
    {"yarn.nodemanager.remote-app-log-dir", "/tmp/logs"},
    {"yarn.nodemanager.remote-app-log-dir-suffix", "logs"},
    {"yarn.nodemanager.resource.cpu-vcores", "-1"},
    {"yarn.nodemanager.resource.memory-mb", "-1"},
    {"yarn.nodemanager.webapp.address", "${yarn.nodemanager.hostname}:8042"},
    {"yarn.nodemanager.webapp.https.address", "${yarn.nodemanager.hostname}:8044"},
    {"yarn.resourcemanager.address", "${yarn.resourcemanager.hostname}:8032"},
    {"yarn.resourcemanager.admin.address", "${yarn.resourcemanager.hostname}:8033"},
    {"yarn.resourcemanager.bind-host", ""},
    {"yarn.resourcemanager.cluster-id", ""},
    {"yarn.resourcemanager.hostname", "0.0.0.0"},
    {"yarn.resourcemanager.nodes.exclude-path", ""},
    {"yarn.resourcemanager.nodes.include-path", ""},
    {"yarn.resourcemanager.resource-tracker.address", "${yarn.resourcemanager.hostname}:8031"},
    {"yarn.resourcemanager.scheduler.address", "${yarn.resourcemanager.hostname}:8030"},
    {"yarn.resourcemanager.webapp.address", "${yarn.resourcemanager.hostname}:8088"},
    {"yarn.resourcemanager.webapp.https.address", "${yarn.resourcemanager.hostname}:8090"},
    {"yarn.scheduler.maximum-allocation-mb", "8192"},
    {"yarn.scheduler.maximum-allocation-vcores", "4"},
    {"yarn.scheduler.minimum-allocation-mb", "1024"},
    {"yarn.scheduler.minimum-allocation-vcores", "1"},
};

}  // namespace

const char* HadoopDefault(std::string_view key) {
  const auto* found = std::lower_bound(std::begin(kDefaults), std::end(kDefaults), key,
                                       [](const auto& entry, std::string_view k) { return entry.first < k; });
  return found != std::end(kDefaults) && found->first == key ? found->second : nullptr;
}

}  // namespace fairlead::config
