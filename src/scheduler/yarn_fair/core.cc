#include "scheduler/yarn_fair/core.h"

#include <algorithm>
#include <variant>

#include "scheduler/yarn_fair/allocate.h"
#include "scheduler/yarn_fair/applications.h"
#include "scheduler/yarn_fair/assign.h"
#include "scheduler/yarn_fair/check.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/nodes.h"
#include "scheduler/yarn_fair/preempt.h"
#include "scheduler/yarn_fair/queues.h"
#include "scheduler/yarn_fair/reload.h"
#include "scheduler/yarn_fair/update.h"
#include "scheduler/yarn_fair/view.h"
#include "scheduler/yarn_fair/why.h"

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

void Refuse(Books& books, uint64_t token, model::Refusal why, std::vector<std::string> names) {
  books.Emit(ms::CallRefused{token, {why, std::move(names), {}, {}}});
}

static void Apply(Books& books, const ms::AppPriority& event) {
  Refuse(books, event.token, model::Refusal::kPriorityIsFixed);
}

static void Apply(Books& books, const ms::ContainerResized& event) {
  Refuse(books, event.token, model::Refusal::kResizeFixed);
}

/// Core runs it.
static void Apply(Books&, const ms::Pass&) {}
static void Apply(Books&, const ms::NodeMeasured&) {}  // FairScheduler asks for no measure
static void Apply(Books&, const ms::UseRecalled&) {}
static void Apply(Books&, const ms::NodeWindows&) {}  // nothing of Hadoop's looks ahead
static void Apply(Books&, const ms::RunTimesRecalled&) {}
// CapacityScheduler's own.
static void Apply(Books&, const ms::LabelsAdded&) {}
static void Apply(Books&, const ms::NodeRelabelled&) {}
static void Apply(Books&, const ms::ProposalPass&) {}

std::unique_ptr<YarnFairScheduler> MakeYarnFair(const YarnFairConfig& config, const model::QueueTree& tree,
                                                base::Instant start) {
  return std::make_unique<Core>(config, tree, start);
}

/// FairScheduler.initScheduler: the root (3.3.x: and root.default) under default settings, then the allocation file.
Core::Core(const YarnFairConfig& config, const model::QueueTree& tree, base::Instant start) {
  books_.config = config;
  books_.fixed.types = model::ResourceTypes::Count();
  books_.fixed.locality_matters = config.continuous
                                      ? config.locality_delay_node_ms >= 0 && config.locality_delay_rack_ms >= 0
                                      : config.locality_threshold_node >= 0 && config.locality_threshold_rack >= 0;
  books_.fixed.reservation_threshold = MultiplyDown(config.increment, config.reservation_threshold_multiple);
  books_.now_ms = start.millis();
  books_.queues[AddQueue(books_, "root", {}, false)].dynamic = false;
  if (config.quirks.default_queue_always) {
    books_.queues[GetLeaf(books_, "root.default", true, {}).id].dynamic = false;
  }
  EffectSink ignored;
  books_.out = &ignored;
  LoadSettings(books_, ReadSettings(books_, tree), ReadAcls(tree));
  books_.out = nullptr;
  if (!config.timed_passes) return;
  if (config.update_interval_ms > 0) books_.due.update_ms = books_.now_ms + config.update_interval_ms;
  if (config.continuous) books_.due.continuous_ms = books_.now_ms;
  books_.due.queue_check_ms = books_.now_ms + config.queue_check_ms;
}

void Core::Step(base::Instant now, std::span<const ms::Event> events, EffectSink& out) {
  books_.now_ms = now.millis();
  books_.out = &out;
  for (const ms::Event& event : events) {
    if (const auto* pass = std::get_if<ms::Pass>(&event)) {
      RunPass(pass->kind);
    } else {
      std::visit([this](const auto& e) { Apply(books_, e); }, event);
    }
    FinishEvent();
  }
  if (books_.config.timed_passes) RunDuePasses();
  FinishEvent();
  books_.out = nullptr;
}

base::Instant Core::NextDeadline() const {
  if (!books_.config.timed_passes) return base::Instant::Max();
  int64_t next = std::min({books_.due.update_ms, books_.due.continuous_ms, books_.due.queue_check_ms});
  if (!books_.preemption.kills.empty()) next = std::min(next, books_.preemption.kills.front().at_ms);
  if (next == kNever) return base::Instant::Max();
  return base::Instant{next * 1'000'000};
}

/// Hadoop's threads within one instant: kill timer, queue check, update, preemption, continuous scheduling.
void Core::RunDuePasses() {
  KillPass(books_);
  if (books_.due.queue_check_ms <= books_.now_ms) {
    RunPass(ms::PassKind::kQueueCheck);
    books_.due.queue_check_ms = books_.now_ms + books_.config.queue_check_ms;
  }
  if (books_.due.update_ms <= books_.now_ms) {
    UpdatePass(books_);
    books_.due.update_ms = books_.now_ms + books_.config.update_interval_ms;
    PreemptPass(books_);
  }
  if (books_.due.continuous_ms <= books_.now_ms) {
    ContinuousPass(books_);
    books_.due.continuous_ms = books_.now_ms + std::max<int64_t>(books_.config.continuous_sleep_ms, 1);
  }
}

void Core::RunPass(ms::PassKind kind) {
  switch (kind) {
    case ms::PassKind::kUpdate:
      return UpdatePass(books_);
    case ms::PassKind::kContinuous:
      return ContinuousPass(books_);
    case ms::PassKind::kPreempt:
      return PreemptPass(books_);
    case ms::PassKind::kQueueCheck:
      RemoveEmptyDynamicQueues(books_);
      return RunPendingConversions(books_);
    case ms::PassKind::kTimers:
      return KillPass(books_);
  }
}

/// What Hadoop's dispatcher delivers after the scheduler's call has returned: an application learns that its master has
/// a container (RMAppAttemptImpl), from then on its blacklist is its own and the container counts as a master's.
void Core::FinishEvent() {
  for (const auto& [attempt, container] : books_.new_masters) {
    books_.attempts[attempt].master.SetKnown();
    if (books_.containers.Has(container)) books_.containers.SetMaster(container);
  }
  books_.new_masters.clear();
}

std::string Core::CheckInvariants() const { return Check(books_); }
uint64_t Core::StateHash() const { return HashOf(books_); }
View Core::GetView() const { return ViewOf(books_); }
View Core::GetQueues() const { return QueuesOf(books_); }
int64_t Core::PendingContainers(model::AppIndex app) const { return hadoop::PendingContainers(books_, app); }

std::unique_ptr<Scheduler> Core::Fork() const { return std::make_unique<Core>(*this); }

std::string Core::State() const {
  std::string out;
  base::WriteState(out, books_);
  return out;
}

bool Core::ReadState(std::string_view bytes) {
  base::Budget budget(base::kStateKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::ReadState(in, books_);
  return in.done();
}

std::vector<ms::Pending> Core::Why(model::AppIndex app, base::Instant) const { return yarn_fair::Why(books_, app); }

Resources Core::FreeOf(model::NodeIndex node) const {
  return node.value < books_.nodes.size() ? books_.nodes[node].unallocated : Resources{};
}

std::vector<std::string> Core::LeafOrder() const {
  std::vector<std::string> names;
  for (const QueueId id : books_.tree.leaves) names.push_back(books_.queues[id].name);
  return names;
}

}  // namespace fairlead::scheduler::yarn_fair
