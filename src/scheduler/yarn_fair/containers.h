#pragma once

#include "scheduler/hadoop/abstract_yarn_scheduler.h"
#include "scheduler/yarn_fair/books.h"

// Containers from grant to end.

namespace fairlead::scheduler::yarn_fair {

using hadoop::End;
using hadoop::Ending;
using hadoop::FindLive;

inline void Apply(Books& books, const model::scheduler::ContainerEnded& event) { hadoop::EndByManager(books, event); }
/// AbstractYarnScheduler.recoverContainersOnNode, FSAppAttempt.recoverContainer.
void Apply(Books& books, const model::scheduler::ContainerRecovered& event);
/// FSAppAttempt.createContainer: takes the next number, also for a reservation.
ContainerSlot CreateContainer(Books& books, AttemptId attempt, NodeIndex node, const Resources& size,
                              const RequestKey& key);
/// AbstractYarnScheduler.completedContainer. The slot may be free afterwards when its node does not hold it.
void Complete(Books& books, ContainerSlot slot, const Ending& ending);
/// Forgets a container that neither its attempt nor its node holds, and the attempt with its last one.
void FreeIfGone(Books& books, ContainerSlot slot);
/// AbstractYarnScheduler.nodeUpdate: launches, then completions.
void NodeReport(Books& books, NodeIndex node, const model::scheduler::NodeUpdated& event);

}  // namespace fairlead::scheduler::yarn_fair
