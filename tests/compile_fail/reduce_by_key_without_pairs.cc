// expect: ReduceByKey: the records of this dataset are not pairs. Make them std::pair(key, value) with Map
#include "fairlead/engine.h"

using namespace fairlead;

void Job(Context& context, const Arguments&) {
  const auto numbers = context.Range(0, 10);
#ifdef RIGHT
  numbers.KeyBy([](int64_t x) { return x % 3; }).ReduceByKey([](int64_t a, int64_t b) { return a + b; }).Count();
#else
  numbers.ReduceByKey([](int64_t a, int64_t b) { return a + b; }).Count();
#endif
}

FAIRLEAD_JOB(Job)
