#pragma once

#include <string>

#include "process/http/http.h"
#include "process/rm/resource_manager.h"

namespace fairlead::process::rm {

/// /ws/v1/cluster/scheduler/activities.
http::Response SchedulerActivities(const http::Request& request, const ResourceManager& manager);
/// /ws/v1/cluster/scheduler/app-activities/`id`; to who may not see the application it is one that has ended.
http::Response AppActivities(const http::Request& request, const std::string& id, const ResourceManager& manager);

}  // namespace fairlead::process::rm
