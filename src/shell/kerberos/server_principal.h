#pragma once

#include <string>

#include "config/hadoop_conf.h"

namespace fairlead::shell {

/// Which principal a server of Hadoop RPC may have: `key`.pattern where that is written, else `key`; "" where neither
/// is (org.apache.hadoop.security.SaslRpcClient.getServerPrincipal). A pattern that cannot be read is an error of the
/// configuration.
std::string ServerPrincipal(const config::HadoopConf& conf, const std::string& key);

}  // namespace fairlead::shell
