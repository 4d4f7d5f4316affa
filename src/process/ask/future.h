#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/scheduler.h"
#include "process/ask/calls.h"
#include "process/ask/change.h"
#include "process/ask/heartbeats.h"
#include "process/ask/present.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::ask {

/// How far a question looks, and what it may cost at most.
struct Bounds {
  base::Duration ahead = base::Duration::Seconds(7200);
  int64_t events = 4'000'000;  // that the scheduler is told
  bool limits = false;         // it is looked at which limits bind
  /// True: it ends where it is, as nobody waits for it any more or it has taken too long. Called between events.
  std::function<bool()> ended{};
};

/// What happens in a future.
struct Outcome {
  struct Start {
    model::AppIndex app;
    model::ContainerId container;
    model::NodeIndex node;
    base::Instant at;
    int64_t memory_mib = 0;
    int64_t request = -1;  // allocation request id
    int32_t priority = 0;
    bool master = false;
  };
  struct End {
    model::AppIndex app;
    model::ContainerId container;
    model::NodeIndex node;
    base::Instant at;
    int64_t memory_mib = 0;
    bool lost = false;   // before its time, with its node, or killed
    bool taken = false;  // preempted
  };
  std::vector<Start> starts;
  std::vector<End> ends;
  /// Limits that somebody waits for, by queue: when that was first seen. They are looked at now and a few times more.
  using Limit = std::pair<std::string, model::scheduler::PendingReason>;
  std::map<Limit, base::Instant> limits;
  std::map<model::AppIndex, base::Instant> apps_ended;
  std::map<model::AppIndex, int64_t> waiting;  // containers that are still waited for at the end
  std::set<model::AppIndex> apps_killed;       // by a change
  int64_t endless = 0;                         // containers whose end nobody knows: they run on
  int64_t memory_mib = 0;                      // of the nodes, as changed
  base::Instant until;
  bool cut = false;  // by Bounds::events, or ended
};

/// One future of a cluster: a copy of its scheduler goes on without it. No application comes but those of a change;
/// what waits is asked for as now. A container ends when its run time is over. An application ends when it has worked
/// and nothing of it runs or waits; one whose master is alone ends as its master does. What is preempted or lost is
/// asked for again, anywhere; by the next master where the master is. Nodes report ends and launches at once; where the
/// profile grants by heartbeats, those are simulated while something waits and heartbeats may still change something.
/// The clock is that of the cluster.
class Future {
 public:
  /// `present` outlives this. Cost: a copy of the scheduler's state.
  Future(const Present& present, RunTimeOf run_time, Bounds bounds);

  /// All of them at the present moment, as one; once. Error: one cannot be, and this is of no use any more.
  base::Status Apply(const std::vector<Change>& changes);
  /// To the end of the bounds, or until nothing more can happen. Once. Error: what a job of Submit asked for later was
  /// refused.
  base::Status Run();
  const Outcome& outcome() const { return outcome_; }
  /// As it is now.
  const scheduler::Scheduler& scheduler() const { return *scheduler_; }
  /// A job that Submit made.
  struct Submitted {
    model::AppIndex app;
    std::string queue;  // where it was placed
  };
  const std::vector<Submitted>& submitted() const { return submitted_; }

 private:
  struct Job {
    int32_t attempt = 0;
    bool unmanaged = false;
    bool has_master = false;  // it runs
    bool worked = false;      // something else than its master ran, or waited while it did
    bool gone = false;
    model::ContainerId master;
    int64_t live = 0;  // containers but the master's
    int64_t waiting = 0;
    std::vector<model::Ask> master_asks;
    std::optional<Submit> submit;   // what its master will ask for
    std::vector<model::Ask> again;  // what it asks for again when its master does
  };
  struct Live {
    model::AppIndex app;
    model::NodeIndex node;
    model::Resources size;
    int32_t priority = 0;
    bool master = false;
  };
  struct Due {
    base::Instant at;
    model::ContainerId container;
    friend auto operator<=>(const Due&, const Due&) = default;
  };

  void Launch(model::NodeIndex node, const model::ContainerId& id) { launched_[node].push_back(id); }
  void Expect(const model::ContainerId& id, const Live& live, base::Duration age);
  base::Instant Next() const;
  void Lose(const Present::Node& node);
  void TellDue();
  /// Nodes whose maintenance begins or ends.
  void TellWindows();
  void TellBeats();
  model::scheduler::NodeUpdated& UpdateOf(model::NodeIndex node);
  /// Steps until nothing follows any more, or bounds_.ended.
  void Turns();
  /// Ends the applications that have nothing left; false: none has.
  bool EndJobs();
  void Leave(model::AppIndex index, Job& job);
  void LookAtLimits();
  void CountWaiting(model::AppIndex index, Job& job);
  void AskAgain(const Live& live);
  bool MaySubmit(const Submit& job, const std::string& queue) const;
  void MasterLost(model::AppIndex index, Job& job);
  void Ask(model::AppIndex index, Job& job, std::vector<model::Ask> asks);
  void StartAttempt(model::AppIndex index, Job& job);
  /// Error: there is none; or, of those to be lost or drained, one is that already.
  base::Result<std::vector<const Present::Node*>> NodesOf(const std::string& name, bool untouched) const;
  base::Result<model::AppIndex> AppOf(const model::ApplicationId& id) const;

  base::Status Do(const SetQueue& change);
  base::Status Do(const NewQueues& change);
  base::Status Do(const LoseNode& change);
  base::Status Do(const LoseRack& change);
  base::Status Do(const AddNodes& change);
  base::Status Do(const DrainNode& change);
  base::Status Do(const Submit& change);
  base::Status Do(const KillApp& change);
  base::Status Do(const MoveApp& change);
  /// Whoever makes the future has carried the present.
  static base::Status Do(const UseProfile&) { return {}; }

  void On(const model::scheduler::Granted& effect);
  void On(const model::scheduler::Finished& effect);
  void On(const model::scheduler::AppAccepted& effect);
  void On(const model::scheduler::CallRefused& effect) { calls_.Refused(effect.token, effect.refused); }
  template <class Other>
  void On(const Other&) {}

  const Present& present_;
  RunTimeOf run_time_;
  Bounds bounds_;
  std::unique_ptr<scheduler::Scheduler> scheduler_;
  base::Instant now_;
  base::Instant until_;
  base::Instant awake_until_;   // heartbeats may change something until then,
  base::Instant timers_until_;  // and the scheduler's own timers
  base::Instant look_at_;       // limits next
  Heartbeats beats_;
  std::set<model::NodeIndex> lost_;
  std::set<model::NodeIndex> drained_;                                               // by a change
  std::map<base::Instant, std::vector<std::pair<model::NodeIndex, bool>>> windows_;  // ahead: nodes that close, or open
  std::map<model::AppIndex, Job> jobs_;
  std::unordered_map<model::ContainerId, Live> live_;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::map<model::NodeIndex, std::vector<model::ContainerId>> launched_;  // not yet reported
  std::map<model::NodeIndex, size_t> updates_;                            // where each node's NodeUpdated is in events_
  std::vector<model::AppIndex> looked_at_;                                // jobs that may have nothing left
  std::vector<model::scheduler::Event> events_;
  scheduler::EffectSink effects_;
  Calls calls_;
  std::shared_ptr<const model::QueueSet> queues_;
  int64_t waiting_ = 0;  // of all jobs
  int64_t told_ = 0;
  int64_t asked_again_ = 0;
  uint32_t next_app_ = 0;
  uint32_t next_node_ = 0;
  std::vector<Submitted> submitted_;
  Outcome outcome_;
};

}  // namespace fairlead::process::ask
