#include "process/rm/ports.h"

#include <utility>

#include "process/rm/resource_manager.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/yarn/admin.h"
#include "wire/yarn/client.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;
using endpoints::yarn::exceptions::kRetriable;
using endpoints::yarn::exceptions::kStandby;

base::Result<std::unique_ptr<Ports>> Ports::Listen(env::Loop& loop, env::Net& net, const PortAddresses& addresses,
                                                   Membership membership) {
  std::unique_ptr<Ports> ports(new Ports(loop, net, std::move(membership)));
  Ports& p = *ports;
  const auto listen = [&p](const env::Endpoint& at, bool tokens, rpc::Service service, env::Endpoint* bound) {
    return p.ListenAt(at, true, tokens, {std::move(service)}, bound);
  };
  base::Status status =
      listen(addresses.client, false,
             p.Of(w::kApplicationClientProtocol, w::kApplicationClientProtocolMethods, &ResourceManager::OnClientCall),
             &p.bound_.client);
  if (!status.ok()) return status.error();
  status =
      listen(addresses.scheduler, true,
             p.Of(w::kApplicationMasterProtocol, w::kApplicationMasterProtocolMethods, &ResourceManager::OnMasterCall),
             &p.bound_.scheduler);
  if (!status.ok()) return status.error();
  status =
      listen(addresses.tracker, false,
             p.Of(w::kResourceTracker, w::kResourceTrackerMethods, &ResourceManager::OnTrackerCall), &p.bound_.tracker);
  if (!status.ok()) return status.error();
  rpc::Service ha = p.Of(w::kHaServiceProtocol, wire::hadoop_rpc::kHAProtocolMethods, &ResourceManager::OnHaCall);
  if (p.membership_.on_ha_call) ha.handler = p.membership_.on_ha_call;
  status = p.ListenAt(addresses.admin, false, false,
                      {p.Of(w::kResourceManagerAdministrationProtocol, w::kResourceManagerAdministrationProtocolMethods,
                            &ResourceManager::OnAdminCall),
                       std::move(ha)},
                      &p.bound_.admin);
  if (!status.ok()) return status.error();
  return ports;
}

base::Status Ports::ListenAt(const env::Endpoint& at, bool gated, bool tokens, std::vector<rpc::Service> services,
                             env::Endpoint* bound) {
  rpc::ListenOptions options;
  options.session.allow_simple = !tokens;
  options.session.tokens = tokens ? this : nullptr;
  options.services = std::move(services);
  if (gated && membership_.may_act) {
    options.is_open = [this] { return Acting(); };
    options.on_waiting = membership_.on_waiting;
  }
  base::Result<env::Endpoint> endpoint = server_.Listen(at, std::move(options));
  if (!endpoint.ok()) return base::Error{"Cannot listen on " + at.ToString() + ": " + endpoint.error().message};
  *bound = *endpoint;
  return {};
}

rpc::Service Ports::Of(std::string_view protocol, std::span<const wire::proto::MethodInfo> methods, Handler handler) {
  return {protocol, methods, [this, handler](const rpc::IncomingCall& call) {
            if (!Acting()) return Refuse(call);
            (manager_->*handler)(call);
          }};
}

// Hadoop's nodes and masters fail over at once the first time, and wait for half a minute before the second. So while
// nobody leads, who has waited here is told to come again, at once as well, and keeps his failover for the moment at
// which another manager leads (RetryPolicies.FailoverOnNetworkExceptionRetry).
void Ports::Refuse(const rpc::IncomingCall& call) {
  const bool fails_over = call.protocol == w::kResourceTracker || call.protocol == w::kApplicationMasterProtocol;
  const bool comes_again =
      fails_over && call.retry_count == 0 && membership_.nobody_leads && membership_.nobody_leads();
  server_.Fail(call.token, comes_again ? kRetriable : kStandby, membership_.not_active);
}

base::Result<endpoints::yarn::TokenSecret> Ports::Secret(std::string_view identifier) const {
  if (!Acting()) return base::Error{membership_.not_active, endpoints::yarn::kTokenStandby};
  return manager_->tokens().Secret(identifier);
}

void Ports::Attach(ResourceManager& manager) {
  manager_ = &manager;
  if (Acting()) LetIn();  // else once its right to act is confirmed
}

void Ports::Detach() {
  manager_ = nullptr;
  server_.FailAll(kStandby, membership_.not_active);
}

}  // namespace fairlead::process::rm
