#pragma once

#include <string>
#include <vector>

#include "config/hadoop_conf.h"
#include "process/login/web_login.h"
#include "shell/base/settings.h"

namespace fairlead::shell {

/// fairlead.auth is "credentials": names alone are not believed, though there is no KDC.
bool KnowsCallers(const config::HadoopConf& conf);

/// Without the key names are believed where Hadoop's files are given, whose cluster has machines that would be shut
/// out, and where Kerberos says who calls; else fairlead.auth becomes "credentials", if the kernel tells whose a
/// connection is. For daemons.
void SetDefaultAuth(const SettingsSource& source, config::HadoopConf& conf);

/// Fills in how callers are known, where fairlead.auth says so: `out.mode` and `out.callers`. What cannot be honoured
/// is an error of the configuration; what opens a network is a warning.
void ReadCallers(const config::HadoopConf& conf, process::login::WebSecurity& out, std::vector<std::string>& warnings);

}  // namespace fairlead::shell
