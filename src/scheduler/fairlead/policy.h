#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/state.h"
#include "scheduler/books/blocker.h"
#include "scheduler/books/core.h"
#include "scheduler/fairlead/backfill.h"
#include "scheduler/fairlead/budgets.h"
#include "scheduler/fairlead/busy_nodes.h"
#include "scheduler/fairlead/finder.h"
#include "scheduler/fairlead/maintenance.h"
#include "scheduler/fairlead/order.h"
#include "scheduler/fairlead/use_forecast.h"
#include "scheduler/fairlead/use_learner.h"

// How a grant of the default profile is found. Every pending ask belongs to a *shape* (size and label), every shape to
// one of 64 *classes* (one shape each, until there are more than 64). FairOrder knows for each queue the classes wanted
// below it, Shapes the classes with a shape that some node may have room for; the search walks down from the root to
// the first child in order that wants one of them. A try that fails takes away what made it fail, at the level
// responsible: the shape (no node has room), the class in one queue (at its maximum), the leaf's starting applications
// (masters' share) or the ask (it waits for a place). What gives room puts it back: a node freed wakes the shapes that
// fit it and the asks that wait for it; a release reopens the queues above it. So a batch that changes nothing costs
// nothing, whatever waits.

namespace fairlead::scheduler::native {

// Large on purpose: a hook for each change of the books, and the steps of the rules, whose states are the parts'.
class FairPolicy final : public PolicyOf<FairPolicy> {
 public:
  explicit FairPolicy(const FairleadConfig& config)
      : config_(config),
        order_(config.small_jobs.bound, config.fairness),
        busy_(config.measured_use),
        forecast_(config.measured_load, config.measured_use.stale),
        learner_(config.learned_use, config.measured_load.settle),
        backfill_(config.backfill),
        budgets_(config.fairness),
        maintenance_(config.maintenance) {}

  void TreeChanged(const Books& books, const TreeChange& change) override;
  void AppCame(AppSlot slot, const ev::AppAdded& event) override {
    order_.Came(slot, event.session.restartable && event.session.preemptable && !event.unmanaged);
    learner_.Came(slot, event.user, event.session.kind);
  }
  void AppEntered(const Books& books, AppSlot slot) override { order_.Enter(books, slot); }
  void AppLeaves(const Books& books, AppSlot slot) override { order_.Leave(books, slot); }
  void AppChanged(const Books& books, AppSlot slot) override {
    if (backfill_.orders_by_run_times()) order_.SetRun(slot, backfill_.MeanRunOf(In(books), slot));
    order_.Refresh(books, slot);
  }
  void QueueChanged(const Books& books, QueueId queue) override { order_.RefreshPath(books, queue); }
  void UsageChanged(const Books& books, QueueId leaf, bool less) override { order_.UsageChanged(books, leaf, less); }
  void DemandChanged(const Books& books, QueueId leaf) override { order_.DemandChanged(books, leaf); }
  void ClassesChanged(const Books& books, uint64_t classes) override { order_.ForgetBlocked(books, classes); }
  void MastersFreed(const Books& books) override { order_.OpenMasters(books); }
  void TotalChanged(const Books& books) override { order_.Rebuild(books); }
  void ContainerStarted(const Books& books, ContainerSlot slot) override {
    if (budgets_.on()) Charge(books, slot, true);
  }
  void ContainerEnds(const Books& books, ContainerSlot slot, int32_t exit_status) override {
    if (Learns() && exit_status == 0) backfill_.Learn(In(books), books.containers[slot]);
    if (budgets_.on()) Charge(books, slot, false);
  }
  void NodeMeasured(Core& core, const ev::NodeMeasured& event) override;
  void UseRecalled(const Books& books, const ev::UseRecalled& event) override { learner_.Recall(event, books.now); }
  void NodeWindows(Core& core, const ev::NodeWindows& event) override;
  void NodeGone(const Books&, NodeIndex node) override { maintenance_.Forget(node); }
  void RunTimesRecalled(const Books& books, const ev::RunTimesRecalled& event) override;
  void ContainerRecovered(Books& books, ContainerSlot container) override;
  void Publish(Books& books, NodeIndex node) override { books.nodes.Publish(node); }

  void Place(Core& core) override;
  Instant NextDeadline() const override {
    return std::min({review_at_, busy_.NextStale(), offers_checked_at_, next_period_});
  }
  Instant NextPeriod() const override { return next_period_; }
  void VisitRoom(const Books& books, const Shape& shape, const std::function<bool(NodeIndex)>& visit) const override;
  ev::Pending GangLimit(const Books& books, AppSlot slot, int64_t gang) const override;
  ev::Pending Why(const Books& books, AppSlot slot, const Ask& ask, Instant now) const override;
  void ViewSpending(const Books& books, QueueId queue, QueueView& view) const override;
  std::string Check(const Books& books) const override {
    for (const std::string& wrong :
         {order_.Check(books), busy_.Check(books.nodes), learner_.Check(), backfill_.Check(books)}) {
      if (!wrong.empty()) return wrong;
    }
    return "";
  }
  void Mix(base::StateHasher& hash) const override;
  void PrefetchNode(const Books& books, NodeIndex node) const override { books.nodes.Prefetch(node); }
  void PrefetchApp(const Books& books, AppSlot slot) const override { order_.Prefetch(books, slot); }

  /// Everything that stands in the way of the ask.
  std::vector<Blocker> BlockersOf(const Books& books, AppSlot slot, const Ask& ask, Instant now) const;
  const Backfill& backfill() const { return backfill_; }
  FL_STATE_PART(order_, busy_, forecast_, learner_, backfill_, budgets_, next_period_, maintenance_, passed_over_,
                offers_checked_at_, any_waiters_, round_waiters_, user_waiters_, review_at_, last_preemption_,
                starving_since_)

 private:
  using Waiting = std::pair<AppSlot, uint64_t>;  // an ask, by its serial
  using Amounts = std::vector<Resources>;        // by queue

  // placing.cc
  void PlaceInOrder(Core& core);
  void PlaceServable(Core& core);
  void PlaceFrom(Core& core, AppSlot slot, uint64_t servable);
  void TryAsk(Core& core, AppSlot slot, Ask& ask);
  void TryByMeasures(Core& core, AppSlot slot, Ask& ask);
  void Refuse(Core& core, AppSlot slot, Ask& ask, const Limit& limit);
  void Wait(Core& core, AppSlot slot, Ask& ask, const Found& found);
  void PublishChanged(Core& core);
  /// Room may have appeared on the node: wakes the shapes that fit and the asks that wait for it.
  void NodeFreed(Core& core, NodeIndex node);
  static void Wake(Core& core, std::vector<Waiting>& waiting, Park park);
  void ServeReservations(Core& core, NodeIndex node);

  // spending.cc
  bool Learns() const { return backfill_.on() || budgets_.on() || maintenance_.known(); }
  /// A container of the queue has started, or ended.
  void Charge(const Books& books, ContainerSlot container, bool started);
  void BeginPeriods(Books& books);
  Limit FindLimit(const Books& books, const App& app, const Resources& size) const {
    return budgets_.FindLimit(books, app, size, app.needs_master);
  }

  // beside_promises.cc
  Backfill::In In(const Books& books) const { return {books, learner_, budgets_, maintenance_}; }
  /// Every promise on the node can be kept, and the container ends before the next maintenance window.
  bool MayStart(const Books& books, NodeIndex node, const Backfill::Start& start) const {
    return backfill_.Allows(In(books), node, start) && maintenance_.Allows(node, books.now, start.run);
  }
  bool EndsBeforeWindow(const Books& books, AppSlot slot, const Ask& ask, NodeIndex node) const;
  void TryBesidePromises(Core& core, AppSlot slot, Ask& ask);
  size_t PromisesBefore(const Books& books, AppSlot slot) const;
  size_t PromisesIn(const Books& books, QueueId leaf) const;
  void MakePromise(Core& core, AppSlot slot, const Ask& ask);
  void MakePromises(Core& core);
  void WakePromised(Core& core);
  void WakePassedOver(Core& core, NodeIndex node);

  // measures.cc
  /// What one more container of the ask is expected to use.
  UseAmounts ExpectedOf(const Books& books, AppSlot slot, const Ask& ask) const;
  void TakeBusy(Core& core, const ev::NodeMeasured& event);
  void ForgetStale(Core& core);
  void Overcommit(Core& core, NodeIndex node);
  /// Nodes that told nothing for too long offer what they have, and so do all once nobody wishes it.
  void CheckOffers(Core& core);

  // large_asks.cc
  /// Promises keep room for its turn, not reservations.
  bool HasTimetable(const Ask& ask) const { return backfill_.on() && !backfill_.Unknown(ask.serial); }
  std::vector<bool> RipeShapes(const Books& books, uint64_t& classes) const;
  void Review(Core& core);
  void ReserveForLarge(Core& core);
  void ReserveInOrder(Core& core);
  /// Nodes that may be kept for asks in order.
  size_t MostKept(const Books& books) const;
  /// What is on its way to each leaf. O(reservations).
  static Amounts KeptByLeaf(const Books& books);
  void ReserveFor(Core& core, AppSlot slot, Ask& ask);
  /// The node that misses least of the size and may be kept for the ask; not valid: none. O(nodes).
  NodeIndex NodeToReserve(const Books& books, AppSlot slot, const Ask& ask) const;

  // parking.cc
  std::vector<bool> LeavesToPark(const Books& books) const;
  void ParkMasters(Core& core);

  // preemption.cc
  struct Plan;
  struct LostWork;
  void Preempt(Core& core);
  Ask* Starving(Core& core, QueueId leaf, const Resources& share, const Resources& planned, AppSlot& slot) const;
  std::vector<std::vector<ContainerSlot>> Eligible(const Books& books, const Amounts& shares,
                                                   const LostWork& lost) const;
  std::vector<ContainerSlot> VictimsOn(const Books& books, const Plan& plan, NodeIndex node, AppSlot slot,
                                       const Ask& ask) const;
  std::vector<NodeIndex> RankNodes(const Books& books, const Plan& plan, AppSlot slot, const Ask& ask) const;
  void TakeBack(Core& core, const std::vector<QueueId>& starving, const Amounts& shares, Amounts& planned);
  void Announce(Core& core, AppSlot slot, Ask& ask, NodeIndex node, const std::vector<ContainerSlot>& victims,
                Amounts& lost) const;

  // why.cc
  void FindLimits(const Books& books, const App& app, const Ask& ask, std::vector<Blocker>& out) const;
  bool FindWindows(const Books& books, AppSlot slot, const Ask& ask, std::vector<Blocker>& out) const;
  void FindPromises(const Books& books, AppSlot slot, const Ask& ask, std::vector<Blocker>& out) const;
  Blocker AllBusy(const Books& books, const Shape& shape) const;
  void FindObstacles(const Books& books, const App& app, const Ask& ask, Instant now, std::vector<Blocker>& out) const;

  FairleadConfig config_;
  FairOrder order_;
  BusyNodes busy_;
  UseForecast forecast_;
  UseLearner learner_;
  Backfill backfill_;
  Budgets budgets_;
  Maintenance maintenance_;
  Instant next_period_ = Instant::Max();        // of some budget, while there are any
  std::vector<Waiting> passed_over_;            // by a promise on the nodes with room
  Instant offers_checked_at_ = Instant::Max();  // some node may offer more than it has until then
  std::vector<Waiting> any_waiters_;
  std::vector<Waiting> round_waiters_;
  std::map<UserId, std::vector<Waiting>> user_waiters_;  // whose user is at the maximum
  Instant review_at_ = Instant::Max();                   // reservations and preemption are looked at next
  Instant last_preemption_{-(int64_t{1} << 60)};
  std::vector<Instant> starving_since_;  // by queue: a leaf below its share while the cluster is full
};

}  // namespace fairlead::scheduler::native
