// Searches logs: log_search INPUT OUTPUT WORD
// Writes the lines that hold WORD to OUTPUT and prints how many there are per first word of the line.
#include <cstdio>
#include <string>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

struct Holds {
  std::string word;
  bool operator()(std::string_view line) const { return line.find(word) != std::string_view::npos; }
};

void LogSearch(Context& context, const Arguments& arguments) {
  const auto hits = context.Text(arguments.at(0)).Filter(Holds{arguments.at(2)});
  const int64_t lines = hits.SaveText(arguments.at(1));
  const auto first_words = hits.Map([](std::string_view line) {
                                 const auto word = Words(line).begin();
                                 return word == std::default_sentinel ? std::string_view() : *word;
                               })
                               .Map([](std::string_view word) { return std::pair(word, int64_t{1}); })
                               .ReduceByKey([](int64_t a, int64_t b) { return a + b; })
                               .Top(10, [](const auto& pair) { return std::pair(pair.second, pair.first); });
  std::printf("%lld lines hold it; by their first word:\n", static_cast<long long>(lines));
  for (const auto& [word, count] : first_words) {
    std::printf("%8lld %s\n", static_cast<long long>(count), word.c_str());
  }
}

}  // namespace

FAIRLEAD_JOB(LogSearch)
