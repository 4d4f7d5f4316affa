#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "model/queues.h"
#include "sim/traces/profiles.h"
#include "sim/traces/queue_settings.h"

namespace fairlead::sim {

/// What runs in a comparison: a profile on the queues of a Hadoop configuration, its own or another's.
struct Configuration {
  std::string name;  // as it was given
  std::string profile;
  std::string version;  // the release of Hadoop that the profile imitates; empty: none
  config::HadoopConf conf;
  model::QueueTree queues;
  bool preemption = false;
  std::vector<std::string> notes;  // what has no effect, or lets Hadoop's own scheduler not start
};

/// Reads a fair-scheduler.xml or a capacity-scheduler.xml, with a yarn-site.xml beside it, or the directory of them;
/// `version` as the profile's key names it, "": what the configuration says, or 3.4.3. A number that Hadoop's scheduler
/// does not start with is left out, and noted. Error::code is ENOENT where there is no such file.
base::Result<Configuration> ReadConfiguration(const std::string& path, const std::string& version,
                                              const config::FileReader& read);

/// What a resource manager ran with: its profile, its keys and the queues that were in use.
Configuration RunConfiguration(const std::string& name, const std::string& profile, config::HadoopConf conf,
                               model::QueueTree queues);

/// Another file of queues under the profile and the keys of `other`. Error: it is none that the profile reads.
base::Result<Configuration> WithQueuesOf(const std::string& file, const config::FileReader& read,
                                         const Configuration& other);

/// A profile by its name on the names, weights and limits of another's queues, with its sizes of containers; with all
/// of its keys where it is the same profile. An empty `version`: the other's, where it is the same profile.
base::Result<Configuration> NameConfiguration(const std::string& profile, const std::string& version,
                                              const Configuration& other);

/// Its scheduler. Hadoop's defaults hold where the configuration says nothing, but for the largest container: a trace
/// asks for what it asks for.
base::Result<Profile> MakeProfile(const Configuration& configuration, int64_t node_heartbeat_ms = 1000);

/// Of the queues' settings, and of the switch for preemption.
std::vector<SettingDifference> DifferencesOf(const Configuration& from, const Configuration& to);

}  // namespace fairlead::sim
