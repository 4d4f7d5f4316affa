// How many words of each length a text has: longest INPUT OUTPUT
#include <fairlead/engine.h>

#include <cstdio>

using namespace fairlead;

namespace {

void Longest(Context& context, const Arguments& arguments) {
  const int64_t lengths = context.Text(arguments.at(0))
                              .FlatMap([](std::string_view line) { return Words(line); })
                              .Map([](std::string_view word) { return std::pair(word.size(), int64_t{1}); })
                              .ReduceByKey([](int64_t a, int64_t b) { return a + b; })
                              .SortByKey()
                              .SaveText(arguments.at(1));
  std::printf("%lld lengths\n", static_cast<long long>(lengths));
}

}  // namespace

FAIRLEAD_JOB(Longest)
