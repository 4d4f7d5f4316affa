#include "process/spark_master/standalone_cluster.h"

#include <charconv>
#include <set>
#include <utility>

#include "endpoints/spark/master_messages.h"
#include "process/spark_master/standalone_application.h"
#include "process/spark_master/submission_calls.h"

// Messages in, the core's events and effects; drivers on workers are in standalone_drivers.cc.

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

constexpr size_t kShownExecutors = 200;  // of an application
/// While the store takes nothing: what waits for it.
constexpr size_t kQueueMax = 20'000;
constexpr size_t kShownTextMax = 1024;  // of what a worker says of an executor

/// The driver says where its application stands: spark.executorEnv.FAIRLEAD_QUEUE, _PRIORITY, _GANG.
Standing StandingOf(const ApplicationRecord& app) {
  const es::Command none, &command = app.machine != nullptr ? app.machine->registration().application.command : none;
  const auto said = [&](const char* name) {
    const auto found = command.environment.find(name);
    return found != command.environment.end() ? found->second : std::string();
  };
  Standing standing;
  standing.user = app.description.user;
  standing.queue = said("FAIRLEAD_QUEUE");
  if (standing.queue.empty()) standing.queue = "default";
  const std::string priority = said("FAIRLEAD_PRIORITY");
  std::from_chars(priority.data(), priority.data() + priority.size(), standing.priority);
  standing.gang = said("FAIRLEAD_GANG") == "true";
  return standing;
}

}  // namespace

StandaloneCluster::StandaloneCluster(env::Loop& loop, env::Store* store, env::Log& log, const es::SparkBuild& build,
                                     StandaloneSettings settings, StandaloneState imported)
    : loop_(loop),
      log_(log),
      build_(build),
      settings_(std::move(settings)),
      writer_(loop, store, log, settings_.on_store_lost),
      state_(std::move(imported)),
      core_(settings_.scheduling),
      records_(settings_),
      workers_({loop, log, build, settings_, core_, records_, *this}) {
  if (!settings_.make_scheduler) return;
  placement_ = std::make_unique<ExecutorPlacement>(
      settings_.make_scheduler(), [this](uint32_t app) { return StandingOf(records_.applications()[app]); });
}

StandaloneCluster::~StandaloneCluster() = default;

const char* StandaloneCluster::status() const {
  if (standby()) return "STANDBY";
  return core_.recovering() ? "RECOVERING" : "ALIVE";
}

void StandaloneCluster::Attach(const Master& master) {
  master_ = master;
  workers_.Attach(master);
}

// ---- the core ------------------------------------------------------------------------------------------------------

void StandaloneCluster::Feed(sa::Event event, std::shared_ptr<const Submission> submission) {
  queue_.push_back({std::move(event), std::move(submission)});
  if (!stepping_) Step();
}

/// Steps the core with all that waits. What changes durably is stored before anybody hears of it; what comes meanwhile,
/// and what effects bring about (a connection that breaks as something is written), waits its turn.
void StandaloneCluster::Step() {
  stepping_ = true;
  while (!queue_.empty() && master_.peers->MayAct()) {
    std::vector<sa::Effect> effects;
    std::vector<env::Row> rows;
    for (; !queue_.empty(); queue_.pop_front()) {
      const Fed& fed = queue_.front();
      if (fed.submission) records_.AddDriver(fed.submission, loop_.Wall());
      const size_t before = effects.size();
      const bool recovering = core_.recovering();
      core_.Step({&fed.event, 1}, effects);
      const std::span<const sa::Effect> made(effects.begin() + static_cast<ptrdiff_t>(before), effects.end());
      for (const sa::Effect& effect : made) {
        const auto* ended = std::get_if<sa::DriverEnded>(&effect);
        if (ended == nullptr || ended->state != sa::DriverState::kRelaunching) continue;
        records_.AddDriver(records_.drivers()[ended->driver.value].submission, loop_.Wall());
      }
      const bool may_end = std::holds_alternative<sa::WorkerLost>(fed.event) ||
                           std::holds_alternative<sa::WorkerDecommissioned>(fed.event) ||
                           std::holds_alternative<sa::WorkerRegistered>(fed.event) || recovering != core_.recovering();
      if (may_end) workers_.CollectLost(rows);
      CollectRows(fed.event, made, rows);
      if (recovering && !core_.recovering()) OnRecovered();
      if (queue_.size() == 1) Place();  // after the last, so that nothing comes between a decision and its place
    }
    if (writer_.store() != nullptr && !rows.empty()) {
      return writer_.Commit(std::move(rows), [this, effects = std::move(effects)] {
        Apply(effects);
        Step();
      });
    }
    Apply(effects);
  }
  stepping_ = false;
}

void StandaloneCluster::Place() {
  if (!placement_ || core_.recovering()) return;
  for (sa::Event& event : placement_->Decide(loop_.Now(), core_)) queue_.push_back({std::move(event), nullptr});
  WakePlacement();
}

/// Asks it again when it wants to be.
void StandaloneCluster::WakePlacement() {
  placement_timer_.Stop();
  if (placement_->NextDeadline() == base::Instant::Max()) return;
  placement_timer_.At(placement_->NextDeadline(), [this] {
    if (stepping_) return;  // the end of the step asks again
    Place();
    Step();
  });
}

std::optional<std::string> StandaloneCluster::WhyNotPlaced(uint32_t app) const {
  if (!placement_ || core_.recovering()) return std::nullopt;
  return placement_->Why(app, loop_.Now());
}

es::ApplicationDescription WithoutCommand(es::ApplicationDescription description) {
  description.command = {};
  return description;
}

void StandaloneCluster::Apply(const std::vector<sa::Effect>& effects) {
  for (const sa::Effect& effect : effects) std::visit([this](const auto& one) { Apply(one); }, effect);
}

uint64_t StandaloneCluster::Await(std::function<void(bool)> done) {
  awaited_[++last_token_] = [done = std::move(done)](const base::Result<std::string>& answer) { done(answer.ok()); };
  return last_token_;
}

void StandaloneCluster::Apply(const sa::Answer& effect) {
  const auto waiting = awaited_.extract(effect.token);
  if (!waiting.empty()) waiting.mapped()(effect.ok ? base::Result<std::string>("") : base::Error{"no"});
}

// ---- applications --------------------------------------------------------------------------------------------------

std::unique_ptr<Application> StandaloneCluster::Make(const es::SparkBuild& build, es::RegisterApplication registration,
                                                     Application::Callbacks callbacks) {
  if (standby() || full()) return nullptr;
  return std::make_unique<StandaloneApplication>(*this, build, std::move(registration), std::move(callbacks));
}

void StandaloneCluster::Begin(StandaloneApplication& application) {
  const es::ApplicationDescription& description = application.registration().application;
  const auto& [index, record] = records_.AddApplication(description.name, loop_.Wall());
  record.machine = &application;
  record.description = WithoutCommand(description);
  record.started = loop_.Wall();
  record.from = application.address();
  application.SetId({index}, record.id, false);
  log_.Info("an application registers",
            {{"application", record.id}, {"name", description.name}, {"user", description.user}});
  Feed(RegistrationOf(index, record.description));
}

sa::AppRegistered RegistrationOf(uint32_t index, const es::ApplicationDescription& description) {
  sa::AppRegistered event;
  event.app = {index};
  event.max_cores = description.cores_max;
  event.profile = ProfileOf(description.profile);
  constexpr int32_t kDefaultHeapMib = 1024;
  if (!event.profile.memory) event.profile.memory = kDefaultHeapMib;
  event.initial_executor_limit = description.initial_executor_limit;
  return event;
}

StandaloneApplication* StandaloneCluster::Find(sa::AppIndex index) const {
  return records_.applications().contains(index.value) ? records_.applications()[index.value].machine : nullptr;
}

void StandaloneCluster::Apply(const sa::RegisteredApplication& effect) {
  if (StandaloneApplication* application = Find(effect.app)) application->OnAccepted();
}

void StandaloneCluster::Apply(const sa::ExecutorAdded& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  const es::RegisterWorker& worker = workers_.all()[effect.worker.value].said;
  application->Tell(
      es::Encode(build_, es::ExecutorAdded{effect.executor, worker.id, worker.host + ":" + std::to_string(worker.port),
                                           effect.cores, effect.memory}));
}

void StandaloneCluster::Apply(const sa::ExecutorUpdated& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  auto& shown = records_.application(effect.app.value).executors;
  if (const auto executor = shown.find(effect.executor); executor != shown.end()) {
    executor->second.state = effect.state;
    executor->second.message = effect.message.substr(0, kShownTextMax);
  }
  es::ExecutorUpdated update;
  update.id = effect.executor;
  update.state = static_cast<es::ExecutorState>(effect.state);
  if (!effect.message.empty()) update.message = effect.message;
  update.exit_status = effect.exit_status;
  update.worker_host = effect.worker_host;
  application->Tell(es::Encode(build_, update));
}

void StandaloneCluster::Apply(const sa::WorkerRemoved& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  const es::RegisterWorker& worker = workers_.all()[effect.worker.value].said;
  application->Tell(es::Encode(build_, es::WorkerRemoved{worker.id, worker.host, effect.message}));
}

void StandaloneCluster::Apply(const sa::ApplicationRemoved& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  log_.Warn("an application is removed", {{"application", application->id()}, {"state", effect.message}});
  application->Tell(es::EncodeRemoved(build_, effect.message));
  application->OnRemoved();
}

// ---- executors -----------------------------------------------------------------------------------------------------

void StandaloneCluster::Apply(const sa::LaunchExecutor& effect) {
  const StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  es::LaunchExecutor launch;
  launch.master_url = url();
  launch.application = application->id();
  launch.executor = effect.executor;
  launch.profile = effect.profile;
  launch.cores = effect.cores;
  launch.memory_mib = effect.memory;
  launch.resources = ToWire(effect.resources);
  log_.Info("an executor is launched", {{"application", launch.application},
                                        {"executor", std::to_string(effect.executor)},
                                        {"worker", workers_.all()[effect.worker.value].said.id},
                                        {"cores", std::to_string(effect.cores)}});
  auto& shown = records_.application(effect.app.value).executors;
  shown[effect.executor] = {workers_.all()[effect.worker.value].said.id,
                            effect.cores,
                            effect.memory,
                            loop_.Wall(),
                            sa::ExecutorState::kLaunching,
                            ""};
  if (shown.size() > kShownExecutors) shown.erase(shown.begin());
  workers_.Tell(effect.worker, launch, application->registration().kept);
}

void StandaloneCluster::Apply(const sa::KillExecutor& effect) {
  workers_.Tell(effect.worker, es::KillExecutor{url(), records_.applications()[effect.app.value].id, effect.executor});
}

void StandaloneCluster::Apply(const sa::ApplicationFinished& effect) {
  workers_.Tell(effect.worker, es::ApplicationFinished{records_.applications()[effect.app.value].id});
}

// ---- workers -------------------------------------------------------------------------------------------------------

bool StandaloneCluster::OnMessage(Peers::PeerId peer, spark_rpc::Incoming& message) {
  const auto of_worker = es::DecodeWorkerMessage(message.content);
  if (!of_worker) {
    if (message.request) master_.peers->Refuse(peer, *message.request, of_worker.error().message);
    master_.peers->Close(peer, of_worker.error().message);
    return true;
  }
  if (of_worker->has_value()) {
    workers_.OnMessage(peer, **of_worker, message.request, message.bytes);
    return true;
  }
  const auto of_client = es::DecodeSubmissionMessage(message.content);
  if (!of_client) {
    if (message.request) master_.peers->Refuse(peer, *message.request, of_client.error().message);
    return true;
  }
  if (!of_client->has_value() || !message.request) return false;
  AnswerSubmission(*this, master_, build_, {peer, *message.request, message, **of_client});
  return true;
}

/// With what its machine uses our Worker asks for an endpoint, too; that is not there where nobody decides by it.
bool StandaloneCluster::HasEndpoint(Peers::PeerId peer, const std::string& name) {
  const auto worker = workers_.Of(peer);
  if (!worker || standby()) return false;
  const auto use = es::UseInEndpointName(name);
  if (!use || !placement_) return !use && workers_.HasEndpoint(*worker, name);
  workers_.Measured(*worker, *use);
  placement_->Measured(loop_.Now(), *worker, *use);
  WakePlacement();
  return true;
}

void StandaloneCluster::OnClosed(Peers::PeerId peer, const std::string&) { workers_.OnClosed(peer); }

void StandaloneCluster::Apply(const sa::RegisteredWorker& effect) { workers_.Apply(effect); }

void StandaloneCluster::Apply(const sa::RegisterWorkerFailed& effect) { workers_.Apply(effect); }

bool StandaloneCluster::full() const { return queue_.size() >= kQueueMax; }

void StandaloneCluster::DropUnshown() {
  if (stepping_) return;
  writer_.Probe();
  if (!queue_.empty()) return;
  scheduler::standalone::Gone gone;
  records_.CollectUnshown(gone);
  std::set<uint32_t> named;  // workers of drivers that are shown
  for (const auto& [i, driver] : core_.drivers()) {
    if (!gone.drivers.contains(i)) named.insert(driver.worker);
  }
  workers_.CollectUnshown(named, gone);
  workers_.Drop(gone.workers);
  records_.Drop(gone);
  core_.Forget(gone);
}

}  // namespace fairlead::process::spark_master
