#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sim/executors/cluster.h"

namespace fairlead::sim {

/// Decima's tuned weighted fair heuristic ("dynamic partition"): every job with tasks left may have an equal part of
/// the executors, first come first served up to it; an executor stays with its job while that has an open stage.
class EqualShares final : public ExecutorRule {
 public:
  Choice Choose(const SharedCluster& cluster) override;
};

/// Why an executor went where it did.
enum class ShareReason : uint8_t { kStays, kBelowShare, kSpare, kNothingOpen };
/// For a person: "stays with its job, which has no more than its share or nobody with less work waits".
const char* EnumText(ShareReason reason);

/// Fairlead's rule (scheduler/shared/executor_shares.h) in this environment: equal parts, the least work first, the
/// excess of a job goes to one with less work; inside a job a stage that runs at once, then the longest path to the
/// end.
class LeastWorkFirst final : public ExecutorRule {
 public:
  /// A choice in a sentence: "12.345 s: 3 executors of job 4 for stage 2 of job 7, which has 1: goes to ...".
  using Tell = std::function<void(const std::string& choice)>;
  /// The work of a job is misjudged by a factor between e^-misjudged and e^misjudged, drawn once a job. `tell` hears of
  /// every choice; it may be empty.
  LeastWorkFirst(double misjudged, uint64_t seed, Tell tell = {})
      : misjudged_(misjudged), rng_(seed), tell_(std::move(tell)) {}
  Choice Choose(const SharedCluster& cluster) override;
  /// How often each reason decided.
  const std::map<ShareReason, int64_t>& reasons() const { return reasons_; }

 private:
  struct Known {
    double factor = 1;
    std::vector<double> path_ms;  // from each stage to the end, by mean times
  };
  const Known& KnownOf(const SharedCluster& cluster, int32_t number);
  double WorkLeft(const SharedCluster& cluster, int32_t number);
  StageRef BestStage(const SharedCluster& cluster, int32_t number);
  Choice Decide(const SharedCluster& cluster, ShareReason& reason);
  static std::string Sentence(const SharedCluster& cluster, const Choice& choice, ShareReason reason);

  double misjudged_;
  base::Rng rng_;
  Tell tell_;
  std::vector<Known> known_;  // by job
  std::map<ShareReason, int64_t> reasons_;
};

}  // namespace fairlead::sim
