#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/fairlead_yaml.h"
#include "env/net.h"
#include "process/http/known_hosts.h"
#include "process/nm/node_manager.h"
#include "shell/base/view_access.h"
#include "shell/kerberos/kerberos.h"
#include "shell/nm/dirs.h"
#include "shell/nm/localizer.h"
#include "shell/nm/log_aggregation.h"
#include "shell/nm/supervised_containers.h"

namespace fairlead::shell {

/// One entry of yarn.nodemanager.aux-services.
struct AuxServiceSetting {
  std::string name;
  enum class Kind : uint8_t { kSparkShuffle, kMapReduceShuffle } kind = Kind::kSparkShuffle;
  env::Endpoint listen;
};

/// Everything `fairlead nm` takes from its configuration.
struct NmSettings {
  process::nm::Settings manager;
  std::optional<DaemonIdentity> kerberos;  // hadoop.security.authentication is that
  WebIdentity web_identity;                // of the web port, where it takes tickets
  process::login::WebSecurity web_security;
  env::Endpoint web;
  ViewAccess may_view;
  std::string cluster_page;         // the resource manager's pages, for the way back; empty: not known
  process::http::KnownHosts hosts;  // under which names the web port is served
  std::string state_directory;      // yarn.nodemanager.recovery.dir
  bool recovery = true;             // yarn.nodemanager.recovery.enabled, unless written false
  bool supervised = false;          // yarn.nodemanager.recovery.supervised: containers outlive a stop on request, too
  RunAs run_as;
  std::string credential_file;  // of `fairlead join`, where the credential came from there
  std::string agent_user;  // fairlead.nm.user: not empty: as whom the agent itself is to run, once root has started it
  NmDirsOptions dirs;
  base::Duration disk_check_interval = base::Duration::Seconds(120);
  SupervisedOptions containers;
  bool use_cgroups = true;        // fairlead.nm.cgroups
  std::string network_interface;  // fairlead.nm.network-interface
  std::string cgroup_hierarchy = "/hadoop-yarn";
  LocalizerOptions localizer;
  Errands::Options errands;
  bool aggregate_logs = false;  // yarn.log-aggregation-enable
  LogAggregationOptions log_aggregation;
  std::vector<AuxServiceSetting> services;
  bool map_outputs_https = false;                // mapreduce.shuffle.ssl.enabled
  std::vector<std::string> shuffle_extra_roots;  // fairlead.shuffle.extra-local-roots: of other agents here
  bool shuffle_stop_on_failure = false;          // spark.yarn.shuffle.stopOnFailure
  std::string health_script;
  std::vector<std::string> health_script_options;
  base::Duration health_interval = base::Duration::Seconds(600);
  base::Duration health_timeout = base::Duration::Seconds(1200);
  std::vector<std::string> warnings;
};

/// Takes Hadoop's rules about users (min.user.id, banned.users, allowed.system.users) from container-executor.cfg of
/// the directory, where it is there and the configuration does not give them.
void AddExecutorRules(const std::string& directory, config::HadoopConf& conf);

/// Where gathered logs of each configured format lie, and how; the first is written, all are read
/// (LogAggregationFileControllerFactory). Error: nothing here writes or reads that one.
std::vector<base::Result<LogAggregationOptions>> ReadLogPlaces(const config::HadoopConf& conf);

/// Reads and checks the whole configuration; what cannot be honoured is an Error with the key, the reason and what to
/// write, a line each. `of_refused` gets the warnings beside an Error.
base::Result<NmSettings> ReadNmSettings(const config::Settings& settings,
                                        std::vector<std::string>* of_refused = nullptr);

}  // namespace fairlead::shell
