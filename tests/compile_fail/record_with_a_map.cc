// expect: GroupByKey: this type of record cannot leave its task. Records are numbers, enums, std::string
#include <map>

#include "fairlead/engine.h"

using namespace fairlead;

struct Page {
  int64_t id = 0;
#ifdef RIGHT
  std::vector<std::pair<std::string, int64_t>> words;
#else
  std::map<std::string, int64_t> words;
#endif
};

void Job(Context& context, const Arguments&) {
  context.Range(0, 10).Map([](int64_t x) { return std::pair(x % 3, Page{x, {}}); }).GroupByKey().Count();
}

FAIRLEAD_JOB(Job)
