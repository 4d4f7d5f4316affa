#include "rm/core.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/codec.h"
#include "base/hash.h"

namespace fairlead::rm {

using model::rm::AppState;
using model::rm::AttemptState;

namespace {
/// Keeps the sink pointer from outliving the step.
class SinkScope {
 public:
  SinkScope(Sink*& slot, Sink* sink) : slot_(slot) { slot_ = sink; }
  ~SinkScope() { slot_ = nullptr; }
  SinkScope(const SinkScope&) = delete;
  SinkScope& operator=(const SinkScope&) = delete;

 private:
  Sink*& slot_;
};
}  // namespace

Core::Core(Config config) : config_(std::move(config)) {
  include_hosts_.insert(config_.include_hosts.begin(), config_.include_hosts.end());
  exclude_hosts_.insert(config_.exclude_hosts.begin(), config_.exclude_hosts.end());
}

void Core::StepOuter(base::Instant now, base::WallTime wall, std::span<const model::rm::OuterEvent> events, Sink sink) {
  now_ = now;
  wall_ = wall;
  const SinkScope scope(sink_, &sink);
  apps_.Clear();
  nodes_.Clear();
  FireTimers();
  for (const model::rm::OuterEvent& event : events) Handle(event);
}

void Core::StepScheduler(base::Instant now, base::WallTime wall, std::span<const model::scheduler::Effect> effects,
                         Sink sink) {
  now_ = now;
  wall_ = wall;
  const SinkScope scope(sink_, &sink);
  for (const model::scheduler::Effect& effect : effects) HandleScheduler(effect);
}

void Core::EndStep(base::Instant now, base::WallTime wall, Sink sink) {
  if (heartbeats_.empty()) return;
  now_ = now;
  wall_ = wall;
  const SinkScope scope(sink_, &sink);
  std::sort(heartbeats_.begin(), heartbeats_.end());
  for (const model::NodeIndex index : heartbeats_) AnswerWaitingHeartbeat(index);
  heartbeats_.clear();
}

void Core::Handle(const model::rm::OuterEvent& event) {
  std::visit([this](const auto& alternative) { On(alternative); }, event);
}

void Core::HandleScheduler(const model::scheduler::Effect& effect) {
  std::visit(
      [this](const auto& alternative) {
        // What only explains a decision (victims of preemption) changes no life cycle.
        if constexpr (requires { On(alternative); }) On(alternative);
      },
      effect);
}

void Core::On(const model::scheduler::CallRefused& effect) {
  const auto it = asked_.find(effect.token);
  FL_CHECK(it != asked_.end(), "the scheduler refuses what nobody asked");
  Asked asked = std::move(it->second);
  asked_.erase(it);
  std::visit([&](auto& kind) { Refused(kind, effect.token, effect.refused); }, asked);
}

void Core::Log(std::string subject, std::string_view from, std::string_view to, std::string detail) {
  Emit(model::rm::StateChanged{std::move(subject), std::string(from), std::string(to), std::move(detail)});
}

void Core::Store(std::vector<model::rm::StoreRow> rows, Continuation continuation) {
  const uint64_t txn = ++last_txn_;
  waiting_[txn] = std::move(continuation);
  Emit(model::rm::Persist{txn, std::move(rows)});
}

void Core::On(const model::rm::Persisted& event) {
  const auto it = waiting_.find(event.txn);
  if (it == waiting_.end()) return;
  Continuation continuation = std::move(it->second);
  waiting_.erase(it);
  switch (continuation.after) {
    case After::kNothing:
      break;
    case After::kAppNew:
      AppSaved(At(continuation.app), event.ok, event.error);
      break;
    case After::kAppFinal: {
      App& app = At(continuation.app);
      const auto attempt = app.attempts.find(continuation.attempt);
      if (event.ok && attempt != app.attempts.end()) AttemptFinalSaved(app, attempt->second, true);
      AppFinalSaved(app, event.ok);
      break;
    }
    case After::kAttemptNew:
    case After::kAttemptFinal: {
      App& app = At(continuation.app);
      const auto attempt = app.attempts.find(continuation.attempt);
      if (attempt == app.attempts.end()) break;
      if (continuation.after == After::kAttemptNew) {
        AttemptSaved(app, attempt->second, event.ok, event.error);
      } else {
        AttemptFinalSaved(app, attempt->second, event.ok);
      }
      break;
    }
    case After::kAnswer:
      for (model::rm::OuterEffect& answer : continuation.answers) {
        if (event.ok) {
          Emit(std::move(answer));
          continue;
        }
        std::visit(
            [&](const auto& a) {
              if constexpr (requires { a.call; }) {
                Refuse(a.call, model::Refusal::kChangeNotStored, {event.error});
              }
            },
            answer);
      }
      break;
  }
}

void Core::On(const model::rm::ReloadQueues& event) {
  const uint64_t token = OwnToken();
  asked_.emplace(token, ReloadAsked{event.call, event.tree});
  Tell(model::scheduler::QueuesReloaded{event.tree, token});
}

void Core::On(const model::scheduler::ReloadAnswered& effect) {
  ReloadAsked asked = TakeAsked<ReloadAsked>(effect.token);
  config_.queues = std::move(asked.queues);
  Emit(model::rm::CallDone{asked.call});
}

void Core::Refused(ReloadAsked& asked, uint64_t, const model::Refused& refused) { Refuse(asked.call, refused); }

void Core::On(const model::scheduler::GangExpired& effect) {
  Log(ToString(At(effect.app).submission.id), "", "", "gang " + std::to_string(effect.gang) + " did not start in time");
}

void Core::FireTimers() {
  while (!timers_.empty() && timers_.begin()->when <= now_) {
    const Timer timer = *timers_.begin();
    timers_.erase(timers_.begin());
    Fire(timer);
  }
  ExpireGrants();
}

void Core::ExpireGrants() {
  while (!waiting_grants_.empty() && waiting_grants_.front().expires <= now_) {
    Container& container = waiting_grants_.front();
    container.StopWaiting();
    SetState(container, ContainerEvent::kExpire, model::rm::ContainerState::kExpired);
    container.diagnostics = "Container expired since it was unused";
    Tell(model::scheduler::ContainerEnded{container.id, model::kExitAborted});
  }
}

void Core::Fire(const Timer& timer) {
  switch (timer.kind) {
    case TimerKind::kMaster:
    case TimerKind::kFinishing: {
      App& app = At({timer.index});
      const auto it = app.attempts.find(timer.attempt);
      if (it == app.attempts.end()) return;
      Attempt& attempt = it->second;
      if (attempt.last_seen + config_.master_expiry > now_) {
        timers_.insert({attempt.last_seen + config_.master_expiry, timer.kind, timer.index, timer.attempt});
        return;
      }
      if (timer.kind == TimerKind::kFinishing) {
        if (attempt.state != AttemptState::kFinishing) return;
        EndAttempt(app, attempt, AttemptEvent::kExpire, AttemptState::kFinished);
      } else if (attempt.state == AttemptState::kLaunched || attempt.state == AttemptState::kRunning) {
        attempt.progress = 1;
        FailAttemptNow(app, attempt, "ApplicationMaster for attempt " + ToString(attempt.id) + " timed out",
                       model::kExitInvalid);
      }
      return;
    }
    case TimerKind::kNode: {
      Node& node = nodes_[{timer.index}];
      if (nodes_.Active(node.address) != &node) return;
      if (node.last_seen + config_.node_expiry > now_) {
        timers_.insert({node.last_seen + config_.node_expiry, timer.kind, timer.index, 0});
        return;
      }
      RemoveNode(node, NodeEvent::kExpire, model::rm::NodeState::kLost);
      return;
    }
    case TimerKind::kLifetime: {
      App& app = At({timer.index});
      app.deadline = base::Instant::Max();
      if (!app.alive || IsCompleted(app)) return;
      Kill(app, "Application is killed by ResourceManager as it has exceeded the lifetime period.");
      return;
    }
    case TimerKind::kDecommission: {
      Node& node = nodes_[{timer.index}];
      if (node.state == model::rm::NodeState::kDecommissioning && node.decommission_deadline <= now_) {
        RemoveNode(node, NodeEvent::kDecommission, model::rm::NodeState::kDecommissioned, "it timed out");
      }
      return;
    }
    case TimerKind::kRetry: {
      App& app = At({timer.index});
      if (!app.alive) return;
      if (timer.attempt == 0) {
        if (app.state == AppState::kFinalSaving) StoreFinal(app);
      } else if (const auto it = app.attempts.find(timer.attempt); it != app.attempts.end()) {
        Attempt& attempt = it->second;
        if (attempt.state == AttemptState::kFinalSaving) {
          StoreFinal(app, attempt);
        } else if (attempt.state == AttemptState::kAllocatedSaving ||
                   attempt.state == AttemptState::kLaunchedUnmanagedSaving) {
          Store({RowOf(app, attempt)}, {After::kAttemptNew, app.index, attempt.id.attempt, {}});
        }
      }
      return;
    }
  }
}

base::Instant Core::NextDeadline() const {
  const base::Instant other = timers_.empty() ? base::Instant::Max() : timers_.begin()->when;
  return waiting_grants_.empty() ? other : std::min(other, waiting_grants_.front().expires);
}

App* Core::MutableApp(const model::ApplicationId& id) { return apps_.FindById(id); }

Attempt* Core::MutableAttempt(const model::ApplicationAttemptId& id, App** app) {
  App* found = MutableApp(id.app);
  if (app) *app = found;
  if (!found) return nullptr;
  const auto it = found->attempts.find(id.attempt);
  return it == found->attempts.end() ? nullptr : &it->second;
}

App* Core::Require(model::rm::CallToken call, const model::ApplicationId& id) {
  App* app = MutableApp(id);
  if (!app || app->state == AppState::kNew) {
    Refuse(call, model::Refusal::kUnknownApplication, {ToString(id)});
    return nullptr;
  }
  return app;
}

// ---- Read access ----

const App* Core::FindApp(const model::ApplicationId& id) const {
  const App* app = apps_.FindById(id);
  return app && app->state != AppState::kNew ? app : nullptr;
}

const App* Core::AppAt(model::AppIndex index) const {
  const App* app = apps_.Find(index);
  return app && app->alive ? app : nullptr;
}

const Attempt* Core::FindAttempt(const model::ApplicationAttemptId& id) const {
  const App* app = FindApp(id.app);
  if (!app) return nullptr;
  const auto it = app->attempts.find(id.attempt);
  return it == app->attempts.end() ? nullptr : &it->second;
}

const Container* Core::FindContainer(const model::ContainerId& id) const {
  const App* app = FindApp(id.attempt.app);
  if (!app) return nullptr;
  return app->containers.Find(id);
}

const Node* Core::NodeAt(model::NodeIndex index) const { return nodes_.Find(index); }

const Node* Core::FindNode(const model::rm::NodeAddress& address) const {
  const Node* active = nodes_.Active(address);
  return active ? active : nodes_.Gone(address);
}

model::Resources Core::MaximumAllocation(base::Instant now) const {
  if (nodes_.active() == 0 || now < started_at_ + config_.configured_maximum_for) return config_.maximum;
  model::Resources maximum;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
    maximum[type] = std::min(nodes_.largest()[type], config_.maximum[type]);
  }
  return maximum;
}

bool Core::AttemptIsKnown(const model::ApplicationAttemptId& id) const {
  const Attempt* attempt = FindAttempt(id);
  return attempt && attempt->known;
}

AppState Core::VisibleState(const App& app) {
  AppState state = app.state;
  if (state == AppState::kFinalSaving) state = app.state_before_saving;
  if (state == AppState::kKilling) state = app.state_before_killing;
  return state;
}

AttemptState Core::VisibleState(const Attempt& attempt) {
  return attempt.state == AttemptState::kFinalSaving ? attempt.state_before_saving : attempt.state;
}

model::rm::FinalStatus Core::VisibleFinalStatus(const App& app) {
  if (const Attempt* attempt = app.current(); attempt && attempt->final_status != model::rm::FinalStatus::kUndefined) {
    return attempt->final_status;
  }
  switch (app.state) {
    case AppState::kFailed:
      return model::rm::FinalStatus::kFailed;
    case AppState::kKilled:
      return model::rm::FinalStatus::kKilled;
    default:  // a master may also finish with UNDEFINED
      return model::rm::FinalStatus::kUndefined;
  }
}

const std::string& Core::VisibleDiagnostics(const App& app) {
  const Attempt* attempt = app.current();
  return app.diagnostics.empty() && attempt ? VisibleDiagnostics(*attempt) : app.diagnostics;
}

const std::string& Core::VisibleDiagnostics(const Attempt& attempt) {
  static const std::string kWaiting = "AM container is launched, waiting for AM container to Register with RM";
  const bool ended = attempt.state == AttemptState::kFinalSaving || attempt.state == AttemptState::kKilled;
  const AttemptState state = ended ? attempt.state_before_saving : attempt.state;
  return attempt.diagnostics.empty() && state == AttemptState::kLaunched ? kWaiting : attempt.diagnostics;
}

// ---- Self-check ----

namespace {

std::string AppError(const App& app) {
  const std::string name = ToString(app.submission.id);
  if (!app.alive) return "an application is kept that is not alive";
  bool foreign = false;
  app.containers.ForEach([&](const Container& one) { foreign |= one.id.attempt.app != app.submission.id; });
  if (foreign) return "container of another application in " + name;
  const bool final = IsOver(app.state);
  if (final && app.in_scheduler) return "ended application is still in the scheduler: " + name;
  for (const auto& [number, attempt] : app.attempts) {
    if (attempt.known && final) return "ended application has a known attempt: " + name;
    if (&attempt != app.current() && attempt.known) return "an earlier attempt is still known: " + name;
  }
  return "";
}

}  // namespace

std::string Core::CheckInvariants() const {
  if (!asked_.empty()) return "the scheduler has not answered a call";
  base::Instant earlier;
  for (const Container& container : waiting_grants_) {
    if (container.launched) return "a launched container is waited for: " + ToString(container.id);
    if (container.expires < earlier) return "grants expire out of order: " + ToString(container.id);
    earlier = container.expires;
  }
  std::string wrong;
  apps_.ForEach([&](const App& app) {
    if (const std::string error = AppError(app); !error.empty()) wrong = error;
    if (apps_.FindById(app.submission.id) != &app) wrong = "not found by its id: " + ToString(app.submission.id);
  });
  if (!wrong.empty()) return wrong;
  nodes_.ForEachActive([&](const Node& node) {
    if (nodes_.Gone(node.address)) wrong = "node is active and gone: " + ToString(node.address);
    const bool wanted =
        node.state == model::rm::NodeState::kRunning || node.state == model::rm::NodeState::kDecommissioning;
    if (node.in_scheduler != wanted) wrong = "the scheduler disagrees about node " + ToString(node.address);
  });
  return wrong;
}

uint64_t Core::StateHash() const {
  base::StateHasher hasher;
  apps_.ForEach([&](const App& app) {
    base::HashInto(hasher, app.submission);
    hasher.Mix(static_cast<uint64_t>(app.state));
    hasher.Mix(app.diagnostics);
    for (const auto& [number, attempt] : app.attempts) {
      base::HashInto(hasher, attempt.id);
      hasher.Mix(static_cast<uint64_t>(attempt.state));
      hasher.Mix(static_cast<uint64_t>(attempt.final_status));
      hasher.Mix(static_cast<uint64_t>(attempt.response_id));
      hasher.Mix(attempt.diagnostics);
      base::HashInto(hasher, attempt.granted);
      base::HashInto(hasher, attempt.just_finished);
      base::HashInto(hasher, attempt.told);
    }
    for (const Container* container : InOrder(app.containers)) {
      base::HashInto(hasher, InfoOf(*container));
      base::HashInto(hasher, container->remembered_by);
      hasher.Mix(static_cast<uint64_t>(container->state));
      hasher.Mix(static_cast<uint64_t>((container->waits() ? container->expires : base::Instant::Max()).ns));
    }
  });
  nodes_.ForEach([&](const Node& node) {
    base::HashInto(hasher, node.address);
    base::HashInto(hasher, node.registered_as);
    hasher.Mix(static_cast<uint64_t>(node.state));
    hasher.Mix(static_cast<uint64_t>(node.response_id));
    node.running.ForEach([&](const model::ContainerId& id, bool) { base::HashInto(hasher, id); });
    base::HashInto(hasher, std::vector(node.cleanup.begin(), node.cleanup.end()));
  });
  for (const Timer& timer : timers_) hasher.Mix(static_cast<uint64_t>(timer.when.ns));
  hasher.Mix(last_txn_);
  return hasher.value();
}

}  // namespace fairlead::rm
