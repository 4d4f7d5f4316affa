#pragma once

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "scheduler/fairlead/core.h"
#include "scheduler/tdw/standing.h"
#include "scheduler/tdw/tdw.h"

// Rounds on the books of the default profile: same queues, containers and nodes, another order and placement.

namespace fairlead::scheduler::tdw {

enum class TaskType : uint8_t { kJobtracker, kMap, kReduce };
inline constexpr size_t kTaskTypes = 3;
inline constexpr TaskType kTypes[] = {TaskType::kJobtracker, TaskType::kMap, TaskType::kReduce};
constexpr size_t At(TaskType type) { return static_cast<size_t>(type); }

/// A pool or session as preemption sees it: counts of one type.
struct Entry {
  uint32_t id = 0;  // queue, or application slot
  int64_t granted = 0;
  int64_t waiting = 0;
  Bounds bounds;
  bool preemptable = true;
  OrderKey key;  // FAIR
};

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
  /// Where an application sits: one seat for each type in its pool.
  struct Session {
    uint32_t pool = kNone;  // kNone: nowhere
    std::array<uint32_t, kTaskTypes> seat{};
    std::array<SessionState, kTaskTypes> state;
  };

  void PlaceAll() override;
  void Started(uint32_t container) override;
  void Ended(uint32_t container) override;
  void Left(uint32_t container) override;
  void Refreshed(uint32_t slot) override;
  void Removed(uint32_t slot) override;
  model::scheduler::Pending WhyWant(const native::App& app, const native::Want& want, base::Instant now) const override;

  TaskType TypeOf(const native::Container& container) const;
  TaskType TypeOf(const native::App& app, const native::Want& want) const;
  Counts& AppCounts(uint32_t slot);
  Counts& NodeCounts(uint32_t node);
  /// Its own index, with loads.
  void PublishFree(uint32_t node) override;
  void PrefetchFree(uint32_t node) const override;
  void PrefetchOrder(uint32_t slot) const override;

  // seats.cc
  /// Groups and pools as the queues are now, with every session.
  void SeatAll();
  void SeatGroup(uint32_t group);
  Bounds BoundsOf(uint32_t queue) const;
  /// Whether what is directly below the queue is served in FAIR order.
  bool IsFair(uint32_t queue) const { return queues_[queue].policy != model::OrderPolicy::kFifo; }
  void GatherLeaves(uint32_t queue, std::vector<uint32_t>& leaves) const;
  /// Brings the application's seats up to date.
  void Seat(uint32_t slot);
  void Unseat(uint32_t slot);
  std::array<SessionState, kTaskTypes> StatesOf(uint32_t slot) const;
  /// Jobtrackers of the pool wait until masters have room again.
  void ClosePool(uint32_t pool);
  void OpenPools();
  OrderKey KeyOf(uint32_t slot, const SessionState& state, bool fair) const;
  std::string SeatErrors() const;

  // rounds.cc
  void RunRounds();
  RoundResult Round(TaskType type);
  enum class Try : uint8_t { kGranted, kNothing, kMastersFull };
  Try TrySession(uint32_t slot, TaskType type, RoundResult& result);
  /// No node has room for the shape, whoever asks: nothing is freed during a round.
  void CondemnShape(uint32_t shape);
  uint32_t FindNode(const native::App& app, const native::Want& want, TaskType type, native::Spot& spot,
                    bool& excluded);
  uint32_t Walk(const native::App& app, const native::Shape& shape, TaskType type, bool below_mean,
                bool& excluded) const;
  bool BelowMean(uint32_t node, TaskType type) const;

  // preemption.cc
  void Preempt(TaskType type);
  bool AnyHungry(TaskType type) const;
  std::vector<Entry> Pools(TaskType type) const;
  std::vector<Entry> Sessions(uint32_t pool, TaskType type) const;
  int64_t TakeFromPool(uint32_t pool, TaskType type, int64_t share, int64_t surplus, int64_t need);
  int64_t TakeFrom(uint32_t slot, TaskType type, int64_t most);

  TdwConfig settings_;
  std::vector<Counts> app_granted_;            // by application slot
  std::vector<Counts> node_granted_;           // by node
  Counts all_granted_{};                       // on nodes that are alive
  FreeIndex index_;                            // free amounts, and how far below full each type's load is
  std::array<uint32_t, kTaskTypes> cursor_{};  // after the node of the last grant of the type
  base::Instant next_round_{};
  bool round_due_ = false;
  std::array<Standing, kTaskTypes> standing_;
  std::vector<Session> sessions_;       // by application slot
  uint64_t seated_tree_ = UINT64_MAX;   // the queues, by tree_version_, that the seats are of
  std::vector<uint32_t> closed_pools_;  // for jobtrackers: the masters' share is used up
  // of the running round
  uint64_t open_classes_ = 0;
  std::set<std::pair<uint32_t, uint64_t>> infeasible_wants_;
  std::set<uint32_t> infeasible_shapes_;
};

}  // namespace fairlead::scheduler::tdw
