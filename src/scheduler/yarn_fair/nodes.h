#pragma once

#include "scheduler/yarn_fair/books.h"

// Nodes coming, going and changing size.

namespace fairlead::scheduler::yarn_fair {

void Apply(Books& books, const model::scheduler::NodeAdded& event);
void Apply(Books& books, const model::scheduler::NodeRemoved& event);
void Apply(Books& books, const model::scheduler::NodeResized& event);
void Apply(Books& books, const model::scheduler::NodeSchedulable& event);

}  // namespace fairlead::scheduler::yarn_fair
