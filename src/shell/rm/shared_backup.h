#pragma once

#include <string>

#include "base/result.h"
#include "env_zookeeper/elector.h"
#include "shell/rm/backup.h"

namespace fairlead::shell {

/// The state of several managers, out of ZooKeeper into one new file as BackUpState makes it, for this user alone; also
/// while managers run. An Error has code ENOENT where there is no state. Blocks; cost: each row is read once.
base::Result<StateCopy> BackUpSharedState(const env_zookeeper::ElectorOptions& place, const std::string& file);

/// Puts a file of BackUpSharedState or of BackUpState in the place of the state in ZooKeeper. It leads meanwhile
/// (`place.id` is its name), and is refused where a manager does. What was there becomes a file of the same form beside
/// `file`. The epoch goes far ahead, as by RestoreState. What is interrupted leaves a state that a start refuses, until
/// a restore is whole.
base::Result<StateCopy> RestoreSharedState(const env_zookeeper::ElectorOptions& place, const std::string& file);

}  // namespace fairlead::shell
