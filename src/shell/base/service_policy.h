#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "config/service_policy.h"

namespace fairlead::shell {

/// The addresses of a host by this machine's resolver (config::ResolveHost). For any thread; may wait.
std::vector<std::string> AddressesOf(const std::string& host);

/// Nothing unless hadoop.security.authorization is true; then hadoop-policy.xml of the directory over the keys of
/// `conf`. An error: the file is not there or cannot be read, and what to write.
base::Result<std::optional<config::ServicePolicy>> ReadServicePolicy(
    const config::HadoopConf& conf, const std::string& conf_directory,
    std::span<const config::ServicePolicy::Service> services);

}  // namespace fairlead::shell
