#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "endpoints/spark/worker_use.h"
#include "model/scheduler.h"
#include "model/standalone.h"
#include "scheduler/scheduler.h"
#include "scheduler/spark_standalone/master.h"

namespace fairlead::process::spark_master {

/// Where an application stands among the others, as its driver says.
struct Standing {
  std::string user;
  std::string queue;
  int32_t priority = 0;
  bool gang = false;  // its first executors start all together, or none does
};

/// Decides where executors go in the place of Spark's rules: a scheduler with queues behind the master's books. It
/// learns what has changed by comparing the books with what it knows, and gives its decisions as events for them. Pure;
/// one call costs O(workers + living applications and their executors), and what the scheduler takes.
class ExecutorPlacement {
 public:
  using StandingOf = std::function<Standing(uint32_t app)>;
  ExecutorPlacement(std::unique_ptr<scheduler::Scheduler> scheduler, StandingOf standing_of);

  /// What the books are to take, in this order; the next call is to see what they made of it. Not to be called while
  /// they are recovering.
  std::vector<model::standalone::Event> Decide(base::Instant now, const scheduler::standalone::Master& books);
  /// What the worker's machine uses, as the worker said. It is taken with what is decided next, within kUseWait.
  void Measured(base::Instant now, uint32_t worker, const endpoints::spark::WorkerUse& use);
  /// When it wants to decide again, even if nothing happens.
  base::Instant NextDeadline() const;
  /// Why an application waits, for a person; "" when it does not.
  std::string Why(uint32_t app, base::Instant now) const;

 private:
  using ExecutorKey = std::pair<uint32_t, int32_t>;  // application, executor
  struct Node {
    bool schedulable = true;
    model::Resources capacity;
    std::optional<endpoints::spark::WorkerUse> use;  // that the scheduler has not heard of
  };
  struct App {
    bool taken = true;                 // the queues know it
    std::string refused;               // why it gets nothing; empty: it may
    std::map<int32_t, int64_t> asked;  // executors that are still to come, by profile
    bool gang = false;                 // none has come yet
  };
  /// What the scheduler holds an executor for.
  struct Container {
    model::ContainerId id;
    uint32_t worker = 0;
  };
  /// A container that the books have been told of and not been seen to hold.
  struct Placed {
    model::ContainerId container;
    uint32_t app = 0;
    int32_t profile = 0;
    uint32_t worker = 0;
  };

  void Step(base::Instant now);
  void LearnNodes(const scheduler::standalone::Master& books);
  void LearnApps(base::Instant now, const scheduler::standalone::Master& books);
  void Add(base::Instant now, uint32_t app);
  void LearnExecutors(base::Instant now, const scheduler::standalone::Master& books);
  std::optional<model::ContainerId> TakePlaced(uint32_t app, const scheduler::standalone::Executor& executor);
  model::ContainerId Recover(uint32_t app, const scheduler::standalone::Executor& executor);
  void Ask(uint32_t app, const scheduler::standalone::App& books);
  std::vector<model::standalone::Event> Take(const scheduler::EffectSink& effects);

  const std::unique_ptr<scheduler::Scheduler> scheduler_;
  const StandingOf standing_of_;
  std::vector<model::scheduler::Event> events_;  // for the scheduler,
  scheduler::EffectSink effects_;                // and from it
  std::map<uint32_t, Node> nodes_;               // workers that are not lost
  std::map<uint32_t, App> apps_;
  std::map<ExecutorKey, Container> containers_;
  std::map<model::ContainerId, ExecutorKey> executors_;
  std::vector<Placed> placed_;
  base::Instant held_until_;                        // the books did not take what was decided: nothing is until then
  base::Instant use_until_ = base::Instant::Max();  // some node's use is to be taken then
  int64_t recovered_ = 0;
};

}  // namespace fairlead::process::spark_master
