#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "scheduler/books/books.h"
#include "scheduler/books/policy.h"
#include "scheduler/scheduler.h"
#include "scheduler/shared/prefetcher.h"

namespace fairlead::scheduler::native {

using base::Instant;
using model::Locality;
using model::Resources;
namespace ev = model::scheduler;

/// Where a container goes.
struct Spot {
  NodeIndex node;
  Locality locality = Locality::kOffSwitch;
  size_t place = SIZE_MAX;  // of the ask, when it is node-local
};
/// On that node, as near as the ask's places are.
Spot SpotOn(const Books& books, const Ask& ask, NodeIndex node);

/// A profile: the books, and a policy over them. Core takes the events, keeps the parts in step with each other, tells
/// the policy what changed and makes effects of its decisions. One batch: its events in order, then the policy
/// places, then calls are answered.
// Large on purpose: a rule for each of twenty events, and the steps that they share. The state is the parts'.
class Core final : public Scheduler, public Prefetcher {
 public:
  Core(const BooksConfig& config, std::unique_ptr<Policy> policy);

  void Step(Instant now, std::span<const ev::Event> events, EffectSink& out) override;
  Instant NextDeadline() const override;
  Instant NextPeriod() const override { return policy_->NextPeriod(); }
  std::string CheckInvariants() const override;
  uint64_t StateHash() const override;
  std::unique_ptr<Scheduler> Fork() const override;
  std::string State() const override;
  bool ReadState(std::string_view bytes) override;
  View GetView() const override;
  View GetQueues() const override;
  int64_t PendingContainers(AppIndex app) const override;
  std::vector<ev::Pending> Why(AppIndex app, Instant now) const override;
  void Prefetch(const model::ContainerId& container, int step) const override;

  // For policies.
  Books& books() { return books_; }
  const Books& books() const { return books_; }
  const Policy& policy() const { return *policy_; }
  /// Gives the application one container of the ask. `reserved`: the id that its reservation on the node had.
  void Grant(AppSlot slot, Ask& ask, const Spot& spot, const model::ContainerId* reserved = nullptr);
  void Finish(ContainerSlot container, int32_t exit_status, std::string diagnostics);
  void SetPark(AppSlot slot, Ask& ask, Park park);
  /// The ask stands at its places from now on, and waits there.
  void WaitForPlaces(AppSlot slot, Ask& ask, WaitsFor what);
  /// Asks that wait for the node's host or rack are tried again: there is room, or nothing to wait for any more.
  void WakeNeighbours(const Node& node);
  ReservationId Reserve(AppSlot slot, Ask& ask, NodeIndex node, base::Duration duration);
  void Unreserve(ReservationId reservation);
  /// Grants every gang that fits as a whole, those that may have got room since they were tried; true: some did.
  bool PlaceGangs();
  /// Why the gang of the ask waits.
  ev::Pending WhyGang(AppSlot slot, const Ask& ask) const;
  template <class Effect>
  void Emit(Effect&& effect) {
    out_->emplace_back(std::in_place_type<std::remove_cvref_t<Effect>>, std::forward<Effect>(effect));
  }

 private:
  Core(const Core& other);

  // core.cc, node_events.cc, lifecycle.cc, asks.cc
  void On(const ev::NodeAdded& event);
  void On(const ev::NodeRemoved& event);
  void On(const ev::NodeResized& event);
  void On(const ev::NodeUpdated& event);
  void On(const ev::NodeSchedulable& event);
  void On(const ev::NodeMeasured& event);
  void On(const ev::UseRecalled& event) { policy_->UseRecalled(books_, event); }
  void On(const ev::NodeWindows& event);
  void On(const ev::RunTimesRecalled& event) { policy_->RunTimesRecalled(books_, event); }
  void On(const ev::AppAdded& event);
  void On(const ev::AttemptAdded& event);
  void On(const ev::AttemptRemoved& event);
  void On(const ev::AppRemoved& event);
  void On(const ev::Allocate& event);
  void On(const ev::Acquired& event);
  void On(const ev::ContainerEnded& event);
  void On(const ev::ContainerRecovered& event);
  void On(const ev::AppMoved& event);
  void On(const ev::AppPriority& event);
  void On(const ev::ContainerResized& event);
  void On(const ev::QueuesReloaded& event);
  void On(const ev::Pass& event);
  // CapacityScheduler's own.
  void On(const ev::LabelsAdded&) {}
  void On(const ev::NodeRelabelled&) {}
  void On(const ev::ProposalPass&) {}
  void Refuse(uint64_t token, model::Refused refused) { Emit(ev::CallRefused{token, std::move(refused)}); }
  AppSlot SlotOf(AppIndex app) const;
  void TellTree();
  void TotalChanged();
  void FireTimers();
  bool TimerWanted(const Timer& timer) const;

  // lifecycle.cc
  base::Result<std::string, model::Refused> PlaceApp(const ev::AppAdded& event) const;
  UserId EnterUser(const UserName& name);
  void SetUserMaxima();
  /// The user's groups, each counted once.
  std::vector<UserId> EnterGroups(const std::vector<std::string>& groups);
  bool MayRun(const App& app) const;
  void RunOrWait(AppSlot slot, bool run);
  void StopRunning(AppSlot slot);
  void RunWaiting();
  void EndAttempt(AppSlot slot, bool keep_containers);
  void EndContainers(AppSlot slot, bool keep_running);
  model::Refused CheckMove(const App& app, QueueId target, const std::string& name) const;
  void MoveTo(AppSlot slot, QueueId target);
  void ChangeMasters(QueueId leaf, const Resources& size, int32_t count);

  // asks.cc
  void Take(AppSlot slot, const ev::Allocate& call);
  model::Refused CheckAsks(const App& app, const ev::Allocate& event) const;
  /// An amount above what one container may have, in the cluster or in this leaf.
  model::Refused CheckSize(QueueId leaf, const Resources& size) const;
  model::Refused TooManyKeys(const App& app, const ev::Allocate& event) const;
  void ChangeExclusions(AppSlot slot, const ev::Allocate& event);
  void ExcludeFor(AppSlot slot, const ev::AskExclusions& key);
  void ApplyAsk(AppSlot slot, const model::Ask& ask);
  void NamePlace(Ask& ask, const model::Ask& wanted);
  Resources Normalized(Resources size) const;
  void SetCount(AppSlot slot, Ask& ask, int32_t count);
  void WantShape(ShapeId shape, int change);
  /// The ask of that key, which may be new; it is tried again.
  Ask& OpenAsk(AppSlot slot, const model::Ask& key, ShapeId shape);
  /// One container of the ask is there.
  void CountGrant(AppSlot slot, Ask& ask, const Spot& spot);
  /// At the host and rack of the node, as far as the ask names them.
  void CountAtPlaces(Ask& ask, NodeIndex node, Locality locality, int32_t change);
  /// Its master has not heard of it.
  void AskAgain(AppSlot slot, const Container& lost);
  void DropIdleAsks(AppSlot slot);
  void DropAsks(AppSlot slot);
  void ForgetAsk(const Ask& ask);
  /// Which classes the application waits for, and its place and its queues', follow its asks.
  void AsksChanged(AppSlot slot);
  void UnreserveSurplus(AppSlot slot, const Ask& ask);

  // accounts.cc
  ContainerSlot AddContainer(AppSlot slot, NodeIndex node, const model::ContainerId& id, ShapeId shape);
  void UseMore(AppSlot slot, const Resources& size);
  void RecordMaster(AppSlot slot, ContainerSlot container);
  void LeaveNode(ContainerSlot container);
  void AddDemand(QueueId leaf, const Resources& size);
  void TakeVictims(ReservationId reservation);

  // gang_placing.cc
  void EnterGang(AppSlot slot, Ask& ask);
  bool PlaceGang(const Gang& gang);
  void EndGang(uint64_t serial);

  Books books_;
  std::unique_ptr<Policy> policy_;
  EffectSink* out_ = nullptr;
  bool total_changed_ = false;
  std::vector<std::pair<AppIndex, uint64_t>> answers_;  // allocate calls of this batch
};

}  // namespace fairlead::scheduler::native
