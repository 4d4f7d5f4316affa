#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/time.h"
#include "endpoints/spark/id_pattern.h"

namespace fairlead::process::spark_master {

struct IdSettings {
  endpoints::spark::IdPattern applications =
      *endpoints::spark::NumberedIds("app-%s-%04d");                                       // spark.deploy.appIdPattern
  endpoints::spark::IdPattern drivers = *endpoints::spark::NumberedIds("driver-%s-%04d");  // .driverIdPattern
  uint32_t application_numbers = UINT32_MAX;  // spark.deploy.appNumberModulo
  bool names_as_ids = false;                  // spark.master.useAppNameAsAppId.enabled
};

/// The ids of a master's applications and drivers (Master.newApplicationId, newDriverId). As Spark's, but an id that is
/// in use is passed over: after a restart numbers begin again, and names may come twice. Indices are the core's.
/// Cost: O(log ids) where the next number is free.
class StandaloneIds {
 public:
  explicit StandaloneIds(IdSettings settings) : settings_(std::move(settings)) {}

  /// A new id, which `index` has from now on.
  std::string NewApplication(const std::string& name, base::WallTime now, uint32_t index);
  std::string NewDriver(base::WallTime now, uint32_t index);
  /// The same with an id of an earlier life.
  void TakeApplication(const std::string& id, uint32_t index) { applications_[id] = index; }
  void TakeDriver(const std::string& id, uint32_t index) { drivers_[id] = index; }

  std::optional<uint32_t> Application(const std::string& id) const { return Find(applications_, id); }
  std::optional<uint32_t> Driver(const std::string& id) const { return Find(drivers_, id); }
  /// Their ids are free again.
  void Drop(const std::set<uint32_t>& applications, const std::set<uint32_t>& drivers);

 private:
  using Indices = std::map<std::string, uint32_t>;
  static std::optional<uint32_t> Find(const Indices& indices, const std::string& id);
  bool IsTaken(const std::string& id) const { return applications_.contains(id) || drivers_.contains(id); }
  std::string FreeApplicationId(const std::string& name, base::WallTime now);

  const IdSettings settings_;
  Indices applications_;
  Indices drivers_;
  uint32_t next_application_ = 0;
  uint32_t next_driver_ = 0;
};

}  // namespace fairlead::process::spark_master
