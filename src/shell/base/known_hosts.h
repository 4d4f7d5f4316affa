#pragma once

#include "config/hadoop_conf.h"
#include "process/http/known_hosts.h"

namespace fairlead::shell {

/// The names under which a daemon's web ports are served: this machine's own, every host in an address or host name of
/// the configuration (clients were told those), and fairlead.http.hosts (proxies, Prometheus; NAME, NAME:PORT, "*").
/// Warns when every name is served.
process::http::KnownHosts ReadKnownHosts(const config::HadoopConf& conf, std::vector<std::string>& warnings);

}  // namespace fairlead::shell
