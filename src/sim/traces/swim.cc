#include <algorithm>
#include <charconv>

#include "sim/traces/readers.h"

// SWIM (Chen, Alspaugh, Katz: Interactive Analytical Processing in Big Data Systems, 2012): a job a line, with the
// bytes it reads, shuffles and writes.

namespace fairlead::sim {
namespace {

constexpr size_t kColumns = 6;
constexpr int64_t kBytesMax = int64_t{1} << 50;

/// Cuts the text up to `separator` off `rest`.
std::string_view Cut(std::string_view& rest, char separator) {
  const size_t at = rest.find(separator);
  const std::string_view piece = rest.substr(0, at);
  rest.remove_prefix(at == std::string_view::npos ? rest.size() : at + 1);
  return piece;
}

/// `bytes` over tasks of at most `piece` each; the last one may have less.
void AddTasks(TraceStage& stage, int64_t bytes, int64_t piece, int64_t rate, int64_t start_ms) {
  do {
    const int64_t part = std::min(bytes, piece);
    bytes -= part;
    stage.run_ms.push_back(static_cast<uint32_t>(std::min<int64_t>(start_ms + part * 1000 / rate, INT32_MAX)));
  } while (bytes > 0);
}

}  // namespace

void ReadSwim(std::string_view text, JobCollector& jobs) {
  const SwimRates& rates = jobs.options().swim;
  for (int line = 1; !text.empty() && jobs.error().empty(); ++line) {
    std::string_view row = Cut(text, '\n');
    if (!row.empty() && row.back() == '\r') row.remove_suffix(1);
    if (row.empty()) continue;
    TraceJob job;
    job.name = std::string(Cut(row, '\t'));
    int64_t numbers[kColumns - 1] = {};
    const char* names[] = {"submit time", "gap", "input bytes", "shuffle bytes", "output bytes"};
    for (size_t i = 0; i + 1 < kColumns; ++i) {
      const bool there = !row.empty();
      const std::string_view cell = Cut(row, '\t');
      const auto [end, fault] = std::from_chars(cell.data(), cell.data() + cell.size(), numbers[i]);
      const int64_t high = i < 2 ? kLongestMs / 1000 : kBytesMax;
      if (!there || fault != std::errc() || end != cell.data() + cell.size() || numbers[i] < 0 || numbers[i] > high) {
        return jobs.Refuse(line, std::string(names[i]) +
                                     " must be a whole number; a line is: job, submit time (s), gap (s), input, "
                                     "shuffle and output bytes, separated by tabs");
      }
    }
    if (!row.empty()) return jobs.Refuse(line, "more than six columns");
    const auto& [submit, gap, input, shuffle, output] = numbers;
    if (!jobs.MayHave(input / rates.block_bytes + shuffle / rates.bytes_per_reduce + 2, line)) return;
    job.submit_ms = submit * 1000;
    TraceStage maps;
    AddTasks(maps, input, rates.block_bytes, rates.map_bytes_per_second, rates.task_start_ms);
    job.stages.push_back(std::move(maps));
    if (shuffle > 0) {
      TraceStage reduces;
      reduces.priority = 10;
      reduces.waits_for_previous = true;
      AddTasks(reduces, shuffle, rates.bytes_per_reduce, rates.reduce_bytes_per_second, rates.task_start_ms);
      const int64_t write_ms = std::min<int64_t>(
          output / static_cast<int64_t>(reduces.run_ms.size()) * 1000 / rates.reduce_bytes_per_second, INT32_MAX);
      for (uint32_t& run : reduces.run_ms) run = static_cast<uint32_t>(std::min<int64_t>(run + write_ms, INT32_MAX));
      job.stages.push_back(std::move(reduces));
    }
    jobs.Add(std::move(job), line);
  }
}

}  // namespace fairlead::sim
