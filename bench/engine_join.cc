// The join of bench/engine.py: engine_join FACTS.csv ROWS.csv OUTPUT
// Joins id,key,qty,cents,pad with key,cat,name by key and writes for each cat: rows, sum of qty, sum of cents.
#include <cstdio>

#include "fairlead/engine.h"

using namespace fairlead;

namespace {

struct Fact {
  int64_t key = 0;
  int64_t qty = 0;
  int64_t cents = 0;
};
struct Row {
  int64_t key = 0;
  std::string_view cat;
};
struct Sums {
  int64_t rows = 0;
  int64_t qty = 0;
  int64_t cents = 0;
};

void EngineJoin(Context& context, const Arguments& arguments) {
  const auto facts = context.Csv<Fact>(arguments.at(0), {"key", "qty", "cents"}).Map([](const Fact& fact) {
    return std::pair(fact.key, Sums{1, fact.qty, fact.cents});
  });
  const auto rows =
      context.Csv<Row>(arguments.at(1), {"key", "cat"}).Map([](const Row& row) { return std::pair(row.key, row.cat); });
  const int64_t cats = facts.Join(rows)
                           .Map([](const auto& joined) { return std::pair(joined.second.second, joined.second.first); })
                           .ReduceByKey([](const Sums& a, const Sums& b) {
                             return Sums{a.rows + b.rows, a.qty + b.qty, a.cents + b.cents};
                           })
                           .Map([](const std::pair<std::string_view, Sums>& group) {
                             const Sums& sums = group.second;
                             return std::string(group.first) + "\t" + std::to_string(sums.rows) + "\t" +
                                    std::to_string(sums.qty) + "\t" + std::to_string(sums.cents);
                           })
                           .SaveText(arguments.at(2));
  std::printf("%lld groups\n", static_cast<long long>(cats));
}

}  // namespace

FAIRLEAD_JOB(EngineJoin)
