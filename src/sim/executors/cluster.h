#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "sim/executors/workload.h"

// Executors that jobs of stages share, by the rules of Decima's environment (SIGCOMM '19, repository
// hongzimao/decima-sim, folder spark_env): an executor stays with its stage until that has no more tasks; to another
// job it needs time; what a task takes depends on what its executor did before. A rule says where executors go.

namespace fairlead::sim {

/// A stage of a job; {-1, -1}: none.
struct StageRef {
  int32_t job = -1;
  int32_t stage = -1;
  bool none() const { return job < 0; }
  bool operator==(const StageRef&) const = default;
};

/// Executors that will go to a stage once they are free, in the order in which that was decided.
using Commitments = std::vector<std::pair<StageRef, int32_t>>;

struct SharedStage {
  int32_t begun = 0;  // tasks
  int32_t ended = 0;
  int32_t committed = 0;  // executors that will come
  int32_t moving = 0;     // executors on their way
  int32_t executors = 0;  // that work on it, or did last
  Commitments commitments;
};

struct SharedJob {
  const TimedJob* timed = nullptr;
  int64_t submit_ms = 0;
  int32_t stages_ended = 0;
  int32_t executors = 0;  // of the job: they run its tasks or wait for its next stage
  int32_t coming = 0;     // executors that are on their way, or committed by other jobs
  std::vector<SharedStage> stages;
  std::vector<int32_t>
      runnable;  // stages with tasks to begin whose parents have ended, in the order in which they became so
  std::vector<int32_t> idle;  // executors, in order
  Commitments commitments;
};

struct SharedOptions {
  int32_t executors = 50;
  int64_t moving_ms = 2000;   // an executor's way to another job
  int64_t warm_up_ms = 1000;  // longer takes its first task there, where no such task was timed
};

class ExecutorRule;

/// One cluster in virtual time. Deterministic: jobs as they were submitted, and the seed's times of tasks.
class SharedCluster {
 public:
  SharedCluster(const SharedOptions& options, uint64_t seed);
  ~SharedCluster();
  SharedCluster(const SharedCluster&) = delete;
  SharedCluster& operator=(const SharedCluster&) = delete;

  /// `timed` must live as long as the cluster. Jobs come in order of submission; before Run.
  void Submit(const TimedJob& timed, int64_t at_ms);
  /// Until every job has ended. The time from submission to end of each, by job; -1: it did not end, because the rule
  /// left all executors idle.
  std::vector<int64_t> Run(ExecutorRule& rule);

  // What a rule sees.
  int32_t executors() const { return options_.executors; }
  const std::vector<int32_t>& live() const { return live_; }  // in order of submission
  const SharedJob& job(int32_t number) const { return jobs_[static_cast<size_t>(number)]; }
  int64_t now_ms() const { return now_; }
  /// The job whose executors look for work; -1: those that belong to none.
  int32_t source_job() const { return source_job_; }
  int32_t source_executors() const { return source_executors_; }
  /// Tasks that no executor runs, is on its way to, or is committed to; below 0 when more executors come than tasks.
  int32_t Unclaimed(StageRef stage) const;
  /// Whether the rule may choose it: it has unclaimed tasks and none of its parents has, and this round has not chosen
  /// it.
  bool Open(StageRef stage) const;
  /// Whether its parents have ended and it has tasks to begin.
  bool Runnable(StageRef stage) const;

 private:
  struct Executor {
    int32_t job = -1;
    StageRef stage;   // the last that it worked on, while it stays with its job
    StageRef moving;  // where it goes; none: it does not move, or the job has ended
  };
  struct Happening {
    int64_t at = 0;
    int64_t order = 0;
    enum class Kind : uint8_t { kSubmit, kTaskEnds, kArrives } kind = Kind::kSubmit;
    int32_t number = 0;  // of the job or executor
    bool operator>(const Happening& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
  };

  SharedJob& JobOf(int32_t number) { return jobs_[static_cast<size_t>(number)]; }
  SharedStage& StageOf(StageRef stage) { return JobOf(stage.job).stages[static_cast<size_t>(stage.stage)]; }
  const SharedStage& StageOf(StageRef stage) const { return job(stage.job).stages[static_cast<size_t>(stage.stage)]; }
  const TimedStage& TimedOf(StageRef stage) const { return (*job(stage.job).timed)[static_cast<size_t>(stage.stage)]; }
  Executor& ExecutorOf(int32_t number) { return state_[static_cast<size_t>(number)]; }
  std::vector<int32_t>& IdleOf(int32_t job) { return job < 0 ? idle_ : JobOf(job).idle; }
  Commitments& CommitmentsOf(const Executor& executor);

  void Push(int64_t at, Happening::Kind kind, int32_t number);
  void Next();
  void Commit(StageRef stage, int32_t executors);
  StageRef TakeCommitment(const Executor& executor);
  void FulfilCommitments();
  void GoTo(int32_t executor, StageRef stage);
  void GoSomewhere(int32_t executor);
  void Move(int32_t executor, StageRef stage);
  void BeginTask(int32_t executor, StageRef stage);
  int64_t DrawTaskMs(const Executor& executor, StageRef stage);
  int32_t DrawTimed(int32_t executors, const TimedStage& stage);
  void LeaveStage(int32_t executor);
  void LeaveJob(int32_t executor);
  void Idle(int32_t job, int32_t executor);
  void JobArrives(int32_t number);
  void ExecutorArrives(int32_t number);
  void TaskEnds(int32_t executor);
  bool MakeRunnable(StageRef ended);
  void FindWork(int32_t executor, bool stages_became_runnable);
  void JobEnds(int32_t number);
  void ForgetCommitmentsTo(int32_t job, Commitments& commitments);

  SharedOptions options_;
  base::Rng rng_;
  int64_t now_ = 0;
  std::vector<SharedJob> jobs_;
  std::vector<int64_t> ended_ms_;
  std::vector<int32_t> live_;
  std::vector<Executor> state_;
  std::vector<int32_t> idle_;          // executors of no job, in order
  Commitments commitments_;            // of those
  std::vector<Happening> happenings_;  // a heap
  int64_t order_ = 0;
  // The round of choices that is open: executors that look for work, and how many more must be told where to go.
  std::vector<int32_t> looking_;
  int32_t source_job_ = -1;
  int32_t source_executors_ = 0;
  std::vector<StageRef> chosen_;
};

/// Where executors go.
class ExecutorRule {
 public:
  virtual ~ExecutorRule() = default;
  struct Choice {
    StageRef stage;         // open; none: they stay idle
    int32_t executors = 0;  // at least 1, at most the source's
  };
  /// Asked until each of the source's executors has a place.
  virtual Choice Choose(const SharedCluster& cluster) = 0;
};

}  // namespace fairlead::sim
