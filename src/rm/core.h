#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dispatch.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/apps.h"
#include "rm/attempts.h"
#include "rm/containers.h"
#include "rm/context.h"
#include "rm/masters.h"
#include "rm/nodes.h"
#include "rm/state.h"

namespace fairlead::rm {

/// Of the store: the use of containers that profile `fairlead` learned.
inline constexpr char kLearnedUseTable[] = "rm/learned-use";

/// The rm core: life cycles of applications, attempts, containers and nodes, as YARN's ResourceManager has them
/// (RMAppImpl, RMAppAttemptImpl, RMNodeImpl, ApplicationMasterService, ResourceTrackerService). Deterministic and
/// single-threaded. It keeps no sums of resources; the scheduler does. What depends on the store is answered when
/// Persisted says so. Its parts own the state and hold the rules; here is what brings them events, and what reports
/// read.
class Core {
 public:
  explicit Core(Config config);
  /// An independent copy, between two steps: any thread may have it. O(state).
  explicit Core(const Core& other);
  Core& operator=(const Core&) = delete;

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
  /// All of the state, between two steps: what a core of the same configuration takes by ReadState. O(state).
  std::string State() const;
  /// False: the bytes are not those of a state, and the core is of no use.
  bool ReadState(std::string_view bytes);

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
  const Config& config() const { return context_.config(); }
  /// In use. Whoever holds them may take them to any thread.
  const std::shared_ptr<const model::QueueSet>& queues() const { return context_.queues(); }
  int64_t cluster_timestamp() const { return context_.cluster_timestamp(); }
  int32_t epoch() const { return context_.epoch(); }
  const App* FindApp(const model::ApplicationId& id) const;
  const App* AppAt(model::AppIndex index) const;
  const Attempt* FindAttempt(const model::ApplicationAttemptId& id) const;
  const Container* FindContainer(const model::ContainerId& id) const;
  /// As masters and reports have it: with the names of its node.
  model::rm::ContainerInfo InfoOf(const Container& container) const { return containers_.InfoOf(container); }
  const Node* NodeAt(model::NodeIndex index) const { return nodes_.table().Find(index); }
  /// The active node of that name, else the one that went away last.
  const Node* FindNode(const model::rm::NodeAddress& address) const;
  /// Calls `visit(const App&)` in order of submission.
  template <class V>
  void ForEachApp(V&& visit) const {
    apps_.table().ForEach([&](const App& app) { visit(app); });
  }
  /// Calls `visit(const Node&)`: active nodes by name, then those that went away by name.
  template <class V>
  void ForEachNode(V&& visit) const {
    for (const model::NodeIndex index : nodes_.ActiveByName()) visit(nodes_.table()[index]);
    nodes_.table().ForEachGone(visit);
  }
  /// The largest container that may be asked for now (AbstractYarnScheduler.getMaximumResourceCapability).
  model::Resources MaximumAllocation(base::Instant now) const { return nodes_.MaximumAllocation(now); }
  const Labels& labels() const { return nodes_.labels(); }
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
  int32_t apps_submitted() const { return apps_.submitted(); }
  /// Applications that came, went or may read otherwise than when this was called last; each once.
  void Touch(model::AppIndex index) { (void)apps_.At(index); }
  std::vector<model::AppIndex> TakeTouchedApps() { return apps_.TakeTouched(); }
  size_t touched_apps() const { return apps_.table().touched(); }
  std::vector<model::NodeIndex> TakeTouchedNodes() { return nodes_.TakeTouched(); }
  /// Null when ForEachNode does not visit it.
  const Node* ShownNode(model::NodeIndex index) const {
    const Node* node = nodes_.table().Find(index);
    return node && nodes_.table().Shows(*node) ? node : nullptr;
  }

 private:
  class Step;
  void On(const model::rm::Started& event);
  void On(const model::rm::Persisted& event);
  void On(const model::rm::Tick&) {}
  void On(const model::rm::ReloadQueues& event);
  void On(const model::scheduler::ReloadAnswered& effect);
  void On(const model::scheduler::UseLearned& effect);
  void On(const model::scheduler::CallRefused& effect);
  void Refused(const ReloadAsked& asked, uint64_t token, const model::Refused& refused);
  /// Brings the event or effect to the one part that has a rule for it.
  template <class Variant, class... Explanations>
  void Bring(const Variant& event, base::Ignored<Explanations...> explanations = {});
  void FireTimers();
  void Fire(const Timer& timer);
  void FireMaster(App& app, const Timer& timer);
  void Retry(App& app, const Timer& timer);

  Context context_;
  Containers containers_;  // its list outlives the containers, which are in apps_
  Apps apps_;
  Attempts attempts_;
  Masters masters_;
  Nodes nodes_;
};

}  // namespace fairlead::rm
