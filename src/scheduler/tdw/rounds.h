#pragma once

#include <array>
#include <set>
#include <string>
#include <vector>

#include "scheduler/fairlead/core.h"
#include "scheduler/tdw/tdw.h"

// Rounds on the books of the default profile: same queues, containers and nodes, another order and placement.

namespace fairlead::scheduler::tdw {

using native::kNone;

enum class TaskType : uint8_t { kJobtracker, kMap, kReduce };
inline constexpr size_t kTaskTypes = 3;

/// A group, pool or session in one round: counts of one type.
struct Entry {
  uint32_t id = 0;  // queue, or application slot
  int64_t granted = 0;
  int64_t waiting = 0;
  int64_t low = 0;
  int64_t high = native::kUnlimited;
  int64_t weight = native::kWeightOne;
  int32_t priority = 0;
  uint64_t started = 0;
  std::string_view name;
  bool preemptable = true;
  std::vector<Entry> below;  // heap: first in order on top
  bool fair = true;          // order of `below`
};

/// FAIR: priority; hungry (granted < min) first; both hungry: granted/min, else granted/weight; then FIFO.
bool FairBefore(const Entry& a, const Entry& b);
/// FIFO: priority, start, name.
bool FifoBefore(const Entry& a, const Entry& b);

/// What one round of one type saw, for preemption and for tests.
struct RoundResult {
  int64_t grants = 0;
  bool full = false;  // some task found no node although no maximum and no exclusion stopped it
};

class TdwCore final : public native::Core {
 public:
  explicit TdwCore(const TdwConfig& config);

  base::Instant NextDeadline() const override;
  std::unique_ptr<Scheduler> Fork() const override;
  uint64_t StateHash() const override;
  std::string CheckInvariants() const override;

 private:
  using Counts = std::array<int64_t, kTaskTypes>;

  void PlaceAll() override;
  void Started(uint32_t container) override;
  void Ended(uint32_t container) override;
  void Left(uint32_t container) override;
  model::scheduler::Pending WhyWant(const native::App& app, const native::Want& want, base::Instant now) const override;

  TaskType TypeOf(const native::Container& container) const;
  TaskType TypeOf(const native::App& app, const native::Want& want) const;
  Counts& AppCounts(uint32_t slot);
  Counts& NodeCounts(uint32_t node);
  /// Publishes free amounts and loads of the node.
  void Index(uint32_t node);

  std::array<bool, kTaskTypes> WaitingTypes() const;
  Entry Snapshot(TaskType type, bool all) const;
  Entry QueueEntry(uint32_t queue) const;
  void GatherLeaves(uint32_t queue, std::vector<uint32_t>& leaves) const;
  RoundResult Round(TaskType type);
  enum class Try : uint8_t { kGranted, kNothing };
  Try TrySession(uint32_t slot, TaskType type, RoundResult& result);
  uint32_t FindNode(const native::App& app, const native::Want& want, TaskType type, native::Spot& spot,
                    bool& excluded);
  uint32_t Walk(const native::App& app, const native::Shape& shape, TaskType type, bool below_mean,
                bool& excluded) const;
  bool BelowMean(uint32_t node, TaskType type) const;

  void Preempt(TaskType type);
  int64_t TakeFrom(uint32_t slot, TaskType type, int64_t most);

  TdwConfig settings_;
  std::vector<Counts> app_granted_;            // by application slot
  std::vector<Counts> node_granted_;           // by node
  Counts all_granted_{};                       // on nodes that are alive
  FreeIndex index_;                            // free amounts, and how far below full each type's load is
  std::array<uint32_t, kTaskTypes> cursor_{};  // after the node of the last grant of the type
  base::Instant next_round_{};
  bool round_due_ = false;
  // of the running round
  std::set<std::pair<uint32_t, uint64_t>> infeasible_wants_;
  std::set<uint32_t> infeasible_shapes_;
};

}  // namespace fairlead::scheduler::tdw
