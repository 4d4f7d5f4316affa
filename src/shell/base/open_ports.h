#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "env/log.h"
#include "env/net.h"

namespace fairlead::shell {

/// One line for the log when any of `listeners` is reached from beyond this host and nobody is asked who he is:
/// addresses, and what whoever reaches them can do (`means`). Else "".
std::string OpenPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means);

/// The same of listeners that only this machine reaches, for daemons that let whoever connects start programs.
std::string LocalPortsWarning(const std::vector<env::Endpoint>& listeners, const std::string& means);

inline constexpr char kCallersKey[] = "fairlead.callers.uids";
/// Obeys fairlead.callers.uids: from now on listeners of this process serve processes of these users of this machine
/// (and root's) alone, and tell others why (farewell.h). Without users everybody is served. Before there are threads or
/// listeners.
base::Status KeepStrangersOut(const std::vector<std::string>& uids);
base::Status KeepStrangersOut(const config::HadoopConf& conf);
/// From now on the log has a line for each stranger; `log` outlives the listeners.
void LogStrangers(env::Log& log);

}  // namespace fairlead::shell
