// expect: no matching
#include "fairlead/engine.h"

using namespace fairlead;

void Job(Context& context, const Arguments&) {
  const auto numbers = context.Range(0, 10);
#ifdef RIGHT
  numbers.SortBy([](int64_t x) { return x; }, SortDirection::kDescending, Partitions(8)).Count();
#else
  numbers.SortBy([](int64_t x) { return x; }, true, 8).Count();
#endif
}

FAIRLEAD_JOB(Job)
