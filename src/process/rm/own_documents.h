#pragma once

#include <cstddef>
#include <vector>

#include "base/time.h"
#include "endpoints/rest/document.h"
#include "model/queue_set.h"
#include "model/scheduler.h"
#include "process/rm/reports.h"
#include "process/rm/summary.h"
#include "process/rm/web_resources.h"
#include "scheduler/scheduler.h"

// Documents of /fairlead/v1 that are told of an older state, too.

namespace fairlead::process::rm {

/// Of /fairlead/v1/queues. `queues`: in use.
endpoints::rest::Document QueuesDocument(const scheduler::View& view, const model::QueueSet& queues);

/// One of /fairlead/v1/apps. `full`: the caller may see it all (yarn.acl.enable); others are shown what
/// getApplicationReport shows them.
endpoints::rest::Document ShortApp(const App& app, const UsageRecord& used, bool full, base::WallTime now);
/// One ask of "pending" in /fairlead/v1/apps/ID.
endpoints::rest::Document PendingDocument(const model::scheduler::Pending& one, base::Instant now);

/// One page of the applications that ?group=running|waiting|ended &queue= &user= &text= name, in the order of
/// ?sort=[-]COLUMN, from ?offset= on, at most ?limit= of them.
struct AppsPage {
  size_t total = 0;                 // that match
  std::vector<const AppRow*> rows;  // of those that it was made of
};
AppsPage PageOf(const Query& query, const std::vector<const AppRow*>& all, base::WallTime now);

/// One of /fairlead/v1/nodes.
endpoints::rest::Document ShortNode(const NodeRow& node);
/// ?text= &offset= &limit=; by rack and name. "total" counts what matches, "map" has the rack, state and how full (in
/// thousandths) of every node, for a picture of all.
endpoints::rest::Document NodesDocument(const Query& query, std::vector<NodeRow> rows);

}  // namespace fairlead::process::rm
