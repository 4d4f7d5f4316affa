// PageRank: page_rank EDGES OUTPUT [ITERATIONS]
// EDGES holds lines "source<TAB>destination". Writes "page<TAB>rank", highest first. Ranks begin at 1; each turn
// rank = 0.15 + 0.85 * sum over incoming links of rank / links of the source (as Spark's SparkPageRank; pages without
// links in or out keep no rank).
#include <charconv>
#include <cstdio>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

uint64_t Number(std::string_view text) {
  uint64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc()) {
    throw TaskError("no page number: " + std::string(text));
  }
  return value;
}

void PageRank(Context& context, const Arguments& arguments) {
  const auto links = context.Text(arguments.at(0))
                         .Map([](std::string_view line) {
                           const size_t tab = line.find('\t');
                           if (tab == std::string_view::npos) throw TaskError("no edge: " + std::string(line));
                           return std::pair(Number(line.substr(0, tab)), Number(line.substr(tab + 1)));
                         })
                         .Distinct()
                         .GroupByKey()
                         .Named("links")
                         .Cache();
  auto ranks = links.MapValues([](const std::vector<uint64_t>&) { return 1.0; });
  const long iterations = arguments.Number(2, 5);
  for (long i = 0; i < iterations; ++i) {
    ranks = links.Join(ranks)
                .FlatMap<std::pair<uint64_t, double>>([](const auto& row, auto& emit) {
                  const auto& [pages, rank] = row.second;
                  const double share = rank / static_cast<double>(pages.size());
                  for (const uint64_t page : pages) emit(std::pair(page, share));
                })
                .ReduceByKey([](double a, double b) { return a + b; })
                .MapValues([](double sum) { return 0.15 + 0.85 * sum; });
  }
  const int64_t pages =
      ranks.SortBy([](const auto& page) { return page.second; }, SortDirection::kDescending).SaveText(arguments.at(1));
  std::printf("%lld pages\n", static_cast<long long>(pages));
}

}  // namespace

FAIRLEAD_JOB(PageRank)
