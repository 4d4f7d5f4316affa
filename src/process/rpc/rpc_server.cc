#include "process/rpc/rpc_server.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::rpc {

using endpoints::yarn::RpcServerSession;

namespace {

constexpr size_t kNonceBytes = 30;               // 40 characters, as the JDK's
constexpr size_t kUnsentHigh = size_t{4} << 20;  // above this a connection is not read from
constexpr size_t kBufferedFree = 64 << 10;       // of one connection, whatever the others hold
constexpr base::Duration kSweep = base::Duration::Seconds(1);

struct Listening {
  ListenOptions options;
  std::unique_ptr<env::Listener> listener;
  int connections = 0;
  size_t buffered = 0;  // of frames that are not yet whole
};

std::string RandomText(env::Loop& loop) {
  std::string bytes(kNonceBytes, '\0');
  loop.RandomBytes({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  return wire::hadoop_rpc::EncodeBase64(bytes);
}

}  // namespace

/// One accepted connection: a session, its stream and when it last did something.
class Connection final : public env::StreamHandler, public RpcServerSession::Handler {
 public:
  Connection(RpcServer::Impl& server, uint64_t id, Listening& listening, std::unique_ptr<env::Stream> stream,
             std::string nonce, base::Instant now)
      : server_(server),
        id_(id),
        listening_(listening),
        stream_(std::move(stream)),
        session_(listening.options.session, std::move(nonce), this),
        opened_(now),
        active_(now) {}

  void Start() { stream_->Start(this); }
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnDrained() override { stream_->ResumeReading(); }
  void OnCall(const endpoints::yarn::RpcCall& call) override;

  /// Sends what the session has to say; ends the connection when it says so.
  void Flush();
  bool Overdue(base::Instant now) const;
  void CloseNow() { stream_->Close(); }
  void ReleaseBuffer() { listening_.buffered -= std::exchange(buffered_, 0); }

  RpcServerSession& session() { return session_; }
  Listening& listening() { return listening_; }
  std::unordered_map<CallToken, int32_t>& calls() { return calls_; }
  bool gone = false;

 private:
  RpcServer::Impl& server_;
  const uint64_t id_;
  Listening& listening_;
  std::unique_ptr<env::Stream> stream_;
  RpcServerSession session_;
  const base::Instant opened_;
  base::Instant active_;
  size_t buffered_ = 0;
  std::unordered_map<CallToken, int32_t> calls_;
};

struct RpcServer::Impl {
  Impl(env::Loop& l, env::Net& n) : loop(l), net(n), alive(std::make_shared<bool>(true)) {}
  ~Impl() {
    *alive = false;
    if (sweep_armed) loop.Cancel(sweep);
  }

  base::Result<env::Endpoint> Listen(const env::Endpoint& endpoint, ListenOptions options) {
    auto listening = std::make_unique<Listening>();
    listening->options = std::move(options);
    Listening* raw = listening.get();
    auto listener =
        net.Listen(endpoint, [this, raw](std::unique_ptr<env::Stream> stream) { Accept(*raw, std::move(stream)); });
    if (!listener) return listener.error();
    listening->listener = std::move(listener).value();
    listeners.push_back(std::move(listening));
    return raw->listener->local();
  }

  void Accept(Listening& listening, std::unique_ptr<env::Stream> stream) {
    if (listening.connections >= listening.options.connections_max) return stream->Close();
    ++listening.connections;
    const uint64_t id = next_connection++;
    auto connection =
        std::make_shared<Connection>(*this, id, listening, std::move(stream), RandomText(loop), loop.Now());
    connections.emplace(id, connection);
    connection->Start();
    ArmSweep();
  }

  void Remove(uint64_t id) {
    const auto at = connections.find(id);
    if (at == connections.end()) return;
    std::shared_ptr<Connection> doomed = std::move(at->second);
    connections.erase(at);
    doomed->gone = true;
    --doomed->listening().connections;
    doomed->ReleaseBuffer();
    for (const auto& [token, call_id] : doomed->calls()) calls.erase(token);
    loop.Post([doomed] {});  // the caller may be the connection itself
  }

  /// Closes what has been silent for too long.
  void ArmSweep() {
    if (sweep_armed || connections.empty()) return;
    sweep_armed = true;
    sweep = loop.After(kSweep, [this] {
      sweep_armed = false;
      std::vector<uint64_t> overdue;
      for (const auto& [id, connection] : connections) {
        if (connection->Overdue(loop.Now())) overdue.push_back(id);
      }
      std::sort(overdue.begin(), overdue.end());
      for (const uint64_t id : overdue) {
        connections.at(id)->CloseNow();
        Remove(id);
      }
      ArmSweep();
    });
  }

  /// The connection that waits for the answer; forgets the call.
  std::shared_ptr<Connection> Take(CallToken call, int32_t& call_id) {
    const auto at = calls.find(call);
    if (at == calls.end()) return nullptr;
    const auto found = connections.find(at->second);
    calls.erase(at);
    if (found == connections.end()) return nullptr;
    const auto entry = found->second->calls().find(call);
    call_id = entry->second;
    found->second->calls().erase(entry);
    return found->second;
  }

  env::Loop& loop;
  env::Net& net;
  std::shared_ptr<bool> alive;
  std::vector<std::unique_ptr<Listening>> listeners;
  std::unordered_map<uint64_t, std::shared_ptr<Connection>> connections;
  std::unordered_map<CallToken, uint64_t> calls;  // -> connection
  uint64_t next_connection = 1;
  CallToken next_call = 1;
  env::Loop::TimerId sweep = 0;
  bool sweep_armed = false;
};

void Connection::OnData(std::string_view bytes) {
  active_ = server_.loop.Now();
  session_.OnBytes(bytes);
  listening_.buffered = listening_.buffered - buffered_ + session_.buffered_bytes();
  buffered_ = session_.buffered_bytes();
  if (buffered_ > kBufferedFree && listening_.buffered > listening_.options.buffered_max) {
    stream_->Close();
    return server_.Remove(id_);
  }
  Flush();
}

void Connection::OnClosed(const std::string&) { server_.Remove(id_); }

void Connection::Flush() {
  if (gone) return;
  if (session_.has_output()) stream_->Write(session_.TakeOutput());
  const size_t unsent = stream_->unsent();
  if (session_.closing()) {
    stream_->CloseAfterFlush();
    server_.Remove(id_);
  } else if (unsent > listening_.options.unsent_max) {
    stream_->Close();
    server_.Remove(id_);
  } else if (unsent > kUnsentHigh) {
    stream_->PauseReading();
  }
}

bool Connection::Overdue(base::Instant now) const {
  if (!session_.established()) return now - opened_ > listening_.options.setup;
  return session_.pending_calls() == 0 && now - active_ > listening_.options.idle;
}

void Connection::OnCall(const endpoints::yarn::RpcCall& call) {
  using endpoints::yarn::exceptions::kNoSuchMethod;
  using endpoints::yarn::exceptions::kNoSuchProtocol;
  using endpoints::yarn::exceptions::kVersionMismatch;
  using wire::hadoop_rpc::RpcErrorCodeProto;
  const auto& services = listening_.options.services;
  const auto service =
      std::find_if(services.begin(), services.end(), [&](const Service& s) { return s.protocol == call.protocol; });
  const std::string protocol(call.protocol.substr(0, 300));
  if (service == services.end()) {
    return session_.Fail(call.call_id, kNoSuchProtocol, "Unknown protocol: " + protocol,
                         RpcErrorCodeProto::kErrorNoSuchProtocol);
  }
  if (call.protocol_version != 1) {
    return session_.Fail(call.call_id, kVersionMismatch,
                         "Protocol " + protocol +
                             " version mismatch. (client = " + std::to_string(call.protocol_version) + ", server = 1)",
                         RpcErrorCodeProto::kErrorRpcVersionMismatch);
  }
  const bool known = std::any_of(service->methods.begin(), service->methods.end(),
                                 [&](const wire::proto::MethodInfo& method) { return method.name == call.method; });
  if (!known) {
    return session_.Fail(
        call.call_id, kNoSuchMethod,
        "Unknown method " + std::string(call.method.substr(0, 300)) + " called on " + protocol + " protocol.",
        RpcErrorCodeProto::kErrorNoSuchMethod);
  }
  const env::Endpoint peer = stream_->peer();
  const CallToken token = server_.next_call++;
  server_.calls.emplace(token, id_);
  calls_.emplace(token, call.call_id);
  service->handler({token, session_.caller(), peer, call.protocol, call.method, call.request});
}

RpcServer::RpcServer(env::Loop& loop, env::Net& net) : impl_(std::make_unique<Impl>(loop, net)) {}
RpcServer::~RpcServer() = default;

base::Result<env::Endpoint> RpcServer::Listen(const env::Endpoint& endpoint, ListenOptions options) {
  return impl_->Listen(endpoint, std::move(options));
}

void RpcServer::Reply(CallToken call, std::string_view response) {
  int32_t call_id = 0;
  const std::shared_ptr<Connection> connection = impl_->Take(call, call_id);
  if (!connection) return;
  connection->session().Reply(call_id, response);
  connection->Flush();
}

void RpcServer::Fail(CallToken call, std::string_view exception, std::string_view message) {
  int32_t call_id = 0;
  const std::shared_ptr<Connection> connection = impl_->Take(call, call_id);
  if (!connection) return;
  connection->session().Fail(call_id, endpoints::yarn::JavaClass(exception), message);
  connection->Flush();
}

size_t RpcServer::connections() const { return impl_->connections.size(); }

}  // namespace fairlead::process::rpc
