#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "endpoints/rest/configuration.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/known_hosts.h"
#include "process/http/server.h"
#include "process/rm/web.h"

namespace fairlead::process::rm {

/// The web port of one of several resource managers: open from the process' start to its end. While the manager acts,
/// its pages are served; else visitors are sent to the active one, or told to come back, except for what they want to
/// know of this very process (org.apache.hadoop.yarn.server.resourcemanager.webapp.RMWebAppFilter).
class WebPort {
 public:
  /// Who takes part, and how fast a death is noticed, for /fairlead/v1/ha.
  struct Membership {
    std::string id;
    std::string leader;      // empty: nobody is known
    base::Duration session;  // as ZooKeeper gave it; 0: not yet
  };
  struct Standby {
    std::function<bool()> acting;
    /// The active manager's web address, "http://host:port"; empty: nobody is known.
    std::function<std::string()> active;
    std::function<Membership()> membership;
    std::string version;  // of Hadoop's protocols
    int64_t started = 0;  // when this process did, milliseconds since 1970
    std::shared_ptr<const endpoints::rest::Configuration> configuration;  // for /conf
    login::WebSecurity security;
    CredentialStore::Seen seen;
  };
  static base::Result<std::unique_ptr<WebPort>> Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                       http::KnownHosts hosts, Standby standby);

  void Attach(std::unique_ptr<Web> web) { web_ = std::move(web); }
  /// Requests without an answer are told to come back.
  void Detach() { web_.reset(); }
  env::Endpoint local() const { return server_->local(); }
  const http::Server& server() const { return *server_; }

 private:
  WebPort(env::Loop& loop, Standby standby);
  void Serve(http::Request request, http::Server::Reply reply);
  std::optional<http::Response> OfThisProcess(const http::Request& request) const;

  Standby standby_;
  login::WebLogin login_;
  std::unique_ptr<Web> web_;
  std::unique_ptr<http::Server> server_;
};

}  // namespace fairlead::process::rm
