#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "endpoints/v1/apps.h"
#include "endpoints/v1/nodes.h"
#include "endpoints/v1/queues.h"
#include "model/queue_set.h"
#include "model/scheduler.h"
#include "process/rm/reports.h"
#include "process/rm/summary.h"
#include "process/rm/web_resources.h"
#include "scheduler/scheduler.h"

// Documents of /fairlead/v1 that are told of an older state, too.

namespace fairlead::process::rm {

/// `queues`: in use.
endpoints::v1::Queues QueuesOf(const scheduler::View& view, const model::QueueSet& queues);

/// `full`: the caller may see it all (yarn.acl.enable); others are shown what getApplicationReport shows them.
endpoints::v1::Application ApplicationOf(const App& app, const UsageRecord& used, bool full, base::WallTime now);
endpoints::v1::Pending PendingOf(const model::scheduler::Pending& one, base::Instant now);

/// One page of the applications that ?group=running|waiting|ended &queue= &user= &text= name, in the order of
/// ?sort=[-]COLUMN, from ?offset= on, at most ?limit= of them.
struct AppsPage {
  size_t total = 0;                 // that match
  std::vector<const AppRow*> rows;  // of those that it was made of
};
AppsPage PageOf(const Query& query, const std::vector<const AppRow*>& all, base::WallTime now);

endpoints::v1::Node NodeOf(const NodeRow& node);
/// ?text= &offset= &limit=. Without what operators ordered.
endpoints::v1::Nodes NodesOf(const Query& query, std::vector<NodeRow> rows);

}  // namespace fairlead::process::rm
