#pragma once

#include <memory>
#include <string>

#include "commands.h"
#include "shell/base/settings.h"
#include "shell/client/yarn_client.h"

namespace fairlead::apps {

/// Options of every command that talks to a cluster.
struct ClusterOptions {
  shell::SettingsSource source;
  std::string user;
  bool json = false;
};

/// Adds --hadoop-conf, --config, --set, --user and --json.
void AddClusterOptions(CLI::App& command, ClusterOptions& options);

/// Error::code: the web port answers, and is not that of a resource manager of Fairlead's.
inline constexpr int kAnotherManager = 100;

struct Cluster {
  config::Settings settings;
  std::unique_ptr<shell::YarnClient> client;
  shell::SettingsSource source;  // where the settings are from
};

/// What `source` names; without a name HADOOP_CONF_DIR, then YARN_CONF_DIR, are put into it.
base::Result<config::Settings> LoadSettings(shell::SettingsSource& source);
/// Loads the configuration and makes the client; on failure complains and gives the exit code.
base::Result<Cluster> OpenCluster(const ClusterOptions& options);

/// The exit code of a failed call.
ExitCode CodeOf(const base::Error& error);

}  // namespace fairlead::apps
