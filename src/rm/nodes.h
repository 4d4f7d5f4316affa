#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "rm/context.h"
#include "rm/labels.h"
#include "rm/life_cycles.h"
#include "rm/node_table.h"
#include "rm/state.h"

namespace fairlead::rm {

class Apps;
class Attempts;
class Containers;

/// Nodes: registration, heartbeats, health, decommissioning (ResourceTrackerService, RMNodeImpl, NodesListManager,
/// DecommissioningNodesWatcher). Owns the table of them, the lists of hosts, and the heartbeats that are answered at
/// the end of the step.
class Nodes {
 public:
  Nodes(Context& context, Apps& apps, Attempts& attempts, Containers& containers);

  void On(const model::rm::RegisterNode& event);
  void On(const model::rm::Heartbeat& event);
  void On(const model::rm::UnregisterNode& event);
  void On(const model::rm::RefreshNodes& event);
  void On(const model::rm::ResizeNode& event);
  void On(const model::rm::AddLabels& event);
  void On(const model::rm::RemoveLabels& event);
  void On(const model::rm::ReplaceLabels& event);
  /// Hosts that were draining when the last run ended, or are in a maintenance window: their nodes come back and go on
  /// draining. Labels count again.
  void Recover(const model::rm::Started& event);
  const Labels& labels() const { return labels_; }

  // ---- Timers ----
  void Expire(const Timer& timer);
  void DecommissionIsOver(Node& node);

  // ---- The table. References live until the next step. ----
  void BeginStep() { table_.Clear(); }
  /// Answers heartbeats with all that the step has decided for their nodes.
  void AnswerHeartbeats();
  const NodeTable& table() const { return table_; }
  std::vector<model::NodeIndex> TakeTouched() { return table_.TakeTouched(); }
  Node& At(model::NodeIndex index) { return table_[index]; }
  /// The node that is active under the name of `index`; null: none.
  Node* Active(model::NodeIndex index);
  /// The node that is active under the name of `index`, else the slot itself.
  Node& Live(model::NodeIndex index);
  std::vector<model::NodeIndex> ActiveByName() const;
  /// Asks for what a call will touch of the node to be brought into the cache, in steps as Core::Prefetch has them.
  void Prefetch(model::NodeIndex index, int step) const;
  /// The largest container that may be asked for at that time (AbstractYarnScheduler.getMaximumResourceCapability).
  model::Resources MaximumAllocation(base::Instant now) const;
  model::Resources MaximumAllocation() const { return MaximumAllocation(context_.now()); }
  /// By an application of that queue.
  model::Resources MaximumAllocation(const std::string& queue) const {
    return context_.queues()->Within(MaximumAllocation(), queue);
  }

  /// Empty when the table agrees with itself, else what differs.
  std::string Check() const;
  void Mix(base::StateHasher& hasher) const;
  FL_STATE_PART(table_, include_hosts_, exclude_hosts_, draining_, windows_, labels_)

 private:
  Node& Add(const model::rm::RegisterNode& event);
  void Remove(Node& node, NodeEvent event, model::rm::NodeState to, std::string_view detail = "");
  bool SetState(Node& node, NodeEvent event, model::rm::NodeState to, std::string_view detail = "");
  void AwaitHeartbeat(Node& node);
  void Enlist(Node& node);
  void TellApps(const Node& node, model::rm::NodeChange change);
  bool HostAllowed(const std::string& host, const std::string& ip) const;
  /// Why it may not register; empty: it may.
  std::string Objection(const model::rm::RegisterNode& event, const Node* old) const;
  void Reconnect(Node& node, const model::rm::RegisterNode& event);
  /// The scheduler hears of the node's maintenance windows.
  void TellWindows(const Node& node);
  /// A maintenance window of the host has begun: its nodes stay until it is over, empty or not.
  bool InWindow(const std::string& host) const;
  void Decommission(Node& node, const model::rm::RefreshNodes& event);
  void Drain(Node& node, int64_t seconds);
  void RecoverContainers(Node& node, const std::vector<model::rm::NodeContainer>& containers);
  void RecoverContainer(Node& node, const model::rm::NodeContainer& status, model::scheduler::NodeUpdated& update);
  /// Whether it can be a container of an earlier run that this run has not heard of yet.
  bool MayBeLeftOver(const App& app, const model::ContainerId& id) const;
  void TakeEndOfUnknown(Node& node, App& app, const model::rm::NodeContainer& status, model::NodeIndex remembered_by);
  void TakeStatuses(Node& node, const model::rm::Heartbeat& event);
  static model::MeasuredUse Bounded(model::MeasuredUse use, const Node& node);
  void TakeUse(Node& node, const model::rm::Heartbeat& event);
  void TakeStatus(Node& node, const model::rm::NodeContainer& status, model::scheduler::NodeUpdated& update);
  void TakeEnd(Node& node, const model::rm::NodeContainer& status, model::NodeIndex remembered_by,
               model::scheduler::NodeUpdated& update);
  Node* TakeHealth(Node& node, const model::rm::Heartbeat& event);
  void TurnAway(model::rm::CallToken call, model::rm::NodeAction action, std::string diagnostics);
  void AnswerWaitingHeartbeat(model::NodeIndex index);
  /// Nodes get the labels that count for them now; what has changed is stored, and the call is answered then.
  void LabelsChanged(model::rm::CallToken call);

  Context& context_;
  const Config& config_;
  Apps& apps_;
  Attempts& attempts_;
  Containers& containers_;
  NodeTable table_;
  std::set<std::string> include_hosts_;
  std::set<std::string> exclude_hosts_;
  std::map<std::string, int64_t> draining_;     // of Recover, until their node is out or the lists take them back
  std::vector<model::rm::HostWindow> windows_;  // that have not ended, by host
  Labels labels_;
  std::vector<model::NodeIndex> heartbeats_;  // answered at the end of the step
};

}  // namespace fairlead::rm
