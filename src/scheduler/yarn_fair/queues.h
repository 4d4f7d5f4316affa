#pragma once

#include <functional>

#include "scheduler/yarn_fair/books.h"

// The tree of queues (QueueManager): making, finding and removing queues, and their limits.

namespace fairlead::scheduler::yarn_fair {

struct QueueLookup {
  QueueId id;
  std::string invalid_name;  // InvalidQueueNameException's message
};

/// QueueManager.getQueue; `app`: {}, or the application that is promised the leaf.
QueueLookup GetQueue(Books& books, const std::string& name, bool create, QueueKind kind, bool recompute_steady,
                     AppIndex app);
/// Not valid: there is none of this full name. O(log queues).
QueueId FindQueue(const Books& books, const std::string& name);
/// QueueManager.getLeafQueue: not valid, too, where a parent has the name.
QueueLookup GetLeaf(Books& books, const std::string& name, bool create, AppIndex app);
/// A new queue under `parent`, with what the settings say of its name; the last tie among its siblings is ranked again.
/// O(siblings log siblings).
QueueId AddQueue(Books& books, const std::string& name, QueueId parent, bool leaf);
/// A change of many queues: siblings are ranked once, behind it, and no queue is offered anything in it.
void RankOnce(Books& books, const std::function<void()>& change);
/// Reads the settings of a queue and of all below it again (FSQueue.reinit).
void InitQueueTree(Books& books, QueueId id);
/// FSQueue.getMinShare, getMaxShare: in amounts of the cluster as it is; the maximum is never below the minimum.
void ResolveShares(Books& books, QueueId id);
/// The same for all queues whose limits are parts of the cluster. O(queues).
void ResolveAllShares(Books& books);
/// QueueManager.removeEmptyIncompatibleQueues: nullopt when nothing stood in the way, else whether it is gone now.
std::optional<bool> RemoveIncompatible(Books& books, const std::string& name, QueueKind kind);
/// QueueManager.removeEmptyDynamicQueues: leaves first, then dynamic parents that became empty, upwards.
void RemoveEmptyDynamicQueues(Books& books);
/// QueueManager.removePendingIncompatibleQueues: configured queues that another kind of queue with applications kept
/// from being made.
void RunPendingConversions(Books& books);
/// By the name that a parsed allocation file has of it.
Policy PolicyByName(std::string_view name);
/// The policy that the settings give a queue of this name.
Policy PolicyOf(const Books& books, const std::string& queue);
/// SchedulingPolicy.isChildPolicyAllowed.
bool ChildPolicyAllowed(Policy parent, Policy child);
/// FSQueue.getMaximumContainerAllocation: that of the nearest queue above that has one.
Resources MaxContainer(const Books& books, QueueId id);
/// FSParentQueue.recomputeSteadyShares, put off until somebody looks: decisions never do.
void FlushSteady(const Books& books);
/// The steady shares of the queue's children, and of theirs.
void ComputeSteady(const Books& books, QueueId id);

}  // namespace fairlead::scheduler::yarn_fair
