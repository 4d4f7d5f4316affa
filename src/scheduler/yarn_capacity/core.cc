#include "scheduler/yarn_capacity/core.h"

#include <algorithm>
#include <variant>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/yarn_capacity/applications.h"
#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/assign.h"
#include "scheduler/yarn_capacity/asynchronous.h"
#include "scheduler/yarn_capacity/check.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/dynamic.h"
#include "scheduler/yarn_capacity/from_tree.h"
#include "scheduler/yarn_capacity/managed.h"
#include "scheduler/yarn_capacity/nodes.h"
#include "scheduler/yarn_capacity/preempt.h"
#include "scheduler/yarn_capacity/resize.h"
#include "scheduler/yarn_capacity/tree.h"
#include "scheduler/yarn_capacity/view.h"
#include "scheduler/yarn_capacity/why.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;

/// yarn.resourcemanager.monitor.capacity.queue-management.monitoring-interval.
static constexpr int64_t kEntitlePeriodMs = 1'500;

void Refuse(Books& books, uint64_t token, model::Refusal why, std::vector<std::string> names) {
  books.Emit(ms::CallRefused{token, {why, std::move(names), {}, {}}});
}

void Note(const Books& books, NodeIndex node, QueueId leaf, const std::optional<model::ContainerId>& container,
          Health::Last& last) {
  const std::vector<std::string>& names = books.health.nodes;
  // A copy that was read knows no ports.
  const bool known = node.value < names.size() && !names[node.value].empty();
  last.node = known ? names[node.value] : books.names.Text(books.nodes[node].host);
  last.queue = books.queues[leaf].path;
  last.container = container;
}

static void Apply(Books& books, const ms::QueuesReloaded& event) {
  if (const CapacityProblem problem = Reload(books, CapacityQueuesFrom(event.tree))) {
    const char* cause =
        problem.fault == model::CapacityFault::kYarn ? "org.apache.hadoop.yarn.exceptions.YarnException: " : "";
    return Refuse(books, event.token, model::Refusal::kBadQueues,
                  {"Failed to re-init queues : " + (cause + problem.message)});
  }
  books.Emit(ms::ReloadAnswered{event.token});
}

/// Core runs it.
static void Apply(Books&, const ms::Pass&) {}
static void Apply(Books&, const ms::NodeMeasured&) {}  // CapacityScheduler asks for no measure
static void Apply(Books&, const ms::UseRecalled&) {}
static void Apply(Books&, const ms::NodeWindows&) {}  // nothing of Hadoop's looks ahead
static void Apply(Books&, const ms::RunTimesRecalled&) {}

base::Result<std::unique_ptr<YarnCapacityScheduler>> MakeYarnCapacity(const YarnCapacityConfig& config,
                                                                      const model::CapacityQueues& queues,
                                                                      const std::vector<ms::ClusterLabel>& labels,
                                                                      base::Instant start) {
  Books books;
  books.config = config;
  books.file = queues;
  books.calc = Arithmetic(queues.dominant ? hadoop::Calculator::kDominant : hadoop::Calculator::kMemory,
                          model::ResourceTypes::Count());
  books.legacy_at_start = queues.legacy_queue_mode;
  books.file_asynchronous = queues.asynchronous;
  books.now_ms = start.millis();
  for (const ms::ClusterLabel& label : labels) books.partitions.Add(label.name, label.exclusive);
  EffectSink ignored;
  books.out = &ignored;
  if (const CapacityProblem problem = Load(books)) {
    return base::Error{problem.message, static_cast<int>(problem.fault)};
  }
  books.out = nullptr;
  if (config.timed_passes) {
    if (queues.preemption.enabled) books.preempt_due_ms = books.now_ms + queues.preemption.monitoring_interval_ms;
    if (queues.preemption.enabled) books.managed.due_ms = books.now_ms + kEntitlePeriodMs;
    books.queue_check_due_ms = books.now_ms + queues.queue_expiration_seconds * 1000;
  }
  return std::unique_ptr<YarnCapacityScheduler>(std::make_unique<Core>(std::move(books)));
}

/// Events that change of queues nothing but what they use.
template <class Event>
static constexpr bool kOnlyUses = std::is_same_v<Event, ms::NodeUpdated> || std::is_same_v<Event, ms::ProposalPass> ||
                                  std::is_same_v<Event, ms::Allocate> || std::is_same_v<Event, ms::Acquired> ||
                                  std::is_same_v<Event, ms::ContainerEnded>;

void Core::Step(base::Instant now, std::span<const ms::Event> events, EffectSink& out) {
  books_.now_ms = now.millis();
  books_.out = &out;
  books_.records = &records_;
  for (const ms::Event& event : events) {
    if (const auto* pass = std::get_if<ms::Pass>(&event)) {
      RunPass(pass->kind);
    } else {
      std::visit(
          [this]<class Event>(const Event& e) {
            Apply(books_, e);
            if (!kOnlyUses<Event>) books_.orders.Forget();
          },
          event);
    }
    FinishEvent();
    NoteForPasses(books_, event);
  }
  if (books_.config.timed_passes) RunDuePasses();
  books_.out = nullptr;
  books_.records = nullptr;
}

base::Instant Core::NextDeadline() const {
  const int64_t next =
      std::min({books_.preempt_due_ms, books_.queue_check_due_ms, books_.passes.due_ms, books_.managed.due_ms});
  if (!books_.config.timed_passes || next == INT64_MAX) return base::Instant::Max();
  return base::Instant{next * 1'000'000};
}

void Core::RunDuePasses() {
  if (books_.passes.due_ms <= books_.now_ms) {
    RunProposalPass(books_);
    FinishEvent();
  }
  if (books_.preempt_due_ms <= books_.now_ms) {
    PreemptRound(books_);
    books_.preempt_due_ms = books_.now_ms + std::max<int64_t>(books_.file.preemption.monitoring_interval_ms, 1);
  }
  if (books_.managed.due_ms <= books_.now_ms) {
    EntitleLeaves(books_);
    books_.orders.Forget();
    books_.managed.due_ms = books_.now_ms + kEntitlePeriodMs;
  }
  if (books_.queue_check_due_ms <= books_.now_ms) {
    RemoveIdleQueues(books_);
    books_.orders.Forget();
    books_.queue_check_due_ms = books_.now_ms + std::max<int64_t>(books_.file.queue_expiration_seconds, 1) * 1000;
  }
}

void Core::RunPass(ms::PassKind kind) {
  if (kind == ms::PassKind::kPreempt) PreemptRound(books_);
  if (kind == ms::PassKind::kQueueCheck) RemoveIdleQueues(books_);
  books_.orders.Forget();
}

/// What Hadoop's dispatcher delivers after the scheduler's call has returned: an application learns that its master has
/// a container (RMAppAttemptImpl), from then on its blacklist is its own and the container counts as a master's.
void Core::FinishEvent() {
  for (const auto& [attempt, container] : books_.new_masters) {
    if (books_.attempts.Has(attempt)) books_.attempts[attempt].master.SetKnown();
    if (books_.containers.Has(container)) books_.containers.SetMaster(container);
  }
  books_.new_masters.clear();
}

std::string Core::CheckInvariants() const { return Check(books_); }

uint64_t Core::StateHash() const {
  base::StateHasher hash;
  hash.Mix(std::string_view(State()));
  return hash.value();
}

/// Without what was written of passes: nobody asks a copy for it.
std::unique_ptr<Scheduler> Core::Fork() const { return std::make_unique<Core>(books_); }

std::string Core::State() const {
  std::string out;
  base::WriteState(out, books_);
  return out;
}

bool Core::ReadState(std::string_view bytes) {
  base::Budget budget(base::kStateKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::ReadState(in, books_);
  books_.orders.Forget();
  return in.done();
}

View Core::GetView() const { return ViewOf(books_); }
View Core::GetQueues() const { return QueuesOf(books_); }
int64_t Core::PendingContainers(model::AppIndex app) const { return hadoop::PendingContainers(books_, app); }

std::vector<ms::Pending> Core::Why(model::AppIndex app, base::Instant) const { return yarn_capacity::Why(books_, app); }

Resources Core::FreeOf(model::NodeIndex node) const {
  return node.value < books_.nodes.size() ? books_.nodes[node].unallocated : Resources{};
}

CapacityAppView Core::GetApp(model::AppIndex app) const { return AppOf(books_, app); }

std::string Core::DefaultLabelOf(const std::string& queue) const {
  const QueueId id = books_.queues.Find(queue);
  return id.valid() ? books_.queues[id].settings.default_label : "";
}

}  // namespace fairlead::scheduler::yarn_capacity
