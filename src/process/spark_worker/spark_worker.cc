#include "process/spark_worker/spark_worker.h"

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"

// Connections and registration; what runs is in spark_worker_runs.cc.

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

namespace {

constexpr base::Duration kConnectTimeout = base::Duration::Seconds(10);
/// How often masters are asked, at first and when that takes long.
constexpr base::Duration kEagerRetry = base::Duration::Seconds(2);
constexpr base::Duration kCalmRetry = base::Duration::Seconds(10);
constexpr base::Duration kEager = base::Duration::Seconds(60);
/// As often as a node agent measures.
constexpr base::Duration kMeasureInterval = base::Duration::Seconds(3);
constexpr const char* kEndpoint = "Worker";
constexpr size_t kMasterAddressesMax = 100;  // names of masters may lead elsewhere as time goes by
/// A master is asked whether it is still there when another one says that it has taken over.
constexpr base::Duration kMasterAskedFor = base::Duration::Seconds(2);

}  // namespace

base::Result<std::unique_ptr<SparkWorker>> SparkWorker::Start(const World& world, const es::SparkBuild& build,
                                                              SparkWorkerSettings settings,
                                                              std::function<void(const std::string&)> on_given_up) {
  std::unique_ptr<SparkWorker> worker(new SparkWorker(world, build, std::move(settings), std::move(on_given_up)));
  SparkWorkerSettings& own = worker->settings_;
  if (const base::Status made = world.disk.MakeDirectories(own.work_directory); !made.ok()) {
    return base::Error{"cannot make the work directory " + own.work_directory + ": " + made.error().message};
  }
  auto listener = world.net.Listen(own.listen, [raw = worker.get()](std::unique_ptr<env::Stream> stream) {
    if (!raw->table_.MakeRoom(stream->peer().host)) return raw->refusals_.Count(spark_rpc::Refusal::kCrowd);
    raw->AddPeer(std::move(stream), spark_rpc::Connection::Side::kDialled);
  });
  if (!listener) return listener.error();
  worker->listener_ = std::move(*listener);
  worker->id_ = own.id;
  if (own.id.empty()) {
    worker->id_ = own.ids.Format({es::IdDate(world.loop.Wall()), own.host, int64_t{worker->local().port}});
  }
  own.launch.host = own.host;
  own.launch.log_url = own.reverse_proxy ? *own.reverse_proxy + "/proxy/" + worker->id_ : own.launch.web_url;
  worker->Supervise();
  worker->alone_since_ = world.loop.Now();
  worker->TryMasters();
  worker->Beat();
  worker->Sweep();
  if (own.cleaning) worker->CleanWorkDirectory();
  return worker;
}

SparkWorker::SparkWorker(const World& world, const es::SparkBuild& build, SparkWorkerSettings settings,
                         std::function<void(const std::string&)> on_given_up)
    : world_(world), build_(build), settings_(std::move(settings)), on_given_up_(std::move(on_given_up)) {}

SparkWorker::~SparkWorker() = default;

es::EndpointReference SparkWorker::Self() const { return {{settings_.host, local().port}, kEndpoint}; }

// ---- connections ---------------------------------------------------------------------------------------------------

SparkWorker::PeerId SparkWorker::AddPeer(std::unique_ptr<env::Stream> stream, spark_rpc::Connection::Side side) {
  const PeerId id = ++last_peer_;
  spark_rpc::Guest& peer = peers_[id];
  peer.Sit(table_, std::make_unique<spark_rpc::Connection>(std::move(stream), world_.loop, settings_.security, side),
           world_.loop.Now());
  if (side == spark_rpc::Connection::Side::kDials) peer.BecomeMember();
  const auto count = [this, id] {
    const auto found = peers_.find(id);
    if (found != peers_.end()) found->second.Count(table_);
  };
  peer.connection->Start({[this, id](spark_rpc::Incoming message) { OnMessage(id, std::move(message)); }, count,
                          [this, id](const std::string& reason) { OnClosed(id, reason); }});
  return id;
}

void SparkWorker::Sweep() {
  sweep_timer_.After(spark_rpc::kSweepInterval, [this] { Sweep(); });
  std::vector<PeerId> overdue;
  for (auto& [id, peer] : peers_) {
    if (peer.Overdue(world_.loop.Now())) overdue.push_back(id);
  }
  for (const PeerId id : overdue) {
    const auto found = peers_.find(id);  // the end of one may be that of others
    if (found != peers_.end()) found->second.Refuse(spark_rpc::Refusal::kOverdue, spark_rpc::kOverdue);
  }
}

void SparkWorker::OnClosed(PeerId id, const std::string& reason) {
  auto found = peers_.extract(id);
  asked_.erase(id);
  found.mapped().seat.reset();
  found.mapped().CountRefusal(refusals_);
  if (rival_ && rival_->peer == id) {
    if (rival_->timer != 0) world_.loop.Cancel(rival_->timer);
    rival_.reset();
  }
  std::unique_ptr<spark_rpc::Connection> connection = std::move(found.mapped().connection);
  if (!reason.empty()) {
    world_.log.Warn("a connection is closed", {{"peer", connection->peer()}, {"reason", reason}});
  }
  auto gone = std::make_shared<std::unique_ptr<spark_rpc::Connection>>(std::move(connection));
  world_.loop.Post([gone] { gone->reset(); });
  if (id != master_peer_) return;
  world_.log.Warn("the connection to the master is lost", {{"master", master_url_}});
  master_peer_ = 0;
  alone_since_ = world_.loop.Now();
  if (rival_) return FollowRival();
  TryMasters();
}

void SparkWorker::OnMessage(PeerId id, spark_rpc::Incoming message) {
  auto decoded = es::DecodeDriverMessage(std::move(message.content));
  const auto peer = peers_.find(id);
  if (peer == peers_.end()) return;
  if (!decoded) return peer->second.connection->Close(decoded.error().message);
  if (const auto* check = std::get_if<es::CheckExistence>(&*decoded)) {  // anybody may ask
    peer->second.BecomeKnown();
    if (message.request) peer->second.connection->Reply(*message.request, es::EncodeBoolean(check->name == kEndpoint));
    return;
  }
  const auto* other = std::get_if<es::OtherMessage>(&*decoded);
  if (other == nullptr) return;
  const auto order = es::DecodeMasterMessage(other->graph);
  if (!order) return peer->second.connection->Close(order.error().message);
  if (!order->has_value()) {
    world_.log.Warn("a message that is not taken",
                    {{"peer", peer->second.connection->peer()}, {"class", other->class_name}});
    if (message.request)
      peer->second.connection->Refuse(*message.request, "this worker does not take " + other->class_name);
    return;
  }
  std::visit([&](const auto& one) { On(id, one); }, **order);
}

void SparkWorker::Send(PeerId peer, const es::WorkerMessage& message) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.connection->Send({Self().address, master_.address, es::kMasterEndpoint, es::Encode(build_, message)});
}

bool SparkWorker::AskMaster(const std::string& endpoint, const std::string& content, Answer answer) {
  const auto found = peers_.find(master_peer_);
  if (found == peers_.end()) return false;
  found->second.connection->Ask({Self().address, master_.address, endpoint, content}, std::move(answer));
  return true;
}

void SparkWorker::Report(const es::WorkerMessage& message) {
  AskMaster(es::kMasterEndpoint, es::Encode(build_, message),
            [log = &world_.log](const base::Result<wire::java_stream::Graph>& answer) {
              if (!answer.ok()) log->Warn("the master refused a report", {{"why", answer.error().message}});
            });
}

// ---- registration --------------------------------------------------------------------------------------------------

void SparkWorker::TryMasters() {
  retry_timer_.Stop();
  if (master_peer_ != 0) return;
  const base::Duration alone = world_.loop.Now() - alone_since_;
  if (alone > settings_.patience) return on_given_up_("All masters are unresponsive! Giving up.");
  for (const PeerId peer : std::set<PeerId>(asked_)) peers_.at(peer).connection->Close("");
  for (const es::RpcAddress& master : settings_.masters) Register(master);
  retry_timer_.After(alone < kEager ? kEagerRetry : kCalmRetry, [this] { TryMasters(); });
}

void SparkWorker::Register(const es::RpcAddress& master) {
  world_.net.Connect({master.host, static_cast<uint16_t>(master.port)}, kConnectTimeout,
                     alive_([this, master](base::Result<std::unique_ptr<env::Stream>> stream) {
                       if (master_peer_ != 0) return;
                       if (!stream.ok()) {
                         return world_.log.Warn("a master cannot be reached",
                                                {{"master", master.ToString()}, {"why", stream.error().message}});
                       }
                       if (master_addresses_.size() < kMasterAddressesMax) {
                         master_addresses_.insert((*stream)->peer().host);
                       }
                       const PeerId peer = AddPeer(std::move(*stream), spark_rpc::Connection::Side::kDials);
                       asked_.insert(peer);
                       master_.address = master;
                       es::RegisterWorker message;
                       message.id = id_;
                       message.host = settings_.host;
                       message.port = local().port;
                       message.worker = Self();
                       message.cores = settings_.cores;
                       message.memory_mib = settings_.memory_mib;
                       message.web_url = settings_.launch.web_url;
                       message.master = master;
                       message.resources = settings_.resources;
                       Send(peer, message);
                     }));
}

void SparkWorker::SetMaster(PeerId peer, const es::EndpointReference& master, const std::string& web_url) {
  master_peer_ = peer;
  master_ = master;
  master_url_ = "spark://" + master.address.ToString();
  master_web_url_ = web_url;
  asked_.erase(peer);
  retry_timer_.Stop();
}

void SparkWorker::LearnMaster(std::function<void()> then) {
  master_is_ours_ = false;
  AskMaster(es::kVerifierEndpoint, es::EncodeCheckExistence(build_, es::kKeepingEndpoint),
            [this, then = std::move(then)](const base::Result<wire::java_stream::Graph>& answer) {
              master_is_ours_ = answer.ok() && es::IsTrue(*answer);
              world_.supervision.KeepFor(master_is_ours_ ? es::kAbsence : base::Duration{});
              std::vector<std::string> ends;
              for (const auto& [key, message] : ends_) ends.push_back(key);
              for (const std::string& key : ends) SendEnd(key);
              if (master_is_ours_ && settings_.measure) TellUse();
              then();
            });
}

void SparkWorker::On(PeerId peer, const es::RegisteredWorker& message) {
  if (!asked_.contains(peer) && peer != master_peer_) return;  // this worker has not asked it
  if (message.duplicate) {
    world_.log.Warn("the master knows this worker already", {{"master", message.master.address.ToString()}});
  }
  SetMaster(peer, message.master, message.web_url);
  world_.log.Info("the master has registered this worker", {{"master", master_url_}, {"worker", id_}});
  LearnMaster([this, peer] {
    es::WorkerLatestState state{id_, {}, {}};
    for (const auto& [key, run] : executors_) state.executors.push_back(Describe(run));
    for (const auto& [id, run] : drivers_) state.drivers.push_back(id);
    Send(peer, state);
  });
}

void SparkWorker::On(PeerId peer, const es::RegisterWorkerFailed& message) {
  if (master_peer_ == 0 && asked_.contains(peer)) on_given_up_("Worker registration failed: " + message.message);
}

void SparkWorker::On(PeerId, const es::MasterInStandby&) {}

void SparkWorker::On(PeerId peer, const es::ReconnectWorker& message) {
  if (peer != master_peer_) return;
  world_.log.Warn("the master wants this worker to register again", {{"master", message.master_url}});
  peers_.at(peer).connection->Close("the master does not know this worker any more");
}

bool SparkWorker::IsBelieved(PeerId peer) const {
  return settings_.security.authenticates() || master_addresses_.contains(peers_.at(peer).connection->address());
}

/// Its orders start programs: it is believed as the first one was, which this worker had looked for, and only once that
/// one is gone or silent.
void SparkWorker::On(PeerId peer, const es::MasterChanged& message) {
  if (peer == master_peer_) return Follow(peer, message);
  spark_rpc::Guest& guest = peers_.at(peer);
  if (rival_ || !IsBelieved(peer)) {
    return guest.Refuse(spark_rpc::Refusal::kPlace, "it says that it is the master, and this worker does not know it");
  }
  if (master_peer_ == 0) return Follow(peer, message);
  world_.log.Warn("another master says that it has taken over, and the present one is asked",
                  {{"master", master_url_}});
  rival_ = Rival{peer, message, 0};
  rival_->timer = world_.loop.After(kMasterAskedFor, [this] {
    rival_->timer = 0;
    peers_.at(master_peer_).connection->Close("it is silent, and another master has taken over");
  });
  AskMaster(es::kVerifierEndpoint, es::EncodeCheckExistence(build_, es::kMasterEndpoint),
            [this](const auto&) { RefuseRival("the master that this worker has is still there"); });
}

void SparkWorker::FollowRival() {
  const Rival rival = *std::exchange(rival_, std::nullopt);
  if (rival.timer != 0) world_.loop.Cancel(rival.timer);
  Follow(rival.peer, rival.said);
}

void SparkWorker::RefuseRival(const std::string& why) {
  if (!rival_) return;
  const Rival rival = *std::exchange(rival_, std::nullopt);
  if (rival.timer != 0) world_.loop.Cancel(rival.timer);
  peers_.at(rival.peer).Refuse(spark_rpc::Refusal::kPlace, why);
}

void SparkWorker::Follow(PeerId peer, const es::MasterChanged& message) {
  peers_.at(peer).BecomeMember();
  SetMaster(peer, message.master, message.web_url);
  world_.log.Info("another master has taken over", {{"master", master_url_}});
  es::WorkerSchedulerStateResponse state{id_, {}, {}};
  for (const auto& [key, run] : executors_) state.executors.push_back({Describe(run), run.launch.resources});
  for (const auto& [id, run] : drivers_) state.drivers.push_back({id, run.launch.resources});
  Send(peer, state);
  LearnMaster([] {});
}

void SparkWorker::Beat() {
  beat_timer_.After(settings_.heartbeat, [this] { Beat(); });
  if (master_peer_ != 0) Send(master_peer_, es::Heartbeat{id_, Self()});
}

void SparkWorker::TellUse() {
  use_timer_.After(kMeasureInterval, [this] {
    if (!master_is_ours_) return;
    const std::string name = es::EndpointNameOf(settings_.measure(world_.loop.Now()));
    AskMaster(es::kVerifierEndpoint, es::EncodeCheckExistence(build_, name),
              [this](const base::Result<wire::java_stream::Graph>& answer) {
                if (answer.ok() && es::IsTrue(*answer)) TellUse();
              });
  });
}

void SparkWorker::On(PeerId peer, const es::DecommissionWorker&) {
  if (peer == master_peer_) decommissioned_ = true;
}

/// A master of ours need not wait for this worker.
void SparkWorker::Leave() {
  const auto done = [this] { world_.loop.Post(std::exchange(on_all_ended_, nullptr)); };
  constexpr base::Duration kPatience = base::Duration::Seconds(1);
  const bool asked =
      master_is_ours_ && AskMaster(es::kVerifierEndpoint, es::EncodeCheckExistence(build_, es::kLeavingEndpoint),
                                   [this, done](const auto&) {
                                     if (on_all_ended_) done();
                                   });
  if (!asked) return done();
  world_.loop.After(kPatience, alive_([this, done] {
                      if (on_all_ended_) done();
                    }));
}

void SparkWorker::Decommission() {
  decommissioned_ = true;
  world_.log.Info("this worker takes nothing more");
  if (master_peer_ != 0) Send(master_peer_, es::WorkerDecommissioning{id_, Self()});
}

}  // namespace fairlead::process::spark_worker
