#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "endpoints/v1/ask.h"
#include "report/report.h"

// The same applications, or jobs of a trace, in two runs. What-if, replay --diff, sim compare and sim migrate tell it
// by these sentences and tables, so that one fact has one wording. The rows are those of /fairlead/v1/what-if.

namespace fairlead::report {

namespace v1 = endpoints::v1;

/// What differs by less is the same.
inline constexpr int64_t kSameMs = 1000;

/// The applications of one queue or user.
struct Group {
  v1::QueueFates sums{};
  bool told = true;                  // in sentences
  std::string why{};                 // sentences to go on with
  std::vector<std::string> cells{};  // of Comparison::columns
};

struct Comparison {
  std::string unit = "application";
  std::string before = "without the change", after = "with the change";  // the runs, behind a verb
  std::string then = "in";                                               // before a time
  std::string nothing = "Nothing";                                       // that is different
  std::optional<int64_t> ahead_ms{};                     // so far was looked; nothing: to the ends of both
  std::vector<v1::AppFates> apps{};                      // those without an id are counted, and not named
  std::vector<Group> queues{}, users{};                  // of GroupsOf
  std::vector<std::string> columns{};                    // that the tables of groups have besides
  std::vector<std::pair<std::string, int64_t>> taken{};  // from whom so many containers more are taken back
  int64_t lost = 0;                                      // so many more end before time
  std::vector<v1::BindingLimit> limits{}, limits_no_more{};
  double used_before = 0, used_after = 0;  // of the memory, in the mean
};

/// How much later (above 0) an application is served in the second run: its end, else its last container, else its
/// first; nothing: that is in one run alone, or in none.
std::optional<int64_t> DeltaOf(const v1::AppFates& app);

/// By queue or by user, all of them by name. What is in the first run alone is later by at least what is left of
/// `ahead_ms` from then on, where that is told. `named`: of applications with an id alone.
std::vector<Group> GroupsOf(const std::vector<v1::AppFates>& apps, std::string v1::AppFates::*name,
                            std::optional<int64_t> ahead_ms, bool named);

struct Most {
  size_t named = 3;   // applications, of those that gain, that lose, and so on
  size_t groups = 5;  // queues, and users
};
/// Those first that lose or gain most.
std::vector<std::string> Sentences(const Comparison& comparison, Most most = {});
/// Applications, queues, users and limits, each with at most so many rows; one without rows is left out.
std::vector<Table> Tables(const Comparison& comparison, size_t most);

}  // namespace fairlead::report
