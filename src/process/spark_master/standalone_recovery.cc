#include <algorithm>
#include <set>

#include "base/dispatch.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"
#include "process/spark_master/standalone_application.h"
#include "process/spark_master/standalone_cluster.h"
#include "process/spark_master/standalone_store.h"

// What a Standalone Master stores, and how it takes it up after a restart (Master.beginRecovery).

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

constexpr base::Duration kRetry = base::Duration::Seconds(1);

bool IsStored(const scheduler::standalone::Worker& worker) {
  // One that is decommissioned shall not come back by a restart.
  const bool ends = worker.state == sa::WorkerState::kDead || worker.state == sa::WorkerState::kDecommissioned;
  return !worker.id.empty() && !ends;
}

}  // namespace

// ---- storing -------------------------------------------------------------------------------------------------------

/// The rows that an event and what followed from it change.
void StandaloneCluster::CollectRows(const sa::Event& event, std::span<const sa::Effect> effects,
                                    std::vector<env::Row>& rows) {
  if (writer_.store() == nullptr) return;
  const auto put_worker = [&](uint32_t i) {
    workers_[i].stored = true;
    StoredStandaloneWorker stored = ToStored(workers_[i].said);
    stored.from = workers_[i].from;
    rows.push_back(RowOf(kStandaloneWorkers, workers_[i].said.id, stored));
  };
  const auto put_application = [&](uint32_t i) {
    const ApplicationRecord& record = applications_[i];
    if (record.machine == nullptr) return;
    StoredStandaloneApplication stored{
        record.machine->registration().kept, record.started, {}, core_.apps()[i].next_executor};
    for (const auto& [profile, target] : record.targets) stored.targets.push_back(target);
    rows.push_back(RowOf(kStandaloneApplications, record.id, stored));
  };
  const auto put_driver = [&](uint32_t i) {
    const DriverRecord& record = drivers_[i];
    const bool waits = core_.drivers()[i].state == sa::DriverState::kSubmitted;
    rows.push_back(RowOf(kStandaloneDrivers, record.id,
                         StoredStandaloneDriver{record.submission->description, record.submitted, waits}));
  };
  const auto remove = [&](const char* table, const std::string& id) { rows.push_back({table, id, std::nullopt}); };

  std::set<uint32_t> changed;  // applications
  const auto known = [&](sa::AppIndex app) { return applications_.contains(app.value); };
  if (const auto* asked = std::get_if<sa::ExecutorsRequested>(&event); asked != nullptr && known(asked->app)) {
    for (const sa::ProfileTarget& target : asked->targets)
      applications_[asked->app.value].targets[target.profile.id] = target;
    changed.insert(asked->app.value);
  } else if (const auto* over = std::get_if<sa::AppFinished>(&event); over != nullptr && known(over->app)) {
    remove(kStandaloneApplications, applications_[over->app.value].id);
  }
  for (const sa::Effect& effect : effects) {
    base::Dispatch(
        effect,
        [&](const sa::RegisteredWorker& worker) {
          if (!worker.duplicate) put_worker(worker.worker.value);
        },
        [&](const sa::RegisteredApplication& application) { changed.insert(application.app.value); },
        [&](const sa::LaunchExecutor& executor) { changed.insert(executor.app.value); },
        [&](const sa::ApplicationRemoved& removed) {
          remove(kStandaloneApplications, applications_[removed.app.value].id);
        },
        [&](const sa::DriverAccepted& accepted) { put_driver(accepted.driver.value); },
        [&](const sa::LaunchDriver& launched) { put_driver(launched.driver.value); },
        [&](const sa::DriverEnded& ended) {
          remove(kStandaloneDrivers, drivers_[ended.driver.value].id);
          if (ended.state == sa::DriverState::kRelaunching) put_driver(ended.successor.value);
        },
        base::Ignored<sa::KillExecutor, sa::KillDriver, sa::RegisterWorkerFailed, sa::ExecutorAdded,
                      sa::ExecutorUpdated, sa::WorkerRemoved, sa::ApplicationFinished, sa::Answer>{});
  }
  for (const uint32_t application : changed) put_application(application);
}

/// Rows of workers that this event ended.
void StandaloneCluster::CollectLostWorkers(const sa::Event& event, bool recovering, std::vector<env::Row>& rows) {
  const bool may_end = std::holds_alternative<sa::WorkerLost>(event) ||
                       std::holds_alternative<sa::WorkerDecommissioned>(event) ||
                       std::holds_alternative<sa::WorkerRegistered>(event) || recovering != core_.recovering();
  if (writer_.store() == nullptr || !may_end) return;
  for (const auto& [i, worker] : core_.workers()) {
    if (!workers_[i].stored || IsStored(worker)) continue;
    workers_[i].stored = false;
    rows.push_back({kStandaloneWorkers, workers_[i].said.id, std::nullopt});
  }
}

// ---- taking up -----------------------------------------------------------------------------------------------------

base::Result<std::vector<ExecutorSource::Stored>> StandaloneCluster::Load() {
  std::vector<Stored> applications;
  if (writer_.store() == nullptr) return applications;
  std::vector<env::Row> first = {{kStandaloneMaster, kImported, ""}};
  for (const auto& [id, worker] : imported_.workers) first.push_back(RowOf(kStandaloneWorkers, id, worker));
  for (const auto& [id, one] : imported_.applications) first.push_back(RowOf(kStandaloneApplications, id, one));
  for (const auto& [id, driver] : imported_.drivers) first.push_back(RowOf(kStandaloneDrivers, id, driver));
  std::vector<BadRow> bad;
  auto state = first.size() > 1 ? std::exchange(imported_, {}) : LoadStandaloneState(*writer_.store(), bad);
  if (!state) return state.error();
  auto aside = LoadSetAside(*writer_.store());
  if (!aside) return aside.error();
  set_aside_ = std::move(*aside);
  for (const BadRow& row : bad) set_aside_.push_back(SetRowAside(*writer_.store(), log_, row));
  for (const auto& [id, stored] : state->workers) {
    alive_workers_[id] = workers_.next();
    WorkerRecord& record = workers_.Add({FromStored(id, stored)});
    record.from = stored.from;
    record.heard = loop_.Now();
    record.heartbeat = loop_.Wall();
    record.stored = true;
  }
  for (auto& [id, stored] : state->drivers) TakeUpDriver(id, std::move(stored));
  for (auto& [id, stored] : state->applications) {
    applications.push_back({id, stored.registration});
    loaded_applications_[id] = std::move(stored);
  }
  // Where this fails, the next start takes it over again.
  writer_.store()->Commit(std::move(first), alive_([this](const env::CommitStatus& status) {
                            if (!status.ok())
                              log_.Error("the state cannot be stored", {{"why", status.error().message}});
                          }));
  return applications;
}

void StandaloneCluster::TakeUpDriver(const std::string& id, StoredStandaloneDriver stored) {
  ids_.TakeDriver(id, drivers_.next());
  DriverRecord& record = drivers_.Add();
  record.id = id;
  record.submitted = stored.submitted;
  const auto submission = std::make_shared<Submission>();
  submission->description = std::move(stored.description);
  record.submission = submission;
  loaded_drivers_.push_back({EventOf(submission->description), stored.waits});
}

std::unique_ptr<Application> StandaloneCluster::MakeStored(const std::string& id, const es::SparkBuild& build,
                                                           es::RegisterApplication registration,
                                                           Application::Callbacks callbacks) {
  const StoredStandaloneApplication stored = std::move(loaded_applications_.extract(id).mapped());
  auto application =
      std::make_unique<StandaloneApplication>(*this, build, std::move(registration), std::move(callbacks));
  const uint32_t index = applications_.next();
  ApplicationRecord& record = applications_.Add();
  record.id = id;
  record.machine = application.get();
  record.description = WithoutCommand(application->registration().application);
  record.started = stored.started;
  for (const sa::ProfileTarget& target : stored.targets) record.targets[target.profile.id] = target;
  record.next_executor = stored.next_executor;
  ids_.TakeApplication(id, index);
  application->SetId({index}, id, true);
  return application;
}

void StandaloneCluster::Forget(const std::string& id) {
  loaded_applications_.erase(id);
  writer_.store()->Commit({{kStandaloneApplications, id, std::nullopt}}, [](const auto&) {});
}

void StandaloneCluster::SetAside(const std::string& id, const std::string& why) {
  const auto stored = loaded_applications_.extract(id);
  set_aside_.push_back(
      SetRowAside(*writer_.store(), log_, {kStandaloneApplications, id, base::EncodeStored(stored.mapped()), why}));
}

void StandaloneCluster::OnLoaded() {
  if (workers_.empty() && applications_.empty() && drivers_.empty()) return;
  log_.Info("the master recovers", {{"workers", std::to_string(workers_.size())},
                                    {"applications", std::to_string(applications_.size())},
                                    {"drivers", std::to_string(drivers_.size())}});
  sa::Recovered event;
  for (const auto& [i, worker] : workers_) event.workers.push_back(RegistrationOf(i, worker.said));
  for (const auto& [i, application] : applications_) {
    sa::StoredApp& stored = event.apps.emplace_back();
    stored.registration = RegistrationOf(i);
    for (const auto& [profile, target] : application.targets) stored.targets.push_back(target);
    stored.next_executor = application.next_executor;
  }
  event.drivers = std::exchange(loaded_drivers_, {});
  recovery_since_ = loop_.Now();
  const uint32_t workers = workers_.next();
  Feed(std::move(event));
  for (uint32_t i = 0; i < workers; ++i) CallBack(i);
  recovery_timer_.After(settings_.recovery_timeout, [this] { Feed(sa::RecoveryEnded{}); });
}

void StandaloneCluster::OnRecovered() {
  log_.Info("the master is ALIVE again", {{"after_ms", std::to_string((loop_.Now() - recovery_since_).millis())}});
  recovery_timer_.Stop();
  for (auto one = alive_workers_.begin(); one != alive_workers_.end();) {
    const bool dead =
        core_.workers().contains(one->second) && core_.workers()[one->second].state == sa::WorkerState::kDead;
    if (dead) log_.Warn("a worker is lost: it did not answer after the restart", {{"worker", one->first}});
    one = dead ? alive_workers_.erase(one) : std::next(one);
  }
}

bool StandaloneCluster::IsUnknown(uint32_t worker) const {
  return core_.workers().contains(worker) && core_.workers()[worker].state == sa::WorkerState::kUnknown;
}

void StandaloneCluster::CallBack(uint32_t worker) {
  auto again = alive_([this, worker] { CallBack(worker); });
  if (!IsUnknown(worker)) return;
  if (workers_[worker].peer != 0) {  // it has been told, and is looked at again
    loop_.After(kRetry, again);
    return;
  }
  master_.peers->Connect(workers_[worker].said.worker.address,
                         alive_([this, worker, again](std::optional<Peers::PeerId> peer) {
                           loop_.After(kRetry, again);
                           if (!peer) return;
                           if (!IsUnknown(worker) || workers_[worker].peer != 0) return master_.peers->Close(*peer, "");
                           workers_[worker].peer = *peer;
                           workers_[worker].from = master_.peers->AddressOf(*peer);
                           workers_[worker].dialled = true;
                           registering_[*peer] = workers_[worker].said.id;
                           if (!master_.peers->Keep(*peer, kWorkerBytes)) return;
                           TellMasterChanged(worker);
                         }));
}

void StandaloneCluster::TellMasterChanged(uint32_t worker) {
  Tell({worker}, es::MasterChanged{{master_.address, es::kMasterEndpoint}, settings_.web_url});
}

void StandaloneCluster::On(Peers::PeerId peer, const es::WorkerSchedulerStateResponse& message) {
  const auto alive = alive_workers_.find(message.worker);
  const bool its = alive != alive_workers_.end() && workers_[alive->second].peer == peer;
  if (its && !IsUnknown(alive->second)) {  // it has been told again whose it is
    workers_[alive->second].heard = loop_.Now();
    workers_[alive->second].heartbeat = loop_.Wall();
    return;
  }
  if (!its) {
    return log_.Warn("a worker that was not called back says what it runs", {{"worker", message.worker}});
  }
  const uint32_t index = alive->second;
  members_[peer] = index;
  workers_[index].heard = loop_.Now();
  workers_[index].heartbeat = loop_.Wall();
  log_.Info("a worker is back", {{"worker", message.worker},
                                 {"executors", std::to_string(message.executors.size())},
                                 {"drivers", std::to_string(message.drivers.size())}});
  sa::WorkerAnswered event;
  event.worker = {index};
  for (const auto& [executor, resources] : message.executors) {
    const auto application = ids_.Application(executor.application);
    if (!application) {
      Tell({index}, es::KillExecutor{url(), executor.application, executor.executor});
      continue;
    }
    event.executors.push_back({{*application},
                               executor.executor,
                               executor.profile,
                               executor.cores,
                               executor.memory_mib,
                               static_cast<sa::ExecutorState>(executor.state),
                               FromWire(resources)});
  }
  for (const auto& [id, resources] : message.drivers) {
    const auto driver = DriverIndexOf(id);
    if (driver) event.drivers.push_back({{*driver}, FromWire(resources)});
    if (!driver) Tell({index}, es::KillDriver{id});
  }
  Feed(std::move(event));
}

}  // namespace fairlead::process::spark_master
