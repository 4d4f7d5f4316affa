#pragma once

#include <memory>

#include "env/page_cache.h"

namespace fairlead::env_posix {

/// The kernel's (cachestat of Linux 6.5, else preadv2 with RWF_NOWAIT; openat2 with RESOLVE_CACHED of Linux 5.12). A
/// kernel that cannot tell counts as holding everything.
std::unique_ptr<env::PageCache> MakePosixPageCache();

}  // namespace fairlead::env_posix
