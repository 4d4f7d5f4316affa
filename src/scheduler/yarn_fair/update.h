#pragma once

#include "scheduler/yarn_fair/books.h"

// The update pass: demand and fair shares.

namespace fairlead::scheduler::yarn_fair {

void UpdatePass(Books& books);
void DemandChanged(Books& books, AttemptId id);
void CountDemand(const Books& books, Queue& leaf, const Resources& before, const Resources& after);
void MakeOwn(Books& books, Queue& leaf);

}  // namespace fairlead::scheduler::yarn_fair
