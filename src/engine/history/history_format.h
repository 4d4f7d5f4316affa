#pragma once

#include <cstdint>
#include <string>

namespace fairlead::engine::history {

/// "850 ms", "12.3 s", "4 min 05 s".
std::string DurationText(int64_t ms);
/// "0", "812 B", "1.4 MiB".
std::string BytesText(int64_t bytes);
/// "2026-03-01 12:00:05" in UTC.
std::string TimeText(int64_t ms);

}  // namespace fairlead::engine::history
