#pragma once

#include <span>

#include "base/result.h"
#include "profiles/keys.h"
#include "scheduler/fairlead/config.h"

namespace fairlead::profiles {

/// Keys that all profiles on the books of `fairlead` share.
std::span<const Key<scheduler::FairleadConfig>> SharedKeys();

/// Sizes, queues and the shared keys.
base::Result<scheduler::FairleadConfig> ReadShared(const config::HadoopConf& conf, const model::QueueTree& queues);

extern const QueueFile kFairSchedulerFile;

extern const Profile kFairlead;
extern const Profile kYarnFair;
extern const Profile kTdw;
extern const Profile kSparkStandalone;

}  // namespace fairlead::profiles
