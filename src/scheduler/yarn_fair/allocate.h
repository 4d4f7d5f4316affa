#pragma once

#include "scheduler/yarn_fair/books.h"

// One call of an application's master (FairScheduler.allocate).

namespace fairlead::scheduler::yarn_fair {

void Apply(Books& books, const model::scheduler::Allocate& event);
void Apply(Books& books, const model::scheduler::Acquired& event);
std::string ZeroTypeAsked(const Books& books, const std::vector<model::Ask>& asks, QueueId queue);
void UpdateAsks(Books& books, AttemptId attempt, std::vector<Asks::Line> lines, bool give_back);
bool IsBlacklisted(const Attempt& attempt, const Node& node);

}  // namespace fairlead::scheduler::yarn_fair
