#pragma once

#include <memory>

#include "config/hadoop_conf.h"
#include "endpoints/rest/configuration.h"

namespace fairlead::shell {

/// What /conf shows of `conf`: keys that a file or an option sets, with ${...} replaced. Values of keys that
/// hadoop.security.sensitive-config-keys matches are hidden, all of them where one of its expressions cannot be read.
/// Null where hadoop.security.instrumentation.requires.admin keeps it from everybody.
std::shared_ptr<const endpoints::rest::Configuration> ShownConfiguration(const config::HadoopConf& conf);

}  // namespace fairlead::shell
