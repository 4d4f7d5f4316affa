// expect: deleted
#include "fairlead/engine.h"

using namespace fairlead;

void Job(Context& context, const Arguments&) {
  const auto numbers = context.Range(0, 10);
  const auto same = numbers;
#ifdef RIGHT
  context.Range(0, 10).Named("ten").Count();
#else
  numbers.Named("ten").Count();  // `same` would have another name, too
#endif
  same.Count();
}

FAIRLEAD_JOB(Job)
