// expect: joins: both sides must be pairs (key, value), and their keys of one type
#include "fairlead/engine.h"

using namespace fairlead;

void Job(Context& context, const Arguments&) {
  const auto left = context.Range(0, 10).KeyBy([](int64_t x) { return x; });
#ifdef RIGHT
  const auto right = context.Range(0, 10).KeyBy([](int64_t x) { return x % 2; });
#else
  const auto right = context.Range(0, 10).KeyBy([](int64_t x) { return std::to_string(x); });
#endif
  left.Join(right).Count();
}

FAIRLEAD_JOB(Job)
