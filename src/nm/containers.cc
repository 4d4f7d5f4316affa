// The part of the nm core that moves containers through their states (Hadoop: ContainerImpl, ContainerLaunch,
// ContainersMonitorImpl).

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <utility>

#include "base/stored.h"
#include "nm/nm.h"
#include "nm/tables.h"

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

namespace {

/// "2026-01-31 12:34:56.789", UTC.
std::string TimeText(base::WallTime wall) {
  const std::time_t seconds = wall.ms / 1000 - (wall.ms % 1000 < 0);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02d %02d:%02d:%02d.%03d", parts.tm_year + 1900, parts.tm_mon + 1,
                parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>(wall.ms - int64_t{seconds} * 1000));
  return text;
}

/// As StringUtils.TraditionalBinaryPrefix.long2String(n, "", 1) of Hadoop: "1.2 G", "512 ".
std::string BinaryPrefix(int64_t bytes) {
  static constexpr char kSigns[] = {'K', 'M', 'G', 'T', 'P'};
  if (bytes < 1024) return std::to_string(bytes) + " ";
  int power = 0;
  int64_t unit = 1024;
  while (power < 4 && bytes / unit >= 1024) {
    unit <<= 10;
    ++power;
  }
  char text[48];
  if (bytes % unit == 0) {
    std::snprintf(text, sizeof text, "%lld %c", static_cast<long long>(bytes / unit), kSigns[power]);
  } else {
    std::snprintf(text, sizeof text, "%.1f %c", static_cast<double>(bytes) / static_cast<double>(unit), kSigns[power]);
  }
  return text;
}

/// "signal 11 (SIGSEGV)", of an exit code as shells and supervisors give it; "" for others. Numbers are Linux's.
std::string SignalOf(int32_t exit_code) {
  static constexpr const char* kNames[] = {"HUP",  "INT",    "QUIT", "ILL",   "TRAP", "ABRT", "BUS",  "FPE",
                                           "KILL", "USR1",   "SEGV", "USR2",  "PIPE", "ALRM", "TERM", "STKFLT",
                                           "CHLD", "CONT",   "STOP", "TSTP",  "TTIN", "TTOU", "URG",  "XCPU",
                                           "XFSZ", "VTALRM", "PROF", "WINCH", "IO",   "PWR",  "SYS"};
  const int32_t number = exit_code - 128;
  if (number < 1 || number > static_cast<int32_t>(std::size(kNames))) return {};
  return "signal " + std::to_string(number) + " (SIG" + kNames[number - 1] + ")";
}

int64_t PhysicalLimit(const ContainerSpec& spec) { return spec.resources.memory_mib() << 20; }

}  // namespace

Nm::Container* Nm::FindContainer(const model::ContainerId& id) {
  const auto at = containers_.find(id);
  return at == containers_.end() ? nullptr : &at->second;
}

const Nm::Container* Nm::FindContainer(const model::ContainerId& id) const {
  const auto at = containers_.find(id);
  return at == containers_.end() ? nullptr : &at->second;
}

void Nm::SetState(Container& container, ContainerState state, const std::string& detail) {
  out_->push_back(StateChanged{ToString(container.record.spec.id), std::string(EnumName(container.state)),
                               std::string(EnumName(state)), detail});
  container.state = state;
}

void Nm::Store(const Container& container) {
  Put(kContainersTable, ToString(container.record.spec.id), base::EncodeStored(container.record));
}

void Nm::AddDiagnostics(Container& container, const std::string& text) const {
  std::string& all = container.record.diagnostics;
  all += "[" + TimeText(wall_) + "]" + text;
  if (all.size() > config_.diagnostics_bytes_max) all.erase(0, all.size() - config_.diagnostics_bytes_max);
}

// In the pieces that Hadoop's ContainerLaunch adds one after the other, each with its time.
void Nm::AddExitDiagnostics(Container& container, const ContainerExited& event) const {
  if (model::EndedBySignal(event.exit_code)) {
    AddDiagnostics(container, "Container killed on request. Exit code is " + std::to_string(event.exit_code) + "\n");
  }
  const size_t exit_line = event.diagnostics.find("Container exited with");
  if (exit_line == std::string::npos || exit_line == 0) return AddDiagnostics(container, event.diagnostics + "\n");
  AddDiagnostics(container, event.diagnostics.substr(0, exit_line));
  AddDiagnostics(container, event.diagnostics.substr(exit_line) + "\n");
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
  if (is_start && IsRelaunch(spec.id)) {
    return refuse("YarnException",
                  head + "\n Attempt to relaunch the same container with id " + ToString(spec.id) + ".");
  }
  if (spec.token_expires < wall_) {
    return refuse("YarnException", head + "\nThis token is expired. current time is " + std::to_string(wall_.ms) +
                                       " found " + std::to_string(spec.token_expires.ms) +
                                       "\nNote: System times on machines may be out of sync. Check system time and "
                                       "time zones.");
  }
  if (config_.check_rm_identifier && spec.rm_identifier != rm_identifier_) {
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
  if (!ever_registered_) {
    out_->push_back(CallRefused{event.call, "NMNotYetReadyException",
                                "Rejecting new containers as NodeManager has not yet connected with ResourceManager"});
    return;
  }
  PendingStart pending;
  pending.answer.call = event.call;
  std::vector<StoreRow> rows;
  rows_.swap(rows);  // what this call writes is one transaction of its own
  for (const ContainerSpec& spec : event.containers) {
    std::optional<Refusal> refusal = CheckStart(event.attempt, spec, true);
    if (!refusal && stopping_) {
      refusal = Refusal{spec.id, "YarnException",
                        "Container start failed as the NodeManager is in the process of shutting down"};
    }
    if (refusal) {
      pending.answer.failed.push_back(std::move(*refusal));
      continue;
    }
    App& app = OpenApp(spec);
    Container& container = containers_[spec.id];
    container.record.spec = spec;
    container.record.started = wall_;
    seen_[spec.id] = spec.token_expires;
    app.live.insert(spec.id);
    app.all.insert(spec.id);
    pending.containers.push_back(spec.id);
    StoreApp(app);
    Store(container);
  }
  rows_.swap(rows);
  if (pending.containers.empty()) {
    out_->push_back(std::move(pending.answer));
    return;
  }
  FlushRows();
  const uint64_t txn = next_txn_++;
  pending_starts_.emplace(txn, std::move(pending));
  out_->push_back(Persist{txn, std::move(rows)});
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
    if (!container && !stopped_.contains(id)) {
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
  Container* container = FindContainer(event.container);
  if (container && event.attempt.app == event.container.attempt.app) SendSignal(*container, event.command);
  out_->push_back(CallAnswer{event.call, {event.container}, {}});
}

void Nm::SendSignal(Container& container, SignalCommand command) {
  if (container.state != ContainerState::kRunning) return;
  switch (command) {
    case SignalCommand::kThreadDump:
      out_->push_back(Signal{container.record.spec.id, SignalKind::kThreadDump});
      break;
    case SignalCommand::kGracefulShutdown:
      out_->push_back(Signal{container.record.spec.id, SignalKind::kTerminate});
      break;
    case SignalCommand::kForcefulShutdown:
      out_->push_back(Signal{container.record.spec.id, SignalKind::kKill});
      break;
  }
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
    Store(*container);
    increased_.push_back(update.id);
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
  const Container* container = FindContainer(id);
  if (container) return Report(*container);
  if (stopped_.contains(id)) {
    return base::Error{"Container " + ToString(id) + " was recently stopped on node manager."};
  }
  return base::Error{"Container " + ToString(id) + " is not handled by this NodeManager"};
}

base::Result<std::vector<LinkStatus>> Nm::Localization(const model::ApplicationAttemptId& attempt,
                                                       const model::ContainerId& id) const {
  const base::Result<ContainerReport> known = Status(attempt, id);
  if (!known) return known.error();
  std::vector<LinkStatus> links;
  const Container* container = FindContainer(id);
  for (const auto& [link, number] : container->resources) {
    links.push_back({link, !container->missing.contains(number), {}});
  }
  for (const auto& [link, error] : container->failed_links) links.push_back({link, false, error});
  return links;
}

ContainerReport Nm::Report(const Container& container) const {
  const ContainerRecord& record = container.record;
  ContainerReport report;
  report.id = record.spec.id;
  report.complete = record.done;
  report.state = container.state;
  report.resources = record.spec.resources;
  report.priority = record.spec.priority;
  report.diagnostics = record.diagnostics;
  report.exit_status = record.exit_status;
  report.created = record.spec.token_created;
  report.version = record.spec.version;
  report.allocation_request_id = record.spec.allocation_request_id;
  return report;
}

// ---- From start to running ----------------------------------------------------------------------------------------

void Nm::Begin(Container& container) {
  App& app = apps_.at(container.record.spec.id.attempt.app);
  if (app.state != AppState::kRunning) {
    Kill(container, model::kExitKilledAfterAppCompletion,
         "Container killed on application-finish event: the application is already finishing on this node");
    return;
  }
  GiveServiceData(app, container.record.spec);
  const ContainerSpec& spec = container.record.spec;
  container.services_told = true;
  out_->push_back(ServiceContainer{spec.id, spec.user, spec.resources, spec.is_master, false});
  Localize(container);
}

void Nm::Localize(Container& container) {
  const ContainerSpec& spec = container.record.spec;
  container.localization_began = now_;
  for (const LocalResource& resource : spec.local_resources) {
    if (!Acquire(container, resource)) {
      ++container.counters[2];
      continue;
    }
    container.counters[1] += cache_.Find(container.resources.back().second)->record.bytes;
    ++container.counters[3];
  }
  if (container.missing.empty()) {
    Launch(container, false);
  } else {
    SetState(container, ContainerState::kLocalizing);
  }
}

/// Whether the resource is there already; if not, it comes with ResourceFetched.
bool Nm::Acquire(Container& container, const LocalResource& resource) {
  const ContainerSpec& spec = container.record.spec;
  const ResourceCache::Request request = cache_.Acquire(resource, spec.user, spec.id.attempt.app, spec.id);
  container.resources.emplace_back(resource.link, request.number);
  if (request.is_new)
    out_->push_back(
        Fetch{request.number, cache_.Find(request.number)->record.resource, spec.user, spec.id.attempt.app});
  if (request.ready) {
    ++counters_.resource_hits;
  } else {
    container.missing.insert(request.number);
  }
  return request.ready;
}

/// What ResourceLocalizationService makes of a failure: its localizer of PUBLIC resources puts words around it.
std::string Nm::FailureReport(const ResourceFetched& event) const {
  const ResourceCache::Entry* entry = cache_.Find(event.number);
  if (!entry || entry->record.resource.visibility != Visibility::kPublic) return event.error;
  const LocalResource& resource = entry->record.resource;
  std::string users;
  for (const model::ContainerId& id : entry->users) users += "(" + ToString(id) + ")";
  return "Failed to download resource { { " + resource.url + ", " + std::to_string(resource.timestamp_ms) + ", " +
         std::string(EnumName(resource.type)) + ", " + (resource.pattern.empty() ? "null" : resource.pattern) +
         " },pending,[" + users + "]," + std::to_string(now_.ns) + ",DOWNLOADING} " + event.thrown;
}

void Nm::ResourceFailed(Container& container, const std::string& report, ResourceNumber number) {
  if (container.state != ContainerState::kLocalizing) {  // asked for by a localize call
    AddDiagnostics(container, report);
    std::erase_if(container.resources, [&](const auto& entry) {
      if (entry.second != number) return false;
      container.failed_links[entry.first] = report;
      std::erase_if(container.record.spec.local_resources, [&](const auto& r) { return r.link == entry.first; });
      return true;
    });
    container.missing.erase(number);
    Store(container);
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
    const std::string report = FailureReport(event);
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
  ++counters_.resources_fetched;
  const ResourceCache::Entry* entry = cache_.Find(event.number);
  Put(kResourcesTable, std::to_string(event.number), base::EncodeStored(entry->record));
  const std::set<model::ContainerId> waiting(entry->users.begin(), entry->users.end());
  for (const model::ContainerId& id : waiting) {
    Container* container = FindContainer(id);
    if (!container || container->missing.erase(event.number) == 0) continue;
    container->counters[0] += event.bytes;
    if (container->state != ContainerState::kLocalizing) {
      AddReadyLinks(*container, event.number);
    } else if (container->missing.empty()) {
      Launch(*container, false);
    }
  }
}

// A process starts only when there is room beside those that run. The resource manager gives a container's room away as
// soon as it counts it as ended (released, or lost with its node), which may be before its process is gone; Hadoop's
// ContainerScheduler queues a guaranteed container in the same way.
void Nm::Launch(Container& container, bool relaunch) {
  SetState(container, relaunch ? ContainerState::kRelaunching : ContainerState::kScheduled);
  const bool overtakes = !container.has_room && !waiting_for_room_.empty();
  if (overtakes || (!container.has_room && !HasRoom(container.record.spec.resources))) {
    waiting_for_room_.push_back(container.record.spec.id);
    return;
  }
  Run(container, relaunch);
}

bool Nm::HasRoom(const model::Resources& wanted) const {
  model::Resources used = wanted;
  bool alone = true;
  for (const auto& [id, container] : containers_) {
    if (!container.has_room) continue;
    alone = false;
    used += container.record.spec.resources;
  }
  if (alone) return true;  // the node may have been made smaller since the grant: waiting would help nobody
  // Schedulers that count memory alone give away more cores than there are.
  return config_.room_is_all_types ? used.FitsIn(capacity_) : used.memory_mib() <= capacity_.memory_mib();
}

void Nm::LaunchWaiting() {
  size_t done = 0;
  for (; done < waiting_for_room_.size(); ++done) {
    Container* container = FindContainer(waiting_for_room_[done]);
    if (!container || container->state != ContainerState::kScheduled || container->has_room) continue;  // killed
    if (!HasRoom(container->record.spec.resources)) break;
    Run(*container, false);
  }
  waiting_for_room_.erase(waiting_for_room_.begin(), waiting_for_room_.begin() + static_cast<std::ptrdiff_t>(done));
}

void Nm::Run(Container& container, bool relaunch) {
  container.has_room = true;
  model::nm::Launch launch;
  launch.spec = container.record.spec;
  launch.relaunch = relaunch;
  for (const auto& [link, number] : container.resources) {
    const ResourceCache::Entry* entry = cache_.Find(number);
    if (entry && !container.missing.contains(number)) launch.links.push_back({link, entry->record.path});
  }
  container.counters[4] = (now_ - container.localization_began).millis();
  for (const int64_t counter : container.counters) {
    if (!launch.localization_counters.empty()) launch.localization_counters += ',';
    launch.localization_counters += std::to_string(counter);
  }
  out_->push_back(std::move(launch));
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
  container->has_room = false;
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
      container.attaching || (container.state == ContainerState::kScheduled && container.has_room) ||
      container.state == ContainerState::kRunning || container.state == ContainerState::kReinitializing ||
      (container.state == ContainerState::kRelaunching && container.relaunch_at == base::Instant::Max());
  if (!has_process) {
    AddDiagnostics(container, "Container is killed before being launched.\n");
    Finish(container);
    return;
  }
  container.record.kill_asked = true;
  Store(container);
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
    ExitedAfterKill(*container, event);
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
      detail = OverLimitText(container, pid, false, std::max(event.peak_bytes, PhysicalLimit(record.spec)),
                             container.usage.use.virtual_bytes);
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
      AddExitDiagnostics(container, event);
      if (model::EndedBySignal(event.exit_code)) AddDiagnostics(container, "Killed by external signal\n");
      if (const std::string signal = SignalOf(event.exit_code); !signal.empty()) {
        detail += " (" + signal + ")";
        AddDiagnostics(container, "Exit code " + std::to_string(event.exit_code) + " stands for " + signal + ".\n");
      }
      if (RelaunchLater(container, event.exit_code)) return;
      break;
  }
  SetState(container, ContainerState::kExitedWithFailure, detail);
  ++counters_.failed;
  Finish(container);
}

void Nm::ExitedAfterKill(Container& container, const ContainerExited& event) {
  // As Hadoop: a process that ended by the signal gets the killer's status, one that ended in its own way keeps its
  // own.
  if (event.cause == EndCause::kExit && !model::EndedBySignal(event.exit_code)) {
    container.record.exit_status = event.exit_code;
  }
  if (event.exit_code != 0) AddExitDiagnostics(container, event);
  Finish(container);
}

bool Nm::RelaunchLater(Container& container, int32_t exit_code) {
  const Retry& retry = container.record.spec.retry;
  if (retry.policy == RetryPolicy::kNever || exit_code == 0 || model::EndedBySignal(exit_code) || stopping_)
    return false;
  if (retry.policy == RetryPolicy::kSpecificErrors &&
      std::find(retry.error_codes.begin(), retry.error_codes.end(), exit_code) == retry.error_codes.end())
    return false;
  if (retry.validity_ms > 0) {
    std::erase_if(container.relaunch_times, [&](base::WallTime t) { return wall_.ms - t.ms > retry.validity_ms; });
    if (retry.max_retries >= 0 && std::cmp_greater_equal(container.relaunch_times.size(), retry.max_retries))
      return false;
    container.relaunch_times.push_back(wall_);
  } else if (retry.max_retries >= 0 && container.record.relaunches >= retry.max_retries) {
    return false;
  }
  ++container.record.relaunches;
  Store(container);
  SetState(container, ContainerState::kRelaunching, "exit code " + std::to_string(exit_code));
  container.relaunch_at = now_ + base::Duration::Millis(std::max<int64_t>(retry.interval_ms, 0));
  return true;
}

void Nm::Finish(Container& container) {
  const ContainerSpec& spec = container.record.spec;
  for (const auto& [link, number] : container.resources) cache_.Release(number, spec.id, now_);
  container.resources.clear();
  container.missing.clear();
  container.kill_at = base::Instant::Max();
  container.relaunch_at = base::Instant::Max();
  container.usage = {};
  container.has_room = false;
  container.record.done = true;
  container.record.finished = wall_;
  SetState(container, ContainerState::kDone, "exit status " + std::to_string(container.record.exit_status));
  Store(container);
  out_->push_back(ContainerEnded{spec.id, spec.is_master, container.record.exit_status});
  out_->push_back(CleanContainer{spec.id, spec.user});
  if (container.services_told)
    out_->push_back(ServiceContainer{spec.id, spec.user, spec.resources, spec.is_master, true});
  App& app = apps_.at(spec.id.attempt.app);
  app.live.erase(spec.id);
  link_.Nudge(now_);
  MaybeCleanApp(app);
}

void Nm::Forget(const model::ContainerId& id) {
  containers_.erase(id);
  forget_when_done_.erase(id);
  stopped_[id] = now_ + config_.remember_stopped;
  Remove(kContainersTable, ToString(id));
  if (const auto token = seen_.find(id); token != seen_.end()) KeepToken(id, token->second);
}

// While the token is good, not even a restart of this agent lets it start the container again.
void Nm::KeepToken(const model::ContainerId& id, base::WallTime expires) {
  if (expires < wall_) return;
  Put(kSpentTokensTable, ToString(id), base::EncodeStored(SpentToken{id, expires}));
}

// ---- Memory -------------------------------------------------------------------------------------------------------

void Nm::On(const Usage& event) {
  usage_ = event;
  for (const ContainerUsage& sample : event.containers) {
    Container* container = FindContainer(sample.container);
    if (!container || container->record.done) continue;
    container->usage = sample;
    container->measured_anew = true;
    if (container->state == ContainerState::kRunning) EnforceMemory(*container);
  }
  usage_.containers.clear();
}

void Nm::EnforceMemory(Container& container) {
  const model::MeasuredUse& usage = container.usage.use;
  const int64_t physical_limit = PhysicalLimit(container.record.spec);
  const auto virtual_limit = static_cast<int64_t>(static_cast<double>(physical_limit) * config_.virtual_ratio);
  if (config_.check_virtual && usage.virtual_bytes > virtual_limit) {
    Kill(container, model::kExitExceededVirtualMemory,
         OverLimitText(container, container.pid, true, usage.physical_bytes, usage.virtual_bytes));
  } else if (config_.check_physical && !container.usage.enforced && usage.physical_bytes > physical_limit) {
    Kill(container, model::kExitExceededPhysicalMemory,
         OverLimitText(container, container.pid, false, usage.physical_bytes, usage.virtual_bytes));
  }
}

// ProcfsBasedProcessTree's words. Where the kernel held the limit nothing was ever beyond it, and a container that
// ended before it was measured has no known virtual size: what is not known is not said.
std::string Nm::OverLimitText(const Container& container, int64_t pid, bool is_virtual, int64_t physical,
                              int64_t virtual_bytes) const {
  const int64_t physical_limit = PhysicalLimit(container.record.spec);
  const auto virtual_limit = static_cast<int64_t>(static_cast<double>(physical_limit) * config_.virtual_ratio);
  const int64_t over = is_virtual ? virtual_bytes - virtual_limit : physical - physical_limit;
  std::string text = "Container [" + (pid > 0 ? "pid=" + std::to_string(pid) + "," : std::string()) +
                     "containerID=" + ToString(container.record.spec.id) + "] is running " +
                     (over > 0 ? std::to_string(over) + "B " : "") + "beyond the '" +
                     (is_virtual ? "VIRTUAL" : "PHYSICAL") +
                     "' memory limit. Current usage: " + BinaryPrefix(physical) + "B of " +
                     BinaryPrefix(physical_limit) + "B physical memory used";
  if (virtual_bytes > 0) {
    text += "; " + BinaryPrefix(virtual_bytes) + "B of " + BinaryPrefix(virtual_limit) + "B virtual memory used";
  }
  return text + ". Killing container.\n";
}

}  // namespace fairlead::nm
