#include <algorithm>
#include <cmath>
#include <utility>

#include "rm/core.h"

// The calls of application masters (ApplicationMasterService, DefaultAMSProcessor).

namespace fairlead::rm {

using model::rm::AttemptState;

namespace {

/// Whether it must be kept in case the master asks for it again: all else can be composed anew.
bool TellsSomething(const model::rm::AllocateAnswer& answer) {
  return !answer.granted.empty() || !answer.new_nodes.empty() || !answer.completed.empty() ||
         !answer.previous.empty() || !answer.nodes.empty() || !answer.preempt_strict.empty() ||
         !answer.preempt_contract.empty() || !answer.updated.empty() || !answer.update_errors.empty();
}

}  // namespace

void Core::On(const model::rm::RegisterMaster& event) {
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(event.attempt, &app);
  if (!attempt || !attempt->known) {
    Refuse(event.call, "InvalidApplicationMasterRequestException",
           "Application doesn't exist in cache " + ToString(event.attempt));
    return;
  }
  const bool again = attempt->response_id >= 0;
  if (again && !(app->submission.unmanaged && app->submission.keep_containers)) {
    Refuse(event.call, "InvalidApplicationMasterRequestException",
           "Application Master is already registered : " + ToString(app->submission.id));
    return;
  }
  attempt->last_seen = now_;
  if (attempt->state == AttemptState::kSubmitted || attempt->state == AttemptState::kLaunchedUnmanagedSaving) {
    const std::string message = "Unmanaged AM must register after AM attempt reaches LAUNCHED state.";
    FailAttemptNow(*app, *attempt, message, model::rm::kExitInvalid);
    Refuse(event.call, "InvalidApplicationMasterRequestException", message);
    return;
  }
  attempt->response_id = 0;
  attempt->last_answer.reset();
  if (attempt->state == AttemptState::kAllocated) MarkLaunched(*app, *attempt);
  attempt->host = event.host;
  attempt->rpc_port = event.rpc_port;
  attempt->original_url = event.tracking_url.empty() ? "N/A" : event.tracking_url;
  if (attempt->state == AttemptState::kLaunched) {
    SetState(*app, *attempt, AttemptState::kRunning, "REGISTERED");
    AttemptRegistered(*app);
  }
  model::rm::RegisterMasterAnswer answer;
  answer.call = event.call;
  answer.attempt = event.attempt;
  answer.app = app->index;
  answer.queue = app->submission.queue;
  answer.maximum = MaximumAllocation(now_);
  if (app->submission.keep_containers) {
    attempt->token_nodes.Clear();
    for (const Container* container : InOrder(app->containers)) {
      const bool mine = container->id.attempt == attempt->id && !app->submission.unmanaged;
      if (mine || container->is_master || container->state == model::rm::ContainerState::kAllocated) continue;
      answer.previous.push_back(InfoOf(*container));
      attempt->token_nodes.Insert(container->node);
    }
  }
  Emit(std::move(answer));
}

model::Resources Core::Normalize(const model::Resources& wanted) const {
  model::Resources result;
  for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
    int64_t value = std::max(wanted[type], config_.minimum[type]);
    const int64_t step = config_.increment[type];
    if (step > 0 && value % step != 0) value += step - value % step;
    result[type] = std::min(value, config_.maximum[type]);
  }
  return result;
}

// SchedulerUtils.normalizeAndValidateRequest.
bool Core::NormalizeAsk(model::Ask& ask, const std::string& default_label, std::string* exception,
                        std::string* message) const {
  *exception = "InvalidResourceRequestException";
  if (ask.label.empty() && ask.name == "*") ask.label = default_label;
  if (!ask.label.empty() && !config_.node_labels) {
    *exception = "InvalidLabelResourceRequestException";
    *message = "Invalid resource request, node label not enabled but request contains label expression";
    return false;
  }
  const model::Resources maximum = MaximumAllocation(now_);
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    const std::string name(model::ResourceTypes::Name(type));
    if (ask.capability[type] < 0) {
      *message =
          "Invalid resource request! Cannot allocate containers as requested resource is less than 0! "
          "Requested resource type=[" +
          name + "], Requested resource=" + ToString(ask.capability);
      return false;
    }
    if (ask.capability[type] > maximum[type]) {
      *message =
          "Invalid resource request! Cannot allocate containers as requested resource is greater than maximum "
          "allowed allocation. Requested resource type=[" +
          name + "], Requested resource=" + ToString(ask.capability) +
          ", maximum allowed allocation=" + ToString(maximum) +
          ", please note that maximum allowed allocation is calculated by scheduler based on maximum resource "
          "of registered NodeManagers, which might be less than configured maximum allocation=" +
          ToString(config_.maximum);
      return false;
    }
  }
  ask.capability = Normalize(ask.capability);
  ask.count = std::max(ask.count, 0);
  return true;
}

bool Core::ValidateAllocate(const App& app, const Attempt& attempt, const model::rm::AllocateCall& call,
                            std::string* exception, std::string* message) const {
  for (const std::string& name : call.blacklist_add) {
    if (name == "*") {
      *exception = "InvalidResourceBlacklistRequestException";
      *message = "Cannot add * to the blacklist!";
      return false;
    }
  }
  if (app.submission.keep_containers) return true;
  for (const model::ContainerId& id : call.releases) {
    if (id.attempt == attempt.id) continue;
    *exception = "InvalidContainerReleaseException";
    *message = "Cannot release container : " + ToString(id) +
               " not belonging to this application attempt : " + ToString(attempt.id);
    return false;
  }
  return true;
}

void Core::On(const model::rm::AllocateCall& event) {
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(event.attempt, &app);
  if (!attempt || !attempt->known) {
    Refuse(event.call, "ApplicationAttemptNotFoundException",
           "Application attempt " + ToString(event.attempt) + " doesn't exist in ApplicationMasterService cache.");
    return;
  }
  attempt->last_seen = now_;
  if (attempt->response_id < 0) {
    Refuse(event.call, "ApplicationMasterNotRegisteredException",
           "AM is not registered for known application attempt: " + ToString(event.attempt) +
               " or RM had restarted after AM registered.  AM should re-register.");
    return;
  }
  if (NextResponseId(event.response_id) == attempt->response_id) {
    model::rm::AllocateAnswer answer = attempt->last_answer ? *attempt->last_answer : NothingNewFor(*app, *attempt);
    answer.call = event.call;
    Emit(std::move(answer));
    return;
  }
  if (event.response_id != attempt->response_id) {
    Refuse(event.call, "InvalidApplicationMasterRequestException",
           "Invalid responseId in AllocateRequest from application attempt: " + ToString(event.attempt) +
               " expect responseId to be " + std::to_string(attempt->response_id) + " but get " +
               std::to_string(event.response_id));
    return;
  }
  const double progress = event.progress;
  attempt->progress = std::isnan(progress) || progress < 0 ? 0 : progress > 1 ? 1 : static_cast<float>(progress);
  if (!event.tracking_url.empty() && event.tracking_url != attempt->original_url) {
    attempt->original_url = event.tracking_url;
    Store({RowOf(*app, *attempt)}, {});
  }
  model::scheduler::Allocate allocate;
  allocate.app = app->index;
  allocate.token = event.call;
  allocate.asks = event.asks;
  std::string exception;
  std::string message;
  for (model::Ask& ask : allocate.asks) {
    if (!NormalizeAsk(ask, app->submission.label, &exception, &message)) {
      Refuse(event.call, exception, message);
      return;
    }
  }
  if (!ValidateAllocate(*app, *attempt, event, &exception, &message)) {
    Refuse(event.call, exception, message);
    return;
  }
  if (attempt->state != AttemptState::kRunning || IsCompleted(*app)) {
    AnswerAllocate(*app, *attempt, event.call, {}, static_cast<int32_t>(nodes_.active()), true);
    return;
  }
  for (const model::ContainerId& id : event.releases) {
    Container* container = app->containers.Find(id);
    if (!container) continue;
    container->state = model::rm::ContainerState::kReleased;
    container->diagnostics = "Container released by application";
    allocate.releases.push_back(id);
  }
  allocate.blacklist_add = event.blacklist_add;
  allocate.blacklist_remove = event.blacklist_remove;
  allocates_[event.call] = {app->index, attempt->id.attempt};
  RequestUpdates(*app, *attempt, event.updates);
  Tell(std::move(allocate));
}

void Core::On(const model::scheduler::AllocateAnswered& effect) {
  const auto it = allocates_.find(effect.token);
  if (it == allocates_.end()) return;  // the ask for a master
  App& app = At(it->second.app);
  const int32_t number = it->second.attempt;
  allocates_.erase(it);
  const auto attempt = app.attempts.find(number);
  if (!app.alive || attempt == app.attempts.end()) {
    Refuse(effect.token, "ApplicationAttemptNotFoundException", "The application attempt has ended.");
    return;
  }
  AnswerAllocate(app, attempt->second, effect.token, effect.headroom, effect.cluster_nodes, false);
}

model::rm::AllocateAnswer Core::NothingNewFor(const App& app, const Attempt& attempt) const {
  model::rm::AllocateAnswer answer;
  answer.attempt = attempt.id;
  answer.app = app.index;
  answer.response_id = attempt.response_id;
  answer.headroom = attempt.headroom;
  answer.cluster_nodes = static_cast<int32_t>(nodes_.active());
  answer.priority = app.submission.priority;
  return answer;
}

void Core::AnswerAllocate(App& app, Attempt& attempt, model::rm::CallToken call, const model::Resources& headroom,
                          int32_t cluster_nodes, bool empty) {
  attempt.headroom = headroom;
  attempt.response_id = NextResponseId(attempt.response_id);
  model::rm::AllocateAnswer answer = NothingNewFor(app, attempt);
  answer.call = call;
  answer.cluster_nodes = cluster_nodes;
  model::scheduler::Acquired acquired;
  acquired.app = app.index;
  acquired.containers.reserve(attempt.granted.size());
  answer.granted.reserve(attempt.granted.size());
  for (const model::ContainerId& id : std::exchange(attempt.granted, {})) {
    Container* container = app.containers.Find(id);
    if (!container || container->state != model::rm::ContainerState::kAllocated) continue;
    container->state = model::rm::ContainerState::kAcquired;
    answer.granted.push_back(InfoOf(*container));
    acquired.containers.push_back(id);
    if (attempt.token_nodes.Insert(container->node)) answer.new_nodes.push_back(container->node);
  }
  if (!acquired.containers.empty() && !empty) Tell(std::move(acquired));
  AckToldContainers(attempt);
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
  Emit(std::move(answer));
}

void Core::On(const model::scheduler::PreemptionNotice& effect) {
  App& app = At(effect.app);
  Attempt* attempt = app.current();
  if (!attempt) return;
  (effect.contract ? attempt->preempt_contract : attempt->preempt_strict).insert(effect.container);
}

void Core::On(const model::scheduler::CallFailed& effect) {
  last_failure_ = effect.exception + ": " + effect.message;
  Log("scheduler", "", "", last_failure_);
}

// RMServerUtils.validateAndSplitUpdateResourceRequests; reasons as Hadoop spells them.
void Core::RequestUpdates(App& app, Attempt& attempt, const std::vector<model::rm::ContainerUpdate>& updates) {
  const model::Resources maximum = MaximumAllocation(now_);
  std::set<model::ContainerId> seen;
  for (const model::rm::ContainerUpdate& update : updates) {
    const auto fail = [&](const char* reason, int32_t version) {
      attempt.update_errors.push_back({update, reason, version});
    };
    const Container* found = app.containers.Find(update.container);
    if (!found) {
      fail("INVALID_CONTAINER_ID", -1);
      continue;
    }
    const Container& container = *found;
    if (!seen.insert(update.container).second) {
      fail("UPDATE_OUTSTANDING_ERROR", container.version);
      continue;
    }
    if (update.version != container.version) {
      fail("INCORRECT_CONTAINER_VERSION_ERROR", container.version);
      continue;
    }
    if (update.type == model::rm::UpdateType::kPromote || update.type == model::rm::UpdateType::kDemote) {
      fail("UPDATE_TYPE_NOT_SUPPORTED", container.version);
      continue;
    }
    const model::Resources wanted = Normalize(update.capability);
    const bool increase = update.type == model::rm::UpdateType::kIncrease;
    const bool direction_ok = increase ? container.resources.FitsIn(wanted) : wanted.FitsIn(container.resources);
    if (update.capability.AnyNegative() || !update.capability.FitsIn(maximum) || !direction_ok) {
      fail("RESOURCE_OUTSIDE_ALLOWED_RANGE", container.version);
      continue;
    }
    if (container.state != model::rm::ContainerState::kRunning &&
        container.state != model::rm::ContainerState::kAcquired) {
      fail("INVALID_CONTAINER_ID", container.version);
      continue;
    }
    Tell(model::scheduler::ContainerResized{update.container, wanted, increase ? 1u : 2u});
  }
}

void Core::On(const model::rm::FinishMaster& event) {
  App* app = nullptr;
  Attempt* attempt = MutableAttempt(event.attempt, &app);
  if (app && (app->state == model::rm::AppState::kFinishing || app->state == model::rm::AppState::kFinished ||
              app->state == model::rm::AppState::kFailed || app->state == model::rm::AppState::kKilled)) {
    Emit(model::rm::FinishMasterAnswer{event.call, true});
    return;
  }
  if (attempt && !attempt->known && attempt->state == AttemptState::kFinished &&
      app->state == model::rm::AppState::kFinalSaving) {
    // This attempt finished, and only its application's end is still being stored: a repeated call gets its answer.
    app->waiting_calls.emplace_back(WaitsFor::kUnregistered, event.call);
    return;
  }
  if (!attempt || !attempt->known) {
    Refuse(event.call, "InvalidApplicationMasterRequestException",
           "Application doesn't exist in cache " + ToString(event.attempt));
    return;
  }
  attempt->last_seen = now_;
  if (attempt->response_id < 0) {
    Refuse(event.call, "ApplicationMasterNotRegisteredException",
           "Application Master is trying to unregister before registering for: " + ToString(app->submission.id));
    return;
  }
  app->waiting_calls.emplace_back(WaitsFor::kUnregistered, event.call);
  if (attempt->state != AttemptState::kRunning) return;  // being stored: the answer comes with it
  attempt->unregistration = std::make_unique<Unregistration>(
      Unregistration{event.final_status, event.diagnostics, event.tracking_url.empty() ? "N/A" : event.tracking_url});
  SaveFinal(*app, *attempt, app->submission.unmanaged ? AttemptState::kFinished : AttemptState::kFinishing, "",
            model::rm::kExitInvalid);
  AttemptUnregistered(*app);
}

}  // namespace fairlead::rm
