#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/resources.h"
#include "process/rm/machine.h"
#include "sim/traces/trace.h"

namespace fairlead::sim {

/// What a resource manager's journal has of jobs and nodes, and how it went.
struct JournalJobs {
  std::vector<TraceJob> jobs;                                    // by time of submission; the first is submitted at 0
  std::vector<TraceNode> nodes;                                  // all that were there, for the whole time
  model::Resources master_size = model::Resources::Of(1024, 1);  // the most usual one
  // Of jobs that came and ended, summed: from submission to the first container, and to the end.
  int64_t ended = 0;
  int64_t waited_ms = 0;
  int64_t completion_ms = 0;
  int64_t left_out = 0;  // containers that were taken back or lost, or never ran
};

/// Makes a trace from a machine on its way through a journal. A job is an application: its master, and stages
/// of the containers of one size and priority that it asked for at the same time, each with the time that it really
/// ran. They are asked for so long after the master's start as they were; what was asked for when nothing of the job
/// ran any more waits for all before it instead. What was there at the beginning is submitted then; what still runs at
/// the end has run up to then. Containers that were taken back or lost are left out: their work was asked for again.
class JournalTrace {
 public:
  /// The machine is in the state that the journal, or a file of it, begins with. What ended before it unseen, as some
  /// of the journal is missing, is left out.
  void Begin(base::WallTime at, const process::rm::ResourceMachine& machine);
  /// In a step with these events, before the rm core works on what the scheduler decided.
  void Decided(base::WallTime at, const process::rm::ResourceMachine& machine,
               std::span<const model::rm::OuterEvent> events, std::span<const model::scheduler::Effect> effects);
  /// After each step.
  void Stepped(base::WallTime at, const process::rm::ResourceMachine& machine,
               std::span<const model::rm::OuterEvent> events);
  /// Cost: all containers.
  JournalJobs Finish();

 private:
  struct Task {
    int32_t priority = 0;
    model::Resources size;
    int64_t asked_ms = 0;
    bool chained = false;  // asked for when nothing ran
    int64_t run_ms = 0;
  };
  struct Ask {
    int64_t at_ms = 0;
    bool chained = false;
    int64_t count = 0;
  };
  struct Asks {
    int64_t wanted = 0;  // as the master said last, less what was granted
    std::deque<Ask> open;
  };
  struct Running {
    int32_t priority = 0;
    model::Resources size;
    int64_t asked_ms = 0;
    bool chained = false;
    int64_t since_ms = 0;
    bool master = false;
  };
  struct Job {
    std::string name, queue, user;
    int64_t submit_ms = 0;
    int64_t master_ms = -1;  // its start
    int64_t first_ms = -1;   // its first container
    int64_t end_ms = 0;      // its last one
    int64_t master_run_ms = 0;
    model::Resources master_size;
    bool came = true;              // it was not there at the beginning
    std::map<int32_t, Asks> asks;  // by priority
    std::map<model::ContainerId, Running> running;
    std::vector<Task> tasks;
  };

  Job* Find(const fairlead::rm::Core& core, model::AppIndex index);
  void Meet(const fairlead::rm::App& app, base::WallTime at, bool came);
  void Granted(const fairlead::rm::Core& core, const model::scheduler::Granted& effect);
  void Finished(const fairlead::rm::Core& core, const model::scheduler::Finished& effect);
  void Arrive(std::span<const model::rm::OuterEvent> events);
  void Asked(const model::rm::AllocateCall& call);
  void Add(const model::rm::NodeAddress& address, const std::string& rack, const model::Resources& capacity,
           const std::vector<std::string>& labels);
  static void End(Job& job, const Running& container, int64_t end_ms);
  TraceJob Make(const Job& job) const;

  std::map<model::ApplicationId, Job> jobs_;
  std::map<model::rm::NodeAddress, TraceNode> nodes_;
  int64_t begins_ms_ = -1;
  int64_t now_ms_ = 0;
  bool arrived_ = false;  // this step's events were looked at
  JournalJobs out_;
};

}  // namespace fairlead::sim
