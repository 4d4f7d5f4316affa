#include "rm/masters.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/check.h"
#include "rm/apps.h"
#include "rm/attempts.h"
#include "rm/containers.h"
#include "rm/nodes.h"
#include "rm/normalize.h"
#include "rm/session_tags.h"

namespace fairlead::rm {

using model::Refusal;
using model::rm::AttemptState;

namespace {

/// Whether it must be kept in case the master asks for it again: all else can be composed again.
bool TellsSomething(const model::rm::AllocateAnswer& answer) {
  return !answer.granted.empty() || !answer.new_nodes.empty() || !answer.completed.empty() ||
         !answer.previous.empty() || !answer.nodes.empty() || !answer.preempt_strict.empty() ||
         !answer.preempt_contract.empty() || !answer.updated.empty() || !answer.update_errors.empty();
}

}  // namespace

void Masters::On(const model::rm::RegisterMaster& event) {
  App* app = nullptr;
  Attempt* attempt = apps_.FindAttempt(event.attempt, &app);
  if (!attempt || !attempt->known) {
    return context_.Refuse(event.call, Refusal::kMasterUnknown, {ToString(event.attempt)});
  }
  const bool again = attempt->response_id >= 0;
  if (again && !(app->submission.unmanaged && app->submission.keep_containers)) {
    return context_.Refuse(event.call, Refusal::kMasterRegistered, {ToString(app->submission.id)});
  }
  attempt->last_seen = context_.now();
  if (attempt->state == AttemptState::kSubmitted || attempt->state == AttemptState::kLaunchedUnmanagedSaving) {
    attempts_.Fail(*app, *attempt, "Unmanaged AM must register after AM attempt reaches LAUNCHED state.",
                   model::kExitInvalid);
    return context_.Refuse(event.call, Refusal::kMasterTooEarly);
  }
  attempt->response_id = 0;
  attempt->last_answer.reset();
  if (attempt->state == AttemptState::kAllocated) attempts_.MarkLaunched(*app, *attempt, AttemptEvent::kLaunched);
  attempt->host = event.host;
  attempt->rpc_port = event.rpc_port;
  attempt->original_url = event.tracking_url.empty() ? "N/A" : event.tracking_url;
  attempts_.Registered(*app, *attempt);
  model::rm::RegisterMasterAnswer answer;
  answer.call = event.call;
  answer.attempt = event.attempt;
  answer.app = app->index;
  answer.queue = app->submission.queue;
  answer.maximum = nodes_.MaximumAllocation(app->submission.queue);
  if (app->submission.keep_containers) {
    attempt->token_nodes.Clear();
    for (const Container* container : InOrder(app->containers)) {
      const bool mine = container->id.attempt == attempt->id && !app->submission.unmanaged;
      if (mine || container->is_master || container->state == model::rm::ContainerState::kAllocated) continue;
      answer.previous.push_back(containers_.InfoOf(*container));
      attempt->token_nodes.Insert(container->node);
    }
  }
  context_.Emit(std::move(answer));
}

model::Refused Masters::CheckAllocate(const App& app, const Attempt& attempt,
                                      const model::rm::AllocateCall& call) const {
  for (const std::string& name : call.blacklist_add) {
    if (name == "*") return {Refusal::kBlacklistAnywhere, {}, {}, {}};
  }
  if (app.submission.keep_containers) return {};
  for (const model::ContainerId& id : call.releases) {
    if (id.attempt != attempt.id) return {Refusal::kForeignContainer, {ToString(id), ToString(attempt.id)}, {}, {}};
  }
  return {};
}

bool Masters::IsInTurn(const model::rm::AllocateCall& event, const App& app, const Attempt& attempt) {
  if (NextResponseId(event.response_id) == attempt.response_id) {
    model::rm::AllocateAnswer answer = attempt.last_answer ? *attempt.last_answer : NothingNewFor(app, attempt);
    answer.call = event.call;
    context_.Emit(std::move(answer));
    return false;
  }
  if (event.response_id != attempt.response_id) {
    context_.Refuse(event.call, Refusal::kResponseId, {ToString(event.attempt)},
                    {attempt.response_id, event.response_id});
    return false;
  }
  return true;
}

bool Masters::TakeProgress(const model::rm::AllocateCall& event, Attempt& attempt) {
  const double told = event.progress;
  const float progress = std::isnan(told) || told < 0 ? 0 : told > 1 ? 1 : static_cast<float>(told);
  bool changed = std::exchange(attempt.progress, progress) != progress;
  if (!event.tracking_url.empty() && event.tracking_url != attempt.original_url) {
    attempt.original_url = event.tracking_url;
    context_.Store({attempts_.RowOf(attempt)});
    changed = true;
  }
  return changed;
}

// Most calls say nothing new: what readers see stays as it is.
void Masters::On(const model::rm::AllocateCall& event) {
  App* app = nullptr;
  Attempt* attempt = apps_.PeekAttempt(event.attempt, &app);
  if (!attempt || !attempt->known) {
    return context_.Refuse(event.call, Refusal::kAttemptNotServed, {ToString(event.attempt)});
  }
  attempt->last_seen = context_.now();
  if (attempt->response_id < 0) {
    return context_.Refuse(event.call, Refusal::kMasterNotRegistered, {ToString(event.attempt)});
  }
  if (!IsInTurn(event, *app, *attempt)) return;
  if (TakeProgress(event, *attempt) || !event.asks.empty()) apps_.Touch(*app);
  model::scheduler::Allocate allocate;
  allocate.app = app->index;
  allocate.token = event.call;
  allocate.asks = event.asks;
  const model::Resources maximum = nodes_.MaximumAllocation(app->submission.queue);
  const bool gangs = AsksForGangs(app->submission.tags);
  for (model::Ask& ask : allocate.asks) {
    if (gangs && ask.allocation_request_id > 0) ask.gang = ask.allocation_request_id;
    model::Refused refused = NormalizeAsk(config_, maximum, app->submission.label, ask);
    if (!refused && config_.node_labels) {
      refused = NormalizeLabel(nodes_.labels(), *context_.queues(), app->submission.queue, ask);
    }
    if (refused) return context_.Refuse(event.call, std::move(refused));
  }
  if (model::Refused refused = CheckAllocate(*app, *attempt, event))
    return context_.Refuse(event.call, std::move(refused));
  if (attempt->state != AttemptState::kRunning || IsEnding(app->state)) {
    AnswerAllocate(*app, *attempt, event.call, {}, static_cast<int32_t>(nodes_.table().active()), true);
    return;
  }
  for (const model::ContainerId& id : event.releases) {
    if (app->containers.Contains(id)) allocate.releases.push_back(id);
  }
  for (const model::scheduler::Loss& loss : event.losses) {
    if (app->containers.Contains(loss.container)) allocate.losses.push_back(loss);
  }
  allocate.blacklist_add = event.blacklist_add;
  allocate.blacklist_remove = event.blacklist_remove;
  context_.Await(event.call, AllocateAsked{app->index, attempt->id.attempt, event.updates, 0, {}, 0});
  context_.Tell(std::move(allocate));
}

void Masters::On(const model::scheduler::AllocateAnswered& effect) {
  Asked any = context_.TakeAsked(effect.token);
  if (std::holds_alternative<MasterAsked>(any)) return;
  FL_CHECK(std::holds_alternative<AllocateAsked>(any), "the scheduler answers another question");
  AllocateAsked& asked = std::get<AllocateAsked>(any);
  asked.headroom = effect.headroom;
  asked.cluster_nodes = effect.cluster_nodes;
  App& app = apps_.Peek(asked.app);
  const auto attempt = app.attempts.find(asked.attempt);
  if (!asked.updates.empty() && attempt != app.attempts.end()) {
    asked.resizes = RequestUpdates(app, attempt->second, effect.token, asked.updates);
  }
  if (asked.resizes == 0) return AllocateDone(effect.token, asked);
  context_.Await(effect.token, std::move(asked));
}

void Masters::ResizeDone(model::rm::CallToken call) {
  if (--std::get<AllocateAsked>(context_.Awaited(call)).resizes > 0) return;
  AllocateDone(call, context_.TakeAsked<AllocateAsked>(call));
}

void Masters::AllocateDone(model::rm::CallToken call, const AllocateAsked& asked) {
  App& app = apps_.Peek(asked.app);
  const auto attempt = app.attempts.find(asked.attempt);
  if (!app.alive || attempt == app.attempts.end()) return context_.Refuse(call, Refusal::kAttemptEnded);
  AnswerAllocate(app, attempt->second, call, asked.headroom, asked.cluster_nodes, false);
}

model::rm::AllocateAnswer Masters::NothingNewFor(const App& app, const Attempt& attempt) const {
  model::rm::AllocateAnswer answer;
  answer.attempt = attempt.id;
  answer.app = app.index;
  answer.response_id = attempt.response_id;
  answer.headroom = attempt.headroom;
  answer.cluster_nodes = static_cast<int32_t>(nodes_.table().active());
  answer.priority = app.submission.priority;
  return answer;
}

void Masters::HandOver(App& app, Attempt& attempt, model::rm::AllocateAnswer& answer, bool over) {
  model::scheduler::Acquired acquired;
  acquired.app = app.index;
  acquired.containers.reserve(attempt.granted.size());
  answer.granted.reserve(attempt.granted.size());
  for (const model::ContainerId& id : std::exchange(attempt.granted, {})) {
    Container* container = app.containers.Find(id);
    if (!container || container->state != model::rm::ContainerState::kAllocated) continue;
    containers_.SetState(*container, ContainerEvent::kAcquired, model::rm::ContainerState::kAcquired);
    answer.granted.push_back(containers_.InfoOf(*container));
    acquired.containers.push_back(id);
    if (attempt.token_nodes.Insert(container->node)) answer.new_nodes.push_back(container->node);
  }
  if (!acquired.containers.empty() && !over) context_.Tell(std::move(acquired));
}

void Masters::AnswerAllocate(App& app, Attempt& attempt, model::rm::CallToken call, const model::Resources& headroom,
                             int32_t cluster_nodes, bool over) {
  attempt.headroom = headroom;
  attempt.response_id = NextResponseId(attempt.response_id);
  model::rm::AllocateAnswer answer = NothingNewFor(app, attempt);
  answer.call = call;
  answer.cluster_nodes = cluster_nodes;
  HandOver(app, attempt, answer, over);
  attempts_.AckToldContainers(attempt);
  for (auto& [end, remembered_by] : std::exchange(attempt.just_finished, {})) {
    attempt.told.push_back({end.id, remembered_by});
    if (app.submission.keep_containers || end.id.attempt == attempt.id) answer.completed.push_back(std::move(end));
  }
  for (const auto& [node, change] : std::exchange(app.node_changes, {})) answer.nodes.push_back({node, change});
  answer.previous = std::exchange(attempt.recovered, {});
  for (const model::rm::ContainerInfo& info : answer.previous) {
    if (attempt.token_nodes.Insert(info.node)) answer.new_nodes.push_back(info.node);
  }
  answer.updated = std::exchange(attempt.updated, {});
  answer.update_errors = std::exchange(attempt.update_errors, {});
  answer.preempt_strict.assign(attempt.preempt_strict.begin(), attempt.preempt_strict.end());
  answer.preempt_contract.assign(attempt.preempt_contract.begin(), attempt.preempt_contract.end());
  if (!TellsSomething(answer)) {
    attempt.last_answer.reset();
  } else if (attempt.last_answer) {
    *attempt.last_answer = answer;  // into the memory of the one before
  } else {
    attempt.last_answer = std::make_unique<model::rm::AllocateAnswer>(answer);
  }
  context_.Emit(std::move(answer));
}

void Masters::On(const model::scheduler::PreemptionNotice& effect) {
  App& app = apps_.At(effect.app);
  Attempt* attempt = app.current();
  if (!attempt) return;
  (effect.contract ? attempt->preempt_contract : attempt->preempt_strict).insert(effect.container);
}

// RMServerUtils.validateAndSplitUpdateResourceRequests.
size_t Masters::RequestUpdates(App& app, Attempt& attempt, model::rm::CallToken call,
                               const std::vector<model::rm::ContainerUpdate>& updates) {
  std::set<model::ContainerId> seen;
  size_t asked = 0;
  for (const model::rm::ContainerUpdate& update : updates) {
    const Container* container = app.containers.Find(update.container);
    model::Refused refused = CheckUpdate(app, container, update);
    if (container && !seen.insert(update.container).second) refused = {Refusal::kUpdateOutstanding, {}, {}, {}};
    if (refused) {
      attempt.update_errors.push_back({update, std::move(refused), container ? container->version : -1});
      continue;
    }
    ResizeAsked resize{call, update};
    resize.update.capability = Normalize(config_, update.capability);
    const uint64_t token = context_.OwnToken();
    context_.Tell(model::scheduler::ContainerResized{update.container, resize.update.capability, token});
    context_.Await(token, std::move(resize));
    ++asked;
  }
  return asked;
}

model::Refused Masters::CheckUpdate(const App& app, const Container* container,
                                    const model::rm::ContainerUpdate& update) const {
  if (!container) return {Refusal::kUpdateUnknownContainer, {}, {}, {}};
  if (update.version != container->version) return {Refusal::kUpdateVersion, {}, {}, {}};
  const bool increase = update.type == model::rm::UpdateType::kIncrease;
  if (!increase && update.type != model::rm::UpdateType::kDecrease) return {Refusal::kUpdateKind, {}, {}, {}};
  const model::Resources wanted = Normalize(config_, update.capability);
  const bool direction_ok = increase ? container->resources.FitsIn(wanted) : wanted.FitsIn(container->resources);
  if (update.capability.AnyNegative() || !update.capability.FitsIn(nodes_.MaximumAllocation(app.submission.queue)) ||
      !direction_ok) {
    return {Refusal::kUpdateRange, {}, {}, {}};
  }
  const bool handed_out = container->state == model::rm::ContainerState::kRunning ||
                          container->state == model::rm::ContainerState::kAcquired;
  return handed_out ? model::Refused{} : model::Refused{Refusal::kUpdateUnknownContainer, {}, {}, {}};
}

// The new size reaches the master with its next answer and, for a decrease, the node with its next heartbeat.
void Masters::On(const model::scheduler::ResizeAnswered& effect) {
  const ResizeAsked asked = context_.TakeAsked<ResizeAsked>(effect.token);
  const model::rm::ContainerUpdate& update = asked.update;
  App* app = nullptr;
  Attempt* attempt = apps_.FindAttempt(update.container.attempt, &app);
  Container* container = attempt ? app->containers.Find(update.container) : nullptr;
  if (container) {
    container->resources = update.capability;
    ++container->version;
    attempt->updated.push_back({containers_.InfoOf(*container), update.type});
    if (update.type == model::rm::UpdateType::kDecrease) {
      nodes_.Live(container->node).updates[update.container] = containers_.InfoOf(*container);
    }
  }
  ResizeDone(asked.call);
}

void Masters::Refused(const ResizeAsked& asked, uint64_t, const model::Refused& refused) {
  Attempt* attempt = apps_.FindAttempt(asked.update.container.attempt);
  // A larger size that is outstanding comes as a grant (Containers).
  if (attempt && refused.why != Refusal::kUpdateOutstanding) {
    attempt->update_errors.push_back({asked.update, refused, asked.update.version});
  }
  ResizeDone(asked.call);
}

void Masters::On(const model::rm::FinishMaster& event) {
  App* app = nullptr;
  Attempt* attempt = apps_.FindAttempt(event.attempt, &app);
  if (app && EndIsStored(app->state)) {
    context_.Emit(model::rm::FinishMasterAnswer{event.call, true});
    return;
  }
  if (attempt && !attempt->known && attempt->state == AttemptState::kFinished &&
      app->state == model::rm::AppState::kFinalSaving) {
    // This attempt finished, and only its application's end is still being stored: a repeated call gets its answer.
    app->waiting_calls.emplace_back(WaitsFor::kUnregistered, event.call);
    return;
  }
  if (!attempt || !attempt->known) {
    return context_.Refuse(event.call, Refusal::kMasterUnknown, {ToString(event.attempt)});
  }
  attempt->last_seen = context_.now();
  if (attempt->response_id < 0) {
    return context_.Refuse(event.call, Refusal::kMasterFinishesTooEarly, {ToString(app->submission.id)});
  }
  app->waiting_calls.emplace_back(WaitsFor::kUnregistered, event.call);
  if (attempt->state != AttemptState::kRunning) return;  // being stored: the answer comes with it
  attempt->unregistration = std::make_unique<Unregistration>(
      Unregistration{event.final_status, event.diagnostics, event.tracking_url.empty() ? "N/A" : event.tracking_url});
  attempts_.Unregistered(*app, *attempt);
}

}  // namespace fairlead::rm
