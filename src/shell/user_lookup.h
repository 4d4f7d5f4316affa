#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::config {
class HadoopConf;
}

namespace fairlead::shell {

/// Groups of a user as this machine knows them, primary first; the user's own name when it is not known (Hadoop's
/// ShellBasedUnixGroupsMapping would give none). Cached for five minutes.
std::vector<std::string> GroupsOfUser(const std::string& user);

/// Host -> rack by net.topology.table.file.name (TableMapping) or net.topology.script.file.name
/// (ScriptBasedMapping); "/default-rack" otherwise. Answers of a script are kept.
base::Result<std::function<std::string(const std::string&)>> RackLookup(const config::HadoopConf& conf);

}  // namespace fairlead::shell
