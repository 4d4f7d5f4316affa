#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "endpoints/yarn/rpc_server_session.h"
#include "env/audit.h"
#include "env/gss.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/peers/peer_table.h"
#include "wire/hadoop_rpc/proto_runtime.h"

namespace fairlead::process::rpc {

/// Names a call until it is answered; never used twice by one server.
using CallToken = uint64_t;

/// One call; the views and the caller live during the handler's call.
struct IncomingCall {
  CallToken token = 0;
  const endpoints::yarn::Caller& caller;
  const env::Endpoint& peer;
  std::string_view protocol;
  std::string_view method;
  size_t method_number = 0;  // in Service::methods
  std::string_view request;
  int32_t retry_count = -1;  // how often the caller has repeated it; -1: unknown
  /// Expires with the connection: then nobody waits for an answer.
  std::weak_ptr<const void> asker = {};

  /// The method, as the enum that is made with the protocol's table of methods.
  template <class Method>
  Method As() const {
    return static_cast<Method>(method_number);
  }
};

/// One protocol of a listener.
struct Service {
  std::string_view protocol;                         // wire/yarn/protocols.h
  std::span<const wire::proto::MethodInfo> methods;  // others are answered with RpcNoSuchMethodException
  std::function<void(const IncomingCall&)> handler;  // answers once by Reply or Fail, now or later
};

struct ListenOptions {
  endpoints::yarn::RpcServerOptions session;
  std::vector<Service> services;
  /// Makes the logins of session.kerberos.
  env::Gss* gss = nullptr;
  /// Of logins: by a ticket, by a token, and of those that are refused.
  env::Audit audit = {};
  /// Whether a caller may speak `protocol` here and, where he acts for another user, in that one's name: asked once a
  /// connection, answers once, now or later. Empty: everybody may, for himself alone.
  using Admitted = std::function<void(const base::Status&)>;
  std::function<void(const endpoints::yarn::Caller&, const std::string& protocol, const env::Endpoint& peer, Admitted)>
      admit = {};
  /// Why the name of a caller who shows no more than that (SIMPLE) is not believed; asked before `admit`. Empty: every
  /// name is.
  std::function<base::Status(const endpoints::yarn::Caller&, const env::Endpoint& peer, const env::Endpoint& local)>
      believe = {};
  /// A connection that has not brought its connection context by then is closed.
  base::Duration setup = base::Duration::Seconds(10);
  /// From a frame's first bytes to its last, while frames are taken.
  base::Duration frame = base::Duration::Seconds(30);
  /// A connection without a call for this long is closed (ipc.client.connection.maxidletime is 10 s; Hadoop's server
  /// closes at twice that).
  base::Duration idle = base::Duration::Seconds(60);
  /// Answers that the peer does not take.
  base::Duration unread = base::Duration::Seconds(60);
  /// While it says false, connections are accepted and what they send waits untaken, a login too: at most `hold` and as
  /// much as fits a socket, then it is taken as always, so the handler must know what to answer.
  std::function<bool()> is_open = {};
  base::Duration hold = base::Duration::Seconds(15);
  /// Something waits, for the first time since LetIn.
  std::function<void()> on_waiting = {};
};

/// Of all listeners of a server together. A frame may be as long as bytes_max and no longer.
inline constexpr peers::PeerLimits kRpcPeers{
    .connections_max = 20'000, .per_address_max = 10'000, .bytes_max = size_t{32} << 20};

/// Hadoop RPC over the env ports: any number of listeners, one space of call tokens. A call of a connection is parsed
/// only while few of its calls wait and its answers are taken. All on the loop's thread.
class RpcServer {
 public:
  RpcServer(env::Loop& loop, env::Net& net, peers::PeerLimits limits = kRpcPeers);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  /// Listens; gives the bound endpoint.
  base::Result<env::Endpoint> Listen(const env::Endpoint& endpoint, ListenOptions options);

  /// Answers; ignored when the call has gone with its connection.
  void Reply(CallToken call, std::string_view response);
  template <class Message>
  void ReplyMessage(CallToken call, const Message& message) {
    Reply(call, message.Encode());
  }
  /// `exception`: a full Java class name (endpoints::yarn::exceptions) or a simple name.
  void Fail(CallToken call, std::string_view exception, std::string_view message);
  /// `told` hears of the call's answer, once, whether or not its connection is still there: with the message of an
  /// exception, or with nothing. What was to be told before is forgotten.
  using Answered = std::function<void(std::optional<std::string_view> refused)>;
  void WhenAnswered(CallToken call, Answered told);

  /// No further call of its connection is taken before this one is answered: its answer is long.
  void HoldOthers(CallToken call);
  /// Its connection takes no further call, and ends once those that wait are answered: whoever calls has to log in
  /// again.
  void CloseAfter(CallToken call);

  /// A place in the order in which connections began to wait at listeners with `is_open`.
  using Mark = uint64_t;
  /// What waits now is before it; what comes to wait later is behind it.
  Mark WaitingMark() const;
  /// Takes what waits at listeners with `is_open` since before `mark`, whatever that says now. Of a call that has only
  /// begun the rest is read; then it waits anew. `on_waiting` tells of what still waits.
  void LetIn(Mark mark);
  /// Fails every call that waits for its answer at listeners with `is_open`.
  void FailAll(std::string_view exception, std::string_view message);

  size_t connections() const;
  /// What they hold in memory: bytes not parsed, calls not answered, answers not taken.
  size_t held_bytes() const;
  /// Calls that were refused because they have more bytes than their kind may, by the kind's name.
  const std::map<std::string_view, uint64_t>& refused() const;
  struct Counters {
    uint64_t logins_refused = 0;  // no valid ticket, token or protocol of a login
    uint64_t unauthorized = 0;    // known callers who may not speak there, or not in another's name
    uint64_t unprotected = 0;     // messages outside of the protection that was agreed on
  };
  const Counters& counters() const;

 private:
  friend class Connection;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::process::rpc
