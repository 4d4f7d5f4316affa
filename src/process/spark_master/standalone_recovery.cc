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

// ---- storing -------------------------------------------------------------------------------------------------------

/// The rows that an event and what followed from it change.
void StandaloneCluster::CollectRows(const sa::Event& event, std::span<const sa::Effect> effects,
                                    std::vector<env::Row>& rows) {
  if (writer_.store() == nullptr) return;
  const auto put_application = [&](uint32_t i) {
    const ApplicationRecord& record = records_.applications()[i];
    if (record.machine == nullptr) return;
    StoredStandaloneApplication stored{
        record.machine->registration().kept, record.started, {}, core_.apps()[i].next_executor};
    for (const auto& [profile, target] : record.targets) stored.targets.push_back(target);
    rows.push_back(RowOf(kStandaloneApplications, record.id, stored));
  };
  const auto put_driver = [&](uint32_t i) {
    const DriverRecord& record = records_.drivers()[i];
    const bool waits = core_.drivers()[i].state == sa::DriverState::kSubmitted;
    rows.push_back(RowOf(kStandaloneDrivers, record.id,
                         StoredStandaloneDriver{record.submission->description, record.submitted, waits}));
  };
  const auto remove = [&](const char* table, const std::string& id) { rows.push_back({table, id, std::nullopt}); };

  std::set<uint32_t> changed;  // applications
  const auto known = [&](sa::AppIndex app) { return records_.applications().contains(app.value); };
  if (const auto* asked = std::get_if<sa::ExecutorsRequested>(&event); asked != nullptr && known(asked->app)) {
    for (const sa::ProfileTarget& target : asked->targets)
      records_.application(asked->app.value).targets[target.profile.id] = target;
    changed.insert(asked->app.value);
  } else if (const auto* over = std::get_if<sa::AppFinished>(&event); over != nullptr && known(over->app)) {
    remove(kStandaloneApplications, records_.applications()[over->app.value].id);
  }
  for (const sa::Effect& effect : effects) {
    base::Dispatch(
        effect,
        [&](const sa::RegisteredWorker& worker) {
          if (!worker.duplicate) rows.push_back(workers_.TakeRow(worker.worker.value));
        },
        [&](const sa::RegisteredApplication& application) { changed.insert(application.app.value); },
        [&](const sa::LaunchExecutor& executor) { changed.insert(executor.app.value); },
        [&](const sa::ApplicationRemoved& removed) {
          remove(kStandaloneApplications, records_.applications()[removed.app.value].id);
        },
        [&](const sa::DriverAccepted& accepted) { put_driver(accepted.driver.value); },
        [&](const sa::LaunchDriver& launched) { put_driver(launched.driver.value); },
        [&](const sa::DriverEnded& ended) {
          remove(kStandaloneDrivers, records_.drivers()[ended.driver.value].id);
          if (ended.state == sa::DriverState::kRelaunching) put_driver(ended.successor.value);
        },
        base::Ignored<sa::KillExecutor, sa::KillDriver, sa::RegisterWorkerFailed, sa::ExecutorAdded,
                      sa::ExecutorUpdated, sa::WorkerRemoved, sa::ApplicationFinished, sa::Answer>{});
  }
  for (const uint32_t application : changed) put_application(application);
}

// ---- taking up -----------------------------------------------------------------------------------------------------

namespace {

/// Each is taken once.
StoredStandaloneApplication TakeStored(StandaloneState& state, const std::string& id) {
  const auto at = std::ranges::find(state.applications, id, [](const auto& one) { return one.first; });
  FL_CHECK(at != state.applications.end(), "an application is taken up that was not stored");
  return std::exchange(at->second, {});
}

}  // namespace

base::Result<std::vector<ExecutorSource::Stored>> StandaloneCluster::Load() {
  std::vector<Stored> applications;
  if (writer_.store() == nullptr) return applications;
  std::vector<env::Row> first = {{kStandaloneMaster, kImported, ""}};
  for (const auto& [id, worker] : state_.workers) first.push_back(RowOf(kStandaloneWorkers, id, worker));
  for (const auto& [id, one] : state_.applications) first.push_back(RowOf(kStandaloneApplications, id, one));
  for (const auto& [id, driver] : state_.drivers) first.push_back(RowOf(kStandaloneDrivers, id, driver));
  std::vector<BadRow> bad;
  if (first.size() == 1) {
    auto stored = LoadStandaloneState(*writer_.store(), bad);
    if (!stored) return stored.error();
    state_ = std::move(*stored);
  }
  if (const base::Status aside = writer_.LoadSetAside(); !aside.ok()) return aside.error();
  for (const BadRow& row : bad) writer_.SetAside(row);
  for (const auto& [id, stored] : state_.workers) workers_.Load(id, stored);
  for (const auto& [id, stored] : state_.drivers) {
    DriverRecord& record = records_.TakeDriver(id);
    record.submitted = stored.submitted;
    record.submission = std::make_shared<const Submission>(Submission{stored.description, {}});
  }
  for (const auto& [id, stored] : state_.applications) applications.push_back({id, stored.registration});
  // Where this fails, the next start takes it over again.
  writer_.store()->Commit(std::move(first), alive_([this](const env::CommitStatus& status) {
                            if (!status.ok())
                              log_.Error("the state cannot be stored", {{"why", status.error().message}});
                          }));
  return applications;
}

std::unique_ptr<Application> StandaloneCluster::MakeStored(const std::string& id, const es::SparkBuild& build,
                                                           es::RegisterApplication registration,
                                                           Application::Callbacks callbacks) {
  const StoredStandaloneApplication stored = TakeStored(state_, id);
  auto application =
      std::make_unique<StandaloneApplication>(*this, build, std::move(registration), std::move(callbacks));
  const auto& [index, record] = records_.TakeApplication(id);
  record.machine = application.get();
  record.description = WithoutCommand(application->registration().application);
  record.started = stored.started;
  for (const sa::ProfileTarget& target : stored.targets) record.targets[target.profile.id] = target;
  record.next_executor = stored.next_executor;
  application->SetId({index}, id, true);
  return application;
}

void StandaloneCluster::Forget(const std::string& id) {
  TakeStored(state_, id);
  writer_.store()->Commit({{kStandaloneApplications, id, std::nullopt}}, [](const auto&) {});
}

void StandaloneCluster::SetAside(const std::string& id, const std::string& why) {
  const StoredStandaloneApplication stored = TakeStored(state_, id);
  writer_.SetAside({kStandaloneApplications, id, base::EncodeStored(stored), why});
}

void StandaloneCluster::OnLoaded() {
  const base::Numbered<WorkerRecord>& workers = workers_.all();
  const base::Numbered<ApplicationRecord>& applications = records_.applications();
  if (workers.empty() && applications.empty() && records_.drivers().empty()) return;
  log_.Info("the master recovers", {{"workers", std::to_string(workers.size())},
                                    {"applications", std::to_string(applications.size())},
                                    {"drivers", std::to_string(records_.drivers().size())}});
  sa::Recovered event;
  for (const auto& [i, worker] : workers) event.workers.push_back(workers_.RegistrationOf(i, worker.said));
  for (const auto& [i, application] : applications) {
    sa::StoredApp& stored = event.apps.emplace_back();
    stored.registration = RegistrationOf(i, application.description);
    for (const auto& [profile, target] : application.targets) stored.targets.push_back(target);
    stored.next_executor = application.next_executor;
  }
  for (const auto& [id, stored] : std::exchange(state_, {}).drivers) {
    event.drivers.push_back({EventOf(stored.description), stored.waits});
  }
  recovery_since_ = loop_.Now();
  const uint32_t loaded = workers.next();
  Feed(std::move(event));
  for (uint32_t i = 0; i < loaded; ++i) workers_.CallBack(i);
  recovery_timer_.After(settings_.recovery_timeout, [this] { Feed(sa::RecoveryEnded{}); });
}

void StandaloneCluster::OnRecovered() {
  log_.Info("the master is ALIVE again", {{"after_ms", std::to_string((loop_.Now() - recovery_since_).millis())}});
  recovery_timer_.Stop();
  workers_.OnRecovered();
}

}  // namespace fairlead::process::spark_master
