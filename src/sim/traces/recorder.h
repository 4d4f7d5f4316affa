#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/prefetch.h"
#include "model/queues.h"
#include "model/resources.h"
#include "sim/traces/result.h"

namespace fairlead::sim {

/// Keeps the sums of one run and samples them. Entitlements are computed here, apart from every profile: water filling
/// by the configured weights down the queue tree, capped at what a queue uses and wants, on dominant shares.
class TraceRecorder {
 public:
  TraceRecorder(const model::QueueTree& tree, RunResult& result) : tree_(tree), result_(result) {}

  /// The number of the leaf of that full name.
  uint32_t QueueNumber(const std::string& name);
  /// Time goes on without a change until `now_ms`: sums, and the samples that are due by then. The first moment of all
  /// is the first sample's.
  void Advance(int64_t now_ms);
  void NodeChanged(const model::Resources& capacity, int sign);
  /// Containers of the queue: shares count the `size` that was asked for, use what was `booked`.
  void Used(uint32_t queue, const model::Resources& size, const model::Resources& booked, int64_t count);
  void Wanted(uint32_t queue, const model::Resources& size, int64_t count);
  /// Brings near what Used and Wanted change.
  void Prefetch(uint32_t queue) const {
    base::Prefetch(&used_[queue]);
    base::Prefetch(&wanted_[queue]);
  }
  /// Ends the run: means over time.
  void Close(int64_t now_ms);
  const model::Resources& total() const { return total_; }

 private:
  struct Branch {
    double weight = 1;
    std::map<std::string, uint32_t> children;  // by last part of the name
    int32_t leaf = -1;
  };
  struct Short {
    int64_t since_ms = -1;  // below 0: it has enough
    int64_t longest_ms = 0;
  };
  void TakeSample(int64_t at_ms);
  static void NoteShort(Short& queue, bool is_short, int64_t at_ms);
  std::vector<double> Entitlements() const;
  void Entitle(uint32_t branch, double share, const std::vector<double>& demand, std::vector<double>& out) const;
  double DemandBelow(uint32_t branch, const std::vector<double>& demand) const;
  double Dominant(const model::Resources& amount) const;

  const model::QueueTree& tree_;
  RunResult& result_;
  std::vector<Branch> branches_ = {Branch{}};
  std::map<std::string, uint32_t> numbers_;
  std::vector<model::Resources> used_;
  std::vector<model::Resources> wanted_;
  model::Resources total_;
  model::Resources all_booked_;
  int64_t last_ms_ = 0;
  int64_t sample_every_ms_ = 1000;
  int64_t next_sample_ms_ = -1;  // below 0: none yet
  std::vector<Short> short_;     // by queue
  double used_time_[2] = {};     // amount times ms, cpu and memory
  double capacity_time_[2] = {};
  double jain_sum_ = 0;
  double jain_time_ = 0;
};

}  // namespace fairlead::sim
