#pragma once

#include "scheduler/yarn_fair/books.h"

// Applications and attempts coming, going and moving.

namespace fairlead::scheduler::yarn_fair {

void Apply(Books& books, const model::scheduler::AppAdded& event);
void Apply(Books& books, const model::scheduler::AttemptAdded& event);
void Apply(Books& books, const model::scheduler::AttemptRemoved& event);
void Apply(Books& books, const model::scheduler::AppRemoved& event);
void Apply(Books& books, const model::scheduler::AppMoved& event);
void AddToLeaf(Books& books, AttemptId id, bool runnable, bool charge = true);
void Unpin(Books& books, AttemptId id);
void FreeIfUnpinned(Books& books, AttemptId id);

}  // namespace fairlead::scheduler::yarn_fair
