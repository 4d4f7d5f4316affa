#include "model/ids.h"

#include <charconv>
#include <cstdio>
#include <vector>

namespace fairlead::model {
namespace {

template <class... Args>
std::string Format(const char* format, Args... args) {
  char buffer[128];
  std::snprintf(buffer, sizeof buffer, format, args...);
  return buffer;
}

/// Splits "prefix_1_2_3" into its numbers; false when a part is not a non-negative number or the count differs.
bool ParseNumbers(std::string_view text, std::string_view prefix, std::vector<int64_t>& numbers) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  while (true) {
    const size_t end = text.find('_');
    const std::string_view part = text.substr(0, end);
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || stop != part.data() + part.size() || part.empty() || value < 0) return false;
    numbers.push_back(value);
    if (end == std::string_view::npos) return true;
    text.remove_prefix(end + 1);
  }
}

/// Far longer than any id; who sends more does not get it all back.
constexpr size_t kShownBytes = 100;

base::Error Malformed(std::string_view what, std::string_view text, const char* shape) {
  const char* more = text.size() > kShownBytes ? "..." : "";
  return {"'" + std::string(text.substr(0, kShownBytes)) + more + "' is not " + std::string(what) + "; expected " +
          shape};
}

bool FitsInt(int64_t value) { return value <= INT32_MAX; }

}  // namespace

std::string ToString(const ApplicationId& id) {
  return Format("application_%lld_%04d", static_cast<long long>(id.cluster_timestamp), id.number);
}

std::string ToString(const ApplicationAttemptId& id) {
  return Format("appattempt_%lld_%04d_%06d", static_cast<long long>(id.app.cluster_timestamp), id.app.number,
                id.attempt);
}

std::string ToString(const ContainerId& id) {
  const auto timestamp = static_cast<long long>(id.attempt.app.cluster_timestamp);
  const auto sequence = static_cast<long long>(id.sequence());
  if (id.epoch() == 0) {
    return Format("container_%lld_%04d_%02d_%06lld", timestamp, id.attempt.app.number, id.attempt.attempt, sequence);
  }
  return Format("container_e%02lld_%lld_%04d_%02d_%06lld", static_cast<long long>(id.epoch()), timestamp,
                id.attempt.app.number, id.attempt.attempt, sequence);
}

base::Result<ApplicationId> ParseApplicationId(std::string_view text) {
  std::vector<int64_t> n;
  if (!ParseNumbers(text, "application_", n) || n.size() != 2 || !FitsInt(n[1])) {
    return Malformed("an application id", text, "application_<timestamp>_<number>");
  }
  return ApplicationId{n[0], static_cast<int32_t>(n[1])};
}

base::Result<ApplicationAttemptId> ParseApplicationAttemptId(std::string_view text) {
  std::vector<int64_t> n;
  if (!ParseNumbers(text, "appattempt_", n) || n.size() != 3 || !FitsInt(n[1]) || !FitsInt(n[2])) {
    return Malformed("an application attempt id", text, "appattempt_<timestamp>_<number>_<attempt>");
  }
  return ApplicationAttemptId{{n[0], static_cast<int32_t>(n[1])}, static_cast<int32_t>(n[2])};
}

base::Result<ContainerId> ParseContainerId(std::string_view text) {
  std::vector<int64_t> n;
  const bool has_epoch = text.starts_with("container_e");
  const bool good = ParseNumbers(text, has_epoch ? "container_e" : "container_", n) && n.size() == (has_epoch ? 5 : 4);
  if (!good)
    return Malformed("a container id", text, "container_[e<epoch>_]<timestamp>_<application>_<attempt>_<number>");
  const int64_t epoch = has_epoch ? n[0] : 0;
  if (has_epoch) n.erase(n.begin());
  if (!FitsInt(n[1]) || !FitsInt(n[2]) || n[3] >> 40 != 0 || epoch >> 23 != 0) {
    return Malformed("a container id", text, "numbers within YARN's ranges");
  }
  return ContainerId{{{n[0], static_cast<int32_t>(n[1])}, static_cast<int32_t>(n[2])}, (epoch << 40) | n[3]};
}

}  // namespace fairlead::model
