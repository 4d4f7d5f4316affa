#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/hash.h"
#include "sim/traces/due_times.h"
#include "sim/traces/faults.h"
#include "sim/traces/real_use.h"
#include "sim/traces/recorder.h"
#include "sim/traces/result.h"
#include "sim/traces/stage.h"
#include "sim/traces/target.h"
#include "sim/traces/trace.h"
#include "sim/traces/waits.h"

namespace fairlead::sim {

/// How masters and nodes of the simulated cluster speak to the scheduler.
struct RunSetup {
  /// Masters ask and learn of grants so often (MapReduce: 1 s); grants that a call causes ride on its reply.
  int64_t master_heartbeat_ms = 1000;
  /// 0: a node reports an end at once; else with its next heartbeat, as a YARN NodeManager does, and every heartbeat is
  /// simulated.
  int64_t node_heartbeat_ms = 0;
  /// The scheduler starts what it granted by itself; masters do not have to come for it (TDW, Spark Standalone).
  bool pushed_grants = false;
  model::Resources master_size = model::Resources::Of(1024, 1);
  model::QueueTree queues;  // for entitlements
  FaultPlan faults;
  UseOptions use;
  bool keep_jobs = true;       // in RunResult::job_results
  bool look_at_waits = false;  // fills RunResult::held_waits
  /// Full names of queues that jobs name, and where they go instead.
  std::map<std::string, std::string> goes_to;
};

struct Progress {
  int64_t now_ms = 0;
  int64_t jobs_ended = 0;
  int64_t jobs = 0;
  int64_t tasks_ended = 0;
};

/// Drives one scheduler, or the rm core with it, with the jobs of a source over virtual time. Deterministic: same
/// target, nodes, jobs and setup, same decisions. A step is made for every millisecond in which something happens.
class TraceRun {
 public:
  TraceRun(TraceTarget& target, const std::vector<TraceNode>& nodes, JobSource& jobs, RunSetup setup);
  ~TraceRun();
  TraceRun(const TraceRun&) = delete;
  TraceRun& operator=(const TraceRun&) = delete;

  /// Until every job has ended, or nothing has moved for an hour while nothing runs. `report` is called now and then.
  RunResult Run(const std::function<void(const Progress&)>& report = {});

 private:
  enum class Kind : uint8_t { kFault, kMeasure, kTaskEnd, kNodeBeat, kMasterBeat };
  struct Container {
    enum class State : uint8_t { kNone, kGranted, kRunning };
    State state = State::kNone;
    bool reads_rack = false;  // its input from its rack, or from farther
    bool reads_far = false;
    uint16_t stage = 0;
    uint32_t node = 0;
    uint32_t task = 0;
    int64_t start_ms = 0;
    int64_t end_ms = 0;
  };
  struct Job;
  struct Node {
    uint32_t list = 0;  // position in the list of nodes
    bool alive = true;
    std::vector<model::ContainerId> launched;  // not yet reported
    std::vector<model::scheduler::Completion> completed;
    bool measured = false;  // with its next heartbeat it tells what its meter saw
    uint64_t batch = 0;     // whose NodeUpdated stands at `event`
    size_t event = 0;
  };

  static Kind KindOf(const Due& due);
  void Add(Kind kind, int64_t at_ms, uint32_t who, uint32_t what = 0);
  bool NextTime(int64_t& at_ms) const;
  void HandleDue();
  /// Ends of tasks and calls of masters are known long before: what they touch is brought near in steps, each some
  /// events after the one before.
  void PrefetchSoon();
  void Prefetch(const Due& due, int step) const;
  void PrefetchBeat(uint32_t app, const Job& job, int step) const;
  void StepAll();
  void Flush();

  void AddNode(uint32_t list);
  void HandleFault(uint32_t list, bool lost);
  void LoseNode(uint32_t list);
  void NodeBeat(uint32_t node);
  /// The node's meter looks (`report` false), or its report arrives.
  void Measure(uint32_t node, bool report);
  void Report(uint32_t node);
  /// What the node says in this turn.
  model::scheduler::NodeUpdated& UpdateOf(uint32_t node);
  void Complete(uint32_t node, const model::ContainerId& id, int32_t exit_status);
  static std::vector<model::ContainerId> TakeLaunched(Node& node);
  void Launch(uint32_t node, const model::ContainerId& id);

  void Arrive();
  const model::Resources* TooLarge(const TraceJob& job) const;
  model::Ask MasterAsk() const;
  void Claim(uint32_t app, Job& job);
  void Begin(uint32_t app, Job& job, uint32_t sequence);
  void Stop(uint32_t app, const Container& container, uint32_t sequence);
  /// Tasks of the node are faster or slower than before.
  void TakeMoved();
  void OutOfMemory(uint32_t node);
  void Call(uint32_t app, Job& job);
  void WantBeat(uint32_t app, Job& job);
  /// Opens the stages whose time has come; when all have ended the job ends, and is gone: false.
  bool OpenStages(uint32_t app, Job& job);
  void TaskEnded(uint32_t app, uint32_t sequence);
  void JobEnded(uint32_t app);
  void Lost(uint32_t app, Job& job, uint32_t sequence, bool preempted);
  void MasterLost(uint32_t app, Job& job);
  model::ContainerId IdOf(uint32_t app, const Job& job, uint32_t sequence) const;
  Container* Find(Job& job, const model::ContainerId& id);
  int64_t IdealMs(const TraceJob& job) const;
  void Unfinished();
  /// What the outcome says of a job whatever became of it.
  JobResult ResultOf(const Job& job) const;
  void LookAtWaits();

  void On(const model::scheduler::AppAccepted& effect);
  void On(const model::scheduler::Granted& effect);
  void On(const model::scheduler::Finished& effect);
  void On(const model::scheduler::AllocateAnswered& effect);
  void On(const model::scheduler::CallRefused& effect);
  template <class Other>
  void On(const Other&) {}

  TraceTarget& target_;
  const std::vector<TraceNode>& list_;
  JobSource& source_;
  RunSetup setup_;
  Topology topology_;
  RunResult result_;
  TraceRecorder recorder_;
  base::StateHasher decisions_;

  int64_t now_ms_ = 0;
  int64_t moved_ms_ = 0;  // when something last happened
  DueTimes due_;
  RealUse use_;
  std::vector<RealUse::Task> moved_;        // their ends are others now
  static constexpr int kTargetSteps = 2;    // the first one in which the target is asked
  static constexpr int kLaunchedSteps = 5;  // and about what the node has launched
  static constexpr size_t kSoonSteps = kTargetSteps + scheduler::Prefetcher::kSteps;
  std::vector<Due> soon_;                       // what is known to come, by time
  int64_t looked_ms_ = 0;                       // up to then
  size_t next_soon_ = 0;                        // in soon_
  std::array<size_t, kSoonSteps> soon_step_{};  // how far each step has come in soon_
  std::vector<model::scheduler::Event> events_;
  scheduler::EffectSink effects_;  // of the last step
  uint64_t calls_ = 0;             // of masters
  std::vector<uint32_t> callers_;  // jobs whose masters call at the end of this turn
  uint64_t batch_ = 1;
  std::vector<Node> nodes_;                 // by NodeIndex
  std::vector<uint32_t> node_of_list_;      // the latest node of that place in the list
  std::vector<std::unique_ptr<Job>> jobs_;  // by AppIndex; gone when ended
  WaitLooks waits_;
  uint32_t first_alive_ = 0;  // no job before it is there
  TraceJob ahead_;
  bool has_ahead_ = false;
  int64_t arrived_ = 0;  // jobs
  int64_t running_ = 0;  // tasks
  int64_t faults_left_ = 0;
};

}  // namespace fairlead::sim
