#include "process/spark_master/spark_master.h"

#include <algorithm>
#include <utility>

#include "base/codec.h"
#include "endpoints/spark/master_messages.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);
constexpr base::Duration kConnectTimeout = base::Duration::Seconds(10);
constexpr base::Duration kCallBackInterval = base::Duration::Seconds(1);
constexpr const char* kEndpoint = "Master";

}  // namespace

base::Result<std::unique_ptr<SparkMaster>> SparkMaster::Start(env::Loop& loop, env::Net& net, env::Store* store,
                                                              env::Log& log, SparkMasterSettings settings) {
  std::unique_ptr<SparkMaster> master(new SparkMaster(loop, net, store, log, std::move(settings)));
  auto listener = net.Listen(
      master->settings_.listen,
      [raw = master.get()](std::unique_ptr<env::Stream> stream) { raw->OnAccepted(std::move(stream)); },
      [raw = master.get()] { raw->table_.Thin(); });
  if (!listener) {
    return base::Error{"cannot listen on " + master->settings_.listen.ToString() + ": " + listener.error().message};
  }
  master->listener_ = std::move(*listener);
  master->settings_.application.port = master->local().port;
  if (const base::Status recovered = master->Recover(); !recovered) return recovered.error();
  master->Sweep();
  return master;
}

SparkMaster::SparkMaster(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log, SparkMasterSettings settings)
    : loop_(loop), net_(net), store_(store), log_(log), settings_(std::move(settings)), table_(settings_.peers) {}

SparkMaster::~SparkMaster() {
  *alive_ = false;
  if (sweep_timer_ != 0) loop_.Cancel(sweep_timer_);
}

es::RpcAddress SparkMaster::Address() const { return {settings_.application.host, settings_.application.port}; }

// ---- connections ---------------------------------------------------------------------------------------------------

void SparkMaster::OnAccepted(std::unique_ptr<env::Stream> stream) {
  if (table_.MakeRoom(stream->peer().host)) AddPeer(std::move(stream), 0);
}

SparkMaster::PeerId SparkMaster::AddPeer(std::unique_ptr<env::Stream> stream, ApplicationKey application) {
  const PeerId id = next_id_++;
  Peer& peer = peers_[id];
  peer.connection = std::make_unique<DriverConnection>(std::move(stream));
  peer.since = loop_.Now();
  peer.message_since = peer.since;
  peer.application = application;
  peer.seat = std::make_unique<peers::PeerTable::Seat>(table_, peer, peer.connection->address());
  if (application != 0) peer.seat->Become(peers::Standing::kMember);
  peer.connection->Start({[this, id](es::DriverMessage message, std::optional<int64_t> request) {
                            OnMessage(id, std::move(message), request);
                          },
                          [this, id] { OnBytes(id); },
                          [this, id](const std::string& reason) { OnClosed(id, reason); }});
  return id;
}

void SparkMaster::OnBytes(PeerId id) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  found->second.seat->Count();
  table_.Relieve(found->second.seat.get());
}

bool SparkMaster::Peer::Overdue(base::Instant now, const SparkMasterSettings& settings) {
  seat->Count();
  if (std::exchange(messages, connection->messages()) != connection->messages() || connection->held_bytes() == 0) {
    message_since = now;
  }
  const bool nothing_yet = application == 0 && now - since >= settings.registration_within;
  return nothing_yet || now - message_since >= settings.message_within;
}

/// Once a second: connections that register nothing, or are not done with a message, are closed.
void SparkMaster::Sweep() {
  sweep_timer_ = loop_.After(kSweepInterval, [this] { Sweep(); });
  std::vector<PeerId> overdue;
  for (auto& [id, peer] : peers_) {
    if (peer.Overdue(loop_.Now(), settings_)) overdue.push_back(id);
  }
  for (const PeerId id : overdue) Close(id, "it registered no application, or was not done with a message, in time");
}

void SparkMaster::OnClosed(PeerId id, const std::string& reason) {
  const auto found = peers_.find(id);
  Peer& peer = found->second;
  const auto application = applications_.find(peer.application);
  if (application != applications_.end()) application->second.peer = 0;
  if (application != applications_.end() && !application->second.machine->ending()) {
    application->second.machine->End("the driver's connection ended without its saying that the application is over" +
                                     (reason.empty() ? std::string() : ": " + reason));
  } else if (!reason.empty()) {
    log_.Warn("a connection is closed", {{"peer", peer.connection->peer()}, {"reason", reason}});
  }
  peer.seat.reset();
  // In a later turn: the connection may be in the middle of something.
  auto gone = std::make_shared<std::unique_ptr<DriverConnection>>(std::move(peer.connection));
  peers_.erase(found);
  loop_.Post([gone] { gone->reset(); });
}

// ---- messages ------------------------------------------------------------------------------------------------------

SparkApplication* SparkMaster::ApplicationOf(const Peer& peer, const std::string& id) const {
  const auto found = applications_.find(peer.application);
  if (found == applications_.end() || found->second.machine->id() != id) return nullptr;
  return found->second.machine.get();
}

void SparkMaster::Answer(PeerId id, std::optional<int64_t> request, bool value) {
  const auto found = peers_.find(id);
  if (found != peers_.end() && request) found->second.connection->Reply(*request, es::EncodeBoolean(value));
}

void SparkMaster::OnMessage(PeerId id, es::DriverMessage message, std::optional<int64_t> request) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  const auto answer = [&](bool value) { Answer(id, request, value); };
  if (const auto* check = std::get_if<es::CheckExistence>(&message)) {
    answer(check->name == kEndpoint);
  } else if (auto* registration = std::get_if<es::RegisterApplication>(&message)) {
    Register(id, std::move(*registration));
  } else if (const auto* over = std::get_if<es::UnregisterApplication>(&message)) {
    if (SparkApplication* application = ApplicationOf(peer, over->application)) application->End("");
  } else if (const auto* wanted = std::get_if<es::RequestExecutors>(&message)) {
    SparkApplication* application = ApplicationOf(peer, wanted->application);
    if (application == nullptr) return answer(false);
    application->RequestExecutors(*wanted, [=, this](bool taken) { Answer(id, request, taken); });
  } else if (const auto* kill = std::get_if<es::KillExecutors>(&message)) {
    SparkApplication* application = ApplicationOf(peer, kill->application);
    if (application == nullptr) return answer(false);
    application->KillExecutors(*kill, [=, this](bool taken) { Answer(id, request, taken); });
  } else if (const auto* known = std::get_if<es::MasterChangeAcknowledged>(&message)) {
    // Where the application's driver listened, another one may listen now.
    if (ApplicationOf(peer, known->application) == nullptr) Close(id, "another driver has taken the place of this one");
  } else if (const auto* other = std::get_if<es::OtherMessage>(&message)) {
    log_.Warn("a message that is not taken", {{"peer", peer.connection->peer()}, {"class", other->class_name}});
    if (request) peer.connection->Refuse(*request, "this master does not take " + other->class_name);
  }
}

const es::SparkBuild* SparkMaster::BuildOf(int64_t suid) const {
  const auto found = std::find_if(settings_.builds.begin(), settings_.builds.end(),
                                  [suid](const es::SparkBuild& build) { return build.registration_suid() == suid; });
  return found != settings_.builds.end() ? &*found : nullptr;
}

void SparkMaster::Register(PeerId id, es::RegisterApplication registration) {
  Peer& peer = peers_.at(id);
  if (peer.application != 0) {
    // Drivers register again when they have waited for long; one that is still being submitted hears of it later.
    const auto application = applications_.find(peer.application);
    if (application != applications_.end() && application->second.machine->accepted()) {
      TellRegistered(application->second);
    }
    return;
  }
  const es::SparkBuild* build = BuildOf(registration.suid);
  if (build == nullptr) {
    std::string known;
    for (const es::SparkBuild& each : settings_.builds)
      known += (known.empty() ? "" : "; ") + each.release + " in " + each.home;
    return Close(id, "application " + registration.application.name +
                         " is of a build of Spark that is not known here " +
                         "(serialVersionUID of RegisterApplication " + std::to_string(registration.suid) +
                         "; known: " + known + "); start this daemon with --spark-home of that build, too");
  }
  const ApplicationKey key = next_id_++;
  peer.application = key;
  peer.seat->Become(peers::Standing::kMember);
  if (!registration.application.profile.other.empty()) {
    log_.Warn("executors get no resources besides cores and memory",
              {{"name", registration.application.name}, {"asked", registration.application.profile.other.front()}});
  }
  SparkApplication& application = AddApplication(key, *build, std::move(registration));
  applications_.at(key).peer = id;
  application.Start();
}

SparkApplication& SparkMaster::AddApplication(ApplicationKey key, const es::SparkBuild& build,
                                              es::RegisterApplication registration) {
  SparkApplication::Callbacks callbacks;
  callbacks.on_accepted = [this, key] { TellRegistered(applications_.at(key)); };
  callbacks.tell = [this, key](const std::string& content) { Tell(applications_.at(key), content); };
  callbacks.on_over = [this, key] {
    loop_.Post([this, alive = alive_, key] {
      if (*alive) applications_.erase(key);
    });
  };
  auto& machine = applications_[key].machine;
  machine = std::make_unique<SparkApplication>(loop_, net_, store_, log_, settings_.application, build,
                                               std::move(registration), std::move(callbacks));
  return *machine;
}

/// What is said to a driver that is not connected is lost.
void SparkMaster::Tell(const Application& application, const std::string& content) {
  const auto found = peers_.find(application.peer);
  if (found == peers_.end()) return;
  const es::RegisterApplication& registration = application.machine->registration();
  found->second.connection->Send({Address(), registration.driver, registration.driver_endpoint, content});
}

void SparkMaster::TellRegistered(const Application& application) {
  const SparkApplication& machine = *application.machine;
  Tell(application, es::EncodeRegistered(machine.build(), machine.registration(), machine.id(), Address()));
}

// ---- after a restart -----------------------------------------------------------------------------------------------

/// Takes up what an earlier life of this process stored: a driver whose master is gone waits to be called back.
base::Status SparkMaster::Recover() {
  if (store_ == nullptr) return {};
  const auto rows = store_->Load(kApplicationTable);
  if (!rows) return rows.error();
  for (const env::Row& row : *rows) {
    StoredApplication stored;
    base::ByteReader in(*row.value);
    base::Decode(in, stored);
    auto message = es::DecodeDriverMessage(stored.registration);
    auto* registration = message.ok() ? std::get_if<es::RegisterApplication>(&*message) : nullptr;
    const es::SparkBuild* build = registration != nullptr && in.done() ? BuildOf(registration->suid) : nullptr;
    if (build == nullptr) {
      log_.Error("a stored application is given up: it cannot be read, or its build of Spark is not known any more",
                 {{"application", row.key}});
      store_->Commit({{kApplicationTable, row.key, std::nullopt}}, [](const base::Status&) {});
      continue;
    }
    const ApplicationKey key = next_id_++;
    AddApplication(key, *build, std::move(*registration));
    CallBack(key, stored, row.key, loop_.Now() + settings_.call_back_for);
  }
  return {};
}

/// Connects to where the driver listens and says that this is its master now; then the application goes on. Without a
/// driver it goes on as well, to be ended.
void SparkMaster::CallBack(ApplicationKey key, const StoredApplication& stored, const std::string& id,
                           base::Instant until) {
  const es::RpcAddress& driver = applications_.at(key).machine->registration().driver;
  const env::Endpoint address{driver.host, static_cast<uint16_t>(driver.port)};
  net_.Connect(address, kConnectTimeout,
               [this, alive = alive_, key, stored, id, until](base::Result<std::unique_ptr<env::Stream>> stream) {
                 if (!*alive) return;
                 Application& application = applications_.at(key);
                 SparkApplication& machine = *application.machine;
                 if (stream.ok()) {
                   application.peer = AddPeer(std::move(*stream), key);
                   Tell(application, es::EncodeMasterChanged(machine.build(), machine.registration(), Address(), ""));
                   log_.Info("an application goes on",
                             {{"application", id}, {"driver", machine.registration().driver.ToString()}});
                   return machine.Resume(id, stored);
                 }
                 if (loop_.Now() < until) {
                   loop_.After(kCallBackInterval, [this, alive, key, stored, id, until] {
                     if (*alive) CallBack(key, stored, id, until);
                   });
                   return;
                 }
                 machine.End("the driver does not answer since this master has restarted: " + stream.error().message);
                 machine.Resume(id, stored);
               });
}

void SparkMaster::Close(PeerId id, const std::string& reason) { peers_.at(id).connection->Close(reason); }

}  // namespace fairlead::process::spark_master
