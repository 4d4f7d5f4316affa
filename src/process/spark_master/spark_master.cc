#include "process/spark_master/spark_master.h"

#include <algorithm>

#include "endpoints/spark/master_messages.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;

namespace {

constexpr base::Duration kSweepInterval = base::Duration::Seconds(1);
constexpr const char* kEndpoint = "Master";

}  // namespace

base::Result<std::unique_ptr<SparkMaster>> SparkMaster::Start(env::Loop& loop, env::Net& net, env::Log& log,
                                                              SparkMasterSettings settings) {
  std::unique_ptr<SparkMaster> master(new SparkMaster(loop, net, log, std::move(settings)));
  auto listener = net.Listen(master->settings_.listen, [raw = master.get()](std::unique_ptr<env::Stream> stream) {
    raw->OnAccepted(std::move(stream));
  });
  if (!listener) {
    return base::Error{"cannot listen on " + master->settings_.listen.ToString() + ": " + listener.error().message};
  }
  master->listener_ = std::move(*listener);
  master->settings_.application.port = master->local().port;
  master->Sweep();
  return master;
}

SparkMaster::SparkMaster(env::Loop& loop, env::Net& net, env::Log& log, SparkMasterSettings settings)
    : loop_(loop), net_(net), log_(log), settings_(std::move(settings)) {}

SparkMaster::~SparkMaster() {
  *alive_ = false;
  if (sweep_timer_ != 0) loop_.Cancel(sweep_timer_);
}

es::RpcAddress SparkMaster::Address() const { return {settings_.application.host, settings_.application.port}; }

// ---- connections ---------------------------------------------------------------------------------------------------

void SparkMaster::OnAccepted(std::unique_ptr<env::Stream> stream) {
  if (strangers_ >= settings_.strangers_max) MakeRoom();
  const PeerId id = next_id_++;
  Peer& peer = peers_[id];
  peer.connection = std::make_unique<DriverConnection>(std::move(stream));
  peer.since = loop_.Now();
  ++strangers_;
  peer.connection->Start({[this, id](es::DriverMessage message, std::optional<int64_t> request) {
                            OnMessage(id, std::move(message), request);
                          },
                          [this, id](const std::string& reason) { OnClosed(id, reason); }});
}

/// Closes the stranger that has been here longest.
void SparkMaster::MakeRoom() {
  for (auto& [id, peer] : peers_) {
    if (peer.application == 0) return peer.connection->Close("too many connections that register nothing");
  }
}

/// Once a second: connections that register nothing are closed.
void SparkMaster::Sweep() {
  sweep_timer_ = loop_.After(kSweepInterval, [this] { Sweep(); });
  std::vector<DriverConnection*> silent;
  for (auto& [id, peer] : peers_) {
    if (peer.application == 0 && loop_.Now() - peer.since >= settings_.registration_within) {
      silent.push_back(peer.connection.get());
    }
  }
  for (DriverConnection* connection : silent) connection->Close("it registered no application");
}

void SparkMaster::OnClosed(PeerId id, const std::string& reason) {
  const auto found = peers_.find(id);
  Peer& peer = found->second;
  const auto application = applications_.find(peer.application);
  if (application != applications_.end() && !application->second->ending()) {
    application->second->End("the driver's connection ended without its saying that the application is over" +
                             (reason.empty() ? std::string() : ": " + reason));
  } else if (!reason.empty()) {
    log_.Warn("a connection is closed", {{"peer", peer.connection->peer()}, {"reason", reason}});
  }
  if (peer.application == 0) --strangers_;
  // In a later turn: the connection may be in the middle of something.
  auto gone = std::make_shared<std::unique_ptr<DriverConnection>>(std::move(peer.connection));
  peers_.erase(found);
  loop_.Post([gone] { gone->reset(); });
}

// ---- messages ------------------------------------------------------------------------------------------------------

SparkApplication* SparkMaster::ApplicationOf(const Peer& peer, const std::string& id) const {
  const auto found = applications_.find(peer.application);
  return found != applications_.end() && found->second->id() == id ? found->second.get() : nullptr;
}

void SparkMaster::OnMessage(PeerId id, es::DriverMessage message, std::optional<int64_t> request) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  const auto answer = [&](bool value) {
    if (request) peer.connection->Reply(*request, es::EncodeBoolean(value));
  };
  if (const auto* check = std::get_if<es::CheckExistence>(&message)) {
    answer(check->name == kEndpoint);
  } else if (auto* registration = std::get_if<es::RegisterApplication>(&message)) {
    Register(id, std::move(*registration));
  } else if (const auto* over = std::get_if<es::UnregisterApplication>(&message)) {
    if (SparkApplication* application = ApplicationOf(peer, over->application)) application->End("");
  } else if (const auto* wanted = std::get_if<es::RequestExecutors>(&message)) {
    SparkApplication* application = ApplicationOf(peer, wanted->application);
    answer(application != nullptr && application->RequestExecutors(*wanted));
  } else if (const auto* kill = std::get_if<es::KillExecutors>(&message)) {
    SparkApplication* application = ApplicationOf(peer, kill->application);
    answer(application != nullptr && application->KillExecutors(*kill));
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
    if (application != applications_.end() && application->second->accepted()) TellRegistered(id, *application->second);
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
  --strangers_;
  if (!registration.application.profile.other.empty()) {
    log_.Warn("executors get no resources besides cores and memory",
              {{"name", registration.application.name}, {"asked", registration.application.profile.other.front()}});
  }
  SparkApplication::Callbacks callbacks;
  callbacks.on_accepted = [this, id, key] { TellRegistered(id, *applications_.at(key)); };
  callbacks.tell = [this, id, key](const std::string& content) { Tell(id, *applications_.at(key), content); };
  callbacks.on_over = [this, key] {
    loop_.Post([this, alive = alive_, key] {
      if (*alive) applications_.erase(key);
    });
  };
  auto& application = applications_[key];
  application = std::make_unique<SparkApplication>(loop_, net_, log_, settings_.application, *build,
                                                   std::move(registration), std::move(callbacks));
  application->Start();
}

/// What is said to a driver that has gone is lost.
void SparkMaster::Tell(PeerId id, const SparkApplication& application, const std::string& content) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  const es::RegisterApplication& registration = application.registration();
  found->second.connection->Send({Address(), registration.driver, registration.driver_endpoint, content});
}

void SparkMaster::TellRegistered(PeerId id, const SparkApplication& application) {
  Tell(id, application,
       es::EncodeRegistered(application.build(), application.registration(), application.id(), Address()));
}

void SparkMaster::Close(PeerId id, const std::string& reason) { peers_.at(id).connection->Close(reason); }

}  // namespace fairlead::process::spark_master
