#include "process/spark_master/standalone_workers.h"

#include <algorithm>
#include <utility>

#include "base/dispatch.h"
#include "base/stored.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"
#include "process/spark_master/standalone_application.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;

namespace {

constexpr base::Duration kRetry = base::Duration::Seconds(1);
constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);
/// A connection whose worker another one claims to be says within this time that it is still there.
constexpr base::Duration kAskedFor = base::Duration::Seconds(5);
/// What is shown of those that have gone.
constexpr size_t kGoneWorkersMax = 1000;
constexpr size_t kGoneBytesMax = size_t{4} << 20;
/// Roughly, until unshown workers are dropped before the next sweep.
constexpr size_t kAddedMax = size_t{1} << 20;
/// Longer than a worker's supervisor waits: what ran there has ended before it is replaced.
constexpr base::Duration kAwayMax = es::kAbsence + base::Duration::Seconds(2);

bool IsStored(const scheduler::standalone::Worker& worker) {
  // One that is decommissioned shall not come back by a restart.
  const bool ends = worker.state == sa::WorkerState::kDead || worker.state == sa::WorkerState::kDecommissioned;
  return !worker.id.empty() && !ends;
}

}  // namespace

StandaloneWorkers::StandaloneWorkers(const Context& context)
    : context_(context), gone_({kGoneWorkersMax, kGoneBytesMax}) {}

void StandaloneWorkers::Attach(const ExecutorSource::Master& master) {
  master_ = master;
  Sweep();
}

void StandaloneWorkers::Heard(uint32_t worker) {
  workers_[worker].heard = context_.loop.Now();
  workers_[worker].heartbeat = context_.loop.Wall();
}

void StandaloneWorkers::Tell(sa::WorkerIndex index, const es::MasterMessage& message, std::string_view kept) {
  WorkerRecord& worker = workers_[index.value];
  const bool launches =
      std::holds_alternative<es::LaunchExecutor>(message) || std::holds_alternative<es::LaunchDriver>(message);
  const bool registers = std::holds_alternative<es::RegisteredWorker>(message);
  if (worker.away_since && !registers) {
    // A launch that was decided before it went away is lost: the worker will not name it.
    if (!launches) worker.held.push_back(es::Encode(context_.build, message));
    return;
  }
  if (worker.peer == 0) return;
  master_.peers->Send(worker.peer, worker.said.worker.address, worker.said.worker.name,
                      es::Encode(context_.build, message, kept));
}

void StandaloneWorkers::OnMessage(Peers::PeerId peer, const es::WorkerMessage& message, std::optional<int64_t> request,
                                  size_t bytes) {
  if (const auto* registration = std::get_if<es::RegisterWorker>(&message)) return Register(peer, *registration, bytes);
  if (context_.settings.standby) return;
  base::Dispatch(
      message, [&](const es::Heartbeat& heartbeat) { On(peer, heartbeat); },
      [&](const es::ExecutorStateChanged& executor) { On(peer, request, executor); },
      [&](const es::DriverStateChanged& driver) { On(peer, request, driver); },
      [&](const es::WorkerLatestState& latest) { On(peer, latest); },
      [&](const es::WorkerSchedulerStateResponse& answer) { On(peer, answer); },
      [&](const es::WorkerDecommissioning&) {
        const auto worker = Of(peer);
        if (worker) context_.owner.Feed(sa::WorkerDecommissioned{{*worker}});
      },
      base::Ignored<es::RegisterWorker>{});  // above
}

std::optional<uint32_t> StandaloneWorkers::Of(Peers::PeerId peer) const {
  const auto found = members_.find(peer);
  return found != members_.end() ? std::optional(found->second) : std::nullopt;
}

void StandaloneWorkers::Reply(Peers::PeerId peer, std::optional<int64_t> request, bool value) {
  if (request) master_.peers->Reply(peer, *request, es::EncodeBoolean(value));
}

void StandaloneWorkers::Register(Peers::PeerId peer, const es::RegisterWorker& message, size_t bytes) {
  if (message.suid != context_.build.worker_suid()) {
    return master_.peers->Close(peer, "worker " + message.id + " is of another build of Spark than " +
                                          context_.build.release + " in " + context_.build.home +
                                          "; start it from that build");
  }
  if (context_.settings.standby) {
    return master_.peers->Send(peer, message.worker.address, message.worker.name,
                               es::Encode(context_.build, es::MasterInStandby{}));
  }
  const auto refuse = [&](const char* why) { master_.peers->CloseFor(spark_rpc::Refusal::kPlace, peer, why); };
  if (registering_.try_emplace(peer, message.id).first->second != message.id) {
    return refuse("a connection speaks for one worker");
  }
  if (const auto alive = alive_workers_.find(message.id); alive != alive_workers_.end()) {
    return Contest(alive->second, peer, message, bytes);
  }
  if (!MayReplaceAt(peer, message)) return refuse("another worker has this address, and has not been given up yet");
  if (context_.owner.full()) {
    return master_.peers->CloseFor(spark_rpc::Refusal::kMany, peer, "too much waits to be stored");
  }
  if (!master_.peers->Keep(peer, kWorkerBytes + 2 * bytes)) return;
  LoseAwayAt(message);
  const sa::WorkerIndex index{workers_.next()};
  workers_.Add({message, peer}).from = master_.peers->AddressOf(peer);
  Heard(index.value);
  context_.owner.Feed(RegistrationOf(index.value, message));
  NoteAdded(bytes);
}

/// Whoever claims the address of a worker that is away, or that has not answered since this master started, and comes
/// from elsewhere, is not believed.
bool StandaloneWorkers::MayReplaceAt(Peers::PeerId peer, const es::RegisterWorker& again) const {
  return std::ranges::none_of(alive_workers_, [&](const auto& one) {
    const WorkerRecord& worker = workers_[one.second];
    const bool same = worker.said.host == again.host && worker.said.port == again.port;
    const bool absent = worker.away_since || IsUnknown(one.second);
    return same && absent && !worker.from.empty() && worker.from != master_.peers->AddressOf(peer);
  });
}

/// Memory of workers that were lost or refused is bounded between two sweeps, too.
void StandaloneWorkers::NoteAdded(size_t bytes) {
  added_ += kWorkerBytes + bytes;
  if (added_ > kAddedMax) context_.owner.DropUnshown();
}

void StandaloneWorkers::Apply(const sa::RegisteredWorker& effect) {
  WorkerRecord& worker = workers_[effect.worker.value];
  const bool gone = worker.peer == 0;
  if (!effect.duplicate) {
    alive_workers_[worker.said.id] = effect.worker.value;
    if (!gone) members_[worker.peer] = effect.worker.value;
    for (auto& [i, other] : workers_) {  // a lost one whose address it has is not shown any more
      const bool same = other.said.host == worker.said.host && other.said.port == worker.said.port;
      if (same && i != effect.worker.value) other.heartbeat = {};
    }
    context_.log.Info("a worker registers", {{"worker", worker.said.id},
                                             {"cores", std::to_string(worker.said.cores)},
                                             {"memory_mib", std::to_string(worker.said.memory_mib)}});
  } else {
    context_.log.Warn("a worker registers twice", {{"worker", worker.said.id}});
  }
  Tell(effect.worker, Answer(worker.said, effect.duplicate));
  if (effect.duplicate) {
    worker.peer = 0;
  } else if (gone) {  // while it was being stored
    Lose(effect.worker.value, "its connection ended");
  }
}

/// Its id stands on the page: who knows it has no right to its place. The connection that has the place is asked. One
/// that is silent loses it to a connection of the same machine, and so does one that has ended (a worker that is away).
/// A worker that this master has called back may have been about to register by itself.
void StandaloneWorkers::Contest(uint32_t index, Peers::PeerId by, const es::RegisterWorker& said, size_t bytes) {
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
  Claim& claim = contests_.try_emplace(index, by, said, bytes, context_.loop).first->second;
  if (worker.peer == 0) return LosePlace(index);
  context_.log.Warn("a worker that lives registers by another connection, and is asked", {{"worker", said.id}});
  claim.timer.After(kAskedFor, [this, index] { LosePlace(index); });
  master_.peers->Ask(worker.peer, worker.said.worker.address, es::kVerifierEndpoint,
                     es::EncodeCheckExistence(context_.build, worker.said.worker.name),
                     alive_([this, index] { KeepPlace(index); }));
}

void StandaloneWorkers::KeepPlace(uint32_t index) {
  const auto contest = contests_.extract(index);
  if (contest.empty()) return;
  TellDuplicate(contest.mapped().by, contest.mapped().said);
}

/// What was on its way by the other connection may be lost.
void StandaloneWorkers::LosePlace(uint32_t index) {
  const auto contest = contests_.extract(index);
  if (contest.empty()) return;
  const Claim& claim = contest.mapped();
  if (!master_.peers->Keep(claim.by, kWorkerBytes + 2 * claim.bytes)) return;
  WorkerRecord& worker = workers_[index];
  const Peers::PeerId old = std::exchange(worker.peer, claim.by);
  members_.erase(old);
  members_[claim.by] = index;
  if (worker.keeps && !worker.away_since) SendAway(index);
  worker.heard = context_.loop.Now();
  context_.log.Warn("a worker speaks by another connection", {{"worker", claim.said.id}});
  TellDuplicate(claim.by, claim.said);
  if (old != 0) master_.peers->Close(old, "it is silent, and its worker speaks by another connection");
}

es::RegisteredWorker StandaloneWorkers::Answer(const es::RegisterWorker& said, bool duplicate) const {
  es::RegisteredWorker answer;
  answer.master = {master_.address, es::kMasterEndpoint};
  answer.web_url = context_.settings.web_url;
  answer.dialled = said.master;
  answer.duplicate = duplicate;
  return answer;
}

/// As Spark's own Master answers: it changes nothing.
void StandaloneWorkers::TellDuplicate(Peers::PeerId peer, const es::RegisterWorker& said) {
  master_.peers->Send(peer, said.worker.address, said.worker.name, es::Encode(context_.build, Answer(said, true)));
}

void StandaloneWorkers::Apply(const sa::RegisterWorkerFailed& effect) {
  context_.log.Warn("a worker is refused",
                    {{"worker", workers_[effect.worker.value].said.id}, {"reason", effect.message}});
  Tell(effect.worker, es::RegisterWorkerFailed{effect.message});
  workers_[effect.worker.value].peer = 0;
}

void StandaloneWorkers::On(Peers::PeerId peer, const es::Heartbeat& message) {
  const auto alive = alive_workers_.find(message.worker);
  if (alive != alive_workers_.end()) {
    WorkerRecord& worker = workers_[alive->second];
    if (worker.peer != peer) return;
    Heard(alive->second);
    return;
  }
  // One that was given up too early, or was called back in the place of an earlier worker of its address, where Spark's
  // master would not answer: it shall register.
  master_.peers->Send(peer, message.reference.address, message.reference.name,
                      es::Encode(context_.build, es::ReconnectWorker{url()}));
}

void StandaloneWorkers::On(Peers::PeerId peer, std::optional<int64_t> request,
                           const es::ExecutorStateChanged& message) {
  const auto worker = Of(peer);
  const auto application = context_.records.Application(message.application);
  if (!worker || !application) return Reply(peer, request, true);
  // Whether it runs there the core knows at its turn: the worker's claim of it may still wait for the store.
  sa::ExecutorStateChanged event;
  event.worker = sa::WorkerIndex{*worker};
  event.app = {*application};
  event.executor = message.executor;
  event.state = static_cast<sa::ExecutorState>(message.state);
  event.exit_status = message.exit_status;
  event.message = message.message.value_or("");
  event.token = context_.owner.Await([this, peer, request](bool value) { Reply(peer, request, value); });
  context_.owner.Feed(std::move(event));
}

bool StandaloneWorkers::HasEndpoint(uint32_t worker, const std::string& name) {
  if (name != es::kKeepingEndpoint && name != es::kLeavingEndpoint) return false;
  workers_[worker].keeps = name == es::kKeepingEndpoint;
  return true;
}

void StandaloneWorkers::SendAway(uint32_t worker) {
  workers_[worker].away_since = context_.loop.Now();
  context_.owner.Feed(sa::WorkerAway{{worker}});
}

void StandaloneWorkers::TakeBack(uint32_t worker, const es::WorkerLatestState& message) {
  sa::WorkerBack event;
  event.worker = {worker};
  for (const es::ExecutorDescription& executor : message.executors) {
    const auto application = context_.records.Application(executor.application);
    if (application) event.executors.push_back({{*application}, executor.executor});
  }
  for (const std::string& id : message.drivers) {
    if (const auto driver = context_.records.ShownDriver(id)) event.drivers.push_back({*driver});
  }
  event.token = context_.owner.Await([this, worker, peer = workers_[worker].peer, message](bool) {
    WorkerRecord& record = workers_[worker];
    if (record.peer != peer) return;  // away again
    record.away_since.reset();
    context_.log.Info("a worker is back", {{"worker", record.said.id},
                                           {"executors", std::to_string(message.executors.size())},
                                           {"drivers", std::to_string(message.drivers.size())}});
    for (const std::string& content : std::exchange(record.held, {})) {
      master_.peers->Send(record.peer, record.said.worker.address, record.said.worker.name, content);
    }
    On(peer, message);  // what nobody knows is ended
  });
  context_.owner.Feed(std::move(event));
}

/// Another worker where one that is away was: that one will not come back.
void StandaloneWorkers::LoseAwayAt(const es::RegisterWorker& again) {
  for (const auto& [id, index] : alive_workers_) {
    const WorkerRecord& worker = workers_[index];
    if (id == again.id || !worker.away_since || worker.said.host != again.host || worker.said.port != again.port)
      continue;
    return Lose(index, "another worker has its address");
  }
}

/// Executors and drivers that the worker runs and nobody knows are ended: the master heard only their loss.
void StandaloneWorkers::On(Peers::PeerId peer, const es::WorkerLatestState& message) {
  const auto index = Of(peer);
  if (!index || workers_[*index].said.id != message.worker) return;
  if (workers_[*index].away_since) return TakeBack(*index, message);
  const scheduler::standalone::Worker& worker = context_.core.workers()[*index];
  for (const es::ExecutorDescription& executor : message.executors) {
    const auto application = context_.records.Application(executor.application);
    if (application && worker.executors.contains({*application, executor.executor})) continue;
    Tell({*index}, es::KillExecutor{url(), executor.application, executor.executor});
    const bool over = !application || context_.records.applications()[*application].ended.ms != 0;
    if (over) Tell({*index}, es::ApplicationFinished{executor.application});
  }
  for (const std::string& id : message.drivers) {
    const auto driver = context_.records.Driver(id);
    if (driver && worker.drivers.contains(*driver)) continue;
    Tell({*index}, es::KillDriver{id});
  }
}

void StandaloneWorkers::OnClosed(Peers::PeerId peer) {
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
    context_.log.Warn("a worker is away; what it runs goes on for a while", {{"worker", worker.said.id}});
    return SendAway(member.mapped());
  }
  Lose(member.mapped(), worker.said.worker.address.ToString() + " got disassociated");
}

void StandaloneWorkers::Lose(uint32_t index, const std::string& why) {
  const auto alive = alive_workers_.find(workers_[index].said.id);
  if (alive == alive_workers_.end() || alive->second != index) return;
  context_.log.Warn("a worker is lost", {{"worker", alive->first}, {"why", why}});
  alive_workers_.erase(alive);
  if (const auto contest = contests_.extract(index); !contest.empty()) {
    master_.peers->Close(contest.mapped().by, "the worker that it says it is has been lost; register again");
  }
  workers_[index].away_since.reset();
  workers_[index].held.clear();
  context_.owner.Feed(sa::WorkerLost{{index}, why});
  NoteAdded(0);
}

/// Once a second: workers that are silent for too long are lost, and what is not shown any more goes.
void StandaloneWorkers::Sweep() {
  sweep_timer_.After(kSweepInterval, [this] { Sweep(); });
  std::vector<uint32_t> silent, away;
  for (const auto& [id, index] : alive_workers_) {
    const auto since = workers_[index].away_since;
    if (since && context_.loop.Now() - *since > kAwayMax) away.push_back(index);
    const bool quiet = context_.loop.Now() - workers_[index].heard > context_.settings.worker_timeout;
    if (quiet && !since && !IsUnknown(index)) silent.push_back(index);
  }
  for (const uint32_t index : away) Lose(index, "it did not come back");
  for (const uint32_t index : silent) {
    Lose(index, "Not receiving heartbeat for " + std::to_string(context_.settings.worker_timeout.millis() / 1000) +
                    " seconds");
  }
  context_.owner.DropUnshown();
}

bool StandaloneWorkers::Shows(uint32_t index) const {
  if (!context_.core.workers().contains(index)) return false;
  const scheduler::standalone::Worker& worker = context_.core.workers()[index];
  const int64_t kept_ms = (context_.settings.dead_worker_persistence + 1) * context_.settings.worker_timeout.millis();
  const bool old = context_.loop.Wall().ms - workers_[index].heartbeat.ms > kept_ms;
  return !worker.id.empty() && !(worker.state == sa::WorkerState::kDead && (old || workers_[index].forgotten));
}

sa::WorkerRegistered StandaloneWorkers::RegistrationOf(uint32_t index, const es::RegisterWorker& worker) {
  return {{index}, worker.id, worker.host, worker.port, worker.cores, worker.memory_mib, FromWire(worker.resources)};
}

void StandaloneWorkers::On(Peers::PeerId peer, std::optional<int64_t> request, const es::DriverStateChanged& message) {
  const auto worker = Of(peer);
  const auto index = context_.records.ShownDriver(message.driver);
  if (worker && index) {
    context_.owner.Feed(sa::DriverStateChanged{{*index},
                                               static_cast<sa::DriverState>(message.state),
                                               sa::WorkerIndex{*worker},
                                               message.exception.value_or("")});
  }
  Reply(peer, request, true);
}

bool StandaloneWorkers::IsUnknown(uint32_t worker) const {
  return context_.core.workers().contains(worker) && context_.core.workers()[worker].state == sa::WorkerState::kUnknown;
}

void StandaloneWorkers::CallBack(uint32_t worker) {
  auto again = alive_([this, worker] { CallBack(worker); });
  if (!IsUnknown(worker)) return;
  if (workers_[worker].peer != 0) {  // it has been told, and is looked at again
    context_.loop.After(kRetry, again);
    return;
  }
  master_.peers->Connect(workers_[worker].said.worker.address,
                         alive_([this, worker, again](std::optional<Peers::PeerId> peer) {
                           context_.loop.After(kRetry, again);
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

void StandaloneWorkers::TellMasterChanged(uint32_t worker) {
  Tell({worker}, es::MasterChanged{{master_.address, es::kMasterEndpoint}, context_.settings.web_url});
}

void StandaloneWorkers::On(Peers::PeerId peer, const es::WorkerSchedulerStateResponse& message) {
  const auto alive = alive_workers_.find(message.worker);
  const bool its = alive != alive_workers_.end() && workers_[alive->second].peer == peer;
  if (its && !IsUnknown(alive->second)) {  // it has been told again whose it is
    Heard(alive->second);
    return;
  }
  if (!its) {
    return context_.log.Warn("a worker that was not called back says what it runs", {{"worker", message.worker}});
  }
  const uint32_t index = alive->second;
  members_[peer] = index;
  Heard(index);
  context_.log.Info("a worker is back", {{"worker", message.worker},
                                         {"executors", std::to_string(message.executors.size())},
                                         {"drivers", std::to_string(message.drivers.size())}});
  sa::WorkerAnswered event;
  event.worker = {index};
  for (const auto& [executor, resources] : message.executors) {
    const auto application = context_.records.Application(executor.application);
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
    const auto driver = context_.records.ShownDriver(id);
    if (driver) event.drivers.push_back({{*driver}, FromWire(resources)});
    if (!driver) Tell({index}, es::KillDriver{id});
  }
  context_.owner.Feed(std::move(event));
}

env::Row StandaloneWorkers::TakeRow(uint32_t worker) {
  WorkerRecord& record = workers_[worker];
  record.stored = true;
  StoredStandaloneWorker stored = ToStored(record.said);
  stored.from = record.from;
  return RowOf(kStandaloneWorkers, record.said.id, stored);
}

void StandaloneWorkers::CollectLost(std::vector<env::Row>& rows) {
  for (const auto& [i, worker] : context_.core.workers()) {
    if (!workers_[i].stored || IsStored(worker)) continue;
    workers_[i].stored = false;
    rows.push_back({kStandaloneWorkers, workers_[i].said.id, std::nullopt});
  }
}

// ---- over restarts, and what is shown ------------------------------------------------------------------------------

void StandaloneWorkers::Load(const std::string& id, const StoredStandaloneWorker& stored) {
  const uint32_t index = workers_.next();
  alive_workers_[id] = index;
  WorkerRecord& record = workers_.Add({FromStored(id, stored)});
  record.from = stored.from;
  record.stored = true;
  Heard(index);
}

void StandaloneWorkers::OnRecovered() {
  std::erase_if(alive_workers_, [this](const auto& one) {
    const auto& workers = context_.core.workers();
    const bool dead = workers.contains(one.second) && workers[one.second].state == sa::WorkerState::kDead;
    if (dead) context_.log.Warn("a worker is lost: it did not answer after the restart", {{"worker", one.first}});
    return dead;
  });
}

std::vector<uint32_t> StandaloneWorkers::AliveAt(const std::string& host) const {
  std::vector<uint32_t> there;
  for (const auto& [id, index] : alive_workers_) {
    const bool alive = context_.core.workers()[index].state == sa::WorkerState::kAlive;
    if (alive && workers_[index].said.host == host) there.push_back(index);
  }
  return there;
}

void StandaloneWorkers::CollectUnshown(const std::set<uint32_t>& named, scheduler::standalone::Gone& gone) {
  added_ = 0;
  for (const auto& [i, worker] : context_.core.workers()) {
    WorkerRecord& record = workers_[i];
    if (record.counted || worker.state != sa::WorkerState::kDead || worker.id.empty()) continue;
    record.counted = true;
    gone_.Add(i, record.from, kWorkerBytes + 2 * base::EncodeStored(ToStored(record.said)).size());
  }
  while (const auto number = gone_.TakeExcess()) workers_[*number].forgotten = true;
  for (const auto& [i, worker] : context_.core.workers()) {
    if (!Shows(i) && !named.contains(i)) gone.workers.insert(i);
  }
}

void StandaloneWorkers::Drop(const std::set<uint32_t>& gone) {
  const auto is_gone = [&](const auto& one) { return gone.contains(one.second); };
  for (const uint32_t worker : gone) gone_.Remove(worker);
  std::erase_if(members_, is_gone);
  std::erase_if(alive_workers_, is_gone);  // one whose place was taken before it had answered after a restart
  workers_.Drop(gone);
}

}  // namespace fairlead::process::spark_master
