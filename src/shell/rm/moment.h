#pragma once

#include <string>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::shell {

/// A moment as people write it, in local time: "2026-11-25T03:10", with seconds or a Z for UTC; "03:10", the last one
/// up to `end`; "-2h" (or "-90m", "-30s", "-1d", "-1h30m"), so long before `end`; milliseconds since 1970.
base::Result<base::WallTime> ParseMoment(const std::string& text, base::WallTime end);

}  // namespace fairlead::shell
