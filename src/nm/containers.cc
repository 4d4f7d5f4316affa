// The part of the nm core that moves containers through their states (Hadoop: ContainerImpl, ContainerLaunch,
// ContainersMonitorImpl).

#include <algorithm>
#include <utility>

#include "nm/nm.h"

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

Container* Nm::FindContainer(const model::ContainerId& id) {
  const auto at = containers_.find(id);
  return at == containers_.end() ? nullptr : &at->second;
}

void Nm::SetState(Container& container, ContainerState state, const std::string& detail) {
  out_->push_back(StateChanged{ToString(container.record.spec.id), std::string(EnumName(container.state)),
                               std::string(EnumName(state)), detail});
  container.state = state;
}

void Nm::AddDiagnostics(Container& container, const std::string& text) const {
  container.Say(text, wall_, config_.diagnostics_bytes_max);
}

// ---- Calls --------------------------------------------------------------------------------------------------------

std::optional<Refusal> Nm::CheckStart(const model::ApplicationAttemptId& attempt, const ContainerSpec& spec,
                                      bool is_start) const {
  const std::string head =
      std::string("Unauthorized request to ") + (is_start ? "start container." : "increase container resource.");
  const auto refuse = [&](const char* exception, std::string message) -> std::optional<Refusal> {
    return Refusal{spec.id, exception, std::move(message)};
  };
  if (attempt.app != spec.id.attempt.app) {
    return refuse("YarnException",
                  head + "\nNMToken for application attempt : " + ToString(attempt) + " was used for " +
                      (is_start ? "starting " : "increasing resource of ") +
                      "container with container token issued for application attempt : " + ToString(spec.id.attempt));
  }
  if (is_start && starts_.Has(spec.id)) {
    return refuse("YarnException",
                  head + "\n Attempt to relaunch the same container with id " + ToString(spec.id) + ".");
  }
  if (spec.token_expires < wall_) {
    return refuse("YarnException", head + "\nThis token is expired. current time is " + std::to_string(wall_.ms) +
                                       " found " + std::to_string(spec.token_expires.ms) +
                                       "\nNote: System times on machines may be out of sync. Check system time and "
                                       "time zones.");
  }
  if (config_.check_rm_identifier && spec.rm_identifier != link_.rm_identifier()) {
    return refuse("InvalidContainerException",
                  "\nContainer " + ToString(spec.id) + " rejected as it is allocated by a previous RM");
  }
  for (const ServiceData& service : spec.service_data) {
    if (!config_.services.contains(service.service))
      return refuse("InvalidAuxServiceException", "The auxService:" + service.service + " does not exist");
  }
  return std::nullopt;
}

void Nm::On(const StartContainers& event) {
  if (!link_.ever_registered()) {  // not yet taken by the resource manager
    out_->push_back(CallRefused{event.call, "NMNotYetReadyException",
                                "Rejecting new containers as NodeManager has not yet connected with ResourceManager"});
    return;
  }
  PendingStart pending;
  pending.answer.call = event.call;
  Rows rows;  // what this call writes is one transaction of its own
  for (const ContainerSpec& spec : event.containers) {
    std::optional<Refusal> refusal = CheckStart(event.attempt, spec, true);
    if (!refusal && stop_) {
      refusal = Refusal{spec.id, "YarnException",
                        "Container start failed as the NodeManager is in the process of shutting down"};
    }
    if (refusal) {
      pending.answer.failed.push_back(std::move(*refusal));
      continue;
    }
    Container& container = containers_[spec.id];
    container.record.spec = spec;
    container.record.started = wall_;
    starts_.Note(spec.id, spec.token_expires);
    pending.containers.push_back(spec.id);
    apps_.Join(spec, rows, *out_);
    rows.Put(container.record);
  }
  if (pending.containers.empty()) {
    out_->push_back(std::move(pending.answer));
    return;
  }
  Commit(std::move(rows), std::move(pending));
}

void Nm::Commit(Rows rows, Pending pending) {
  rows_.Commit(0, *out_);
  rows.Commit(next_txn_, *out_);
  pending_.emplace(next_txn_++, std::move(pending));
}

void Nm::On(const StopContainers& event) {
  CallAnswer answer;
  answer.call = event.call;
  for (const model::ContainerId& id : event.containers) {
    if (event.attempt.app != id.attempt.app) {
      answer.failed.push_back(
          {id, "YarnException",
           ToString(event.attempt) + " attempted to stop non-application container : " + ToString(id)});
      continue;
    }
    Container* container = FindContainer(id);
    if (!container && !starts_.RecentlyStopped(id)) {
      answer.failed.push_back(
          {id, "YarnException", "Container " + ToString(id) + " is not handled by this NodeManager"});
      continue;
    }
    if (container) Kill(*container, model::kExitKilledByMaster, "Container killed by the ApplicationMaster.");
    answer.succeeded.push_back(id);
  }
  out_->push_back(std::move(answer));
}

void Nm::On(const SignalContainer& event) {
  if (event.attempt.app == event.container.attempt.app) SendSignal(event.container, event.command);
  out_->push_back(CallAnswer{event.call, {event.container}, {}});
}

void Nm::SendSignal(const model::ContainerId& id, SignalCommand command) {
  const Container* container = FindContainer(id);
  if (!container || container->state != ContainerState::kRunning) return;
  const SignalKind kind = command == SignalCommand::kThreadDump         ? SignalKind::kThreadDump
                          : command == SignalCommand::kGracefulShutdown ? SignalKind::kTerminate
                                                                        : SignalKind::kKill;
  out_->push_back(Signal{id, kind});
}

void Nm::On(const UpdateContainers& event) {
  CallAnswer answer;
  answer.call = event.call;
  for (const ContainerSpec& update : event.containers) {
    std::optional<Refusal> refusal = CheckStart(event.attempt, update, false);
    Container* container = FindContainer(update.id);
    if (!refusal && !container) {
      refusal = Refusal{update.id, "YarnException",
                        "Container " + ToString(update.id) + " is not handled by this NodeManager"};
    } else if (!refusal && container->state != ContainerState::kRunning) {
      refusal = Refusal{update.id, "YarnException",
                        "Unable to change resource for container " + ToString(update.id) + " in state " +
                            std::string(EnumName(container->state))};
    } else if (!refusal && update.version <= container->record.spec.version) {
      refusal = Refusal{update.id, "YarnException",
                        "Container " + ToString(update.id) + " has version " +
                            std::to_string(container->record.spec.version) + ", the update token has version " +
                            std::to_string(update.version)};
    }
    if (refusal) {
      answer.failed.push_back(std::move(*refusal));
      continue;
    }
    container->record.spec.resources = update.resources;
    container->record.spec.version = update.version;
    rows_.Put(container->record);
    container->increase.Arise();
    room_.Resize(update.id, update.resources);
    out_->push_back(Resize{update.id, update.resources});
    answer.succeeded.push_back(update.id);
    link_.Nudge(now_);
  }
  out_->push_back(std::move(answer));
}

base::Result<ContainerReport> Nm::Status(const model::ApplicationAttemptId& attempt,
                                         const model::ContainerId& id) const {
  if (attempt.app != id.attempt.app) {
    return base::Error{ToString(attempt) + " attempted to get status for non-application container : " + ToString(id)};
  }
  if (const auto at = containers_.find(id); at != containers_.end()) return at->second.Report();
  if (starts_.RecentlyStopped(id)) {
    return base::Error{"Container " + ToString(id) + " was recently stopped on node manager."};
  }
  return base::Error{"Container " + ToString(id) + " is not handled by this NodeManager"};
}

base::Result<std::vector<LinkStatus>> Nm::Localization(const model::ApplicationAttemptId& attempt,
                                                       const model::ContainerId& id) const {
  if (const auto known = Status(attempt, id); !known) return known.error();
  return containers_.at(id).links.Status();
}

// ---- From start to running ----------------------------------------------------------------------------------------

void Nm::Begin(Container& container) {
  const ContainerSpec& spec = container.record.spec;
  if (apps_.Find(spec.id.attempt.app)->state != AppState::kRunning) {
    Kill(container, model::kExitKilledAfterAppCompletion,
         "Container killed on application-finish event: the application is already finishing on this node");
    return;
  }
  apps_.GiveServiceData(spec, rows_, *out_);
  container.services_told = true;
  out_->push_back(ServiceContainer{spec.id, spec.user, spec.resources, spec.is_master, false});
  container.links.Begin(cache_, spec, now_, *out_);
  if (container.links.complete()) {
    Launch(container, false);
  } else {
    SetState(container, ContainerState::kLocalizing);
  }
}

void Nm::ResourceFailed(Container& container, const std::string& report, ResourceNumber number) {
  if (container.state != ContainerState::kLocalizing) {  // asked for by a localize call
    AddDiagnostics(container, report);
    const std::set<std::string> gone = container.links.Failed(number, report);
    std::erase_if(container.record.spec.local_resources, [&](const auto& r) { return gone.contains(r.link); });
    rows_.Put(container.record);
    return;
  }
  SetState(container, ContainerState::kLocalizationFailed, report);
  AddDiagnostics(container, report + "\n");
  container.record.exit_status = model::kExitInvalid;
  ++counters_.failed;
  Finish(container);
}

void Nm::On(const ResourceFetched& event) {
  if (!event.error.empty()) {
    const std::string report = FailureText(cache_.Find(event.number), event, now_);
    for (const model::ContainerId& id : cache_.Failed(event.number)) {
      Container* container = FindContainer(id);
      if (container && !container->record.done) ResourceFailed(*container, report, event.number);
    }
    return;
  }
  if (!cache_.Arrived(event.number, event.path, event.bytes, now_)) {
    out_->push_back(RemoveResource{event.number, event.path, {}});
    return;
  }
  const ResourceCache::Entry* entry = cache_.Find(event.number);
  rows_.Put(entry->record);
  const std::set<model::ContainerId> waiting(entry->users.begin(), entry->users.end());
  for (const model::ContainerId& id : waiting) {
    Container* container = FindContainer(id);
    if (!container || !container->links.Arrived(event.number, event.bytes)) continue;
    if (container->state != ContainerState::kLocalizing) {
      AddLinks(*container, event.number);
    } else if (container->links.complete()) {
      Launch(*container, false);
    }
  }
}

void Nm::Launch(Container& container, bool relaunch) {
  SetState(container, relaunch ? ContainerState::kRelaunching : ContainerState::kScheduled);
  const ContainerSpec& spec = container.record.spec;
  if (room_.Take(spec.id, spec.resources)) Run(container, relaunch);
}

void Nm::Run(const Container& container, bool relaunch) {
  out_->push_back(model::nm::Launch{container.record.spec, container.links.Ready(cache_),
                                    container.links.Counters(now_), relaunch});
}

void Nm::On(const ContainerRunning& event) {
  Container* container = FindContainer(event.container);
  if (!container || container->record.done) return;
  container->pid = event.pid;
  const bool attached = std::exchange(container->attaching, false);
  if (attached && container->state != ContainerState::kKilling)
    LocalizeMore(*container, container->record.spec.local_resources);
  if (container->state != ContainerState::kScheduled && container->state != ContainerState::kRelaunching) return;
  if (attached && !container->services_told) {
    const ContainerSpec& spec = container->record.spec;
    container->services_told = true;
    out_->push_back(ServiceContainer{spec.id, spec.user, spec.resources, spec.is_master, false});
  }
  if (!attached) ++counters_.launched;
  SetState(*container, ContainerState::kRunning, "pid " + std::to_string(event.pid));
  link_.Nudge(now_);
}

void Nm::On(const ContainerAbsent& event) {
  Container* container = FindContainer(event.container);
  if (!container || !container->attaching || container->record.done) return;
  container->attaching = false;
  room_.Leave(event.container);
  container->record.restart_asked = false;
  if (container->state == ContainerState::kKilling) {
    AddDiagnostics(*container, "Container is killed before being launched.\n");
    Finish(*container);
    return;
  }
  Begin(*container);
}

void Nm::On(const LaunchFailed& event) {
  Container* container = FindContainer(event.container);
  if (!container || container->record.done) return;
  AddDiagnostics(*container, event.reason + "\n");
  if (container->state != ContainerState::kKilling) {
    container->record.exit_status = event.exit_code;
    SetState(*container, ContainerState::kExitedWithFailure, event.reason);
    ++counters_.failed;
  }
  Finish(*container);
}

// ---- To the end ---------------------------------------------------------------------------------------------------

void Nm::Kill(Container& container, int32_t exit_status, const std::string& reason) {
  if (container.record.done || container.state == ContainerState::kKilling) return;
  container.record.exit_status = exit_status;
  AddDiagnostics(container, reason + "\n");
  ++counters_.killed;
  const bool has_process =
      container.attaching || (container.state == ContainerState::kScheduled && room_.Holds(container.record.spec.id)) ||
      container.state == ContainerState::kRunning || container.state == ContainerState::kReinitializing ||
      (container.state == ContainerState::kRelaunching && container.relaunch_at == base::Instant::Max());
  if (!has_process) {
    AddDiagnostics(container, "Container is killed before being launched.\n");
    Finish(container);
    return;
  }
  container.record.kill_asked = true;
  rows_.Put(container.record);
  SetState(container, ContainerState::kKilling, reason);
  Terminate(container);
}

void Nm::Terminate(Container& container) {
  out_->push_back(Signal{container.record.spec.id, SignalKind::kTerminate});
  container.kill_at = now_ + config_.kill_delay;
}

void Nm::On(const ContainerExited& event) {
  Container* container = FindContainer(event.container);
  if (!container || container->record.done) return;
  container->attaching = false;
  const int64_t pid = std::exchange(container->pid, 0);
  if (container->state == ContainerState::kKilling) {
    // As Hadoop: a process that ended by the signal gets the killer's status, one that ended in its own way keeps its
    // own.
    if (event.cause == EndCause::kExit && !model::EndedBySignal(event.exit_code)) {
      container->record.exit_status = event.exit_code;
    }
    if (event.exit_code != 0) container->SayExit(event, wall_, config_.diagnostics_bytes_max);
    Finish(*container);
  } else if (container->state == ContainerState::kReinitializing && StartAgain(*container, event)) {
    return;
  } else if (container->state == ContainerState::kScheduled || container->state == ContainerState::kRelaunching ||
             container->state == ContainerState::kRunning || container->state == ContainerState::kReinitializing) {
    ExitedByItself(*container, event, pid);
  }
}

void Nm::ExitedByItself(Container& container, const ContainerExited& event, int64_t pid) {
  ContainerRecord& record = container.record;
  record.exit_status = event.exit_code;
  if (event.cause == EndCause::kExit && event.exit_code == 0) {
    SetState(container, ContainerState::kExitedWithSuccess);
    ++counters_.completed;
    Finish(container);
    return;
  }
  std::string detail = "exit code " + std::to_string(event.exit_code);
  switch (event.cause) {
    case EndCause::kMemoryLimit:
      record.exit_status = model::kExitExceededPhysicalMemory;
      detail = OverLimitText(container, pid, false, std::max(event.peak_bytes, container.PhysicalLimit()),
                             config_.virtual_ratio);
      AddDiagnostics(container, detail + "The kernel's memory limit of the container ended it.\n");
      AddDiagnostics(container, event.diagnostics + "\n");
      break;
    case EndCause::kAgentAway:
      record.exit_status = model::kExitAborted;
      detail = "its node agent stayed away longer than configured";
      AddDiagnostics(container, "Container ended because " + detail + ".\n");
      break;
    case EndCause::kLost:
      record.exit_status = model::kExitLost;
      detail = "its exit code is lost";
      AddDiagnostics(container, "Container exited with a lost exit code: its supervisor is gone.\n");
      break;
    case EndCause::kExit:
      container.SayExit(event, wall_, config_.diagnostics_bytes_max);
      if (model::EndedBySignal(event.exit_code)) AddDiagnostics(container, "Killed by external signal\n");
      if (const std::string signal = SignalOf(event.exit_code); !signal.empty()) {
        detail += " (" + signal + ")";
        AddDiagnostics(container, "Exit code " + std::to_string(event.exit_code) + " stands for " + signal + ".\n");
      }
      if (!stop_ && container.TakeRelaunch(event.exit_code, wall_)) {
        rows_.Put(record);
        container.relaunch_at = now_ + base::Duration::Millis(std::max<int64_t>(record.spec.retry.interval_ms, 0));
        return SetState(container, ContainerState::kRelaunching, "exit code " + std::to_string(event.exit_code));
      }
      break;
  }
  SetState(container, ContainerState::kExitedWithFailure, detail);
  ++counters_.failed;
  Finish(container);
}

void Nm::Finish(Container& container) {
  const ContainerSpec& spec = container.record.spec;
  container.links.Release(cache_, spec.id, now_);
  container.kill_at = base::Instant::Max();
  container.relaunch_at = base::Instant::Max();
  container.usage = {};
  room_.Leave(spec.id);
  container.end.Arise();
  container.record.done = true;
  container.record.finished = wall_;
  SetState(container, ContainerState::kDone, "exit status " + std::to_string(container.record.exit_status));
  rows_.Put(container.record);
  out_->push_back(ContainerEnded{spec.id, spec.is_master, container.record.exit_status});
  out_->push_back(CleanContainer{spec.id, spec.user});
  if (container.services_told)
    out_->push_back(ServiceContainer{spec.id, spec.user, spec.resources, spec.is_master, true});
  apps_.Ended(spec.id);
  link_.Nudge(now_);
  MaybeCleanApp(spec.id.attempt.app);
}

void Nm::Forget(model::ContainerId id) {
  containers_.erase(id);
  starts_.Stopped(id, now_, wall_, rows_);
}

// ---- Memory -------------------------------------------------------------------------------------------------------

void Nm::On(const Usage& event) {
  node_use_ = event.node;
  for (const ContainerUsage& sample : event.containers) {
    Container* container = FindContainer(sample.container);
    if (!container || container->record.done) continue;
    container->usage = sample;
    container->measured_anew = true;
    if (container->state != ContainerState::kRunning) continue;
    if (const auto status = container->OverLimit(config_)) {
      const bool is_virtual = *status == model::kExitExceededVirtualMemory;
      Kill(*container, *status,
           OverLimitText(*container, container->pid, is_virtual, sample.use.physical_bytes, config_.virtual_ratio));
    }
  }
}

}  // namespace fairlead::nm
