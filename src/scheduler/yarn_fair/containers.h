#pragma once

#include "scheduler/yarn_fair/books.h"

// Containers from grant to end.

namespace fairlead::scheduler::yarn_fair {

using hadoop::End;
using hadoop::Ending;

void Apply(Books& books, const model::scheduler::ContainerEnded& event);
void Apply(Books& books, const model::scheduler::ContainerRecovered& event);
ContainerSlot CreateContainer(Books& books, AttemptId attempt, NodeIndex node, const Resources& size,
                              const RequestKey& key);
ContainerSlot FindLive(const Books& books, const model::ContainerId& id);
void Complete(Books& books, ContainerSlot slot, const Ending& ending);
void FreeIfGone(Books& books, ContainerSlot slot);
void ReleaseAsked(Books& books, AttemptId id, const std::vector<model::ContainerId>& releases);
void NodeReport(Books& books, NodeIndex node, const model::scheduler::NodeUpdated& event);

}  // namespace fairlead::scheduler::yarn_fair
