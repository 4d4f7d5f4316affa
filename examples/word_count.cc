// Counts the words of a text: word_count INPUT OUTPUT [words|top]
// Writes one line "word<TAB>count" per word to OUTPUT, sorted by count when the third argument is "top".
#include <cstdio>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

void WordCount(Context& context, const Arguments& arguments) {
  const auto counts = context.Text(arguments.at(0))
                          .FlatMap([](std::string_view line) { return Words(line); })
                          .Map([](std::string_view word) { return std::pair(word, int64_t{1}); })
                          .ReduceByKey([](int64_t a, int64_t b) { return a + b; });
  const bool top = arguments.size() > 2 && arguments.at(2) == "top";
  const int64_t words = top ? counts.SortBy([](const auto& pair) { return pair.second; }, SortDirection::kDescending)
                                  .SaveText(arguments.at(1))
                            : counts.SaveText(arguments.at(1));
  std::printf("%lld different words\n", static_cast<long long>(words));
}

}  // namespace

FAIRLEAD_JOB(WordCount)
