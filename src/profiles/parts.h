#pragma once

#include <span>

#include "base/result.h"
#include "profiles/keys.h"
#include "scheduler/books/config.h"

namespace fairlead::profiles {

/// Keys that all profiles on the books share.
std::span<const Key<scheduler::BooksConfig>> SharedKeys();

/// Sizes, queues and the shared keys.
base::Result<scheduler::BooksConfig> ReadShared(const config::HadoopConf& conf, const model::QueueTree& queues);

extern const QueueFile kFairSchedulerFile;

extern const Profile kFairlead;
extern const Profile kYarnFair;
extern const Profile kTdw;
extern const Profile kSparkStandalone;

}  // namespace fairlead::profiles
