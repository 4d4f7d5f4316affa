#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "endpoints/yarn/tokens.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/rpc/members.h"
#include "process/rpc/rpc_client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::nm {

/// How a node agent speaks to its resource managers.
struct TrackerSettings {
  std::vector<env::Endpoint> trackers;  // of the resource managers; one leads
  std::string user;                     // as whom the agent speaks to them,
  std::string manager_principal;        // and to whom, or a pattern; not empty: with a ticket
  rpc::RpcClientSecurity security;      // its protections hold for masters' calls, too
  /// By which it logs in where there is no Kerberos, as it is now (fairlead.auth.credential); empty: by name.
  std::function<std::optional<endpoints::yarn::RpcToken>()> credential = {};
  base::Duration call_timeout = base::Duration::Seconds(30);
};

/// Calls of ResourceTracker to the resource manager that leads: after a failed one the next manager is asked, and the
/// log says each reason once. On the loop's thread.
class TrackerClient {
 public:
  /// `settings` outlive it. `on_failed` is told of each call that failed.
  TrackerClient(env::Loop& loop, env::Net& net, env::Log& log, const TrackerSettings& settings,
                std::function<void(const std::string& why)> on_failed)
      : log_(log),
        settings_(settings),
        on_failed_(std::move(on_failed)),
        client_(loop, net, {}, settings.security),
        managers_(settings.trackers) {}

  template <class Response, class Request>
  void Call(const char* method, const Request& request, std::function<void(const Response&)> done) {
    client_.Call<Response>(Target(), method, request, settings_.call_timeout,
                           alive_([this, method, done = std::move(done)](base::Result<Response, rpc::RpcError> answer) {
                             if (!answer) return Failed(method, answer.error());
                             last_error_.clear();
                             done(*answer);
                           }));
  }
  /// Called at the end: nobody waits for the answer.
  template <class Response, class Request>
  void Tell(const char* method, const Request& request) {
    client_.Call<Response>(Target(), method, request, base::Duration::Seconds(2),
                           [](const base::Result<Response, rpc::RpcError>&) {});
  }
  const env::Endpoint& manager() const { return managers_.current(); }

 private:
  rpc::RpcTarget Target() const;
  void Failed(const char* method, const rpc::RpcError& error);

  env::Log& log_;
  const TrackerSettings& settings_;
  const std::function<void(const std::string&)> on_failed_;
  rpc::RpcClient client_;
  rpc::Members managers_;
  std::string last_error_;
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
