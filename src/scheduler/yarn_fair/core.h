#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scheduler/shared/pool.h"
#include "scheduler/yarn_fair/promises.h"
#include "scheduler/yarn_fair/shares.h"
#include "scheduler/yarn_fair/state.h"
#include "scheduler/yarn_fair/yarn_fair.h"

namespace fairlead::scheduler::yarn_fair {

/// The state machine behind MakeYarnFair. One file per subject: core.cc (events, time), queues.cc, reload.cc,
/// placement.cc, runnability.cc, applications.cc, allocate.cc, nodes.cc, containers.cc, ordering.cc, assign.cc,
/// bounds.cc, locality.cc, reserve.cc, update.cc, starvation.cc, preempt.cc, view.cc, check.cc, why.cc.
class Core final : public YarnFairScheduler {
 public:
  Core(const YarnFairConfig& config, const model::QueueTree& tree, base::Instant start);

  void Step(base::Instant now, std::span<const model::scheduler::Event> events, EffectSink& out) override;
  base::Instant NextDeadline() const override;
  std::string CheckInvariants() const override;
  uint64_t StateHash() const override;
  std::unique_ptr<Scheduler> Fork() const override;
  View GetView() const override;
  std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const override;
  Resources FreeOf(model::NodeIndex node) const override;
  std::vector<std::string> LeafOrder() const override;

 private:
  enum class QueueKind : uint8_t { kLeaf, kParent };
  /// What ended a container (RMContainerEventType).
  enum class End : uint8_t { kFinished, kReleased, kKilled, kExpired };
  /// What offering a node gave: nothing, a reservation, or a container of this size.
  struct Offer {
    bool reserved = false;
    Resources assigned;
    bool Nothing() const { return !reserved && assigned.IsZero(); }
  };
  struct Ending {
    End how;
    int32_t exit_status;
    const char* diagnostics;
  };
  struct QueueLookup {
    QueueId id = {};
    std::string invalid_name;  // InvalidQueueNameException's message
  };
  struct Placed {
    std::optional<std::string> queue;  // nullopt: no rule took it
    model::Refused refused;            // a rule threw
  };
  struct KillTask {
    int64_t at_ms;
    std::vector<model::ContainerId> victims;
  };
  struct PendingConversion {
    std::string queue;
    QueueKind kind;
  };
  struct AccessLists {
    model::AccessList submit;
    model::AccessList administer;
  };

  // core.cc
  void Apply(const model::scheduler::NodeAdded& event);
  void Apply(const model::scheduler::NodeRemoved& event);
  void Apply(const model::scheduler::NodeResized& event);
  void Apply(const model::scheduler::NodeUpdated& event);
  void Apply(const model::scheduler::NodeSchedulable& event);
  void Apply(const model::scheduler::AppAdded& event);
  void Apply(const model::scheduler::AttemptAdded& event);
  void Apply(const model::scheduler::AttemptRemoved& event);
  void Apply(const model::scheduler::AppRemoved& event);
  void Apply(const model::scheduler::Allocate& event);
  void Apply(const model::scheduler::Acquired& event);
  void Apply(const model::scheduler::ContainerEnded& event);
  void Apply(const model::scheduler::ContainerRecovered& event);
  void Apply(const model::scheduler::AppMoved& event);
  void Apply(const model::scheduler::AppPriority& event);
  void Apply(const model::scheduler::ContainerResized& event);
  void Apply(const model::scheduler::QueuesReloaded& event);
  void Apply(const model::scheduler::Pass& event);
  void RunPass(model::scheduler::PassKind kind);
  void RunDuePasses();
  void FinishEvent();
  template <class T>
  void Emit(T&& effect) {
    out_->emplace_back(std::forward<T>(effect));
  }
  void Refuse(uint64_t token, model::Refusal why, std::vector<std::string> names = {});

  // queues.cc
  QueueLookup GetQueue(const std::string& name, bool create, QueueKind kind, bool recompute_steady, AppIndex app);
  QueueId FindQueue(const std::string& name) const;
  QueueLookup GetLeaf(const std::string& name, bool create, AppIndex app);
  QueueLookup CreateQueue(const std::string& name, QueueKind kind);
  QueueId CreateAlong(QueueId parent, const std::vector<std::string>& names, QueueKind kind);
  QueueId AddQueue(const std::string& name, QueueId parent, bool leaf);
  void InitQueue(QueueId id);
  void InitQueueTree(QueueId id);
  void ResolveShares(QueueId id);
  void ResolveAllShares();
  bool IsEmpty(const Queue& queue) const;
  void RemoveQueue(QueueId id);
  bool RemoveIfEmpty(QueueId id);
  std::optional<bool> RemoveIncompatible(const std::string& name, QueueKind kind);
  void RemoveEmptyDynamicQueues();
  void RunPendingConversions();
  Policy PolicyOf(const std::string& queue) const;
  static bool ChildPolicyAllowed(Policy parent, Policy child);
  void RankChildren(QueueId parent);
  Resources MaxContainer(QueueId id) const;
  void MarkSteady() { steady_dirty_ = true; }
  void FlushSteady() const;
  void ComputeSteady(QueueId id) const;
  template <class Visit>
  void ForEachUp(QueueId id, Visit visit) {
    for (; id.valid(); id = queues_[id].parent) visit(queues_[id]);
  }

  // reload.cc
  Settings Read(const model::QueueTree& tree) const;
  Limit ReadLimit(const model::ConfiguredResources& resources) const;
  void Load(Settings settings, const std::vector<std::pair<std::string, AccessLists>>& acls);
  bool VerifyPolicies(QueueId id);
  void EnsureConfigured(const std::vector<std::string>& names, QueueKind kind);
  void ApplyChildDefaults();
  std::vector<std::pair<std::string, AccessLists>> ReadAcls(const model::QueueTree& tree) const;

  // placement.cc
  Placed Place(const std::string& queue, const std::string& user, const std::vector<std::string>& groups) const;
  Placed PlaceBy(const model::PlacementRule& rule, const std::string& queue, const std::string& user,
                 const std::vector<std::string>& groups) const;
  Placed PlaceUnderParent(const model::PlacementRule& rule, const std::string& name, const std::string& queue,
                          const std::string& user, const std::vector<std::string>& groups) const;
  Placed PlaceBySecondaryGroup(const model::PlacementRule& rule, const std::string& queue, const std::string& user,
                               const std::vector<std::string>& groups) const;
  Placed IfUsable(const model::PlacementRule& rule, std::string queue) const;
  bool IsConfigured(const std::string& queue) const;
  bool MaySubmit(const std::string& queue, const std::string& user, const std::vector<std::string>& groups) const;

  // runnability.cc
  bool CanRun(QueueId queue, const std::string& user) const;
  int32_t UserMaxApps(const std::string& user) const;
  void TrackRunnable(AttemptId id);
  void UntrackRunnable(AttemptId id);
  void UntrackWaiting(AttemptId id);
  void StartWaitingAfterRemoval(AttemptId gone, QueueId queue);
  void StartWaitingAfterReload();
  void GatherWaiting(QueueId queue, std::vector<std::vector<AttemptId>>& lists) const;
  void StartFrom(const std::vector<std::vector<AttemptId>>& lists, size_t most);

  // applications.cc
  void AddToLeaf(AttemptId id, bool runnable, bool charge = true);
  bool RemoveFromLeaf(AttemptId id);
  AttemptId NewAttempt(AppIndex app, int32_t number, QueueId queue);
  void TakeOver(AttemptId from, AttemptId to);
  void Unpin(AttemptId id);
  void FreeIfUnpinned(AttemptId id);
  model::Refused MoveApp(AppIndex app, const std::string& queue);
  model::Refused MoveViolates(const Attempt& attempt, QueueId from, QueueId to) const;
  void ExecuteMove(AppIndex app, QueueId to);
  QueueId CommonAncestor(QueueId a, QueueId b) const;
  NameKey NameOf(const model::ApplicationId& id) const;

  // allocate.cc
  std::string ZeroTypeAsked(const std::vector<model::Ask>& asks, QueueId queue) const;
  model::Refused TooMuchAsked(const Asks& asks, const std::vector<model::Ask>& wanted) const;
  void RecordAsks(AttemptId attempt, const std::vector<model::Ask>& asks);
  void UpdateAsks(AttemptId attempt, std::vector<Asks::Line> lines, bool give_back);
  Resources Headroom(Attempt& attempt);
  Resources MaximumFor(QueueId queue) const;
  bool IsBlacklisted(const Attempt& attempt, const Node& node) const;

  // nodes.cc
  void ClusterChanged();
  void TriggerUpdate();
  void UpdateAvailable() { available_ = nodes_.total() - allocated_; }

  // containers.cc
  ContainerSlot CreateContainer(AttemptId attempt, NodeIndex node, const Resources& size, const RequestKey& key);
  ContainerSlot FindLive(const model::ContainerId& id) const;
  void Complete(ContainerSlot slot, const Ending& ending);
  void CompleteLive(ContainerSlot slot, const Ending& ending);
  static bool Announce(const Container& container, const Ending& ending);
  void GiveBack(AttemptId attempt, ContainerSlot slot);
  void FreeIfGone(ContainerSlot slot);
  void ReleaseAsked(AttemptId id, const std::vector<model::ContainerId>& releases);
  void NodeReport(NodeIndex node, const model::scheduler::NodeUpdated& event);

  // ordering.cc
  CompareContext ContextOf(const Queue& parent) const;
  Subject SubjectOf(const Queue& queue) const;
  Subject SubjectOf(const Attempt& attempt) const;
  void Charge(AttemptId id, const Resources& size, int sign);
  void ChargeQueues(QueueId queue, const Resources& size, int sign);
  void Touch(AttemptId id);
  void TouchQueue(QueueId id);
  void Refresh(QueueId id);
  void Rebuild(QueueId id);
  void Detach(AttemptId id);
  template <class Member>
  static void PlaceMember(Order& order, std::vector<uint32_t>& members, std::vector<OrderKey>& keys, Member& member,
                          uint32_t id, const OrderKey& key, bool eligible, bool counts_when_absent);
  void PlaceAttempt(Order& order, AttemptId id, const OrderKey& key);
  /// Running applications and starting ones in one order.
  std::vector<uint32_t> Merged(const Order& order) const;
  std::vector<uint32_t> ExactOrder(QueueId id) const;
  void SetOfferable(AttemptId id, bool offerable);
  void InvalidateOrders();

  // assign.cc
  void AttemptScheduling(NodeIndex node);
  void AssignMultiple(NodeIndex node);
  void ContinuousPass();
  void AssignPromised(NodeIndex node);
  Offer OfferToQueue(QueueId queue, NodeIndex node);
  Offer OfferToMembers(const Queue& queue, std::span<const uint32_t> members, NodeIndex node);
  Offer OfferToApplications(QueueId leaf, NodeIndex node);
  bool AcceptsNode(const Queue& queue, const Node& node) const;
  Offer OfferToAttempt(AttemptId id, NodeIndex node);
  Offer AssignKeys(AttemptId id, NodeIndex node, bool reserved);
  std::optional<Offer> AssignKey(AttemptId id, NodeIndex node, const RequestKey& key, const KeyLines* placement,
                                 bool reserved);
  Offer Try(AttemptId id, NodeIndex node, const Request& ask, model::Locality type, bool reserved,
            const RequestKey& key);
  Offer Grant(AttemptId id, NodeIndex node, const Resources& capability, model::Locality type, bool reserved,
              const RequestKey& key);
  /// The line of an ask that a node would serve, and how close that is.
  struct Choice {
    const Request* ask;
    model::Locality type;
  };
  std::optional<Choice> Choose(const KeyLines& placement, const Node& node, model::Locality allowed) const;
  bool HasContainerFor(const Attempt& attempt, const KeyLines* placement, const Node& node) const;
  bool FitsInMaxShare(QueueId queue, const Resources& extra) const;
  bool OverMasterShare(const Attempt& attempt) const;
  bool CanRunMaster(const Queue& leaf, const Resources& size) const;
  static bool MastersUnlimited(const Queue& leaf);
  Resources MasterLimit(const Queue& leaf) const;

  // bounds.cc
  bool MayServe(const Queue& queue, const Node& node) const;
  bool MayStartOne(const Queue& leaf, const Node& node) const;
  bool MastersFull(const Queue& leaf) const;
  bool MayReserveSome(const Attempt& attempt) const;
  void NoteAsks(const Attempt& attempt);
  void NoteStarting(const Attempt& attempt);
  void NoteUsage(const Attempt& attempt);
  void Unbound(QueueId queue);
  void RaiseBounds(Queue& queue);
  void RaiseStartingBounds(Queue& leaf);

  // locality.cc
  model::Locality AllowedLocality(const Attempt& attempt, KeyState& state) const;
  model::Locality AllowedByOpportunities(KeyState& state) const;
  model::Locality AllowedByTime(const Attempt& attempt, KeyState& state) const;
  void TightenLocality(Attempt& attempt, const RequestKey& key, model::Locality type);
  static KeyState& StateOf(Attempt& attempt, const RequestKey& key);
  static KeyState StateNow(const Attempt& attempt, const RequestKey& key);

  // reserve.cc
  bool IsReservable(const Attempt& attempt, const Resources& size) const;
  /// False when nothing up to this size is reservable, whoever asks for it.
  bool MayReserve(const Queue& leaf, const Resources& most) const;
  bool Reserve(AttemptId id, NodeIndex node, const Resources& size, model::Locality type, bool reserved,
               const RequestKey& key);
  bool TooManyReservations(const Attempt& attempt, const Node& node, model::Locality type) const;
  void Unreserve(AttemptId id, NodeIndex node, bool fulfilled);
  bool SettleReservation(NodeIndex node);

  // update.cc
  void UpdatePass();
  void UpdateDemand(QueueId id);
  void UpdateLeafDemand(QueueId id);
  void UpdateAttemptDemand(AttemptId id);
  void DemandChanged(AttemptId id);
  void CountDemand(Queue& leaf, const Resources& before, const Resources& after) const;
  void UpdateShares(QueueId id);
  void ShareAmongQueues(const Queue& parent, size_t type);
  void ShareAmongAttempts(Queue& leaf, size_t types);
  bool MakeAlike(Queue& leaf, size_t types);
  void MakeOwn(Queue& leaf);
  const Resources& FairShareOf(const Attempt& attempt) const {
    return attempt.alike ? queues_[attempt.queue].app_share : attempt.fair_share;
  }
  void ShareToFirst(const Queue& leaf);

  // starvation.cc
  bool ShouldPreempt() const;
  void UpdateStarved(QueueId leaf);
  std::vector<AttemptId> StarvationCandidates(QueueId leaf) const;
  Resources FairShareStarvation(Attempt& attempt);
  Resources MinShareStarvation(Queue& leaf);
  void SpreadMinShareStarvation(const Queue& leaf, const std::vector<AttemptId>& attempts, Resources pending);
  void AddStarved(AttemptId id);
  int CompareStarvation(AttemptId a, AttemptId b) const;
  Resources Starvation(const Attempt& attempt) const { return attempt.fair_starvation + attempt.min_starvation; }
  bool IsUsageBelowShare(const Attempt& attempt, const Resources& usage, const Resources& share) const;
  bool IsStarved(const Attempt& attempt) const;

  // preempt.cc
  struct StarvedRequest {
    NameId name;
    bool relax;
    Resources capability;
    int32_t count;
  };
  struct Victims {
    std::vector<ContainerSlot> taken;  // in the order met
    int32_t masters = 0;
  };
  void PreemptPass();
  void KillPass();
  std::vector<StarvedRequest> StarvedRequests(const Attempt& attempt) const;
  template <class Seen>
  bool Visit(Seen& seen, NameId name) const;
  std::vector<ContainerSlot> ChooseVictims(AttemptId starved);
  std::optional<Victims> BestVictims(const StarvedRequest& request, const std::vector<NodeIndex>& nodes) const;
  std::optional<Victims> VictimsAmong(const StarvedRequest& request, const std::vector<NodeIndex>& nodes) const;
  std::optional<Victims> VictimsOn(const Resources& size, NodeIndex id, int32_t most_masters) const;
  void DropUnneeded(Victims& victims, const Resources& size, Resources potential) const;
  bool MayPreempt(const Container& container, const Resources& also_taken) const;
  std::vector<ContainerSlot> InApplicationOrder(const Victims& victims) const;
  void Promise(NodeIndex node, AttemptId starved, const std::vector<ContainerSlot>& victims);

  // check.cc
  std::string CheckAttempts() const;
  std::string CheckQueues() const;
  std::string CheckShares(const Queue& leaf) const;
  std::string CheckBounds() const;
  std::string CheckOrders() const;

  // why.cc
  struct Offers;
  void ExplainQueue(const Attempt& attempt, model::scheduler::Pending& pending) const;
  Offers DryPass(const Attempt& attempt, size_t key_index) const;
  void ExplainNodes(const Attempt& attempt, size_t key_index, model::scheduler::Pending& pending) const;
  bool OwnUrgentAskFits(const Attempt& attempt, size_t key_index, const Node& node) const;
  std::string Standing(const Attempt& attempt) const;

  // view.cc
  QueueView ViewOf(const Queue& queue) const;

  YarnFairConfig config_;
  size_t types_;
  bool locality_matters_;  // otherwise any level is allowed at once, and nothing is counted
  EffectSink* out_ = nullptr;
  int64_t now_ms_ = 0;

  Names names_;
  hadoop::Containers containers_;
  hadoop::Nodes nodes_;
  hadoop::Apps apps_;
  Pool<Attempt, hadoop::AttemptTag> attempts_;
  Promises promises_;
  Settings settings_;
  Pool<Queue, hadoop::QueueTag> queues_;
  std::map<std::string, QueueId> queue_ids_;
  std::vector<QueueId> leaf_order_;
  std::vector<PendingConversion> conversions_;
  std::map<std::string, AccessLists> acls_;
  std::vector<OrderKey> queue_keys_;    // under which the parent's order holds a queue
  std::vector<OrderKey> attempt_keys_;  // under which the leaf's order holds an attempt
  std::map<std::string, int32_t> user_runnable_;
  std::map<std::string, std::vector<AttemptId>> user_waiting_;

  Resources allocated_;  // root metrics
  Resources available_;  // root metrics, as old as their last update
  mutable bool steady_dirty_ = false;
  Resources reservation_threshold_;

  std::vector<Sharer> sharers_;  // scratch of the share computations
  java::PriorityQueue<AttemptId> starved_;
  std::vector<KillTask> kills_;  // in order of time
  std::vector<std::pair<AttemptId, ContainerSlot>> new_masters_;

  int64_t next_update_ms_ = kNever;
  int64_t next_continuous_ms_ = kNever;
  int64_t next_queue_check_ms_ = kNever;
};

}  // namespace fairlead::scheduler::yarn_fair
