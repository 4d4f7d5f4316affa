#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/fairlead_yaml.h"

namespace fairlead::shell {

/// Where a daemon or command takes its configuration from; later ones win.
struct SettingsSource {
  std::string hadoop_conf;             // directory of Hadoop's files; "" : none
  std::string yaml;                    // Fairlead's own file; "": none
  std::vector<std::string> overrides;  // KEY=VALUE with full Hadoop or fairlead.* keys
};

/// Reads it all. Without a Hadoop directory the resource manager's host is 127.0.0.1 unless something says otherwise: a
/// safe default binds to loopback.
base::Result<config::Settings> LoadSettings(const SettingsSource& source);

/// Warns of keys that begin with one of `prefixes` and that `daemon` ("this node agent"), which has read all it needs,
/// has not read; and of any other of YARN's that a letter or two make one that it has.
void WarnOfUnread(const config::HadoopConf& conf, const std::vector<std::string_view>& prefixes,
                  const std::string& daemon, std::vector<std::string>& warnings);

}  // namespace fairlead::shell
