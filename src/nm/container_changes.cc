// Calls about running containers: more resources, a new start of the process (Hadoop:
// ContainerManagerImpl.localize, restartContainer; ContainerImpl.ReInitializeContainerTransition).

#include <algorithm>

#include "base/codec.h"
#include "nm/nm.h"
#include "nm/tables.h"

namespace fairlead::nm {

using namespace model::nm;  // NOLINT: the core speaks its own events
using model::ToString;

std::optional<std::string> Nm::NotRunning(const model::ApplicationAttemptId& attempt, const model::ContainerId& id,
                                          const char* operation) const {
  if (attempt.app != id.attempt.app) {
    return "ApplicationMaster not authorized to perform [" + std::string(operation) + "] on Container [" +
           ToString(id) + "]!!";
  }
  const Container* container = FindContainer(id);
  if (!container) return "Specified " + ToString(id) + " does not exist!";
  if (container->state == ContainerState::kRunning) return std::nullopt;
  const bool restarting = container->state == ContainerState::kReinitializing;
  return "Cannot perform " + std::string(operation) + " on [" + ToString(id) + "]. Current state is [" +
         std::string(EnumName(container->state)) + ", isReInitializing=" + (restarting ? "true" : "false") +
         "]. Container Execution Type is [GUARANTEED].";
}

/// The container's row in a transaction of its own: the call is answered when it is stored.
void Nm::PersistChange(const Container& container, PendingChange change) {
  FlushRows();
  Store(container);
  const uint64_t txn = next_txn_++;
  pending_changes_.emplace(txn, std::move(change));
  out_->push_back(Persist{txn, std::exchange(rows_, {})});
}

void Nm::On(const LocalizeContainer& event) {
  if (const auto refusal = NotRunning(event.attempt, event.container, "LOCALIZE")) {
    out_->push_back(CallRefused{event.call, "YarnException", *refusal});
    return;
  }
  Container& container = *FindContainer(event.container);
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
  PersistChange(container, std::move(change));
}

void Nm::On(const RestartContainer& event) {
  if (const auto refusal = NotRunning(event.attempt, event.container, "RE_INIT")) {
    out_->push_back(CallRefused{event.call, "YarnException", *refusal});
    return;
  }
  Container& container = *FindContainer(event.container);
  container.record.restart_asked = true;
  PersistChange(container, {event.call, event.container, {}});
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
    if (container->state == ContainerState::kRunning) RestartProcess(*container);
  } else {
    LocalizeMore(*container, change.resources);
  }
}

void Nm::LocalizeMore(Container& container, const std::vector<LocalResource>& resources) {
  std::set<ResourceNumber> ready;
  for (const LocalResource& resource : resources) {
    container.failed_links.erase(resource.link);
    if (Acquire(container, resource)) ready.insert(container.resources.back().second);
  }
  for (const ResourceNumber number : ready) AddReadyLinks(container, number);
}

void Nm::AddReadyLinks(const Container& container, ResourceNumber number) {
  AddLinks add{container.record.spec.id, container.record.spec.user, {}};
  for (const auto& [link, other] : container.resources) {
    if (other == number) add.links.push_back({link, cache_.Find(number)->record.path});
  }
  if (!add.links.empty()) out_->push_back(std::move(add));
}

void Nm::RestartProcess(Container& container) {
  AddDiagnostics(container, "Container will be Restarted.\n");
  SetState(container, ContainerState::kReinitializing);
  Terminate(container);
}

/// A process that ended by the restart's signal starts again in the same directory, with its retries back; one that
/// ended in its own way ends the container, as in Hadoop.
bool Nm::StartAgain(Container& container, const ContainerExited& event) {
  container.kill_at = base::Instant::Max();
  container.record.restart_asked = false;
  if (event.cause != EndCause::kExit || !model::EndedBySignal(event.exit_code) || stopping_) return false;
  AddDiagnostics(container, "Container killed on request. Exit code is " + std::to_string(event.exit_code) + "\n");
  container.record.relaunches = 0;
  container.relaunch_times.clear();
  Store(container);
  Launch(container, true);
  return true;
}

}  // namespace fairlead::nm
