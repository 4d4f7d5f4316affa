#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/scheduler.h"
#include "scheduler/capacity_view.h"

namespace fairlead::scheduler {

/// Collects what a Step decided, in order.
using EffectSink = std::vector<model::scheduler::Effect>;

/// `tdw`: the tasks of one type in a queue and those below it.
struct TaskCounts {
  std::string_view type;  // jobtracker, map, reduce
  int64_t granted = 0;
  int64_t waiting = 0;
  int64_t missing = 0;  // of pools below their minima: so many of those that wait would bring them there
};

/// What a reader may see of one queue; shares and usage in Resources units.
struct QueueView {
  std::string name;
  std::string parent;  // empty for root
  bool leaf = true;
  std::string policy;
  double weight = 1;
  model::Resources fair_share;
  model::Resources steady_share;
  model::Resources min_share;
  model::Resources max_share;
  model::Resources demand;
  model::Resources used;
  model::Resources master_used;
  int32_t runnable_apps = 0;
  int32_t waiting_apps = 0;
  int32_t max_running_apps = 0;
  bool preemptable = true;
  std::vector<TaskCounts> tasks;           // empty: the profile counts none
  std::optional<CapacityView> capacity{};  // of `yarn-capacity`
  std::optional<int64_t> past_ppm{};  // `fairlead`: what it used in the past, decayed, in millionths of the cluster
  std::string budget{};               // `fairlead`: how much of its budget is used, for people; empty: it has none
};

struct AppView {
  model::AppIndex app;
  std::string queue;
  bool runnable = false;
  model::Resources fair_share;
  model::Resources demand;
  model::Resources used;
  model::Resources reserved;
  int32_t containers = 0;
};

struct NodeView {
  model::NodeIndex node;
  model::Resources capacity;
  model::Resources used;
  int32_t containers = 0;
};

struct View {
  std::vector<QueueView> queues;  // parents before children, siblings by name
  std::vector<AppView> apps;      // by index
  std::vector<NodeView> nodes;    // by index
  model::Resources cluster;
};

class PassRecords;

/// The scheduler core: a deterministic, single-threaded state machine. A profile (yarn-fair, fairlead, tdw, ...) is one
/// implementation. Programmer errors (an unknown index) are checked; a container id from the wire may be unknown and is
/// then ignored.
class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Applies `events` in order at `now` (constant during the step, never earlier than before) and appends the
  /// effects to `out`. Cost is stated by each profile.
  virtual void Step(base::Instant now, std::span<const model::scheduler::Event> events, EffectSink& out) = 0;

  /// When Step wants to be called again at the latest, even without events; Instant::Max() for never.
  virtual base::Instant NextDeadline() const = 0;
  /// When a step may next serve those that wait though nothing has ended: a budget's next period begins.
  /// Instant::Max(): there is no such moment.
  virtual base::Instant NextPeriod() const { return base::Instant::Max(); }

  /// Recomputes every sum and order from scratch; empty when all agree, else what differs. O(state).
  virtual std::string CheckInvariants() const = 0;

  /// Equal states give equal hashes on every machine. O(state).
  virtual uint64_t StateHash() const = 0;

  /// Independent copy: what-if runs step the copy (O(state), no sharing).
  virtual std::unique_ptr<Scheduler> Fork() const = 0;

  /// All of the state, between two steps: what a scheduler that was made alike takes by ReadState, and goes on as this
  /// one would. O(state).
  virtual std::string State() const = 0;
  /// False: the bytes are not those of a state, and the scheduler is of no use.
  virtual bool ReadState(std::string_view bytes) = 0;

  /// Cost: queues, applications and nodes.
  virtual View GetView() const = 0;
  /// GetView without applications and nodes. Cost: the queues.
  virtual View GetQueues() const = 0;
  /// Containers that the application asks for and has not been granted. Cost: its asks.
  virtual int64_t PendingContainers(model::AppIndex app) const = 0;

  /// Every pending ask of `app` with the reason that binds it now: a dry pass of the placing code.
  virtual std::vector<model::scheduler::Pending> Why(model::AppIndex app, base::Instant now) const = 0;

  /// Where passes over nodes are written down for who asks (scheduler/pass_records.h); null: this profile's are not.
  virtual PassRecords* passes() const { return nullptr; }
};

}  // namespace fairlead::scheduler
