#pragma once

#include "scheduler/yarn_fair/books.h"

// The allocation file (AllocationConfiguration, AllocationReloadListener).

namespace fairlead::scheduler::yarn_fair {

void Apply(Books& books, const model::scheduler::QueuesReloaded& event);
Settings ReadSettings(const Books& books, const model::QueueTree& tree);
Limit ReadLimit(const Books& books, const model::ConfiguredResources& resources);
void LoadSettings(Books& books, Settings settings, const std::vector<std::pair<std::string, AccessLists>>& acls);
std::vector<std::pair<std::string, AccessLists>> ReadAcls(const model::QueueTree& tree);

}  // namespace fairlead::scheduler::yarn_fair
