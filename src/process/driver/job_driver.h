#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/loop.h"
#include "env/timer.h"
#include "model/tasks.h"
#include "process/driver/kept_blocks.h"
#include "process/driver/shuffle_merges.h"
#include "tasks/tasks.h"
#include "wire/engine/messages.h"

namespace fairlead::process::driver {

/// One executor as the driver reaches it: a connection, or threads of the same process.
class ExecutorLink {
 public:
  virtual ~ExecutorLink() = default;
  virtual void Send(const wire::engine::Message& message) = 0;
};

/// Gives the recipes that tasks run.
class PlanSource {
 public:
  virtual ~PlanSource() = default;
  /// The encoded plan of a stage: what its tasks compute and where the records go.
  virtual std::string PlanOf(const model::tasks::StageSubmitted& stage) = 0;
};

struct ExecutorInfo {
  std::string id;
  std::string host;
  std::string rack;
  int32_t slots = 1;
  std::string shuffle_host;
  int32_t shuffle_port = 0;
  bool serves_own_files = false;  // see model::tasks::ExecutorAdded
  bool service_merges = false;    // its shuffle service does
};

/// What watches the driver: progress lines, the event log, the page, dynamic allocation. All on the loop's thread.
class DriverListener {
 public:
  virtual ~DriverListener() = default;
  /// What the core is about to be told.
  virtual void OnEvent(const model::tasks::Event&) {}
  virtual void OnEffect(const model::tasks::Effect&) {}
  virtual void OnTaskDone(const wire::engine::TaskDone&) {}
  virtual void OnTaskBroke(const wire::engine::TaskBroke&) {}
  /// A shuffle's merge has ended.
  virtual void OnMerged(const MergeResult&) {}
};

/// The hands of the tasks core on the driver: feeds it jobs, executors and statuses as events, carries its launches and
/// kills to executors, keeps results until the core accepts them, and hands out map outputs. Runs on one loop; the core
/// is stepped at most once a turn with all events that came in.
class JobDriver {
 public:
  JobDriver(env::Loop& loop, tasks::Config config, PlanSource& plans);
  ~JobDriver();

  /// From now on shuffles are merged, as the settings say. Before the first executor comes.
  void MergeShuffles(env::Net& net, MergeSettings settings);

  struct JobCallbacks {
    /// Once per output of the job, with its position.
    std::function<void(int32_t output, std::string result)> on_result;
    /// Once, after the last on_result.
    std::function<void(const model::tasks::JobEnded& end)> on_end;
  };
  void Submit(model::tasks::SubmitJob job, JobCallbacks callbacks);
  void Cancel(model::tasks::JobId job, const std::string& reason);
  void Forget(std::vector<int32_t> datasets, std::vector<int32_t> shuffles);

  /// The rack of a host, of executors or of data; what was said first of a host holds.
  void KnowRack(const std::string& host, const std::string& rack);

  /// The link must live until RemoveExecutor.
  model::tasks::ExecutorIndex AddExecutor(const ExecutorInfo& info, ExecutorLink* link);
  void RemoveExecutor(model::tasks::ExecutorIndex executor, model::tasks::LossKind kind, bool host_lost,
                      const std::string& message);
  /// Tasks have been sent to it whose ends have not come.
  bool Busy(model::tasks::ExecutorIndex executor) const;
  void Decommission(model::tasks::ExecutorIndex executor);
  /// The executor cannot be reached any more, but why will be told by RemoveExecutor later; it gets nothing new.
  void Detach(model::tasks::ExecutorIndex executor);

  /// A message of an executor.
  void OnMessage(model::tasks::ExecutorIndex executor, wire::engine::Message message);

  void PutBroadcast(int64_t id, std::string value) { broadcasts_[id] = std::move(value); }
  /// Executors forget it, too.
  void DropBroadcast(int64_t id);

  void AddListener(DriverListener* listener) { listeners_.push_back(listener); }
  const tasks::Tasks& core() const { return core_; }
  int32_t live_executors() const { return live_executors_; }

 private:
  struct Executor {
    ExecutorInfo info;
    ExecutorLink* link = nullptr;                          // null: gone
    std::set<std::pair<int32_t, int32_t>> plans;           // (stage, attempt) it has
    std::vector<std::pair<int32_t, int32_t>> stale_plans;  // it may drop, and has not been told so
  };
  struct Stage {
    model::tasks::StageSubmitted submitted;
    std::string plan;
  };
  struct Running {
    uint32_t executor = 0;
    std::string result;  // of a finished task, until the core accepts it
  };
  struct Job {
    JobCallbacks callbacks;
  };

  struct Nowhere : ExecutorLink {
    void Send(const wire::engine::Message&) override {}
  };
  void Add(model::tasks::Event event);
  void ScheduleStep();
  void Step();
  void ScheduleDeadline();
  void Apply(const model::tasks::Effect& effect);
  void Launch(const model::tasks::LaunchTask& launch);
  void FlushLaunches();
  void DropPlans(const std::pair<int32_t, int32_t>& stage);
  void SendStalePlans(Executor& executor);
  void EndJob(model::tasks::JobId job, const model::tasks::JobEnded& end);
  void OnAskMapOutputs(uint32_t executor, int32_t shuffle);
  void SendMapOutputs(Executor& executor, int32_t shuffle);
  void FollowMerges(const model::tasks::Effect& effect);
  void OnMerged(const MergeResult& result);
  void AnswerKeptBack(int32_t shuffle);
  void SendToAll(const wire::engine::Message& message);
  void ForgetOutputsAnswer();
  void OnAskKept(uint32_t asker, const wire::engine::AskKept& ask);
  void OnTaskDone(uint32_t executor, wire::engine::TaskDone& done);
  void OnTaskBroke(uint32_t executor, const wire::engine::TaskBroke& broke);
  bool OwnsTask(uint32_t executor, int64_t task) const;

  env::Loop& loop_;
  Nowhere nowhere_;
  tasks::Tasks core_;
  PlanSource& plans_;
  std::vector<DriverListener*> listeners_;
  std::map<std::string, std::string> racks_;  // by host
  std::vector<Executor> executors_;
  int32_t live_executors_ = 0;
  std::map<std::pair<int32_t, int32_t>, Stage> stages_;
  std::map<int64_t, Running> running_;
  std::vector<int64_t> ended_;  // in this step; forgotten at its end, when results have been handed out
  std::map<model::tasks::JobId, Job> jobs_;
  std::map<int64_t, std::string> broadcasts_;
  KeptBlocks kept_blocks_;
  std::unique_ptr<ShuffleMerges> merges_;            // null: nothing is merged
  std::map<int32_t, std::set<uint32_t>> kept_back_;  // executors that asked for outputs that are being merged
  /// What was answered last about a complete shuffle: all executors ask about the same one. -1: nothing.
  int32_t outputs_shuffle_ = -1;
  wire::engine::Message outputs_answer_ = wire::engine::MapOutputs{};
  std::vector<model::tasks::Event> events_;
  /// Launches of this step, per (executor, stage, attempt), in order of their first.
  std::vector<std::pair<uint32_t, wire::engine::Launch>> launches_;
  bool step_posted_ = false;
  env::Timer stale_timer_{loop_};
  env::Timer deadline_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::driver
