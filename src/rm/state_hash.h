#pragma once

#include "base/hash.h"
#include "rm/state.h"

namespace fairlead::rm {

// All of the state that decides, into the core's StateHash. Left out is what only saves time: the memory of an answer
// that could be composed again, and pointers into the same state. A container's names of its node stand with the node.

void Mix(base::StateHasher& hash, const Container& container);
void Mix(base::StateHasher& hash, const Attempt& attempt);
/// With its attempts and its containers, in the order of their ids.
void Mix(base::StateHasher& hash, const App& app);
void Mix(base::StateHasher& hash, const Node& node);

}  // namespace fairlead::rm
