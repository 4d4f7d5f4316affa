#pragma once

#include "scheduler/yarn_fair/books.h"

// Who is starved.

namespace fairlead::scheduler::yarn_fair {

bool ShouldPreempt(const Books& books);
void UpdateStarved(Books& books, QueueId leaf);
int CompareStarvation(const Books& books, AttemptId a, AttemptId b);
bool IsUsageBelowShare(const Books& books, const Attempt& attempt, const Resources& usage, const Resources& share);
bool IsStarved(const Books& books, const Attempt& attempt);

}  // namespace fairlead::scheduler::yarn_fair
