#pragma once

#include "scheduler/yarn_fair/books.h"

// The tree of queues (QueueManager): making, finding and removing queues, and their limits.

namespace fairlead::scheduler::yarn_fair {

struct QueueLookup {
  QueueId id;
  std::string invalid_name;  // InvalidQueueNameException's message
};

QueueLookup GetQueue(Books& books, const std::string& name, bool create, QueueKind kind, bool recompute_steady,
                     AppIndex app);
QueueId FindQueue(const Books& books, const std::string& name);
QueueLookup GetLeaf(Books& books, const std::string& name, bool create, AppIndex app);
QueueId AddQueue(Books& books, const std::string& name, QueueId parent, bool leaf);
void InitQueueTree(Books& books, QueueId id);
void ResolveShares(Books& books, QueueId id);
void ResolveAllShares(Books& books);
std::optional<bool> RemoveIncompatible(Books& books, const std::string& name, QueueKind kind);
void RemoveEmptyDynamicQueues(Books& books);
void RunPendingConversions(Books& books);
Policy PolicyOf(const Books& books, const std::string& queue);
bool ChildPolicyAllowed(Policy parent, Policy child);
Resources MaxContainer(const Books& books, QueueId id);
void FlushSteady(const Books& books);
void ComputeSteady(const Books& books, QueueId id);

}  // namespace fairlead::scheduler::yarn_fair
