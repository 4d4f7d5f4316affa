#include "process/spark_master/standalone_cluster.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/dispatch.h"
#include "endpoints/spark/master_messages.h"
#include "process/spark_master/standalone_application.h"
#include "process/spark_master/submission_calls.h"

// Messages in, the core's events and effects; drivers on workers are in standalone_drivers.cc.

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

constexpr size_t kShownExecutors = 200;  // of an application
constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);
/// A connection whose worker another one claims to be says within this time that it is still there.
constexpr base::Duration kAskedFor = base::Duration::Seconds(5);
/// What is shown of those that have gone.
constexpr size_t kGoneWorkersMax = 1000;
constexpr size_t kGoneBytesMax = size_t{4} << 20;
/// Roughly, until unshown workers are dropped before the next sweep.
constexpr size_t kAddedMax = size_t{1} << 20;
/// While the store takes nothing: what waits for it.
constexpr size_t kQueueMax = 20'000;
constexpr size_t kShownTextMax = 1024;  // of what a worker says of an executor
/// Longer than a worker's supervisor waits: what ran there has ended before it is replaced.
constexpr base::Duration kAwayMax = es::kAbsence + base::Duration::Seconds(2);

}  // namespace

StandaloneCluster::StandaloneCluster(env::Loop& loop, env::Store* store, env::Log& log, const es::SparkBuild& build,
                                     StandaloneSettings settings, StandaloneState imported)
    : loop_(loop),
      log_(log),
      build_(build),
      settings_(std::move(settings)),
      writer_(loop, store, log, settings_.on_store_lost),
      imported_(std::move(imported)),
      core_(settings_.scheduling),
      gone_workers_({kGoneWorkersMax, kGoneBytesMax}),
      gone_applications_({settings_.retained_applications, kGoneBytesMax}),
      gone_drivers_({settings_.retained_drivers, kGoneBytesMax}),
      ids_(settings_.ids) {
  if (!settings_.make_scheduler) return;
  placement_ =
      std::make_unique<ExecutorPlacement>(settings_.make_scheduler(), [this](uint32_t app) { return StandingOf(app); });
}

StandaloneCluster::~StandaloneCluster() = default;

const char* StandaloneCluster::status() const {
  if (standby()) return "STANDBY";
  return core_.recovering() ? "RECOVERING" : "ALIVE";
}

bool StandaloneCluster::Shows(uint32_t index) const {
  if (!core_.workers().contains(index)) return false;
  const scheduler::standalone::Worker& worker = core_.workers()[index];
  const int64_t kept_ms = (settings_.dead_worker_persistence + 1) * settings_.worker_timeout.millis();
  const bool old = loop_.Wall().ms - workers_[index].heartbeat.ms > kept_ms;
  return !worker.id.empty() && !(worker.state == sa::WorkerState::kDead && (old || workers_[index].forgotten));
}

std::optional<uint32_t> StandaloneCluster::ApplicationIndexOf(const std::string& id) const {
  const auto index = ids_.Application(id);
  return index && !applications_[*index].cleared ? index : std::nullopt;
}

void StandaloneCluster::Attach(const Master& master) {
  master_ = master;
  Sweep();
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
      if (fed.submission) AddDriver(core_.drivers().next(), fed.submission);
      const size_t before = effects.size();
      const bool recovering = core_.recovering();
      core_.Step({&fed.event, 1}, effects);
      const std::span<const sa::Effect> made(effects.begin() + static_cast<ptrdiff_t>(before), effects.end());
      for (const sa::Effect& effect : made) {
        const auto* ended = std::get_if<sa::DriverEnded>(&effect);
        if (ended == nullptr || ended->state != sa::DriverState::kRelaunching) continue;
        AddDriver(ended->successor.value, drivers_[ended->driver.value].submission);
      }
      CollectLostWorkers(fed.event, recovering, rows);
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

es::ApplicationDescription WithoutCommand(es::ApplicationDescription description) {
  description.command = {};
  return description;
}

/// The driver says where its application stands: spark.executorEnv.FAIRLEAD_QUEUE, _PRIORITY, _GANG.
Standing StandaloneCluster::StandingOf(uint32_t app) const {
  const StandaloneApplication* machine = applications_[app].machine;
  const es::Command none, &command = machine != nullptr ? machine->registration().application.command : none;
  const auto said = [&](const char* name) {
    const auto found = command.environment.find(name);
    return found != command.environment.end() ? found->second : std::string();
  };
  Standing standing;
  standing.user = applications_[app].description.user;
  standing.queue = said("FAIRLEAD_QUEUE");
  if (standing.queue.empty()) standing.queue = "default";
  const std::string priority = said("FAIRLEAD_PRIORITY");
  std::from_chars(priority.data(), priority.data() + priority.size(), standing.priority);
  standing.gang = said("FAIRLEAD_GANG") == "true";
  return standing;
}

void StandaloneCluster::Apply(const std::vector<sa::Effect>& effects) {
  for (const sa::Effect& effect : effects) std::visit([this](const auto& one) { Apply(one); }, effect);
}

uint64_t StandaloneCluster::NewToken(std::function<void(bool)> done) {
  answers_[++last_token_] = std::move(done);
  return last_token_;
}

void StandaloneCluster::Apply(const sa::Answer& effect) {
  const auto waiting = answers_.extract(effect.token);
  if (!waiting.empty()) waiting.mapped()(effect.ok);
}

// ---- applications --------------------------------------------------------------------------------------------------

std::unique_ptr<Application> StandaloneCluster::Make(const es::SparkBuild& build, es::RegisterApplication registration,
                                                     Application::Callbacks callbacks) {
  if (standby() || queue_.size() >= kQueueMax) return nullptr;
  return std::make_unique<StandaloneApplication>(*this, build, std::move(registration), std::move(callbacks));
}

void StandaloneCluster::Begin(StandaloneApplication& application) {
  const sa::AppIndex index{applications_.next()};
  const es::ApplicationDescription& description = application.registration().application;
  ApplicationRecord& record = applications_.Add();
  record.id = ids_.NewApplication(description.name, loop_.Wall(), index.value);
  record.machine = &application;
  record.description = WithoutCommand(description);
  record.started = loop_.Wall();
  record.from = application.address();
  application.SetId(index, record.id, false);
  log_.Info("an application registers",
            {{"application", record.id}, {"name", description.name}, {"user", description.user}});
  Feed(RegistrationOf(index.value));
}

sa::AppRegistered StandaloneCluster::RegistrationOf(uint32_t index) const {
  const es::ApplicationDescription& description = applications_[index].description;
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
  return applications_.contains(index.value) ? applications_[index.value].machine : nullptr;
}

void StandaloneCluster::Apply(const sa::RegisteredApplication& effect) {
  if (StandaloneApplication* application = Find(effect.app)) application->OnAccepted();
}

void StandaloneCluster::Apply(const sa::ExecutorAdded& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  const es::RegisterWorker& worker = workers_[effect.worker.value].said;
  application->Tell(
      es::Encode(build_, es::ExecutorAdded{effect.executor, worker.id, worker.host + ":" + std::to_string(worker.port),
                                           effect.cores, effect.memory}));
}

void StandaloneCluster::Apply(const sa::ExecutorUpdated& effect) {
  StandaloneApplication* application = Find(effect.app);
  if (application == nullptr) return;
  auto& shown = applications_[effect.app.value].executors;
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
  const es::RegisterWorker& worker = workers_[effect.worker.value].said;
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

void StandaloneCluster::Tell(sa::WorkerIndex index, const es::MasterMessage& message, std::string_view kept) {
  WorkerRecord& worker = workers_[index.value];
  const bool launches =
      std::holds_alternative<es::LaunchExecutor>(message) || std::holds_alternative<es::LaunchDriver>(message);
  const bool registers = std::holds_alternative<es::RegisteredWorker>(message);
  if (worker.away_since && !registers) {
    // A launch that was decided before it went away is lost: the worker will not name it.
    if (!launches) worker.held.push_back(es::Encode(build_, message));
    return;
  }
  if (worker.peer == 0) return;
  master_.peers->Send(worker.peer, worker.said.worker.address, worker.said.worker.name,
                      es::Encode(build_, message, kept));
}

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
                                        {"worker", workers_[effect.worker.value].said.id},
                                        {"cores", std::to_string(effect.cores)}});
  auto& shown = applications_[effect.app.value].executors;
  shown[effect.executor] = {workers_[effect.worker.value].said.id,
                            effect.cores,
                            effect.memory,
                            loop_.Wall(),
                            sa::ExecutorState::kLaunching,
                            ""};
  if (shown.size() > kShownExecutors) shown.erase(shown.begin());
  Tell(effect.worker, launch, application->registration().kept);
}

void StandaloneCluster::Apply(const sa::KillExecutor& effect) {
  Tell(effect.worker, es::KillExecutor{url(), applications_[effect.app.value].id, effect.executor});
}

void StandaloneCluster::Apply(const sa::ApplicationFinished& effect) {
  Tell(effect.worker, es::ApplicationFinished{applications_[effect.app.value].id});
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
    OnWorkerMessage(peer, **of_worker, message.request, message.bytes);
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

void StandaloneCluster::OnWorkerMessage(Peers::PeerId peer, const es::WorkerMessage& message,
                                        std::optional<int64_t> request, size_t bytes) {
  if (const auto* registration = std::get_if<es::RegisterWorker>(&message)) return Register(peer, *registration, bytes);
  if (standby()) return;
  base::Dispatch(
      message, [&](const es::Heartbeat& heartbeat) { On(peer, heartbeat); },
      [&](const es::ExecutorStateChanged& executor) { On(peer, request, executor); },
      [&](const es::DriverStateChanged& driver) { On(peer, request, driver); },
      [&](const es::WorkerLatestState& latest) { On(peer, latest); },
      [&](const es::WorkerSchedulerStateResponse& answer) { On(peer, answer); },
      [&](const es::WorkerDecommissioning&) {
        const auto worker = WorkerOf(peer);
        if (worker) Feed(sa::WorkerDecommissioned{{*worker}});
      },
      base::Ignored<es::RegisterWorker>{});  // above
}

std::optional<uint32_t> StandaloneCluster::WorkerOf(Peers::PeerId peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() ? std::optional(found->second) : std::nullopt;
}

void StandaloneCluster::Answer(Peers::PeerId peer, std::optional<int64_t> request, bool value) {
  if (request) master_.peers->Reply(peer, *request, es::EncodeBoolean(value));
}

void StandaloneCluster::Register(Peers::PeerId peer, const es::RegisterWorker& message, size_t bytes) {
  if (message.suid != build_.worker_suid()) {
    return master_.peers->Close(peer, "worker " + message.id + " is of another build of Spark than " + build_.release +
                                          " in " + build_.home + "; start it from that build");
  }
  if (standby()) {
    return master_.peers->Send(peer, message.worker.address, message.worker.name,
                               es::Encode(build_, es::MasterInStandby{}));
  }
  const auto refuse = [&](const char* why) { master_.peers->CloseFor(spark_rpc::Refusal::kPlace, peer, why); };
  if (registering_.try_emplace(peer, message.id).first->second != message.id) {
    return refuse("a connection speaks for one worker");
  }
  if (const auto alive = alive_workers_.find(message.id); alive != alive_workers_.end()) {
    return Contest(alive->second, peer, message, bytes);
  }
  if (!MayReplaceAt(peer, message)) return refuse("another worker has this address, and has not been given up yet");
  if (queue_.size() >= kQueueMax) {
    return master_.peers->CloseFor(spark_rpc::Refusal::kMany, peer, "too much waits to be stored");
  }
  if (!master_.peers->Keep(peer, kWorkerBytes + 2 * bytes)) return;
  LoseAwayAt(message);
  const sa::WorkerIndex index{workers_.next()};
  WorkerRecord& record = workers_.Add({message, peer});
  record.from = master_.peers->AddressOf(peer);
  record.heard = loop_.Now();
  record.heartbeat = loop_.Wall();
  Feed(RegistrationOf(index.value, message));
  NoteAdded(bytes);
}

/// Whoever claims the address of a worker that is away, or that has not answered since this master started, and comes
/// from elsewhere, is not believed.
bool StandaloneCluster::MayReplaceAt(Peers::PeerId peer, const es::RegisterWorker& again) const {
  return std::ranges::none_of(alive_workers_, [&](const auto& one) {
    const WorkerRecord& worker = workers_[one.second];
    const bool same = worker.said.host == again.host && worker.said.port == again.port;
    const bool absent = worker.away_since || IsUnknown(one.second);
    return same && absent && !worker.from.empty() && worker.from != master_.peers->AddressOf(peer);
  });
}

/// Memory of workers that were lost or refused is bounded between two sweeps, too.
void StandaloneCluster::NoteAdded(size_t bytes) {
  added_ += kWorkerBytes + bytes;
  if (added_ > kAddedMax) DropUnshown();
}

sa::WorkerRegistered StandaloneCluster::RegistrationOf(uint32_t index, const es::RegisterWorker& worker) {
  return {{index}, worker.id, worker.host, worker.port, worker.cores, worker.memory_mib, FromWire(worker.resources)};
}

void StandaloneCluster::Apply(const sa::RegisteredWorker& effect) {
  WorkerRecord& worker = workers_[effect.worker.value];
  const bool gone = worker.peer == 0;
  if (!effect.duplicate) {
    alive_workers_[worker.said.id] = effect.worker.value;
    if (!gone) members_[worker.peer] = effect.worker.value;
    for (auto& [i, other] : workers_) {  // a lost one whose address it has is not shown any more
      const bool same = other.said.host == worker.said.host && other.said.port == worker.said.port;
      if (same && i != effect.worker.value) other.heartbeat = {};
    }
    log_.Info("a worker registers", {{"worker", worker.said.id},
                                     {"cores", std::to_string(worker.said.cores)},
                                     {"memory_mib", std::to_string(worker.said.memory_mib)}});
  } else {
    log_.Warn("a worker registers twice", {{"worker", worker.said.id}});
  }
  es::RegisteredWorker answer;
  answer.master = {master_.address, es::kMasterEndpoint};
  answer.web_url = settings_.web_url;
  answer.dialled = worker.said.master;
  answer.duplicate = effect.duplicate;
  Tell(effect.worker, answer);
  if (effect.duplicate) {
    worker.peer = 0;
  } else if (gone) {  // while it was being stored
    Lose(effect.worker.value, "its connection ended");
  }
}

// ---- whose place it is -------------------------------------------------------------------------------------------

/// Its id stands on the page: who knows it has no right to its place. The connection that has the place is asked. One
/// that is silent loses it to a connection of the same machine, and so does one that has ended (a worker that is away).
/// A worker that this master has called back may have been about to register by itself.
void StandaloneCluster::Contest(uint32_t index, Peers::PeerId by, const es::RegisterWorker& said, size_t bytes) {
  WorkerRecord& worker = workers_[index];
  if (worker.peer == by) return TellDuplicate(by, said);
  const bool here = worker.from == master_.peers->AddressOf(by);
  if (IsUnknown(index) || worker.dialled) {
    if (!here) return;
    master_.peers->Know(by);
    if (worker.peer != 0) TellMasterChanged(index);
    return;
  }
  master_.peers->refusals().Count(spark_rpc::Refusal::kPlace);
  const bool same = worker.said.host == said.host && worker.said.port == said.port;
  if (!here || !same || contests_.contains(index)) return TellDuplicate(by, said);
  Claim& claim = contests_.try_emplace(index, by, said, bytes, loop_).first->second;
  if (worker.peer == 0) return LosePlace(index);
  log_.Warn("a worker that lives registers by another connection, and is asked", {{"worker", said.id}});
  claim.timer.After(kAskedFor, [this, index] { LosePlace(index); });
  master_.peers->Ask(worker.peer, worker.said.worker.address, es::kVerifierEndpoint,
                     es::EncodeCheckExistence(build_, worker.said.worker.name),
                     alive_([this, index] { KeepPlace(index); }));
}

void StandaloneCluster::KeepPlace(uint32_t index) {
  const auto contest = contests_.extract(index);
  if (contest.empty()) return;
  TellDuplicate(contest.mapped().by, contest.mapped().said);
}

/// What was on its way by the other connection may be lost.
void StandaloneCluster::LosePlace(uint32_t index) {
  const auto contest = contests_.extract(index);
  if (contest.empty()) return;
  const Claim& claim = contest.mapped();
  if (!master_.peers->Keep(claim.by, kWorkerBytes + 2 * claim.bytes)) return;
  WorkerRecord& worker = workers_[index];
  const Peers::PeerId old = std::exchange(worker.peer, claim.by);
  members_.erase(old);
  members_[claim.by] = index;
  if (worker.keeps && !worker.away_since) SendAway(index);
  worker.heard = loop_.Now();
  log_.Warn("a worker speaks by another connection", {{"worker", claim.said.id}});
  TellDuplicate(claim.by, claim.said);
  if (old != 0) master_.peers->Close(old, "it is silent, and its worker speaks by another connection");
}

/// As Spark's own Master answers: it changes nothing.
void StandaloneCluster::TellDuplicate(Peers::PeerId peer, const es::RegisterWorker& said) {
  es::RegisteredWorker answer;
  answer.master = {master_.address, es::kMasterEndpoint};
  answer.web_url = settings_.web_url;
  answer.dialled = said.master;
  answer.duplicate = true;
  master_.peers->Send(peer, said.worker.address, said.worker.name, es::Encode(build_, answer));
}

void StandaloneCluster::Apply(const sa::RegisterWorkerFailed& effect) {
  log_.Warn("a worker is refused", {{"worker", workers_[effect.worker.value].said.id}, {"reason", effect.message}});
  Tell(effect.worker, es::RegisterWorkerFailed{effect.message});
  workers_[effect.worker.value].peer = 0;
}

void StandaloneCluster::On(Peers::PeerId peer, const es::Heartbeat& message) {
  const auto alive = alive_workers_.find(message.worker);
  if (alive != alive_workers_.end()) {
    WorkerRecord& worker = workers_[alive->second];
    if (worker.peer != peer) return;
    worker.heard = loop_.Now();
    worker.heartbeat = loop_.Wall();
    return;
  }
  // One that was given up too early, or was called back in the place of an earlier worker of its address, where Spark's
  // master would not answer: it shall register.
  master_.peers->Send(peer, message.reference.address, message.reference.name,
                      es::Encode(build_, es::ReconnectWorker{url()}));
}

void StandaloneCluster::On(Peers::PeerId peer, std::optional<int64_t> request,
                           const es::ExecutorStateChanged& message) {
  const auto worker = WorkerOf(peer);
  const auto application = ids_.Application(message.application);
  if (!worker || !application) return Answer(peer, request, true);
  // Whether it runs there the core knows at its turn: the worker's claim of it may still wait for the store.
  sa::ExecutorStateChanged event;
  event.worker = sa::WorkerIndex{*worker};
  event.app = {*application};
  event.executor = message.executor;
  event.state = static_cast<sa::ExecutorState>(message.state);
  event.exit_status = message.exit_status;
  event.message = message.message.value_or("");
  event.token = NewToken([this, peer, request](bool value) { Answer(peer, request, value); });
  Feed(std::move(event));
}

// ---- workers of ours that are away -------------------------------------------------------------------------------

/// Our Worker asks once it is registered, from time to time with what its machine uses, and when it ends in order.
bool StandaloneCluster::HasEndpoint(Peers::PeerId peer, const std::string& name) {
  const auto worker = WorkerOf(peer);
  if (!worker || standby()) return false;
  if (name == es::kKeepingEndpoint) workers_[*worker].keeps = true;
  if (name == es::kLeavingEndpoint) workers_[*worker].keeps = false;
  if (const auto use = es::UseInEndpointName(name)) return TakeUse(*worker, *use);
  return name == es::kKeepingEndpoint || name == es::kLeavingEndpoint;
}

/// False: nobody here decides by it.
bool StandaloneCluster::TakeUse(uint32_t worker, const es::WorkerUse& use) {
  if (!placement_) return false;
  workers_[worker].use = use;
  placement_->Measured(loop_.Now(), worker, use);
  WakePlacement();
  return true;
}

void StandaloneCluster::SendAway(uint32_t worker) {
  workers_[worker].away_since = loop_.Now();
  Feed(sa::WorkerAway{{worker}});
}

void StandaloneCluster::TakeBack(uint32_t worker, const es::WorkerLatestState& message) {
  sa::WorkerBack event;
  event.worker = {worker};
  for (const es::ExecutorDescription& executor : message.executors) {
    const auto application = ids_.Application(executor.application);
    if (application) event.executors.push_back({{*application}, executor.executor});
  }
  for (const std::string& id : message.drivers) {
    if (const auto driver = DriverIndexOf(id)) event.drivers.push_back({*driver});
  }
  event.token = NewToken([this, worker, peer = workers_[worker].peer, message](bool) {
    WorkerRecord& record = workers_[worker];
    if (record.peer != peer) return;  // away again
    record.away_since.reset();
    log_.Info("a worker is back", {{"worker", record.said.id},
                                   {"executors", std::to_string(message.executors.size())},
                                   {"drivers", std::to_string(message.drivers.size())}});
    for (const std::string& content : std::exchange(record.held, {})) {
      master_.peers->Send(record.peer, record.said.worker.address, record.said.worker.name, content);
    }
    On(peer, message);  // what nobody knows is ended
  });
  Feed(std::move(event));
}

/// Another worker where one that is away was: that one will not come back.
void StandaloneCluster::LoseAwayAt(const es::RegisterWorker& again) {
  for (const auto& [id, index] : alive_workers_) {
    const WorkerRecord& worker = workers_[index];
    if (id == again.id || !worker.away_since || worker.said.host != again.host || worker.said.port != again.port)
      continue;
    return Lose(index, "another worker has its address");
  }
}

/// Executors and drivers that the worker runs and nobody knows are ended: the master heard only their loss.
void StandaloneCluster::On(Peers::PeerId peer, const es::WorkerLatestState& message) {
  const auto index = WorkerOf(peer);
  if (!index || workers_[*index].said.id != message.worker) return;
  if (workers_[*index].away_since) return TakeBack(*index, message);
  const scheduler::standalone::Worker& worker = core_.workers()[*index];
  for (const es::ExecutorDescription& executor : message.executors) {
    const auto application = ids_.Application(executor.application);
    if (application && worker.executors.contains({*application, executor.executor})) continue;
    Tell({*index}, es::KillExecutor{url(), executor.application, executor.executor});
    const bool over = !application || applications_[*application].ended.ms != 0;
    if (over) Tell({*index}, es::ApplicationFinished{executor.application});
  }
  for (const std::string& id : message.drivers) {
    const auto driver = ids_.Driver(id);
    if (driver && worker.drivers.contains(*driver)) continue;
    Tell({*index}, es::KillDriver{id});
  }
}

void StandaloneCluster::OnClosed(Peers::PeerId peer, const std::string&) {
  const bool named = registering_.erase(peer) > 0;
  std::erase_if(contests_, [peer](const auto& contest) { return contest.second.by == peer; });
  const auto member = members_.extract(peer);
  if (member.empty()) {  // not registered yet
    if (!named) return;
    for (auto& [i, worker] : workers_) worker.peer = worker.peer == peer ? 0 : worker.peer;
    return;
  }
  WorkerRecord& worker = workers_[member.mapped()];
  if (worker.peer != peer) return;  // it speaks by another one
  worker.peer = 0;
  worker.dialled = false;
  if (contests_.contains(member.mapped())) return LosePlace(member.mapped());  // it was about to come back
  if (worker.keeps) {
    log_.Warn("a worker is away; what it runs goes on for a while", {{"worker", worker.said.id}});
    return SendAway(member.mapped());
  }
  Lose(member.mapped(), worker.said.worker.address.ToString() + " got disassociated");
}

void StandaloneCluster::Lose(uint32_t index, const std::string& why) {
  const auto alive = alive_workers_.find(workers_[index].said.id);
  if (alive == alive_workers_.end() || alive->second != index) return;
  log_.Warn("a worker is lost", {{"worker", alive->first}, {"why", why}});
  alive_workers_.erase(alive);
  if (const auto contest = contests_.extract(index); !contest.empty()) {
    master_.peers->Close(contest.mapped().by, "the worker that it says it is has been lost; register again");
  }
  workers_[index].away_since.reset();
  workers_[index].held.clear();
  Feed(sa::WorkerLost{{index}, why});
  NoteAdded(0);
}

/// Once a second: workers that are silent for too long are lost, and what is not shown any more goes.
void StandaloneCluster::Sweep() {
  sweep_timer_.After(kSweepInterval, [this] { Sweep(); });
  std::vector<uint32_t> silent, away;
  for (const auto& [id, index] : alive_workers_) {
    const auto since = workers_[index].away_since;
    if (since && loop_.Now() - *since > kAwayMax) away.push_back(index);
    const bool quiet = loop_.Now() - workers_[index].heard > settings_.worker_timeout;
    if (quiet && !since && !IsUnknown(index)) silent.push_back(index);
  }
  for (const uint32_t index : away) Lose(index, "it did not come back");
  for (const uint32_t index : silent) {
    Lose(index, "Not receiving heartbeat for " + std::to_string(settings_.worker_timeout.millis() / 1000) + " seconds");
  }
  DropUnshown();
  if (!stepping_) writer_.Probe();
}

}  // namespace fairlead::process::spark_master
