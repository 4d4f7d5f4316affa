#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace fairlead::base {

void CheckFailed(const char* file, int line, const char* condition, const char* message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, message);
  std::abort();
}

}  // namespace fairlead::base
