#pragma once

#include "scheduler/yarn_fair/books.h"

// Whose containers make room.

namespace fairlead::scheduler::yarn_fair {

void PreemptPass(Books& books);
void KillPass(Books& books);

}  // namespace fairlead::scheduler::yarn_fair
