#include "process/rpc/rpc_client.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_client_session.h"
#include "env/alive.h"
#include "env/server_pattern.h"
#include "process/rpc/gss_login.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::rpc {

using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcClientOptions;
using endpoints::yarn::RpcClientSession;
using wire::hadoop_rpc::Protection;
using wire::hadoop_rpc::Protections;

namespace {

std::string Random(env::Loop& loop, size_t size) {
  std::string bytes(size, '\0');
  loop.RandomBytes({reinterpret_cast<uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

/// What tells connections apart (Client.ConnectionId).
std::string KeyOf(const RpcTarget& target) {
  std::string key;
  const auto add = [&key](std::string_view part) { key.append(std::to_string(part.size())).append(":").append(part); };
  add(target.address.ToString());
  add(target.protocol);
  add(target.user.user);
  add(target.user.real_user);
  add(target.user.server_principal);
  if (target.user.token) {
    add(target.user.token->identifier);
    add(target.user.token->password);
  }
  return key;
}

/// Who is content with authentication alone gives a server more when it wants that: an application's master does not
/// know hadoop.rpc.protection. The digest of a token covers the choice, so nobody between can lower it.
Protections OrMore(Protections wanted) {
  const auto has = [&](Protection one) { return std::find(wanted.begin(), wanted.end(), one) != wanted.end(); };
  if (!has(Protection::kAuthentication)) return wanted;
  for (const Protection more : {Protection::kIntegrity, Protection::kPrivacy}) {
    if (!has(more)) wanted.push_back(more);
  }
  return wanted;
}

RpcError FromRemote(RpcErrorKind kind, const RemoteException& remote) {
  std::string text = remote.class_name.empty() ? remote.message : remote.class_name + ": " + remote.message;
  return {kind, std::move(text), remote};
}

}  // namespace

std::string_view Name(RpcErrorKind kind) {
  switch (kind) {
    case RpcErrorKind::kConnect:
      return "connect";
    case RpcErrorKind::kLogin:
      return "login";
    case RpcErrorKind::kCut:
      return "cut";
    case RpcErrorKind::kTimeout:
      return "timeout";
    case RpcErrorKind::kRemote:
      return "remote";
    case RpcErrorKind::kMalformed:
      return "malformed";
  }
  return "?";
}

bool IsRefusal(const RpcError& error) {
  namespace exceptions = endpoints::yarn::exceptions;
  const std::string& name = error.remote.class_name;
  if (name == exceptions::kStandby || name == exceptions::kRetriable) return false;
  return error.kind == RpcErrorKind::kRemote || error.kind == RpcErrorKind::kLogin;
}

struct ClientCall {
  RpcClient::Done done;
  env::Loop::TimerId timer = 0;
};

/// One connection with its calls; from the first call until it is idle or lost.
class ClientConnection final : public env::StreamHandler, public RpcClientSession::Handler {
 public:
  ClientConnection(RpcClient::Impl& client, std::string key, const RpcTarget& target, RpcClientOptions options);
  /// Ends without a word: timers are cancelled, calls dropped.
  void Abandon();
  void Call(std::string_view method, std::string request, base::Duration timeout, RpcClient::Done done);
  /// Ends the connection; calls that wait end with `error`.
  void End(const RpcError& error);

  void OnConnected(base::Result<std::unique_ptr<env::Stream>> stream);
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnReply(int32_t call_id, std::string_view response) override;
  void OnException(int32_t call_id, const RemoteException& exception) override;
  void OnFatal(const RemoteException& remote, bool login_failed) override;
  void OnLoginToken(std::string challenge) override;

  const env::Endpoint address;

 private:
  void Flush();
  void EndWithoutTicket();
  void ArmKeepalive();
  void Keepalive();
  /// Takes a call out; its owner is told by the caller of this.
  bool Take(int32_t call_id, RpcClient::Done& done);

  RpcClient::Impl& client_;
  const std::string key_;
  const std::string server_principal_;
  RpcClientSession session_;
  std::unique_ptr<GssLogin> login_;
  std::unique_ptr<env::Stream> stream_;
  std::map<int32_t, ClientCall> calls_;
  base::Instant active_;
  base::Instant last_received_{};
  env::Loop::TimerId keepalive_ = 0;
  bool ended_ = false;
};

struct RpcClient::Impl {
  Impl(env::Loop& l, env::Net& n, RpcClientLimits lim, RpcClientSecurity s)
      : loop(l), net(n), limits(lim), security{s.gss, OrMore(std::move(s.protections))}, client_id(Random(l, 16)) {}
  ~Impl() {
    alive.End();
    for (auto& [key, connection] : connections) connection->Abandon();
  }

  ClientConnection& ConnectionTo(const RpcTarget& target) {
    std::string key = KeyOf(target);
    const auto found = connections.find(key);
    if (found != connections.end()) return *found->second;
    RpcClientOptions options{.user = target.user,
                             .protocol = target.protocol,
                             .client_id = client_id,
                             .cnonce = wire::hadoop_rpc::EncodeBase64(Random(loop, 30)),
                             .frame_bytes_max = limits.frame_bytes_max,
                             .protections = security.protections};
    auto connection = std::make_shared<ClientConnection>(*this, key, target, std::move(options));
    connections.emplace(std::move(key), connection);
    net.Connect(target.address, limits.connect,
                [weak = std::weak_ptr<ClientConnection>(connection)](base::Result<std::unique_ptr<env::Stream>> s) {
                  if (const auto live = weak.lock()) live->OnConnected(std::move(s));
                });
    return *connection;
  }

  /// Destroyed in a later turn: the caller may be the connection itself.
  void Remove(const std::string& key, const ClientConnection* connection) {
    const auto found = connections.find(key);
    if (found == connections.end() || found->second.get() != connection) return;
    std::shared_ptr<ClientConnection> doomed = std::move(found->second);
    connections.erase(found);
    loop.Post([doomed] {});
  }

  /// Tells the owner in a turn of its own: it may make calls, or destroy the client.
  void Tell(Done done, base::Result<std::string, RpcError> result) {
    loop.Post(alive([done = std::move(done), result = std::move(result)]() mutable { done(std::move(result)); }));
  }

  env::Loop& loop;
  env::Net& net;
  const RpcClientLimits limits;
  const RpcClientSecurity security;
  const std::string client_id;
  env::Alive alive;
  std::map<std::string, std::shared_ptr<ClientConnection>> connections;
};

ClientConnection::ClientConnection(RpcClient::Impl& client, std::string key, const RpcTarget& target,
                                   RpcClientOptions options)
    : address(target.address),
      client_(client),
      key_(std::move(key)),
      server_principal_(target.user.server_principal),
      session_(std::move(options), this),
      active_(client.loop.Now()) {
  ArmKeepalive();
}

void ClientConnection::Abandon() {
  ended_ = true;
  client_.loop.Cancel(keepalive_);
  for (auto& [id, call] : calls_) client_.loop.Cancel(call.timer);
  calls_.clear();
  if (stream_) stream_->Close();
}

void ClientConnection::Call(std::string_view method, std::string request, base::Duration timeout,
                            RpcClient::Done done) {
  const int32_t call_id = session_.Call(method, request);
  active_ = client_.loop.Now();
  const env::Loop::TimerId timer = client_.loop.After(timeout, [this, call_id, asked = active_] {
    if (session_.login_steps()) return EndWithoutTicket();
    // A peer that has said nothing at all since then may be gone without a word: the next call takes a new connection.
    if (last_received_ <= asked) {
      return End({RpcErrorKind::kTimeout, "no answer from " + address.ToString() + ", and no sign of life", {}});
    }
    RpcClient::Done late;
    if (!Take(call_id, late)) return;
    client_.Tell(std::move(late), RpcError{RpcErrorKind::kTimeout, "no answer from " + address.ToString(), {}});
  });
  calls_.emplace(call_id, ClientCall{std::move(done), timer});
  Flush();
}

void ClientConnection::OnConnected(base::Result<std::unique_ptr<env::Stream>> stream) {
  if (ended_) return;
  if (!stream) {
    return End({RpcErrorKind::kConnect, "cannot connect to " + address.ToString() + ": " + stream.error().message, {}});
  }
  stream_ = std::move(stream).value();
  stream_->Start(this);
  Flush();
}

void ClientConnection::OnData(std::string_view bytes) {
  active_ = client_.loop.Now();
  last_received_ = active_;
  session_.OnBytes(bytes);
  if (!ended_) Flush();
}

void ClientConnection::EndWithoutTicket() {
  End({RpcErrorKind::kConnect, "no ticket for " + address.ToString() + ": the KDC does not answer", {}});
}

void ClientConnection::OnClosed(const std::string& reason) {
  if (session_.login_steps()) return EndWithoutTicket();  // the server has waited for long enough
  // Calls leave with the connection context: before that none of them has reached the server.
  const RpcErrorKind kind = session_.established() ? RpcErrorKind::kCut : RpcErrorKind::kConnect;
  End({kind, address.ToString() + " closed the connection" + (reason.empty() ? "" : ": " + reason), {}});
}

void ClientConnection::OnReply(int32_t call_id, std::string_view response) {
  RpcClient::Done done;
  if (Take(call_id, done)) client_.Tell(std::move(done), std::string(response));
}

void ClientConnection::OnException(int32_t call_id, const RemoteException& exception) {
  RpcClient::Done done;
  if (Take(call_id, done)) client_.Tell(std::move(done), FromRemote(RpcErrorKind::kRemote, exception));
}

void ClientConnection::OnFatal(const RemoteException& remote, bool login_failed) {
  const RpcErrorKind kind = login_failed                ? RpcErrorKind::kLogin
                            : remote.class_name.empty() ? RpcErrorKind::kMalformed
                                                        : RpcErrorKind::kRemote;
  End(FromRemote(kind, remote));
}

void ClientConnection::OnLoginToken(std::string challenge) {
  if (!login_ && client_.security.gss != nullptr) {
    const std::string host = env::IsServerPattern(server_principal_) ? session_.ServerName() : address.host;
    login_ = GssLogin::OfClient(*client_.security.gss, server_principal_, host, client_.security.protections);
  }
  if (!login_) return session_.LoginStepped(base::Error{"this client has no Kerberos"});
  // Dropped with the login.
  login_->Step(std::move(challenge), [this](base::Result<wire::hadoop_rpc::LoginStep> step) {
    session_.LoginStepped(std::move(step));
    if (!ended_) Flush();
  });
}

bool ClientConnection::Take(int32_t call_id, RpcClient::Done& done) {
  const auto found = calls_.find(call_id);
  if (found == calls_.end()) return false;
  client_.loop.Cancel(found->second.timer);
  done = std::move(found->second.done);
  calls_.erase(found);
  return true;
}

void ClientConnection::End(const RpcError& error) {
  if (ended_) return;
  std::map<int32_t, ClientCall> calls = std::move(calls_);
  calls_.clear();
  for (auto& [id, call] : calls) {
    client_.loop.Cancel(call.timer);
    client_.Tell(std::move(call.done), error);
  }
  Abandon();
  client_.Remove(key_, this);
}

void ClientConnection::Flush() {
  if (stream_ && session_.has_output()) stream_->Write(session_.TakeOutput());
}

void ClientConnection::ArmKeepalive() {
  keepalive_ = client_.loop.After(client_.limits.idle, [this] { Keepalive(); });
}

void ClientConnection::Keepalive() {
  const base::Duration silent = client_.loop.Now() - active_;
  if (calls_.empty() && silent >= client_.limits.idle) {
    return End({RpcErrorKind::kCut, "closed because idle", {}});
  }
  if (silent >= client_.limits.ping) {
    active_ = client_.loop.Now();
    session_.Ping();
    Flush();
  }
  ArmKeepalive();
}

RpcClient::RpcClient(env::Loop& loop, env::Net& net, RpcClientLimits limits, RpcClientSecurity security)
    : impl_(std::make_unique<Impl>(loop, net, limits, std::move(security))) {}
RpcClient::~RpcClient() = default;

void RpcClient::Call(const RpcTarget& target, std::string_view method, std::string request, base::Duration timeout,
                     Done done) {
  impl_->ConnectionTo(target).Call(method, std::move(request), timeout, std::move(done));
}

void RpcClient::Disconnect(const env::Endpoint& address) {
  std::vector<std::shared_ptr<ClientConnection>> doomed;
  for (const auto& [key, connection] : impl_->connections) {
    if (connection->address == address) doomed.push_back(connection);
  }
  for (const auto& connection : doomed) connection->End({RpcErrorKind::kCut, "disconnected", {}});
}

size_t RpcClient::connections() const { return impl_->connections.size(); }

}  // namespace fairlead::process::rpc
