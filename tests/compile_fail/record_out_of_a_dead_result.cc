// expect: deleted
#include "fairlead/engine.h"

using namespace fairlead;

struct Row {
  std::string_view name;
  int64_t amount = 0;
};

void Job(Context& context, const Arguments& arguments) {
  const auto rows = context.Text(arguments.at(0)).Map([](std::string_view line) { return Row{line, 1}; });
  const auto larger = [](const Row& a, const Row& b) { return a.amount < b.amount ? b : a; };
#ifdef RIGHT
  const auto kept = rows.Reduce(larger);
  const Row& row = **kept;
#else
  const Row& row = **rows.Reduce(larger);  // nothing keeps the result, whose bytes `row` would point to
#endif
  std::ignore = row;
}

FAIRLEAD_JOB(Job)
