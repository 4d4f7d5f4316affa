#pragma once

#include <vector>

#include "scheduler/hadoop/abstract_yarn_scheduler.h"
#include "scheduler/yarn_capacity/books.h"

// Containers from grant to end (AbstractLeafQueue.completedContainer, FiCaSchedulerApp, AbstractYarnScheduler's
// reports).

namespace fairlead::scheduler::yarn_capacity {

using hadoop::FindLive;

inline void Apply(Books& books, const model::scheduler::ContainerEnded& event) { hadoop::EndByManager(books, event); }
void Apply(Books& books, const model::scheduler::ContainerRecovered& event);

/// AbstractYarnScheduler.completedContainer. The slot may be free afterwards.
void Complete(Books& books, ContainerSlot slot, const hadoop::Ending& ending);
/// A node's report: launches, then completions.
void NodeReport(Books& books, NodeIndex node, const model::scheduler::NodeUpdated& event);
/// An attempt's containers and reservations in the orders of Java's maps.
std::vector<ContainerSlot> LiveInOrder(const Books& books, AttemptId id);
std::vector<ContainerSlot> ReservedInOrder(const Books& books, AttemptId id);
/// Nodes on which the key has reservations, in the order of a Java map.
std::vector<NodeIndex> ReservedNodes(const Books& books, const KeyCounts& counts);

/// FiCaSchedulerApp.unreserve: the reservation is none any more. The container stays, for a grant or to be dropped.
void Unreserve(Books& books, ContainerSlot slot);
/// A reservation that is given up: unreserved, and what it counted as used returned.
void DropReservation(Books& books, ContainerSlot slot);
/// FiCaSchedulerApp.moveReservation: to a node of the same partition that is not reserved. Once for each reservation:
/// Hadoop looks for it on its first node (RMContainerImpl.getNodeId).
bool MoveReservation(Books& books, ContainerSlot slot, NodeIndex to);
/// Adds to (or takes from) what leaf, user and the queues above use; `borrows`: of a shared partition's node without a
/// label.
void Charge(Books& books, QueueId leaf, ContainerSlot slot, const Resources& size, PartitionId partition, int sign);
/// AbstractParentQueue.allocateResource: the queues above the leaf.
void ChargeAbove(Books& books, QueueId leaf, const Resources& size, PartitionId partition, int sign);
/// detachContainer of one leaf, attachContainer of another.
void MoveCharge(Books& books, ContainerSlot slot, QueueId source, QueueId target);
void TakeOverContainers(Books& books, AttemptId from, AttemptId to);
void FreeIfGone(Books& books, ContainerSlot slot);

}  // namespace fairlead::scheduler::yarn_capacity
