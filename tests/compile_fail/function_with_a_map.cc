// expect: its fields are of the types that records may have: no std::map
#include <map>

#include "fairlead/engine.h"

using namespace fairlead;

struct Lookup {
#ifdef RIGHT
  std::vector<std::pair<int64_t, double>> prices;
#else
  std::map<int64_t, double> prices;
#endif
  int64_t operator()(int64_t i) const { return i + static_cast<int64_t>(prices.size()); }
};

void Job(Context& context, const Arguments&) { context.Range(0, 10).Map(Lookup{}).Count(); }

FAIRLEAD_JOB(Job)
