#include "rm/core.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/hash.h"
#include "base/stored.h"

namespace fairlead::rm {

namespace ms = model::scheduler;
using model::rm::AppState;
using model::rm::AttemptState;

namespace {

/// All members that FL_STATE lists, of a part that holds more than them.
template <class Part>
void CopyState(Part& to, const Part& from) {
  Part::VisitState(to, [&]<class Member>(std::string_view, Member& member) {
    const auto place = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&to);
    member = *reinterpret_cast<const Member*>(reinterpret_cast<const char*>(&from) + place);
  });
}

}  // namespace

/// The time and the sink of a step, from which nothing outlives it.
class Core::Step {
 public:
  Step(Context& context, base::Instant now, base::WallTime wall, Sink* sink) : context_(context) {
    context_.BeginStep(now, wall, sink);
  }
  ~Step() { context_.EndStep(); }
  Step(const Step&) = delete;
  Step& operator=(const Step&) = delete;

 private:
  Context& context_;
};

Core::Core(Config config)
    : context_(std::move(config)),
      containers_(context_, apps_, attempts_, nodes_),
      apps_(context_, attempts_, containers_, nodes_),
      attempts_(context_, apps_, containers_),
      masters_(context_, apps_, attempts_, containers_, nodes_),
      nodes_(context_, apps_, attempts_, containers_) {}

Core::Core(const Core& other)
    : context_(other.context_),
      containers_(context_, apps_, attempts_, nodes_),
      apps_(context_, attempts_, containers_, nodes_),
      attempts_(context_, apps_, containers_),
      masters_(context_, apps_, attempts_, containers_, nodes_),
      nodes_(context_, apps_, attempts_, containers_) {
  CopyState(apps_, other.apps_);
  CopyState(nodes_, other.nodes_);
  FL_CHECK(containers_.SetWaiting(other.containers_.Waiting()), "a copy has all containers");
}

template <class Variant, class... Explanations>
void Core::Bring(const Variant& event, base::Ignored<Explanations...> explanations) {
  const auto rules_of = [](auto& part) {
    return [&part](const auto& one)
      requires requires { part.On(one); }
    {
      part.On(one);
    };
  };
  base::Dispatch(event, rules_of(*this), rules_of(apps_), rules_of(attempts_), rules_of(masters_),
                 rules_of(containers_), rules_of(nodes_), explanations);
}

void Core::StepOuter(base::Instant now, base::WallTime wall, std::span<const model::rm::OuterEvent> events, Sink sink) {
  const Step step(context_, now, wall, &sink);
  apps_.BeginStep();
  nodes_.BeginStep();
  FireTimers();
  for (const model::rm::OuterEvent& event : events) Bring(event);
}

void Core::StepScheduler(base::Instant now, base::WallTime wall, std::span<const model::scheduler::Effect> effects,
                         Sink sink) {
  const Step step(context_, now, wall, &sink);
  // What only explains a decision changes no life cycle.
  using Explanations =
      base::Ignored<ms::ReloadCutShort, ms::VictimsChosen, ms::AppPlaced, ms::PreemptionDecided, ms::RoundFailed>;
  for (const ms::Effect& effect : effects) Bring(effect, Explanations{});
}

void Core::EndStep(base::Instant now, base::WallTime wall, Sink sink) {
  const Step step(context_, now, wall, &sink);
  nodes_.AnswerHeartbeats();
}

// The start of a run: what the store held (RMAppManager.recover).
void Core::On(const model::rm::Started& event) {
  context_.BeginRun(event.cluster_timestamp, event.epoch);
  nodes_.Recover(event);
  std::map<model::ApplicationId, std::map<int32_t, const model::rm::AttemptRecord*>> attempts;
  for (const model::rm::AttemptRecord& record : event.attempts) attempts[record.id.app][record.id.attempt] = &record;
  std::map<model::ApplicationId, const model::rm::AppRecord*> apps;
  for (const model::rm::AppRecord& record : event.apps) apps[record.submission.id] = &record;
  for (const auto& [id, record] : apps) {
    std::vector<const model::rm::AttemptRecord*> of_app;
    for (const auto& [number, attempt] : attempts[id]) of_app.push_back(attempt);
    apps_.Recover(*record, of_app);
  }
  apps_.Evict();
  if (!event.learned.empty()) context_.Tell(model::scheduler::UseRecalled{event.learned, context_.wall()});
}

/// What is lost of it is learned again: nothing waits for the store.
void Core::On(const model::scheduler::UseLearned& effect) {
  std::vector<model::rm::StoreRow> rows;
  for (model::LearnedUse use : effect.rows) {
    use.stored = context_.wall();
    rows.push_back({kLearnedUseTable, std::to_string(use.row), base::EncodeStored(use)});
  }
  context_.Store(std::move(rows));
}

void Core::On(const model::scheduler::CallRefused& effect) {
  Asked asked = context_.TakeAsked(effect.token);
  const auto refused_by = [&](auto& part) {
    return [&](const auto& kind)
      requires requires { part.Refused(kind, effect.token, effect.refused); }
    {
      part.Refused(kind, effect.token, effect.refused);
    };
  };
  base::Dispatch(asked, refused_by(*this), refused_by(apps_), refused_by(attempts_), refused_by(masters_));
}

void Core::On(const model::rm::Persisted& event) {
  std::optional<Continuation> continuation = context_.TakeContinuation(event.txn);
  if (!continuation || continuation->after == Continuation::After::kNothing) return;
  using After = Continuation::After;
  if (continuation->after == After::kAnswer) {
    for (model::rm::OuterEffect& answer : continuation->answers) {
      if (event.ok) {
        context_.Emit(std::move(answer));
        continue;
      }
      std::visit(
          [&](const auto& a) {
            if constexpr (requires { a.call; }) {
              context_.Refuse(a.call, model::Refusal::kChangeNotStored, {event.error});
            }
          },
          answer);
    }
    return;
  }
  App& app = apps_.At(continuation->app);
  const auto found = app.attempts.find(continuation->attempt);
  Attempt* attempt = found == app.attempts.end() ? nullptr : &found->second;
  switch (continuation->after) {
    case After::kAppNew:
      return apps_.Saved(app, event.ok, event.error);
    case After::kAppFinal:
      if (event.ok && attempt) attempts_.FinalSaved(app, *attempt, true);
      return apps_.FinalSaved(app, event.ok);
    case After::kAttemptNew:
      if (attempt) attempts_.Saved(app, *attempt, event.ok);
      return;
    case After::kAttemptFinal:
      if (attempt) attempts_.FinalSaved(app, *attempt, event.ok);
      return;
    case After::kAnswer:
    case After::kNothing:
      return;
  }
}

void Core::On(const model::rm::ReloadQueues& event) {
  const uint64_t token = context_.OwnToken();
  context_.Await(token, ReloadAsked{event.call, event.tree});
  context_.Tell(model::scheduler::QueuesReloaded{event.tree, token});
}

void Core::On(const model::scheduler::ReloadAnswered& effect) {
  ReloadAsked asked = context_.TakeAsked<ReloadAsked>(effect.token);
  context_.TakeQueues(std::move(asked.queues));
  context_.Emit(model::rm::CallDone{asked.call});
}

void Core::Refused(const ReloadAsked& asked, uint64_t, const model::Refused& refused) {
  context_.Refuse(asked.call, refused);
}

void Core::FireTimers() {
  while (const std::optional<Timer> timer = context_.TakeDue()) Fire(*timer);
  containers_.ExpireGrants();
}

void Core::Fire(const Timer& timer) {
  switch (timer.kind) {
    case Timer::Kind::kMaster:
    case Timer::Kind::kFinishing:
      return FireMaster(apps_.At({timer.index}), timer);
    case Timer::Kind::kRetry:
      return Retry(apps_.At({timer.index}), timer);
    case Timer::Kind::kLifetime:
      return apps_.LifetimeIsOver(apps_.At({timer.index}));
    case Timer::Kind::kNode:
      return nodes_.Expire(timer);
    case Timer::Kind::kDecommission:
      return nodes_.DecommissionIsOver(nodes_.At({timer.index}));
  }
}

void Core::FireMaster(App& app, const Timer& timer) {
  const auto attempt = app.attempts.find(timer.attempt);
  if (attempt != app.attempts.end()) attempts_.Expire(app, attempt->second, timer);
}

void Core::Retry(App& app, const Timer& timer) {
  if (!app.alive) return;
  if (timer.attempt == 0) return apps_.RetryFinal(app);
  const auto attempt = app.attempts.find(timer.attempt);
  if (attempt != app.attempts.end()) attempts_.Retry(app, attempt->second);
}

base::Instant Core::NextDeadline() const { return std::min(context_.NextDeadline(), containers_.NextExpiry()); }

// ---- Read access ----

const App* Core::FindApp(const model::ApplicationId& id) const {
  const App* app = apps_.table().FindById(id);
  return app && app->state != AppState::kNew ? app : nullptr;
}

const App* Core::AppAt(model::AppIndex index) const {
  const App* app = apps_.table().Find(index);
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

const Node* Core::FindNode(const model::rm::NodeAddress& address) const {
  const Node* active = nodes_.table().Active(address);
  return active ? active : nodes_.table().Gone(address);
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

std::string Core::CheckInvariants() const {
  for (const std::string& wrong : {context_.Check(), containers_.Check(), apps_.Check(), nodes_.Check()}) {
    if (!wrong.empty()) return wrong;
  }
  return "";
}

uint64_t Core::StateHash() const {
  base::StateHasher hasher;
  apps_.Mix(hasher);
  nodes_.Mix(hasher);
  context_.Mix(hasher);
  return hasher.value();
}

std::string Core::State() const {
  std::string out;
  base::WriteState(out, context_);
  base::WriteState(out, apps_);
  base::WriteState(out, nodes_);
  base::WriteState(out, containers_.Waiting());
  return out;
}

bool Core::ReadState(std::string_view bytes) {
  base::Budget budget(base::kStateKind, bytes.size());
  base::ByteReader in(bytes, budget);
  std::vector<model::ContainerId> waiting;
  base::ReadState(in, context_);
  base::ReadState(in, apps_);
  base::ReadState(in, nodes_);
  base::ReadState(in, waiting);
  return in.done() && containers_.SetWaiting(waiting);
}

}  // namespace fairlead::rm
