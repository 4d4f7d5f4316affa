#include "process/spark_worker/master_link.h"

#include "base/dispatch.h"
#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"

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

base::Status MasterLink::Listen() {
  auto listener = context_.net.Listen(context_.settings.listen, [this](std::unique_ptr<env::Stream> stream) {
    if (!table_.MakeRoom(stream->peer().host)) return refusals_.Count(spark_rpc::Refusal::kCrowd);
    AddPeer(std::move(stream), spark_rpc::Connection::Side::kDialled);
  });
  if (!listener) return listener.error();
  listener_ = std::move(*listener);
  id_ = context_.settings.id;
  if (id_.empty()) {
    id_ =
        context_.settings.ids.Format({es::IdDate(context_.loop.Wall()), context_.settings.host, int64_t{local().port}});
  }
  return {};
}

void MasterLink::Begin(const std::string& web_url) {
  web_url_ = web_url;
  alone_since_ = context_.loop.Now();
  TryMasters();
  Beat();
  Sweep();
}

es::EndpointReference MasterLink::Self() const { return {{context_.settings.host, local().port}, kEndpoint}; }

// ---- connections ---------------------------------------------------------------------------------------------------

MasterLink::PeerId MasterLink::AddPeer(std::unique_ptr<env::Stream> stream, spark_rpc::Connection::Side side) {
  const PeerId id = ++last_peer_;
  spark_rpc::Guest& peer = peers_[id];
  peer.Sit(table_,
           std::make_unique<spark_rpc::Connection>(std::move(stream), context_.loop, context_.settings.security, side),
           context_.loop.Now());
  if (side == spark_rpc::Connection::Side::kDials) peer.BecomeMember();
  const auto count = [this, id] {
    const auto found = peers_.find(id);
    if (found != peers_.end()) found->second.Count(table_);
  };
  peer.connection->Start({[this, id](spark_rpc::Incoming message) { OnMessage(id, std::move(message)); }, count,
                          [this, id](const std::string& reason) { OnClosed(id, reason); }});
  return id;
}

void MasterLink::Sweep() {
  sweep_timer_.After(spark_rpc::kSweepInterval, [this] { Sweep(); });
  std::vector<PeerId> overdue;
  for (auto& [id, peer] : peers_) {
    if (peer.Overdue(context_.loop.Now())) overdue.push_back(id);
  }
  for (const PeerId id : overdue) {
    const auto found = peers_.find(id);  // the end of one may be that of others
    if (found != peers_.end()) found->second.Refuse(spark_rpc::Refusal::kOverdue, spark_rpc::kOverdue);
  }
}

void MasterLink::OnClosed(PeerId id, const std::string& reason) {
  auto found = peers_.extract(id);
  asked_.erase(id);
  found.mapped().seat.reset();
  found.mapped().CountRefusal(refusals_);
  if (rival_ && rival_->peer == id) {
    if (rival_->timer != 0) context_.loop.Cancel(rival_->timer);
    rival_.reset();
  }
  std::unique_ptr<spark_rpc::Connection> connection = std::move(found.mapped().connection);
  if (!reason.empty()) {
    context_.log.Warn("a connection is closed", {{"peer", connection->peer()}, {"reason", reason}});
  }
  auto gone = std::make_shared<std::unique_ptr<spark_rpc::Connection>>(std::move(connection));
  context_.loop.Post([gone] { gone->reset(); });
  if (id != master_.peer) return;
  context_.log.Warn("the connection to the master is lost", {{"master", master_.url}});
  master_.peer = 0;
  alone_since_ = context_.loop.Now();
  if (rival_) return FollowRival();
  TryMasters();
}

void MasterLink::OnMessage(PeerId id, spark_rpc::Incoming message) {
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
    context_.log.Warn("a message that is not taken",
                      {{"peer", peer->second.connection->peer()}, {"class", other->class_name}});
    if (message.request)
      peer->second.connection->Refuse(*message.request, "this worker does not take " + other->class_name);
    return;
  }
  base::Dispatch(
      **order, [&](const es::RegisteredWorker& one) { On(id, one); },
      [&](const es::RegisterWorkerFailed& one) { On(id, one); }, [&](const es::ReconnectWorker& one) { On(id, one); },
      [&](const es::MasterChanged& one) { On(id, one); }, base::Ignored<es::MasterInStandby>{},
      base::Others{[&](const auto&) {
        if (id == master_.peer) return context_.owner.Take(**order);
        context_.log.Warn("an order is not followed: it is not of the master", {{"class", other->class_name}});
      }});
}

void MasterLink::SendTo(PeerId peer, const es::WorkerMessage& message) {
  const auto found = peers_.find(peer);
  if (found == peers_.end()) return;
  found->second.connection->Send(
      {Self().address, master_.reference.address, es::kMasterEndpoint, es::Encode(context_.build, message)});
}

bool MasterLink::Ask(const std::string& endpoint, const std::string& content, Answer answer) {
  const auto found = peers_.find(master_.peer);
  if (found == peers_.end()) return false;
  found->second.connection->Ask({Self().address, master_.reference.address, endpoint, content}, std::move(answer));
  return true;
}

void MasterLink::Send(const es::WorkerMessage& message) { SendTo(master_.peer, message); }

void MasterLink::Report(const es::WorkerMessage& message) {
  Ask(es::kMasterEndpoint, es::Encode(context_.build, message),
      [log = &context_.log](const base::Result<wire::java_stream::Graph>& answer) {
        if (!answer.ok()) log->Warn("the master refused a report", {{"why", answer.error().message}});
      });
}

// ---- registration --------------------------------------------------------------------------------------------------

void MasterLink::TryMasters() {
  retry_timer_.Stop();
  if (master_.peer != 0) return;
  const base::Duration alone = context_.loop.Now() - alone_since_;
  if (alone > context_.settings.patience) return context_.owner.OnGivenUp("All masters are unresponsive! Giving up.");
  for (const PeerId peer : std::set<PeerId>(asked_)) peers_.at(peer).connection->Close("");
  for (const es::RpcAddress& master : context_.settings.masters) Register(master);
  retry_timer_.After(alone < kEager ? kEagerRetry : kCalmRetry, [this] { TryMasters(); });
}

void MasterLink::Register(const es::RpcAddress& master) {
  context_.net.Connect({master.host, static_cast<uint16_t>(master.port)}, kConnectTimeout,
                       alive_([this, master](base::Result<std::unique_ptr<env::Stream>> stream) {
                         if (master_.peer != 0) return;
                         if (!stream.ok()) {
                           return context_.log.Warn("a master cannot be reached",
                                                    {{"master", master.ToString()}, {"why", stream.error().message}});
                         }
                         if (master_addresses_.size() < kMasterAddressesMax) {
                           master_addresses_.insert((*stream)->peer().host);
                         }
                         const PeerId peer = AddPeer(std::move(*stream), spark_rpc::Connection::Side::kDials);
                         asked_.insert(peer);
                         master_.reference.address = master;
                         es::RegisterWorker message;
                         message.id = id_;
                         message.host = context_.settings.host;
                         message.port = local().port;
                         message.worker = Self();
                         message.cores = context_.settings.cores;
                         message.memory_mib = context_.settings.memory_mib;
                         message.web_url = web_url_;
                         message.master = master;
                         message.resources = context_.settings.resources;
                         SendTo(peer, message);
                       }));
}

void MasterLink::SetMaster(PeerId peer, const es::EndpointReference& master, const std::string& web_url) {
  master_.peer = peer;
  master_.reference = master;
  master_.url = "spark://" + master.address.ToString();
  master_.web_url = web_url;
  asked_.erase(peer);
  retry_timer_.Stop();
}

void MasterLink::LearnMaster(std::function<void()> then) {
  master_.is_ours = false;
  Ask(es::kVerifierEndpoint, es::EncodeCheckExistence(context_.build, es::kKeepingEndpoint),
      [this, then = std::move(then)](const base::Result<wire::java_stream::Graph>& answer) {
        master_.is_ours = answer.ok() && es::IsTrue(*answer);
        context_.owner.OnMaster(master_.is_ours);
        std::vector<std::string> ends;
        for (const auto& [key, message] : ends_) ends.push_back(key);
        for (const std::string& key : ends) SendEnd(key);
        if (master_.is_ours && context_.settings.measure) TellUse();
        then();
      });
}

void MasterLink::On(PeerId peer, const es::RegisteredWorker& message) {
  if (!asked_.contains(peer) && peer != master_.peer) return;  // this worker has not asked it
  if (message.duplicate) {
    context_.log.Warn("the master knows this worker already", {{"master", message.master.address.ToString()}});
  }
  SetMaster(peer, message.master, message.web_url);
  context_.log.Info("the master has registered this worker", {{"master", master_.url}, {"worker", id_}});
  LearnMaster([this, peer] {
    es::WorkerLatestState state{id_, {}, {}};
    const es::WorkerSchedulerStateResponse runs = context_.owner.State();
    for (const auto& executor : runs.executors) state.executors.push_back(executor.description);
    for (const auto& driver : runs.drivers) state.drivers.push_back(driver.driver);
    SendTo(peer, state);
  });
}

void MasterLink::On(PeerId peer, const es::RegisterWorkerFailed& message) {
  if (master_.peer == 0 && asked_.contains(peer))
    context_.owner.OnGivenUp("Worker registration failed: " + message.message);
}

void MasterLink::On(PeerId peer, const es::ReconnectWorker& message) {
  if (peer != master_.peer) return;
  context_.log.Warn("the master wants this worker to register again", {{"master", message.master_url}});
  peers_.at(peer).connection->Close("the master does not know this worker any more");
}

bool MasterLink::IsBelieved(PeerId peer) const {
  return context_.settings.security.authenticates() ||
         master_addresses_.contains(peers_.at(peer).connection->address());
}

/// Its orders start programs: it is believed as the first one was, which this worker had looked for, and only once that
/// one is gone or silent.
void MasterLink::On(PeerId peer, const es::MasterChanged& message) {
  if (peer == master_.peer) return Follow(peer, message);
  spark_rpc::Guest& guest = peers_.at(peer);
  if (rival_ || !IsBelieved(peer)) {
    return guest.Refuse(spark_rpc::Refusal::kPlace, "it says that it is the master, and this worker does not know it");
  }
  if (master_.peer == 0) return Follow(peer, message);
  context_.log.Warn("another master says that it has taken over, and the present one is asked",
                    {{"master", master_.url}});
  rival_ = Rival{peer, message, 0};
  rival_->timer = context_.loop.After(kMasterAskedFor, [this] {
    rival_->timer = 0;
    peers_.at(master_.peer).connection->Close("it is silent, and another master has taken over");
  });
  Ask(es::kVerifierEndpoint, es::EncodeCheckExistence(context_.build, es::kMasterEndpoint),
      [this](const auto&) { RefuseRival("the master that this worker has is still there"); });
}

void MasterLink::FollowRival() {
  const Rival rival = *std::exchange(rival_, std::nullopt);
  if (rival.timer != 0) context_.loop.Cancel(rival.timer);
  Follow(rival.peer, rival.said);
}

void MasterLink::RefuseRival(const std::string& why) {
  if (!rival_) return;
  const Rival rival = *std::exchange(rival_, std::nullopt);
  if (rival.timer != 0) context_.loop.Cancel(rival.timer);
  peers_.at(rival.peer).Refuse(spark_rpc::Refusal::kPlace, why);
}

void MasterLink::Follow(PeerId peer, const es::MasterChanged& message) {
  peers_.at(peer).BecomeMember();
  SetMaster(peer, message.master, message.web_url);
  context_.log.Info("another master has taken over", {{"master", master_.url}});
  SendTo(peer, context_.owner.State());
  LearnMaster([] {});
}

void MasterLink::Beat() {
  beat_timer_.After(context_.settings.heartbeat, [this] { Beat(); });
  Send(es::Heartbeat{id_, Self()});
}

void MasterLink::TellUse() {
  use_timer_.After(kMeasureInterval, [this] {
    if (!master_.is_ours) return;
    const std::string name = es::EndpointNameOf(context_.settings.measure(context_.loop.Now()));
    Ask(es::kVerifierEndpoint, es::EncodeCheckExistence(context_.build, name),
        [this](const base::Result<wire::java_stream::Graph>& answer) {
          if (answer.ok() && es::IsTrue(*answer)) TellUse();
        });
  });
}

// ---- ends, and the end ---------------------------------------------------------------------------------------------

/// Before a master of ours until it has answered; Spark's hears it once, since it counts an absent worker as lost.
void MasterLink::ReportEnd(const std::string& key, es::WorkerMessage message) {
  constexpr size_t kEndsMax = 10'000;
  if (ends_.size() == kEndsMax) OnEndKnown(std::string(ends_.begin()->first));
  ends_.insert_or_assign(key, std::move(message));
  SendEnd(key);
}

void MasterLink::SendEnd(const std::string& key) {
  if (master_.peer == 0) return;
  const es::WorkerMessage& message = ends_.at(key);
  if (master_.is_ours) {
    Ask(es::kMasterEndpoint, es::Encode(context_.build, message), [this, key](const auto&) { OnEndKnown(key); });
    return;
  }
  // Of a driver it is one-way, as Spark's Worker says it.
  std::holds_alternative<es::DriverStateChanged>(message) ? Send(message) : Report(message);
  OnEndKnown(key);
}

void MasterLink::OnEndKnown(const std::string& key) {
  ends_.erase(key);
  context_.owner.OnEndKnown(key);
}

void MasterLink::Leave(const std::function<void()>& done) {
  constexpr base::Duration kPatience = base::Duration::Seconds(1);
  const bool asked =
      master_.is_ours && Ask(es::kVerifierEndpoint, es::EncodeCheckExistence(context_.build, es::kLeavingEndpoint),
                             [done](const auto&) { done(); });
  if (!asked) return done();
  context_.loop.After(kPatience, alive_([done] { done(); }));
}

}  // namespace fairlead::process::spark_worker
