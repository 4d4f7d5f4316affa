#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace fairlead::process::application {

/// Where the tasks of an application's running stages would like to run (Spark: the hostToLocalTaskCount and
/// numLocalityAwareTasks that ExecutorAllocationManager keeps).
struct WantedPlaces {
  int64_t tasks = 0;                     // that have preferred hosts
  std::map<std::string, int64_t> hosts;  // how many of them name each host
  friend bool operator==(const WantedPlaces&, const WantedPlaces&) = default;
};

/// How many of an application's containers it asks for by each name, a host's or a rack's, besides those that may be
/// anywhere. A name that is not there is not asked for.
using PlaceLines = std::map<std::string, int32_t>;

/// The lines of an ask for `containers` more executors of `slots` tasks each, near the data: each host gets executors
/// in proportion to the tasks that name it, less the executors that it has; those beyond what the tasks need may be
/// anywhere. The rules are those of Spark's LocalityPreferredContainerPlacementStrategy, with the lines that Hadoop's
/// AMRMClient makes of its requests: as many for a host as requests name it, as many for a rack as name a host of it.
/// Spark leaves requests standing whose hosts still count; here each ask states the total again, so none stands
/// besides. `existing`: executors by host. `racks`: by host; others are in Hadoop's default rack. O(hosts).
PlaceLines LinesNearData(const WantedPlaces& places, int32_t containers, int32_t slots,
                         const std::map<std::string, int32_t>& existing,
                         const std::map<std::string, std::string>& racks);

}  // namespace fairlead::process::application
