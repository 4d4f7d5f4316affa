#pragma once

#include "scheduler/yarn_fair/books.h"

// The allocation file (AllocationConfiguration, AllocationReloadListener).

namespace fairlead::scheduler::yarn_fair {

/// FairScheduler.onReload: another allocation file counts.
void Apply(Books& books, const model::scheduler::QueuesReloaded& event);
/// AllocationFileLoaderService.reloadAllocations, from a tree that was read and checked.
Settings ReadSettings(const Books& books, const model::QueueTree& tree);
/// ConfigurableResource: amounts, or parts of the cluster.
Limit ReadLimit(const Books& books, const model::ConfiguredResources& resources);
/// QueueManager.updateAllocationConfiguration: queues are made, removed and read again, waiting applications may start.
void LoadSettings(Books& books, Settings settings, const std::vector<std::pair<std::string, AccessLists>>& acls);
/// AllocationFileQueueParser: a listed queue without an access list admits nobody, the root everybody.
std::vector<std::pair<std::string, AccessLists>> ReadAcls(const model::QueueTree& tree);

}  // namespace fairlead::scheduler::yarn_fair
