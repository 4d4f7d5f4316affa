#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/check.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/app_table.h"
#include "rm/life_cycles.h"
#include "rm/node_table.h"
#include "rm/state.h"

namespace fairlead::rm {

/// Where a Step puts what it decided: effects for the outside, and events for the scheduler.
struct Sink {
  std::vector<model::rm::OuterEffect>& outer;
  std::vector<model::scheduler::Event>& scheduler;
};

/// The rm core: life cycles of applications, attempts, containers and nodes, as YARN's ResourceManager has them
/// (RMAppImpl, RMAppAttemptImpl, RMNodeImpl, ApplicationMasterService, ResourceTrackerService). Deterministic and
/// single-threaded. It keeps no sums of resources; the scheduler does. What depends on the store is answered when
/// Persisted says so.
class Core {
 public:
  explicit Core(Config config);

  /// Applies events from outside, in order. `now` is constant during a step and never earlier than before.
  void StepOuter(base::Instant now, base::WallTime wall, std::span<const model::rm::OuterEvent> events, Sink sink);
  /// Applies effects of the scheduler, in order.
  void StepScheduler(base::Instant now, base::WallTime wall, std::span<const model::scheduler::Effect> effects,
                     Sink sink);
  /// To be called when the two cores have nothing more to say to each other in this step: answers heartbeats with all
  /// that the step has decided for their nodes.
  void EndStep(base::Instant now, base::WallTime wall, Sink sink);

  /// When a Tick is wanted at the latest; Instant::Max() for never.
  base::Instant NextDeadline() const;
  /// Empty when all tables agree, else what differs. O(state).
  std::string CheckInvariants() const;
  /// Equal states give equal hashes. O(state).
  uint64_t StateHash() const;

  // ---- Prefetching: asks for what a call will touch to be brought into the cache, in steps 0 to kPrefetchSteps - 1
  // some time apart, each for what the one before has brought. Decides nothing. ----
  static constexpr int kPrefetchSteps = 6;
  /// The node's heartbeat comes soon.
  void Prefetch(model::NodeIndex node, int step) const;
  /// News of a container of the application come soon.
  void Prefetch(model::AppIndex app, const model::ContainerId& container, int step) const;
  /// The master's call comes soon.
  void Prefetch(model::AppIndex app, int step) const;

  // ---- Read access, for reports. References live until the next Step. ----
  const Config& config() const { return config_; }
  int64_t cluster_timestamp() const { return cluster_timestamp_; }
  int32_t epoch() const { return epoch_; }
  const App* FindApp(const model::ApplicationId& id) const;
  const App* AppAt(model::AppIndex index) const;
  const Attempt* FindAttempt(const model::ApplicationAttemptId& id) const;
  const Container* FindContainer(const model::ContainerId& id) const;
  /// As masters and reports have it: with the names of its node.
  model::rm::ContainerInfo InfoOf(const Container& container) const;
  const Node* NodeAt(model::NodeIndex index) const;
  /// The active node of that name, else the one that went away last.
  const Node* FindNode(const model::rm::NodeAddress& address) const;
  /// Calls `visit(const App&)` in order of submission.
  template <class V>
  void ForEachApp(V&& visit) const {
    apps_.ForEach([&](const App& app) { visit(app); });
  }
  /// Calls `visit(const Node&)`: active nodes by name, then those that went away by name.
  template <class V>
  void ForEachNode(V&& visit) const {
    for (const model::NodeIndex index : ActiveByName()) visit(nodes_[index]);
    nodes_.ForEachGone(visit);
  }
  /// The largest container that may be asked for now (AbstractYarnScheduler.getMaximumResourceCapability).
  model::Resources MaximumAllocation(base::Instant now) const;
  /// True while the attempt's AMRM token is worth something.
  bool AttemptIsKnown(const model::ApplicationAttemptId& id) const;
  /// YarnApplicationState as clients see it: FINAL_SAVING and KILLING show the state before.
  static model::rm::AppState VisibleState(const App& app);
  static model::rm::AttemptState VisibleState(const Attempt& attempt);
  static bool IsCompleted(const App& app) { return IsEnding(app.state); }
  static model::rm::FinalStatus VisibleFinalStatus(const App& app);
  static const std::string& VisibleDiagnostics(const App& app);
  /// Its own diagnostics, or while there are none how far its master has come.
  static const std::string& VisibleDiagnostics(const Attempt& attempt);
  int32_t apps_submitted() const { return apps_submitted_; }

 private:
  enum class TimerKind : uint8_t { kMaster, kFinishing, kNode, kLifetime, kDecommission, kRetry };
  struct Timer {
    base::Instant when;
    TimerKind kind = TimerKind::kMaster;
    uint32_t index = 0;  // application or node
    int32_t attempt = 0;
    friend auto operator<=>(const Timer&, const Timer&) = default;
  };
  enum class After : uint8_t { kNothing, kAppNew, kAppFinal, kAttemptNew, kAttemptFinal, kAnswer };
  struct Continuation {
    After after = After::kNothing;
    model::AppIndex app;
    int32_t attempt = 0;
    std::vector<model::rm::OuterEffect> answers;
  };
  // core.cc
  void Handle(const model::rm::OuterEvent& event);
  void HandleScheduler(const model::scheduler::Effect& effect);
  template <class T>
  void Emit(T&& effect) {
    sink_->outer.emplace_back(std::forward<T>(effect));
  }
  template <class T>
  void Tell(T&& event) {
    sink_->scheduler.emplace_back(std::forward<T>(event));
  }
  void Refuse(model::rm::CallToken call, model::Refused refused) {
    Emit(model::rm::CallRefused{call, std::move(refused)});
  }
  void Refuse(model::rm::CallToken call, model::Refusal why, std::vector<std::string> names = {},
              std::vector<int64_t> numbers = {}) {
    Refuse(call, {why, std::move(names), {}, std::move(numbers)});
  }
  void Log(std::string subject, std::string_view from, std::string_view to, std::string detail = {});
  /// The event means nothing in that state: all stays as it is.
  template <class Id, class State, class Event>
  void RefuseTransition(const Id& id, State state, Event event, State to) {
    std::string why("refused ");
    why.append(EnumName(event)).append(" to ").append(EnumName(to));
    Log(ToString(id), EnumName(state), EnumName(state), std::move(why));
  }
  /// One step of a life cycle; false: its table does not have it.
  template <class Life, class Id, class State, class Event>
  bool Advance(const Life& life, const Id& id, State& state, Event event, State to, std::string_view detail = "") {
    if (!life.Leads(state, event, to)) {
      RefuseTransition(id, state, event, to);
      return false;
    }
    std::string why(EnumName(event));
    if (!detail.empty()) why.append(": ").append(detail);
    Log(ToString(id), EnumName(state), EnumName(to), std::move(why));
    state = to;
    return true;
  }
  void Store(std::vector<model::rm::StoreRow> rows, Continuation continuation);
  void On(const model::rm::Persisted& event);
  void On(const model::rm::Tick&) {}
  void On(const model::rm::ReloadQueues& event);
  void On(const model::scheduler::ReloadAnswered& effect);
  void On(const model::scheduler::GangExpired& effect);
  void On(const model::scheduler::CallRefused& effect);
  void Refused(ReloadAsked& asked, uint64_t token, const model::Refused& refused);
  /// A token for a call of the core's own.
  uint64_t OwnToken() { return model::scheduler::kOwnCall | model::scheduler::kOwnCall >> 1 | ++last_own_call_; }
  /// What was asked under that token, which is answered now; an Asked of another kind is a scheduler's fault.
  template <class T>
  T TakeAsked(uint64_t token) {
    const auto it = asked_.find(token);
    FL_CHECK(it != asked_.end() && std::holds_alternative<T>(it->second), "the scheduler answers what nobody asked");
    T asked = std::get<T>(std::move(it->second));
    asked_.erase(it);
    return asked;
  }
  void FireTimers();
  void Fire(const Timer& timer);
  void ExpireGrants();
  Attempt* MutableAttempt(const model::ApplicationAttemptId& id, App** app = nullptr);
  App* MutableApp(const model::ApplicationId& id);
  App& At(model::AppIndex index) { return apps_[index]; }
  /// The app, or nullptr after answering the call with ApplicationNotFoundException.
  App* Require(model::rm::CallToken call, const model::ApplicationId& id);

  // apps.cc
  void On(const model::rm::NewApplication& event);
  void On(const model::rm::Submit& event);
  void On(const model::rm::KillApp& event);
  void On(const model::rm::MoveApp& event);
  void On(const model::rm::SetPriority& event);
  void On(const model::rm::SetLifetime& event);
  void On(const model::scheduler::AppAccepted& effect);
  void On(const model::scheduler::MoveAnswered& effect);
  void On(const model::scheduler::PriorityAnswered& effect);
  void Refused(PlacementAsked& asked, uint64_t token, const model::Refused& refused);
  void Refused(MoveAsked&, uint64_t token, const model::Refused& refused) { Refuse(token, refused); }
  void Refused(PriorityAsked&, uint64_t token, const model::Refused& refused) { Refuse(token, refused); }
  /// Asks the scheduler to take it; AppAccepted or CallRefused with the token must follow.
  void Place(const App& app, uint64_t token, bool recovered);
  std::string RejectionDiagnostics(const App& app, const model::Refused& refused) const;
  bool MaySubmit(App& app, const std::string& queue);
  void AppSaved(App& app, bool ok, const std::string& error);
  void AppFinalSaved(App& app, bool ok);
  bool SetState(App& app, AppEvent event, model::rm::AppState to, std::string_view detail = "");
  void Kill(App& app, const std::string& diagnostics);
  void StartAttempt(App& app, bool transfer);
  void AttemptRegistered(App& app);
  void AttemptUnregistered(App& app);
  void AttemptFinished(App& app, const std::string& diagnostics);
  void AttemptKilled(App& app, const std::string& diagnostics);
  void AttemptFailed(App& app, const std::string& diagnostics, bool keep_containers);
  /// Stores its end, unless the event does not end it in its state.
  void SaveFinal(App& app, AppEvent event, model::rm::AppState target, std::string diagnostics);
  void StoreFinal(App& app);
  void Complete(App& app, AppEvent event, model::rm::AppState final_state);
  void Evict();
  void Forget(App& app);
  void ArmLifetime(App& app);
  int32_t FailedAttempts(const App& app) const;
  std::string FailureDiagnostics(const App& app, const std::string& cause, bool beyond) const;
  model::rm::StoreRow RowOf(const App& app) const;
  model::Refused NormalizeMasterAsks(App& app) const;

  // attempts.cc
  void On(const model::rm::FailAttempt& event);
  void On(const model::rm::MasterLaunched& event);
  bool SetState(Attempt& attempt, AttemptEvent event, model::rm::AttemptState to);
  void ScheduleMaster(App& app, Attempt& attempt);
  void Refused(MasterAsked& asked, uint64_t token, const model::Refused& refused);
  void MasterGranted(App& app, Attempt& attempt, const model::ContainerId& container);
  void AttemptSaved(App& app, Attempt& attempt, bool ok, const std::string& error);
  void AttemptFinalSaved(App& app, Attempt& attempt, bool ok);
  void MarkLaunched(App& app, Attempt& attempt, AttemptEvent event);
  void FailAttemptNow(App& app, Attempt& attempt, std::string diagnostics, int32_t exit_status);
  void KillAttempt(App& app, Attempt& attempt, const std::string& diagnostics);
  void MasterContainerEnded(App& app, Attempt& attempt, const model::rm::ContainerEnd& end);
  void SaveFinal(App& app, Attempt& attempt, AttemptEvent event, model::rm::AttemptState target,
                 std::string diagnostics, int32_t exit_status);
  void StoreFinal(App& app, Attempt& attempt);
  void EndAttempt(App& app, Attempt& attempt, AttemptEvent event, model::rm::AttemptState final_state);
  void AckToldContainers(Attempt& attempt);
  bool CountsAsFailure(const App& app, const Attempt& attempt) const;
  std::string CrashDiagnostics(const Attempt& attempt, const model::rm::ContainerEnd& end) const;
  model::rm::StoreRow RowOf(const App& app, const Attempt& attempt) const;

  // masters.cc
  void On(const model::rm::RegisterMaster& event);
  void On(const model::rm::AllocateCall& event);
  void On(const model::rm::FinishMaster& event);
  void On(const model::scheduler::AllocateAnswered& effect);
  void On(const model::scheduler::PreemptionNotice& effect);
  void Refused(AllocateAsked&, uint64_t token, const model::Refused& refused) { Refuse(token, refused); }
  model::Refused CheckAllocate(const App& app, const Attempt& attempt, const model::rm::AllocateCall& call) const;
  model::Refused NormalizeAsk(model::Ask& ask, const std::string& default_label) const;
  /// Asks the scheduler for the updates that are allowed, and gives their number; the others are errors.
  size_t RequestUpdates(App& app, Attempt& attempt, model::rm::CallToken call,
                        const std::vector<model::rm::ContainerUpdate>& updates);
  model::Refused CheckUpdate(const Container* container, const model::rm::ContainerUpdate& update) const;
  /// The scheduler has answered all that the call wanted of it.
  void AllocateDone(model::rm::CallToken call, const AllocateAsked& asked);
  void ResizeDone(model::rm::CallToken call);
  /// What a master hears when there is nothing to tell.
  model::rm::AllocateAnswer NothingNewFor(const App& app, const Attempt& attempt) const;
  void AnswerAllocate(App& app, Attempt& attempt, model::rm::CallToken call, const model::Resources& headroom,
                      int32_t cluster_nodes, bool empty);
  model::Resources Normalize(const model::Resources& wanted) const;

  // containers.cc
  void SetState(Container& container, ContainerEvent event, model::rm::ContainerState to);
  void On(const model::scheduler::Granted& effect);
  void On(const model::scheduler::Finished& effect);
  void On(const model::scheduler::Reserved& effect);
  void On(const model::scheduler::Unreserved& effect);
  void On(const model::scheduler::ResizeAnswered& effect);
  void Refused(ResizeAsked& asked, uint64_t token, const model::Refused& refused);
  void On(const model::rm::SignalContainer& event);
  void Account(Attempt& attempt, const Container& container);
  void DeliverEnd(App& app, UntoldEnd untold);
  void TellToForget(model::NodeIndex& remembered_by, const model::ContainerId& id);
  void TellToForgetAll(App& app);
  std::string EndDiagnostics(const Container& container, const model::scheduler::Finished& effect) const;

  // nodes.cc
  void On(const model::rm::RegisterNode& event);
  void On(const model::rm::Heartbeat& event);
  void On(const model::rm::UnregisterNode& event);
  void On(const model::rm::RefreshNodes& event);
  void On(const model::rm::ResizeNode& event);
  Node& AddNode(const model::rm::RegisterNode& event);
  void RemoveNode(Node& node, NodeEvent event, model::rm::NodeState to, std::string_view detail = "");
  bool SetState(Node& node, NodeEvent event, model::rm::NodeState to, std::string_view detail = "");
  void TellApps(const Node& node, model::rm::NodeChange change);
  bool HostAllowed(const std::string& host, const std::string& ip) const;
  void Decommission(Node& node, const model::rm::RefreshNodes& event);
  void RecoverContainers(Node& node, const std::vector<model::rm::NodeContainer>& containers);
  void RecoverContainer(Node& node, const model::rm::NodeContainer& status, model::scheduler::NodeUpdated& update);
  void TakeStatuses(Node& node, const model::rm::Heartbeat& event);
  void TakeStatus(Node& node, const model::rm::NodeContainer& status, model::scheduler::NodeUpdated& update);
  void TakeEnd(Node& node, const model::rm::NodeContainer& status, model::NodeIndex remembered_by,
               model::scheduler::NodeUpdated& update);
  Node* TakeHealth(Node& node, const model::rm::Heartbeat& event);
  void TurnAway(model::rm::CallToken call, model::rm::NodeAction action, std::string diagnostics);
  void AnswerWaitingHeartbeat(model::NodeIndex index);
  void Enlist(Node& node);
  void Reconnect(Node& node, const model::rm::RegisterNode& event);
  std::vector<model::NodeIndex> ActiveByName() const;
  /// The node that is active under the name of `index`; null: none.
  Node* ActiveNode(model::NodeIndex index);
  /// The node that is active under the name of `index`, else the slot itself.
  Node& LiveNode(model::NodeIndex index);

  // recovery.cc
  void On(const model::rm::Started& event);
  void Recover(const model::rm::AppRecord& record, const std::vector<const model::rm::AttemptRecord*>& attempts);
  void ResumeAttempt(App& app, Attempt& attempt);

  Config config_;
  int64_t cluster_timestamp_ = 0;
  int32_t epoch_ = 0;
  base::Instant started_at_;
  int32_t last_app_number_ = 0;
  int32_t apps_submitted_ = 0;
  uint64_t last_txn_ = 0;
  WaitingGrants waiting_grants_;  // lives longer than the containers in it
  AppTable apps_;
  std::deque<model::AppIndex> completed_apps_;  // oldest first
  int32_t completed_in_store_ = 0;
  NodeTable nodes_;
  std::set<std::string> include_hosts_;
  std::set<std::string> exclude_hosts_;
  std::set<Timer> timers_;
  std::map<uint64_t, Continuation> waiting_;  // by transaction
  std::map<uint64_t, Asked> asked_;           // of the scheduler, in this step, by token
  uint64_t last_own_call_ = 0;
  std::vector<model::NodeIndex> heartbeats_;  // answered at the end of the step

  // Valid during a step only.
  base::Instant now_;
  base::WallTime wall_;
  Sink* sink_ = nullptr;
};

}  // namespace fairlead::rm
