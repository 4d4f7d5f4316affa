#include "sim/standalone/driver.h"

#include <utility>

#include "endpoints/spark/driver_requests.h"
#include "endpoints/spark/master_messages.h"
#include "endpoints/spark/object_fields.h"
#include "sim/standalone/spark_release.h"

namespace fairlead::sim {

namespace {

namespace es = endpoints::spark;
using base::Duration;

constexpr uint16_t kMasterPort = 7077;
constexpr int32_t kDriverPort = 40'000;
constexpr const char* kEndpoint = "AppClient";
constexpr Duration kRetry = Duration::Seconds(20);  // StandaloneAppClient.REGISTRATION_TIMEOUT_SECONDS
constexpr Duration kPatience = Duration::Seconds(45);

}  // namespace

SimDriver::SimDriver(env_sim::World& world, int number, int masters, es::ApplicationDescription application)
    : world_(world),
      machine_(world.AddMachine("driver" + std::to_string(number))),
      masters_(masters),
      application_(std::move(application)),
      address_{machine_.host(), kDriverPort},
      listener_(*machine_.net().Listen({address_.host, static_cast<uint16_t>(address_.port)},
                                       [this](std::unique_ptr<env::Stream> stream) { Add(std::move(stream), false); })),
      wanted_(application_.cores_max.value_or(1)),
      known_(wanted_) {}

SimDriver::~SimDriver() = default;

void SimDriver::Add(std::unique_ptr<env::Stream> stream, bool registers) {
  const PeerId id = ++last_peer_;
  using process::spark_rpc::Connection;
  static const process::spark_rpc::Security kNone;
  Peer& peer = peers_[id];
  peer.connection = std::make_unique<Connection>(std::move(stream), machine_.loop(), kNone,
                                                 registers ? Connection::Side::kDials : Connection::Side::kDialled);
  peer.connection->Start({[this, id](const process::spark_rpc::Incoming& message) { OnMessage(id, message.content); },
                          [] {}, [this, id](const std::string&) { peers_[id].closed = true; }});
  if (registers) Send(id, es::EncodeRegistration(SimulatedSpark(), application_, {address_, kEndpoint}));
}

void SimDriver::Send(PeerId peer, const std::string& content) {
  peers_[peer].connection->Send({address_, std::nullopt, es::kMasterEndpoint, content});
}

void SimDriver::OnMessage(PeerId peer, const wire::java_stream::Graph& message) {
  const std::string_view name = es::MessageName(message);
  if (name == "RegisteredApplication" && id_.empty()) {
    es::Fields in(message);
    id_ = in.Text(message.Root(), "appId");
    master_ = peer;
    known_ = application_.cores_max.value_or(1);
  } else if (name == "MasterChanged" && !id_.empty()) {
    master_ = peer;
    asks_ = false;
    Send(peer, es::EncodeMasterChangeAcknowledged(SimulatedSpark(), id_));
  } else if (name == "ApplicationRemoved" && peer == master_) {
    BeginAnew();
  }
}

void SimDriver::Turn(const std::vector<std::string>& executors) {
  if (master_ != 0 && (!peers_.contains(master_) || peers_[master_].closed)) {
    master_ = 0;
    asks_ = false;
    alone_since_ = world_.now();
  }
  std::erase_if(peers_, [](const auto& peer) { return peer.second.closed; });
  if (id_.empty()) return Register();
  if (master_ == 0 && world_.now() - alone_since_ > kPatience) BeginAnew();
  if (master_ == 0 || asks_) return;
  if (known_ != wanted_) return AskForExecutors();
  if (static_cast<int32_t>(executors.size()) > wanted_) KillSurplus(executors);
}

void SimDriver::Register() {
  if (world_.now() < next_try_) return;
  next_try_ = world_.now() + kRetry;
  peers_.clear();
  for (int i = 0; i < masters_; ++i) {
    machine_.net().Connect({"master" + std::to_string(i), kMasterPort}, Duration::Seconds(5), [this](auto stream) {
      if (stream.ok() && id_.empty()) Add(std::move(*stream), true);
    });
  }
}

void SimDriver::BeginAnew() {
  ++world_.counts()["application begins anew"];
  id_.clear();
  master_ = 0;
  asks_ = false;
  next_try_ = world_.now();
}

void SimDriver::Ask(const std::string& content, std::function<void(bool)> then) {
  asks_ = true;
  peers_[master_].connection->Ask({address_, std::nullopt, es::kMasterEndpoint, content},
                                  [this, master = master_, then = std::move(then)](const auto& answer) {
                                    if (master != master_) return;
                                    asks_ = false;
                                    then(answer.ok() && es::IsTrue(*answer));
                                  });
}

void SimDriver::AskForExecutors() {
  known_ = -1;  // until this is answered
  Ask(es::EncodeRequestExecutors(SimulatedSpark(), id_, application_.profile, wanted_),
      [this, total = wanted_](bool yes) {
        if (yes) known_ = total;
      });
}

void SimDriver::KillSurplus(const std::vector<std::string>& executors) {
  ++world_.counts()["surplus executors given back"];
  Ask(es::EncodeKillExecutors(SimulatedSpark(), id_, {executors.begin() + wanted_, executors.end()}), [](bool) {});
}

}  // namespace fairlead::sim
