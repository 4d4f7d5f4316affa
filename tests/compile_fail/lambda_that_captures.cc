// expect: this function cannot travel to executors: a lambda must not capture
#include "fairlead/engine.h"

using namespace fairlead;

#ifdef RIGHT
struct Add {
  int64_t by = 0;
  int64_t operator()(int64_t x) const { return x + by; }
};
#endif

void Job(Context& context, const Arguments&) {
  const int64_t by = 3;
#ifdef RIGHT
  context.Range(0, 10).Map(Add{by}).Count();
#else
  context.Range(0, 10).Map([by](int64_t x) { return x + by; }).Count();
#endif
}

FAIRLEAD_JOB(Job)
