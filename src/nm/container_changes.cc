// Calls about running containers: more resources, a new start of the process (Hadoop:
// ContainerManagerImpl.localize, restartContainer; ContainerImpl.ReInitializeContainerTransition).

#include <algorithm>

#include "nm/nm.h"

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

namespace {

/// Why `operation` cannot be done on the container; nothing where it runs.
std::optional<std::string> NotRunning(const model::ApplicationAttemptId& attempt, const model::ContainerId& id,
                                      const Container* container, const char* operation) {
  if (attempt.app != id.attempt.app) {
    return "ApplicationMaster not authorized to perform [" + std::string(operation) + "] on Container [" +
           ToString(id) + "]!!";
  }
  if (!container) return "Specified " + ToString(id) + " does not exist!";
  if (container->state == ContainerState::kRunning) return std::nullopt;
  const bool restarting = container->state == ContainerState::kReinitializing;
  return "Cannot perform " + std::string(operation) + " on [" + ToString(id) + "]. Current state is [" +
         std::string(EnumName(container->state)) + ", isReInitializing=" + (restarting ? "true" : "false") +
         "]. Container Execution Type is [GUARANTEED].";
}

}  // namespace

void Nm::On(const LocalizeContainer& event) {
  Container* const running = FindContainer(event.container);
  if (const auto refusal = NotRunning(event.attempt, event.container, running, "LOCALIZE")) {
    out_->push_back(CallRefused{event.call, "YarnException", *refusal});
    return;
  }
  Container& container = *running;
  PendingChange change{event.call, event.container, {}};
  std::vector<LocalResource>& known = container.record.spec.local_resources;
  for (const LocalResource& resource : event.resources) {
    // A link stays what it is, as in ResourceSet.
    if (std::any_of(known.begin(), known.end(), [&](const auto& k) { return k.link == resource.link; })) continue;
    known.push_back(resource);
    change.resources.push_back(resource);
  }
  if (change.resources.empty()) {
    out_->push_back(CallAnswer{event.call, {event.container}, {}});
    return;
  }
  Commit(Rows(container.record), std::move(change));
}

void Nm::On(const RestartContainer& event) {
  Container* const container = FindContainer(event.container);
  if (const auto refusal = NotRunning(event.attempt, event.container, container, "RE_INIT")) {
    out_->push_back(CallRefused{event.call, "YarnException", *refusal});
    return;
  }
  container->record.restart_asked = true;
  Commit(Rows(container->record), PendingChange{event.call, event.container, {}});
}

void Nm::ChangeStored(const PendingChange& change, const Persisted& event) {
  Container* container = FindContainer(change.container);
  const bool is_restart = change.resources.empty();
  if (!event.ok) {
    if (container && is_restart) container->record.restart_asked = false;
    if (container) {
      std::erase_if(container->record.spec.local_resources, [&](const LocalResource& r) {
        return std::any_of(change.resources.begin(), change.resources.end(),
                           [&](const LocalResource& refused) { return refused.link == r.link; });
      });
    }
    out_->push_back(CallRefused{change.call, "YarnException",
                                "Container " + ToString(change.container) + " cannot be recorded: " + event.error});
    return;
  }
  out_->push_back(CallAnswer{change.call, {change.container}, {}});
  // It may have ended while its row was on the way.
  if (!container || container->record.done || container->state == ContainerState::kKilling) return;
  if (is_restart) {
    if (container->state != ContainerState::kRunning) return;
    AddDiagnostics(*container, "Container will be Restarted.\n");
    SetState(*container, ContainerState::kReinitializing);
    Terminate(*container);
  } else {
    LocalizeMore(*container, change.resources);
  }
}

void Nm::LocalizeMore(Container& container, const std::vector<LocalResource>& resources) {
  for (const ResourceNumber number : container.links.Add(cache_, container.record.spec, resources, *out_)) {
    AddLinks(container, number);
  }
}

void Nm::AddLinks(const Container& container, ResourceNumber number) {
  const ContainerSpec& spec = container.record.spec;
  std::vector<Link> links = container.links.Ready(cache_, number);
  if (!links.empty()) out_->push_back(model::nm::AddLinks{spec.id, spec.user, std::move(links)});
}

/// A process that ended by the restart's signal starts again in the same directory, with its retries back; one that
/// ended in its own way ends the container, as in Hadoop.
bool Nm::StartAgain(Container& container, const ContainerExited& event) {
  container.kill_at = base::Instant::Max();
  container.record.restart_asked = false;
  if (event.cause != EndCause::kExit || !model::EndedBySignal(event.exit_code) || stop_) return false;
  AddDiagnostics(container, "Container killed on request. Exit code is " + std::to_string(event.exit_code) + "\n");
  container.record.relaunches = 0;
  container.relaunch_times.clear();
  rows_.Put(container.record);
  Launch(container, true);
  return true;
}

}  // namespace fairlead::nm
