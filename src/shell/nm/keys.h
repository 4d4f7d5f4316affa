#pragma once

#include <vector>

#include "config/keys.h"
#include "shell/nm/settings.h"

namespace fairlead::shell {

/// The keys of `fairlead nm` whose value is a field; the others are read in settings.cc.
void ReadNodeKeys(const config::HadoopConf& conf, NmSettings& out);

/// Refuses values that would change what a node promises.
void RefuseUnsupportedOfNode(const config::HadoopConf& conf);

/// All keys that `fairlead nm` reads, for people.
std::vector<config::Setting> NodeKeys();

}  // namespace fairlead::shell
