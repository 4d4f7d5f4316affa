#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "scheduler/books/blocker.h"
#include "scheduler/books/core.h"
#include "scheduler/tdw/load_index.h"
#include "scheduler/tdw/session_ranks.h"
#include "scheduler/tdw/sizes.h"
#include "scheduler/tdw/standing.h"
#include "scheduler/tdw/tdw.h"

// Rounds on the books: same queues, containers and nodes as the default profile, another order and placement.

namespace fairlead::scheduler::tdw {

using base::Instant;
using model::Resources;
using native::App;
using native::AppSlot;
using native::Ask;
using native::Books;
using native::ContainerSlot;
using native::Core;
using native::NodeIndex;
using native::QueueId;
using native::Shape;
using native::ShapeId;
using native::Spot;
namespace ev = model::scheduler;

/// A pool or session as preemption sees it: counts of one type.
struct Entry {
  uint32_t id = 0;  // queue, or application slot
  int64_t granted = 0;
  int64_t waiting = 0;
  Bounds bounds;
  bool preemptable = true;
  int64_t share = 0;

  /// The place that FAIR gives it.
  OrderKey key() const { return PoolKey(bounds, granted, true); }
};

class TdwPolicy final : public native::PolicyOf<TdwPolicy> {
 public:
  explicit TdwPolicy(const TdwConfig& config)
      : settings_(config), sizes_(config), index_(native::TypesInUse(), sizes_.untested()) {}

  void AppCame(AppSlot slot, const ev::AppAdded& event) override;
  void AppLeaves(const Books& books, AppSlot slot) override;
  void AppChanged(const Books& books, AppSlot slot) override;
  void MastersFreed(const Books&) override { masters_freed_ = true; }
  void TotalChanged(const Books&) override { masters_freed_ = true; }
  void ContainerStarted(const Books& books, ContainerSlot container) override;
  void ContainerEnds(const Books& books, ContainerSlot container, int32_t exit_status) override;
  void ContainerLeaves(const Books& books, ContainerSlot container) override;
  void Publish(Books& books, NodeIndex node) override { Index(books, node); }
  bool SetsSizes() const override { return sizes_.any(); }
  Resources SizeOf(const Books& books, AppSlot slot, const model::Ask& ask) const override {
    return sizes_.Of(ask.capability, TypeOf(books.apps[slot], ask.priority), manners_[slot.value].traits);
  }

  void Place(Core& core) override;
  Instant NextDeadline() const override { return round_due_ ? next_round_ : Instant::Max(); }
  void VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const override;
  ev::Pending GangLimit(const Books& books, AppSlot slot, int64_t gang) const override;
  ev::Pending Why(const Books& books, AppSlot slot, const Ask& ask, Instant now) const override;
  std::vector<TaskCounts> TasksOf(const Books& books, QueueId queue) const override;
  std::string Check(const Books& books) const override;
  void Mix(base::StateHasher& hash) const override;
  void PrefetchNode(const Books& books, NodeIndex node) const override;
  void PrefetchApp(const Books& books, AppSlot slot) const override;
  FL_STATE_PART(app_granted_, node_granted_, all_granted_, index_, cursor_, next_round_, round_due_, standing_,
                manners_, sessions_, ranks_, seated_tree_, closed_pools_, masters_freed_)

 private:
  /// What an application said of itself when it came.
  struct Manner {
    base::WallTime start;
    ev::SessionTraits traits;
    FL_STATE(start, traits)
  };
  /// Where an application sits: one seat for each type in its pool.
  struct Session {
    QueueId pool;  // not valid: nowhere
    uint32_t rank = 0;
    std::array<uint32_t, kTaskTypes> seat{};
    std::array<SessionState, kTaskTypes> state;
    FL_STATE(pool, rank, seat, state)
  };
  /// What a round has found out so far, and what preemption learns from it.
  struct Round {
    int64_t grants = 0;
    bool full = false;              // some task found no node although no exclusion stopped it
    uint64_t classes = UINT64_MAX;  // that some node may have room for
    std::set<std::pair<AppSlot, uint64_t>> hopeless_asks;
    std::set<ShapeId> hopeless_shapes;
  };

  TaskType TypeOf(const native::Container& container) const;
  TaskType TypeOf(const App& app, int32_t priority) const;
  Counts& AppCounts(AppSlot slot);
  Counts& NodeCounts(NodeIndex node);
  void Index(const Books& books, NodeIndex node);
  /// The index follows the nodes that changed.
  void PublishChanged(Books& books);

  // seats.cc
  /// Groups and pools as the queues are now, with every session.
  void SeatAll(const Books& books);
  void SeatGroup(const Books& books, QueueId group, const std::vector<uint32_t>& ranks);
  void Seat(const Books& books, AppSlot slot);
  void Unseat(const Books& books, AppSlot slot);
  /// Gives the session its place among all by start and name.
  void Rank(const Books& books, AppSlot slot);
  /// The session's place among those of its pool.
  OrderKey KeyOf(const Books& books, AppSlot slot, const SessionState& state, bool fair) const;
  std::array<SessionState, kTaskTypes> StatesOf(const Books& books, AppSlot slot) const;
  /// Jobtrackers of the pool wait until masters have room again.
  void ClosePool(QueueId pool);
  void OpenPools();
  std::string SeatErrors(const Books& books) const;

  // rounds.cc
  void RunRounds(Core& core);
  Round RunRound(Core& core, TaskType type);
  enum class Try : uint8_t { kGranted, kNothing, kMastersFull };
  Try TrySession(Core& core, AppSlot slot, TaskType type, Round& round);
  /// Preferred nodes in the ask's order, without the load test; then nodes below the mean load; then any.
  Spot FindNode(const Books& books, const App& app, const Ask& ask, TaskType type) const;
  Spot FindPreferred(const Books& books, const App& app, const Ask& ask) const;
  NodeIndex Walk(const Books& books, const App& app, const Ask& ask, TaskType type, bool below_mean) const;
  bool BelowMean(const Books& books, NodeIndex node, TaskType type) const;
  bool Fits(const Books& books, NodeIndex node, const Shape& shape) const;
  /// What keeps an ask from every node.
  enum class Obstacle : uint8_t { kNoRoom, kExclusion, kStrictPlaces };
  /// Of an ask for which FindNode finds none. O(nodes with room).
  Obstacle FindObstacle(const Books& books, const App& app, const Ask& ask) const;

  // why.cc
  /// The pool or group that may not have `more` tasks of the type, as a reason; kNone: there is none.
  ev::Pending AtMaximum(const Books& books, const App& app, TaskType type, int64_t more) const;
  /// Of the queue and those below it.
  TaskCounts TasksOf(const Books& books, QueueId queue, TaskType type) const;
  /// "root.g.p has 1 of its minimum of 3", or empty: it is not below it.
  std::string BelowMinimum(const Books& books, QueueId pool, TaskType type) const;
  /// The next round begins with the session, as far as one knows.
  bool IsNext(const Books& books, AppSlot slot, TaskType type) const;

  // preemption.cc
  void Preempt(Core& core, TaskType type);
  /// Below its minimum, and nothing but room keeps its tasks waiting.
  bool Hungry(TaskType type, uint32_t pool) const;
  /// What waits in hungry pools. O(pools, and the asks of the hungry ones).
  std::set<ShapeId> HungryShapes(const Books& books, TaskType type) const;
  /// With their shares.
  std::vector<Entry> Pools(const Books& books, TaskType type, int64_t& need) const;
  std::vector<Entry> Sessions(const Books& books, const Entry& pool, TaskType type) const;
  int64_t TakeFrom(Core& core, AppSlot slot, TaskType type, int64_t most);

  TdwConfig settings_;
  Sizes sizes_;
  std::vector<Counts> app_granted_;            // by application slot
  std::vector<Counts> node_granted_;           // by node
  Counts all_granted_{};                       // on nodes that are alive
  LoadIndex index_;                            // by node
  std::array<uint32_t, kTaskTypes> cursor_{};  // after the node of the last grant of the type
  Instant next_round_{};
  bool round_due_ = false;
  std::array<Standing, kTaskTypes> standing_;
  std::vector<Manner> manners_;    // by application slot
  std::vector<Session> sessions_;  // by application slot
  SessionRanks ranks_;
  uint64_t seated_tree_ = UINT64_MAX;  // the queues, by version, that the seats are of
  std::vector<QueueId> closed_pools_;  // for jobtrackers: the masters' share is used up
  bool masters_freed_ = false;         // since OpenPools
};

}  // namespace fairlead::scheduler::tdw
