#pragma once

#include <vector>

#include "config/keys.h"
#include "shell/rm/settings.h"

namespace fairlead::shell {

/// The keys of `fairlead rm` whose value is a field; the others are read in settings.cc and ha_settings.cc, those of
/// the scheduler by its profile.
void ReadManagerKeys(const config::HadoopConf& conf, RmSettings& out);

/// Refuses values that would change what a cluster promises.
void RefuseUnsupportedOfManager(const config::HadoopConf& conf);

/// All keys that `fairlead rm` reads beside its profile's, for people.
std::vector<config::Setting> ManagerKeys();

}  // namespace fairlead::shell
