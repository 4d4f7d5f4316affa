#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/traces/result.h"

namespace fairlead::sim {

/// When a run looks at its waiting jobs, at which of them, and what it saw. The longer the run, the rarer the looks, so
/// that the whole costs about the same. Deterministic.
class WaitLooks {
 public:
  bool Due(int64_t now_ms) const { return now_ms >= last_ms_ + every_ms_; }
  int64_t last_ms() const { return last_ms_; }
  /// At most kMost of those that wait, each with how many it stands for; another choice with every look.
  std::vector<std::pair<uint32_t, double>> Choose(const std::vector<uint32_t>& waiting) const;
  /// What held the jobs that one of the chosen stands for, in the time since the last look.
  void Add(const std::string& queue, const std::string& user, const model::scheduler::Pending& pending, double jobs,
           int64_t waited_ms);
  /// Ends the look.
  void Looked(int64_t now_ms);
  std::vector<HeldWait> Take();

  static constexpr size_t kMost = 32;

 private:
  using Key = std::tuple<std::string, std::string, model::scheduler::PendingReason>;
  std::map<Key, HeldWait> held_;
  int64_t last_ms_ = 0;
  int64_t every_ms_ = 1000;
  uint64_t looks_ = 0;
};

}  // namespace fairlead::sim
