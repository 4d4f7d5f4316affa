#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/gss.h"
#include "env/loop.h"
#include "env/net.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/hadoop_rpc/sasl_layer.h"

namespace fairlead::process::rpc {

enum class RpcErrorKind : uint8_t {
  kConnect,    // no connection: the call has certainly not happened
  kLogin,      // the server refused the token or the user; `remote` says how
  kCut,        // the connection was lost before the answer: the call may have happened
  kTimeout,    // no answer in time: the call may have happened
  kRemote,     // the server answered with an exception: `remote`
  kMalformed,  // the answer could not be read
};
std::string_view Name(RpcErrorKind kind);

struct RpcError {
  RpcErrorKind kind = RpcErrorKind::kConnect;
  std::string message;                      // for people
  endpoints::yarn::RemoteException remote;  // kRemote, kLogin
};

/// Whether asking again is of no use: somebody answered, and did not say that another or a later moment would do.
bool IsRefusal(const RpcError& error);

/// A protocol on an address, as somebody.
struct RpcTarget {
  env::Endpoint address;
  std::string protocol;  // wire/yarn/protocols.h
  endpoints::yarn::RpcUser user;
};

struct RpcClientLimits {
  base::Duration connect = base::Duration::Seconds(20);
  base::Duration idle = base::Duration::Seconds(10);  // ipc.client.connection.maxidletime
  base::Duration ping = base::Duration::Seconds(60);  // while calls wait
  size_t frame_bytes_max = 128u << 20;
};

/// How connections log in and what protects them.
struct RpcClientSecurity {
  env::Gss* gss = nullptr;  // for targets with a server_principal
  wire::hadoop_rpc::Protections protections = {wire::hadoop_rpc::Protection::kAuthentication};
};

/// Calls over one connection per target, made when needed, closed when idle, made again by the next call after a loss.
/// Retries and failover are the caller's. All on the loop's thread; destroying the client drops its calls unanswered.
class RpcClient {
 public:
  using Done = std::function<void(base::Result<std::string, RpcError>)>;

  RpcClient(env::Loop& loop, env::Net& net, RpcClientLimits limits = {}, RpcClientSecurity security = {});
  ~RpcClient();
  RpcClient(const RpcClient&) = delete;
  RpcClient& operator=(const RpcClient&) = delete;

  /// `done` gets the bytes of the response message or the error, exactly once, never from inside this call.
  void Call(const RpcTarget& target, std::string_view method, std::string request, base::Duration timeout, Done done);

  /// The same with messages: Call<StartContainersResponseProto>(target, "startContainers", request, timeout, done).
  template <class Response, class Request>
  void Call(const RpcTarget& target, std::string_view method, const Request& request, base::Duration timeout,
            std::function<void(base::Result<Response, RpcError>)> done) {
    Call(target, method, request.Encode(), timeout,
         [done = std::move(done)](base::Result<std::string, RpcError> bytes) {
           if (!bytes) return done(bytes.error());
           Response response;
           if (base::Status parsed = response.ParseFrom(*bytes, wire::hadoop_rpc::kAnswer); !parsed) {
             return done(RpcError{RpcErrorKind::kMalformed, parsed.error().message, {}});
           }
           done(std::move(response));
         });
  }

  /// Closes the connections to an address; calls that wait there end with kCut.
  void Disconnect(const env::Endpoint& address);
  size_t connections() const;

 private:
  friend class ClientConnection;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace fairlead::process::rpc
