#pragma once

#include <cstdint>
#include <cstdlib>

namespace fairlead::base {

/// Where tests that draw cases begin: FAIRLEAD_SEED, which `./test` takes from the commit and prints, so that every
/// commit tries new cases and any run can be repeated. 0 where nobody set it. For tests only.
inline uint64_t TestSeed() {
  const char* seed = std::getenv("FAIRLEAD_SEED");
  return seed == nullptr ? 0 : std::strtoull(seed, nullptr, 10);
}

}  // namespace fairlead::base
