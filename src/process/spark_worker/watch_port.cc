#include "process/spark_worker/watch_port.h"

#include <array>
#include <utility>
#include <vector>

#include "endpoints/spark/driver_messages.h"
#include "endpoints/spark/master_messages.h"

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

WatchPort::WatchPort(env::Loop& loop, spark_rpc::Security security) : loop_(loop), security_(std::move(security)) {
  std::array<uint8_t, 16> bytes{};
  loop.RandomBytes(bytes);
  name_ = "Worker-";
  for (const uint8_t byte : bytes) {
    name_ += "0123456789abcdef"[byte >> 4];
    name_ += "0123456789abcdef"[byte & 15];
  }
}

base::Result<std::unique_ptr<WatchPort>> WatchPort::Listen(env::Loop& loop, env::Net& net, const std::string& address,
                                                           spark_rpc::Security security) {
  std::unique_ptr<WatchPort> port(new WatchPort(loop, std::move(security)));
  auto listener = net.Listen({address, 0}, [raw = port.get()](auto stream) { raw->Take(std::move(stream)); });
  if (!listener) return listener.error();
  port->listener_ = std::move(*listener);
  port->Sweep();
  return port;
}

WatchPort::~WatchPort() = default;

void WatchPort::Take(std::unique_ptr<env::Stream> stream) {
  if (!table_.MakeRoom(stream->peer().host)) return;
  const uint64_t id = ++last_peer_;
  spark_rpc::Guest& peer = peers_[id];
  peer.Sit(table_,
           std::make_unique<spark_rpc::Connection>(std::move(stream), loop_, security_,
                                                   spark_rpc::Connection::Side::kDialled),
           loop_.Now());
  const auto count = [this, id] {
    const auto found = peers_.find(id);
    if (found != peers_.end()) found->second.Count(table_);
  };
  peer.connection->Start({[this, id](spark_rpc::Incoming message) { OnMessage(id, std::move(message)); }, count,
                          [this, id](const std::string&) { OnClosed(id); }});
}

void WatchPort::OnMessage(uint64_t id, spark_rpc::Incoming message) {
  const auto decoded = es::DecodeDriverMessage(std::move(message.content));
  const auto peer = peers_.find(id);
  if (peer == peers_.end()) return;
  if (!decoded.ok()) return peer->second.connection->Close(decoded.error().message);
  const auto* check = std::get_if<es::CheckExistence>(&*decoded);
  if (check == nullptr) return peer->second.connection->Close("nothing but its presence is to be had here");
  const bool ours = check->name == name_;
  ours ? peer->second.BecomeMember() : peer->second.BecomeKnown();
  if (message.request) peer->second.connection->Reply(*message.request, es::EncodeBoolean(ours));
}

void WatchPort::OnClosed(uint64_t id) {
  auto found = peers_.extract(id);
  found.mapped().seat.reset();
  // The connection is in the middle of its end.
  auto gone = std::make_shared<std::unique_ptr<spark_rpc::Connection>>(std::move(found.mapped().connection));
  loop_.Post([gone] { gone->reset(); });
}

void WatchPort::Sweep() {
  sweep_timer_.After(spark_rpc::kSweepInterval, [this] { Sweep(); });
  std::vector<uint64_t> overdue;
  for (auto& [id, peer] : peers_) {
    if (peer.Overdue(loop_.Now())) overdue.push_back(id);
  }
  for (const uint64_t id : overdue) {
    const auto found = peers_.find(id);  // the end of one may be that of others
    if (found != peers_.end()) found->second.connection->Close(spark_rpc::kOverdue);
  }
}

}  // namespace fairlead::process::spark_worker
