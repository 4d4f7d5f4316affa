#include <algorithm>
#include <charconv>
#include <string>

#include "sim/traces/readers.h"

// The Standard Workload Format of the Parallel Workloads Archive (Feitelson and others, 1999): a job a line of 18 whole
// numbers, -1 for what is not known; lines with a semicolon are remarks. A job of n processors is one of n tasks that
// are asked for together and started one by one.

namespace fairlead::sim {
namespace {

constexpr size_t kFields = 18;
enum Column : uint8_t {
  kNumber,
  kSubmit,
  kRun = 3,
  kAllocated,
  kUsedKb = 6,
  kAsked,
  kAskedKb = 9,
  kUser = 11,
  kQueue = 14
};

/// The next word of the line; empty: there is none.
std::string_view Word(std::string_view& row) {
  const size_t start = std::min(row.find_first_not_of(" \t\r"), row.size());
  const size_t end = std::min(row.find_first_of(" \t\r", start), row.size());
  const std::string_view word = row.substr(start, end - start);
  row.remove_prefix(end);
  return word;
}

/// A whole number, or one with a fraction, which is dropped (average times have one).
bool Read(std::string_view word, int64_t& number) {
  const auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), number);
  const std::string_view rest(end, static_cast<size_t>(word.data() + word.size() - end));
  return fault == std::errc() &&
         (rest.empty() || (rest[0] == '.' && rest.find_first_not_of("0123456789", 1) == rest.npos));
}

}  // namespace

void ReadSwf(std::string_view text, JobCollector& jobs) {
  for (int line = 1; !text.empty() && jobs.error().empty(); ++line) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view row = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string_view look = row;
    const std::string_view first = Word(look);
    if (first.empty() || first[0] == ';') continue;
    int64_t cells[kFields];
    for (int64_t& cell : cells) {
      if (!Read(Word(row), cell)) {
        return jobs.Refuse(line, "a line of the Standard Workload Format is 18 numbers, separated by spaces");
      }
    }
    if (!Word(row).empty()) return jobs.Refuse(line, "more than 18 columns");
    const int64_t processors = cells[kAsked] > 0 ? cells[kAsked] : cells[kAllocated];
    if (cells[kRun] <= 0 || processors <= 0) continue;  // it never ran
    if (cells[kSubmit] < 0 || cells[kSubmit] > kLongestMs / 1000) return jobs.Refuse(line, "no time of submission");
    if (cells[kRun] > INT32_MAX / 1000) return jobs.Refuse(line, "a job that runs for more than 24 days");
    if (!jobs.MayHave(processors, line)) return;
    TraceJob job;
    job.name = std::to_string(cells[kNumber]);
    job.submit_ms = cells[kSubmit] * 1000;
    if (cells[kUser] > 0) job.user = "u" + std::to_string(cells[kUser]);
    if (cells[kQueue] > 0) job.queue = "q" + std::to_string(cells[kQueue]);
    TraceStage stage;
    const int64_t kb = cells[kAskedKb] > 0 ? cells[kAskedKb] : cells[kUsedKb];
    if (kb > 0) stage.size[0] = std::clamp<int64_t>(kb / 1024, 1, int64_t{1} << 40);
    stage.run_ms.assign(static_cast<size_t>(processors), static_cast<uint32_t>(cells[kRun] * 1000));
    job.stages.push_back(std::move(stage));
    jobs.Add(std::move(job), line);
  }
}

}  // namespace fairlead::sim
