#include "process/spark_master/stored_application.h"

#include <charconv>

namespace fairlead::process::spark_master {

std::optional<int32_t> NumberOfExecutor(std::string_view id) {
  int32_t number = 0;
  const auto [stop, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || stop != id.data() + id.size() || number < 0) return std::nullopt;
  return number;
}

base::Status CheckStored(const StoredApplication& stored) {
  constexpr int32_t kMost = INT32_MAX - 2 * kIdsLeftOut;
  if (stored.last_executor < 0 || stored.last_executor > kMost) {
    return base::Error{"its last executor has the number " + std::to_string(stored.last_executor)};
  }
  for (const StoredExecutor& executor : stored.executors) {
    const std::optional<int32_t> number = NumberOfExecutor(executor.id);
    if (!number || *number > kMost) return base::Error{"'" + executor.id.substr(0, 100) + "' is no executor's number"};
  }
  return {};
}

}  // namespace fairlead::process::spark_master
