#include "process/spark_master/standalone_ids.h"

#include <algorithm>

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

/// "My Job" as "myjob" (Master.createApplication); nothing where that cannot name a directory on a worker.
std::optional<std::string> IdOfName(const std::string& name) {
  std::string id;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    if (c != ' ' && (c < '\t' || c > '\r')) id += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  const bool plain = std::ranges::all_of(
      id, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'; });
  constexpr size_t kLongest = 128;
  if (!plain || id.empty() || id.front() == '.' || id.size() > kLongest) return std::nullopt;
  return id;
}

}  // namespace

std::string StandaloneIds::NewApplication(const std::string& name, base::WallTime now, uint32_t index) {
  std::string id = FreeApplicationId(name, now);
  applications_[id] = index;
  return id;
}

std::string StandaloneIds::FreeApplicationId(const std::string& name, base::WallTime now) {
  if (settings_.names_as_ids) {
    const auto id = IdOfName(name);
    if (id && !IsTaken(*id)) return *id;
  }
  const std::string date = es::IdDate(now);
  for (uint32_t tries = 0;; ++tries) {
    std::string id = settings_.applications.Format({date, int64_t{next_application_++}});
    // Where all numbers are in use, they go on beyond.
    if (tries < settings_.application_numbers) next_application_ %= settings_.application_numbers;
    if (!IsTaken(id)) return id;
  }
}

std::string StandaloneIds::NewDriver(base::WallTime now, uint32_t index) {
  const std::string date = es::IdDate(now);
  for (;;) {
    std::string id = settings_.drivers.Format({date, int64_t{next_driver_++}});
    if (IsTaken(id)) continue;
    drivers_[id] = index;
    return id;
  }
}

void StandaloneIds::Drop(const std::set<uint32_t>& applications, const std::set<uint32_t>& drivers) {
  std::erase_if(applications_, [&](const auto& one) { return applications.contains(one.second); });
  std::erase_if(drivers_, [&](const auto& one) { return drivers.contains(one.second); });
}

std::optional<uint32_t> StandaloneIds::Find(const Indices& indices, const std::string& id) {
  const auto found = indices.find(id);
  return found != indices.end() ? std::optional(found->second) : std::nullopt;
}

}  // namespace fairlead::process::spark_master
