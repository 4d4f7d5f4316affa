#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"

namespace fairlead::config {
class HadoopConf;
}

namespace fairlead::shell {

/// Groups of a user as this machine knows them, primary first; none of a user it does not know, as Hadoop's
/// ShellBasedUnixGroupsMapping. Cached for five minutes.
std::vector<std::string> GroupsOfUser(const std::string& user);

/// The name of the user that this process runs as.
std::string OwnUser();

/// Host -> rack by net.topology.table.file.name (TableMapping) or net.topology.script.file.name
/// (ScriptBasedMapping); "/default-rack" otherwise. Answers of a script are kept.
base::Result<std::function<std::string(const std::string&)>> RackLookup(const config::HadoopConf& conf);

}  // namespace fairlead::shell
