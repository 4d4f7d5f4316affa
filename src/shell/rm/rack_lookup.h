#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace fairlead::config {
class HadoopConf;
}

namespace fairlead::shell {

/// Host -> rack by net.topology.table.file.name (TableMapping) or net.topology.script.file.name
/// (ScriptBasedMapping); "/default-rack" otherwise. Answers of a script are kept.
base::Result<std::function<std::string(const std::string&)>> RackLookup(const config::HadoopConf& conf);

}  // namespace fairlead::shell
