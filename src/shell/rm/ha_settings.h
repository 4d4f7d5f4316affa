#pragma once

#include <map>
#include <optional>
#include <string>

#include "config/hadoop_conf.h"
#include "env/net.h"
#include "env_zookeeper/elector.h"

namespace fairlead::shell {

/// What a resource manager that is one of several takes from the configuration (docs/high-availability.md).
struct HaSettings {
  std::string id;                              // yarn.resourcemanager.ha.id, else the member that has this host's name
  env_zookeeper::ElectorOptions elector;       // zk-address, zk-timeout-ms, zk-auth, cluster-id
  std::map<std::string, env::Endpoint> admin;  // of every member
  std::map<std::string, env::Endpoint> web;    // the same
  std::string principal;                       // which one a member may say it has, or a pattern; empty: no Kerberos
};

/// None when the manager runs alone (yarn.resourcemanager.ha.enabled is false), or when something of it was refused
/// (HadoopConf::Refuse).
std::optional<HaSettings> ReadHaSettings(const config::HadoopConf& conf);

}  // namespace fairlead::shell
