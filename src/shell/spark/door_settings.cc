#include "shell/spark/door_settings.h"

#include <utility>

#include "config/keys.h"
#include "config/rm_members.h"
#include "shell/base/open_ports.h"
#include "shell/spark/standalone_settings.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {
namespace {

using config::Key;
using config::KeyOf;
using config::kHadoops;
using config::Range;
using process::spark_master::SparkMasterSettings;
using process::spark_master::YarnSettings;
using Policy = decltype(YarnSettings::policy);

consteval Key<DoorSettings> ByHand(const char* name, const char* fallback, const char* meaning) {
  return config::ReadByHand<DoorSettings>(name, fallback, meaning);
}

constexpr Key<DoorSettings> kKeys[] = {
    KeyOf<&DoorSettings::spark_homes>("fairlead.spark-master.spark-homes",
                                      "directories of the builds of Spark that drivers use; `--spark-home`")
        .Shown("none"),
    KeyOf<&DoorSettings::master, &SparkMasterSettings::listen, &env::Endpoint::host>(
        "fairlead.spark-master.host",
        "address to listen on, and as which drivers and the resource manager know it; for `0.0.0.0` that is the "
        "host's name; `--host`"),
    KeyOf<&DoorSettings::master, &SparkMasterSettings::listen, &env::Endpoint::port>("fairlead.spark-master.port",
                                                                                     "`--port`", Range{0, 65535}),
    KeyOf<&DoorSettings::yarn, &YarnSettings::queue>("fairlead.spark-master.queue",
                                                     "of applications that do not choose; `--queue`"),
    KeyOf<&DoorSettings::state_directory>("fairlead.spark-master.state-dir", "what outlives a restart; `--state`")
        .Shown("`fairlead-spark-master-PORT` below `hadoop.tmp.dir`"),
    KeyOf<&DoorSettings::yarn, &YarnSettings::policy, &Policy::default_cores>(
        "fairlead.spark-master.default-cores",
        "cores of an application without `spark.cores.max` (`spark.deploy.defaultCores`)", Range{1}),
    KeyOf<&DoorSettings::yarn, &YarnSettings::policy, &Policy::failures_max>(
        "fairlead.spark-master.executor-failures-max",
        "executors that fail one after the other until the application is given up; -1: never", Range{-1}),
    KeyOf<&DoorSettings::yarn, &YarnSettings::shuffle_port>(
        "spark.shuffle.service.port", "port of the nodes' `spark_shuffle`, for executors", Range{0, 65535})
        .Shown("the driver's"),
    ByHand("yarn.resourcemanager.hostname", kHadoops, "of the cluster's manager"),
    ByHand("yarn.resourcemanager.address", kHadoops, "where applications are submitted"),
    ByHand("yarn.resourcemanager.scheduler.address", kHadoops, "where masters ask for containers"),
    ByHand("yarn.resourcemanager.ha.*", "false", "`.enabled`, `.rm-ids`: with several managers, of each"),
};

DoorSettings Defaults() {
  DoorSettings settings;
  settings.master.listen = {"127.0.0.1", 7077};
  settings.yarn.queue = "default";
  return settings;
}

/// What the command line says goes over what a key says.
template <class Field, class Option>
void Take(Field& field, const Option& option) {
  if (!option.empty()) field = option;
}

/// An address that may be a wildcard as one that can be connected to.
env::Endpoint Connectable(env::Endpoint endpoint) {
  if (endpoint.host == "0.0.0.0" || endpoint.host == "::") endpoint.host = "127.0.0.1";
  return endpoint;
}

/// What `key` says for every resource manager.
base::Status ReadAddresses(const config::HadoopConf& conf, const std::string& key, uint16_t usual_port,
                           std::vector<env::Endpoint>& out) {
  const base::Result<std::vector<std::string>> texts = config::OfEveryMember(conf, key);
  if (!texts.ok()) return texts.error();
  for (const std::string& text : *texts) {
    const base::Result<env::Endpoint> endpoint = env::ParseEndpoint(text, usual_port);
    if (!endpoint) return base::Error{key + ": " + endpoint.error().message};
    out.push_back(Connectable(*endpoint));
  }
  return {};
}

}  // namespace

base::Result<DoorSettings> ReadDoorSettings(const SparkMasterOptions& options, const config::Settings& source) {
  const config::HadoopConf& conf = source.conf;
  DoorSettings settings = Defaults();
  config::ReadKeys<DoorSettings>(conf, kKeys, settings);
  Take(settings.spark_homes, options.spark_homes);
  Take(settings.master.listen.host, options.host);
  Take(settings.yarn.queue, options.queue);
  Take(settings.state_directory, options.state);
  if (options.port) settings.master.listen.port = *options.port;
  settings.master.host = AdvertisedHost(settings.master.listen.host);
  if (settings.state_directory.empty()) {
    settings.state_directory = conf.String("hadoop.tmp.dir", "/tmp/hadoop") + "/fairlead-spark-master-" +
                               std::to_string(settings.master.listen.port);
  }
  settings.knows_callers = !conf.List(kCallersKey).empty();
  settings.yarn.web_scheme = WebScheme(conf);
  YarnSettings& yarn = settings.yarn;
  base::Status read = ReadAddresses(conf, "yarn.resourcemanager.address", 8032, yarn.resource_managers);
  if (read.ok()) read = ReadAddresses(conf, "yarn.resourcemanager.scheduler.address", 8030, yarn.schedulers);
  if (!read.ok()) return read.error();
  if (!conf.errors().empty()) return base::Error{conf.ErrorText()};
  WarnOfUnread(conf, {"fairlead.spark-master."}, "this Spark master", settings.warnings);
  return settings;
}

std::vector<base::Setting> DoorKeys() {
  std::vector<base::Setting> out;
  config::AppendSettings<DoorSettings>(kKeys, Defaults(), out);
  return out;
}

}  // namespace fairlead::shell
