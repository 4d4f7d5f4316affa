#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "endpoints/rest/document.h"
#include "scheduler/pass_records.h"

namespace fairlead::process::rm {

/// Which passes are shown to whom asks for one application's, and how (RMWebServices.getAppActivities).
struct AppPassesAsked {
  std::set<int32_t> priorities;  // of requests; empty: all
  std::set<int64_t> request_ids;
  bool grouped = false;    // nodes by state and reason
  bool summarize = false;  // the last that each node said in the time before the last pass, as one
  base::Duration time = base::Duration::Seconds(3);
};

/// The application, and how its passes' nodes and times are spelled.
struct AppOfPasses {
  std::string id;
  std::string queue;
  int32_t priority = 0;
  std::function<std::string(model::NodeIndex)> node_name;
  std::function<base::WallTime(base::Instant)> wall;
};

/// dao/AppAllocationInfo of each attempt that looked at the application, the latest first. O(what is written of the
/// passes).
endpoints::rest::Document::List AppAllocations(const std::vector<const scheduler::NodePass*>& passes,
                                               const AppOfPasses& app, const AppPassesAsked& asked);

/// java.util.Date.toString.
std::string DateText(base::WallTime time);

}  // namespace fairlead::process::rm
