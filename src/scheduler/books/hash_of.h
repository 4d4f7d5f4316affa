#pragma once

#include <cstdint>

#include "base/hash.h"

namespace fairlead::scheduler::native {

/// The hash of one part's state, for tests.
template <class Part>
uint64_t HashOf(const Part& part) {
  base::StateHasher hash;
  part.Mix(hash);
  return hash.value();
}

}  // namespace fairlead::scheduler::native
