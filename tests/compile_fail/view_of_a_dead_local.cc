// expect: address of stack memory associated with local variable 'copy' returned
// only: clang
// flags: -Werror
#include "fairlead/engine.h"

using namespace fairlead;

void Job(Context& context, const Arguments& arguments) {
  context.Text(arguments.at(0))
      .FlatMap([](std::string_view line) {
#ifdef RIGHT
        return Words(line.substr(1));
#else
        const std::string copy(line.substr(1));
        return Words(copy);
#endif
      })
      .Count();
}

FAIRLEAD_JOB(Job)
