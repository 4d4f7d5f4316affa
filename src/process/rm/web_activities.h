#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/alive.h"
#include "env/loop.h"
#include "process/http/http.h"
#include "process/http/server.h"
#include "process/rm/resource_manager.h"

namespace fairlead::process::rm {

/// /ws/v1/cluster/scheduler/activities.
http::Response SchedulerActivities(const http::Request& request, const ResourceManager& manager);
/// /ws/v1/cluster/scheduler/app-activities/`id`; to who may not see the application it is one that has ended.
http::Response AppActivities(const http::Request& request, const std::string& id, const ResourceManager& manager);

struct PassesAsked;
/// /ws/v1/cluster/scheduler/bulk-activities: the next `activitiesCount` passes (0 and less: 10) are to be written down;
/// or why not, in Hadoop's words where it has some.
base::Result<std::shared_ptr<const PassesAsked>> AskForPasses(const http::Request& request,
                                                              const ResourceManager& manager);
/// Answers once they are, or with what there is when that takes as long as they are kept. `alive`: the caller's.
void AwaitPasses(const std::shared_ptr<const PassesAsked>& asked, const ResourceManager& manager, env::Loop& loop,
                 const env::Alive& alive, const http::Server::Reply& reply);

}  // namespace fairlead::process::rm
