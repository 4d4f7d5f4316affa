#include "process/spark_master/spark_master.h"

#include <algorithm>
#include <utility>

#include "base/dispatch.h"
#include "endpoints/spark/known_description.h"
#include "endpoints/spark/master_messages.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
using spark_rpc::Connection;

namespace {

constexpr base::Duration kConnectTimeout = base::Duration::Seconds(10);
constexpr base::Duration kCallBackInterval = base::Duration::Seconds(1);
/// What an application takes in memory, by its registration's bytes: the message as objects, what is read of it, and
/// what the core has.
constexpr size_t kKeptBase = 2048;
constexpr size_t kKeptFactor = 4;

}  // namespace

base::Result<std::unique_ptr<SparkMaster>> SparkMaster::Start(env::Loop& loop, env::Net& net, env::Log& log,
                                                              SparkMasterSettings settings, ExecutorSource& source) {
  std::unique_ptr<SparkMaster> master(new SparkMaster(loop, net, log, std::move(settings), source));
  auto listener = net.Listen(
      master->settings_.listen,
      [raw = master.get()](std::unique_ptr<env::Stream> stream) { raw->OnAccepted(std::move(stream)); },
      [raw = master.get()] { raw->table_.Thin(); });
  if (!listener) return listener.error();
  master->listener_ = std::move(*listener);
  source.Attach({master.get(), master->Address()});
  if (const base::Status recovered = master->Recover(); !recovered) return recovered.error();
  master->Sweep();
  return master;
}

SparkMaster::SparkMaster(env::Loop& loop, env::Net& net, env::Log& log, SparkMasterSettings settings,
                         ExecutorSource& source)
    : loop_(loop), net_(net), log_(log), settings_(std::move(settings)), source_(source), table_(settings_.peers) {}

SparkMaster::~SparkMaster() = default;

// ---- connections ---------------------------------------------------------------------------------------------------

void SparkMaster::OnAccepted(std::unique_ptr<env::Stream> stream) {
  if (!table_.MakeRoom(stream->peer().host)) return refusals_.Count(spark_rpc::Refusal::kCrowd);
  AddPeer(std::move(stream), 0, false);
}

SparkMaster::PeerId SparkMaster::AddPeer(std::unique_ptr<env::Stream> stream, ApplicationKey application, bool member) {
  const PeerId id = next_id_++;
  Peer& peer = peers_[id];
  const bool dials = application != 0 || member;
  peer.application = application;
  peer.member = member;
  peer.Sit(table_,
           std::make_unique<Connection>(std::move(stream), loop_, settings_.security,
                                        dials ? Connection::Side::kDials : Connection::Side::kDialled),
           loop_.Now());
  if (dials) peer.BecomeMember();
  peer.connection->Start({[this, id](spark_rpc::Incoming message) { OnMessage(id, std::move(message)); },
                          [this, id] { OnBytes(id); },
                          [this, id](const std::string& reason) { OnClosed(id, reason); }});
  return id;
}

void SparkMaster::OnBytes(PeerId id) {
  const auto found = peers_.find(id);
  if (found != peers_.end()) found->second.Count(table_);
}

/// Once a second: connections that register nothing, or are not done with a message, are closed.
void SparkMaster::Sweep() {
  sweep_timer_.After(spark_rpc::kSweepInterval, [this] { Sweep(); });
  std::vector<PeerId> overdue;
  for (auto& [id, peer] : peers_) {
    if (peer.Overdue(loop_.Now())) overdue.push_back(id);
  }
  for (const PeerId id : overdue) CloseFor(spark_rpc::Refusal::kOverdue, id, spark_rpc::kOverdue);
}

void SparkMaster::OnClosed(PeerId id, const std::string& reason) {
  const auto node = peers_.extract(id);
  Peer& peer = node.mapped();
  peer.seat.reset();
  peer.CountRefusal(refusals_);
  const auto driver = drivers_.find(peer.application);
  if (driver != drivers_.end()) driver->second.peer = 0;
  if (driver != drivers_.end() && !driver->second.application->ending()) {
    driver->second.application->End("the driver's connection ended without its saying that the application is over" +
                                    (reason.empty() ? std::string() : ": " + reason));
  } else if (!reason.empty()) {
    log_.Warn("a connection is closed", {{"peer", peer.connection->peer()}, {"reason", reason}});
  }
  source_.OnClosed(id, reason);
  // In a later turn: the connection may be in the middle of something.
  auto gone = std::make_shared<std::unique_ptr<Connection>>(std::move(peer.connection));
  loop_.Post([gone] { gone->reset(); });
}

// ---- messages ------------------------------------------------------------------------------------------------------

Application* SparkMaster::ApplicationOf(const Peer& peer, const std::string& id) const {
  const auto found = drivers_.find(peer.application);
  if (found == drivers_.end() || found->second.application->id() != id) return nullptr;
  return found->second.application.get();
}

void SparkMaster::Answer(PeerId id, std::optional<int64_t> request, bool value) {
  if (request) Reply(id, *request, es::EncodeBoolean(value));
}

void SparkMaster::OnMessage(PeerId id, spark_rpc::Incoming message) {
  auto decoded = es::DecodeDriverMessage(std::move(message.content));
  if (!decoded) {
    if (message.request) Refuse(id, *message.request, decoded.error().message);
    return Close(id, decoded.error().message);
  }
  auto* other = std::get_if<es::OtherMessage>(&*decoded);
  if (other == nullptr) return OnDriverMessage(id, std::move(*decoded), message.request, message.bytes);
  message.content = std::move(other->graph);
  const bool taken = source_.OnMessage(id, message);
  const auto found = peers_.find(id);
  if (taken || found == peers_.end()) return;
  Peer& peer = found->second;
  log_.Warn("a message that is not taken", {{"peer", peer.connection->peer()}, {"class", other->class_name}});
  if (message.request) peer.connection->Refuse(*message.request, "this master does not take " + other->class_name);
}

void SparkMaster::OnDriverMessage(PeerId id, es::DriverMessage message, std::optional<int64_t> request, size_t bytes) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return;
  Peer& peer = found->second;
  const auto answer = [&](bool value) { Answer(id, request, value); };
  base::Dispatch(
      message,
      [&](const es::CheckExistence& check) {
        answer(check.name == es::kMasterEndpoint || (peer.member && source_.HasEndpoint(id, check.name)));
      },
      [&](es::RegisterApplication& registration) { Register(id, std::move(registration), bytes); },
      [&](const es::UnregisterApplication& over) {
        if (Application* application = ApplicationOf(peer, over.application)) application->End("");
      },
      [&](const es::RequestExecutors& wanted) {
        Application* application = ApplicationOf(peer, wanted.application);
        if (application == nullptr) return answer(false);
        application->RequestExecutors(wanted, [=, this](bool taken) { Answer(id, request, taken); });
      },
      [&](const es::KillExecutors& kill) {
        Application* application = ApplicationOf(peer, kill.application);
        if (application == nullptr) return answer(false);
        application->KillExecutors(kill, [=, this](bool taken) { Answer(id, request, taken); });
      },
      [&](const es::MasterChangeAcknowledged& known) {
        // Where the application's driver listened, another one may listen now.
        Application* application = ApplicationOf(peer, known.application);
        if (application == nullptr) return Close(id, "another driver has taken the place of this one");
        application->OnAcknowledged();
      },
      base::Ignored<es::OtherMessage>{});  // OnMessage has given it to the source
}

const es::SparkBuild* SparkMaster::BuildOf(int64_t suid) const {
  const auto found = std::find_if(settings_.builds.begin(), settings_.builds.end(),
                                  [suid](const es::SparkBuild& build) { return build.registration_suid() == suid; });
  return found != settings_.builds.end() ? &*found : nullptr;
}

/// Puts what is kept of a registration into the place of the message that came.
base::Status SparkMaster::Keep(const es::SparkBuild& build, es::RegisterApplication& registration) {
  auto kept = es::KeptRegistration(build, registration.graph, registration);
  if (!kept.ok()) return kept.error();
  registration.kept = std::move(*kept);
  registration.graph = {};
  return {};
}

void SparkMaster::Register(PeerId id, es::RegisterApplication registration, size_t bytes) {
  Peer& peer = peers_.at(id);
  if (peer.application != 0) {
    // Drivers register again when they have waited for long; one that is still being submitted hears of it later.
    const auto driver = drivers_.find(peer.application);
    if (driver != drivers_.end() && driver->second.application->accepted()) TellRegistered(driver->second);
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
  if (const base::Status kept = Keep(*build, registration); !kept.ok()) return Close(id, kept.error().message);
  const ApplicationKey key = next_id_++;
  Application::Callbacks callbacks = CallbacksOf(key);
  callbacks.address = peer.connection->address();
  std::unique_ptr<Application> application = source_.Make(*build, std::move(registration), std::move(callbacks));
  if (!application) return;
  if (!peer.Keep(table_, kKeptBase + kKeptFactor * bytes)) {
    return CloseFor(spark_rpc::Refusal::kMany, id, spark_rpc::kHoldsTooMuch);
  }
  peer.application = key;
  Driver& driver = drivers_[key];
  driver.peer = id;
  driver.application = std::move(application);
  driver.application->Start();
}

Application::Callbacks SparkMaster::CallbacksOf(ApplicationKey key) {
  Application::Callbacks callbacks;
  callbacks.on_accepted = [this, key] { TellRegistered(drivers_.at(key)); };
  callbacks.tell = [this, key](const std::string& content) { Tell(drivers_.at(key), content); };
  callbacks.on_over = [this, key] { loop_.Post(alive_([this, key] { drivers_.erase(key); })); };
  return callbacks;
}

/// What is said to a driver that is not connected is lost.
void SparkMaster::Tell(const Driver& driver, const std::string& content) {
  const es::RegisterApplication& registration = driver.application->registration();
  Send(driver.peer, registration.driver, registration.driver_endpoint, content);
}

void SparkMaster::TellRegistered(const Driver& driver) {
  const Application& application = *driver.application;
  Tell(driver, es::EncodeRegistered(application.build(), application.id(), Address()));
}

// ---- after a restart -----------------------------------------------------------------------------------------------

/// Takes up what an earlier life of this process stored: a driver whose master is gone waits to be called back.
base::Status SparkMaster::Recover() {
  const auto all = source_.Load();
  if (!all) return all.error();
  for (const ExecutorSource::Stored& stored : *all) {
    auto message = es::DecodeDriverMessage(stored.registration);
    if (!message.ok()) {
      source_.SetAside(stored.id, message.error().message);
      continue;
    }
    auto* registration = std::get_if<es::RegisterApplication>(&*message);
    const es::SparkBuild* build = registration != nullptr ? BuildOf(registration->suid) : nullptr;
    if (build == nullptr || !Keep(*build, *registration).ok()) {
      log_.Error("a stored application is given up: its build of Spark is not known any more, or it cannot be read",
                 {{"application", stored.id}});
      source_.Forget(stored.id);
      continue;
    }
    const ApplicationKey key = next_id_++;
    drivers_[key].bytes = kKeptBase + kKeptFactor * stored.registration.size();
    drivers_[key].application = source_.MakeStored(stored.id, *build, std::move(*registration), CallbacksOf(key));
    CallBack(key, loop_.Now() + settings_.call_back_for);
  }
  source_.OnLoaded();
  return {};
}

void SparkMaster::ConnectTo(const es::RpcAddress& address,
                            std::function<void(base::Result<std::unique_ptr<env::Stream>>)> done) {
  net_.Connect(
      {address.host, static_cast<uint16_t>(address.port)}, kConnectTimeout,
      alive_([done = std::move(done)](base::Result<std::unique_ptr<env::Stream>> stream) { done(std::move(stream)); }));
}

/// Connects to where the driver listens and says that this is its master now; then the application goes on. Without a
/// driver it goes on as well, to be ended.
void SparkMaster::CallBack(ApplicationKey key, base::Instant until) {
  const auto found = drivers_.find(key);
  if (found == drivers_.end()) return;
  ConnectTo(found->second.application->registration().driver,
            [this, key, until](base::Result<std::unique_ptr<env::Stream>> stream) {
              const auto called = drivers_.find(key);
              if (called == drivers_.end() || called->second.application->ending()) return;  // given up meanwhile
              Driver& driver = called->second;
              Application& application = *driver.application;
              if (stream.ok()) {
                driver.peer = AddPeer(std::move(*stream), key, false);
                (void)peers_.at(driver.peer).Keep(table_, driver.bytes);  // it was here before others
                Tell(driver, es::EncodeMasterChanged(application.build(), Address(), ""));
                log_.Info("an application goes on", {{"application", application.id()},
                                                     {"driver", application.registration().driver.ToString()}});
                return application.Resume();
              }
              if (loop_.Now() < until) {
                loop_.After(kCallBackInterval, alive_([this, key, until] { CallBack(key, until); }));
                return;
              }
              application.End("the driver does not answer since this master has restarted: " + stream.error().message);
              application.Resume();
            });
}

// ---- for the source ------------------------------------------------------------------------------------------------

bool SparkMaster::MayAct() {
  if (!settings_.may_act || settings_.may_act()) return true;
  settings_.on_lapsed();
  return false;
}

void SparkMaster::Send(PeerId peer, const es::RpcAddress& receiver, const std::string& endpoint,
                       const std::string& content) {
  if (!MayAct()) return;
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.connection->Send({Address(), receiver, endpoint, content});
}

void SparkMaster::Reply(PeerId peer, int64_t request, const std::string& content) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.connection->Reply(request, content);
}

void SparkMaster::Refuse(PeerId peer, int64_t request, const std::string& why) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.connection->Refuse(request, why);
}

void SparkMaster::Close(PeerId peer, const std::string& reason) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.connection->Close(reason);
}

void SparkMaster::CloseFor(spark_rpc::Refusal kind, PeerId peer, const std::string& reason) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.Refuse(kind, reason);
}

std::string SparkMaster::AddressOf(PeerId peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() ? found->second.connection->address() : "";
}

void SparkMaster::Know(PeerId peer) {
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.BecomeKnown();
}

bool SparkMaster::Keep(PeerId id, size_t bytes) {
  const auto found = peers_.find(id);
  if (found == peers_.end()) return false;
  found->second.member = true;
  const bool kept = found->second.Keep(table_, bytes);
  if (!kept) CloseFor(spark_rpc::Refusal::kMany, id, spark_rpc::kHoldsTooMuch);
  return kept;
}

void SparkMaster::Ask(PeerId peer, const es::RpcAddress& receiver, const std::string& endpoint,
                      const std::string& content, std::function<void()> done) {
  const auto found = peers_.find(peer);
  if (!MayAct() || found == peers_.end()) return;
  found->second.connection->Ask({Address(), receiver, endpoint, content},
                                [done = std::move(done)](const auto&) { done(); });
}

void SparkMaster::Connect(const es::RpcAddress& address, std::function<void(std::optional<PeerId> peer)> done) {
  ConnectTo(address, [this, done = std::move(done)](base::Result<std::unique_ptr<env::Stream>> stream) {
    done(stream.ok() ? std::optional(AddPeer(std::move(*stream), 0, true)) : std::nullopt);
  });
}

}  // namespace fairlead::process::spark_master
