#include "process/rm/ports.h"

#include <utility>

#include "endpoints/yarn/tokens.h"
#include "process/rm/admin_service.h"
#include "process/rm/client_service.h"
#include "process/rm/master_service.h"
#include "process/rm/resource_manager.h"
#include "process/rm/tracker_service.h"
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

/// What a manager answers calls with.
struct Services {
  ClientService client;
  MasterService master;
  TrackerService tracker;
  AdminService admin;
};

namespace {
/// Before a manager's id: the identifier of its token. No credential's begins so.
constexpr std::string_view kMember = "flm.";

std::string MemberPassword(const std::string& secret, std::string_view identifier) {
  return endpoints::yarn::TokenPassword(secret, identifier, endpoints::yarn::TokenHmac::kSha256);
}
}  // namespace

endpoints::yarn::RpcToken MemberToken(const std::string& members_secret, const std::string& id) {
  const std::string identifier = std::string(kMember) + id;
  return {identifier, MemberPassword(members_secret, identifier), "FAIRLEAD_MEMBER", ""};
}

bool IsMember(const endpoints::yarn::Caller& caller) {
  return caller.by_token() && caller.token_identifier.starts_with(kMember);
}

bool IsPrincipal(std::string_view principal, std::string_view configured) {
  constexpr std::string_view kHost = "/_HOST@";
  const size_t at = configured.find(kHost);
  if (at == std::string_view::npos) return principal == configured;
  const std::string_view service = configured.substr(0, at + 1);
  const std::string_view realm = configured.substr(at + kHost.size() - 1);
  if (principal.size() <= service.size() + realm.size()) return false;
  const std::string_view host = principal.substr(service.size(), principal.size() - service.size() - realm.size());
  return principal.starts_with(service) && principal.ends_with(realm) && host.find_first_of("/@") == host.npos;
}

Ports::Ports(env::Loop& loop, env::Net& net, Membership membership, PortSecurity security)
    : loop_(loop),
      server_(loop, net),
      membership_(std::move(membership)),
      security_(std::move(security)),
      admission_(loop, security_.admission) {}

Ports::~Ports() = default;

template <class Service>
rpc::Service Ports::Of(std::string_view protocol, std::span<const wire::proto::MethodInfo> methods,
                       Service Services::*service, void (Service::*on_call)(const rpc::IncomingCall& call)) {
  return {protocol, methods, [this, service, on_call](const rpc::IncomingCall& call) {
            if (!Acting()) return Refuse(call);
            if (!IsRevoked(call)) ((*services_.*service).*on_call)(call);
          }};
}

base::Result<std::unique_ptr<Ports>> Ports::Listen(env::Loop& loop, env::Net& net, const PortAddresses& addresses,
                                                   Membership membership, PortSecurity security) {
  std::unique_ptr<Ports> ports(new Ports(loop, net, std::move(membership), std::move(security)));
  Ports& p = *ports;
  base::Status status = p.ListenAt(
      addresses.client, Port::kClient,
      {p.Of(w::kApplicationClientProtocol, w::kApplicationClientProtocolMethods, &Services::client)}, &p.bound_.client);
  if (!status.ok()) return status.error();
  status = p.ListenAt(addresses.scheduler, Port::kScheduler,
                      {p.Of(w::kApplicationMasterProtocol, w::kApplicationMasterProtocolMethods, &Services::master)},
                      &p.bound_.scheduler);
  if (!status.ok()) return status.error();
  status = p.ListenAt(addresses.tracker, Port::kTracker,
                      {p.Of(w::kResourceTracker, w::kResourceTrackerMethods, &Services::tracker)}, &p.bound_.tracker);
  if (!status.ok()) return status.error();
  rpc::Service ha =
      p.Of(w::kHaServiceProtocol, wire::hadoop_rpc::kHAProtocolMethods, &Services::admin, &AdminService::OnHaCall);
  if (p.membership_.on_ha_call) {
    ha.handler = [&p](const rpc::IncomingCall& call) {
      if (!p.IsRevoked(call)) p.membership_.on_ha_call(call);
    };
  }
  status = p.ListenAt(addresses.admin, Port::kAdmin,
                      {p.Of(w::kResourceManagerAdministrationProtocol, w::kResourceManagerAdministrationProtocolMethods,
                            &Services::admin),
                       std::move(ha)},
                      &p.bound_.admin);
  if (!status.ok()) return status.error();
  return ports;
}

/// Who may log in how. Masters have tokens alone. Nodes get the keys of all tokens, so with Kerberos they are nodes by
/// their principal, whatever hadoop.security.authorization says (stock asks for that to be on).
rpc::ListenOptions Ports::OptionsOf(Port port) {
  rpc::ListenOptions options;
  options.admit = [this](const endpoints::yarn::Caller& caller, const std::string& protocol, const env::Endpoint& peer,
                         const rpc::ListenOptions::Admitted& done) {
    admission_.Judge(caller, protocol, peer.host, done);
  };
  options.audit = security_.audit;
  endpoints::yarn::RpcServerOptions& session = options.session;
  const bool secured = security_.gss != nullptr;
  session.protections = security_.protections;
  session.allow_simple = !secured && port != Port::kScheduler;
  if (port == Port::kScheduler) session.tokens = this;
  if (const auto& callers = security_.web.callers; callers && !secured && port != Port::kScheduler) {
    const bool node = port == Port::kTracker;
    session.tokens = node ? &nodes_ : &clients_;
    options.believe = [callers, node](const endpoints::yarn::Caller& caller, const env::Endpoint& peer,
                                      const env::Endpoint& local) {
      return login::Believe(*callers, caller, peer, local, node);
    };
  }
  if (!secured || port == Port::kScheduler) return options;
  if (port == Port::kClient) session.tokens = &delegated_;
  session.kerberos = security_.login;
  options.gss = security_.gss;
  if (port != Port::kTracker) return options;
  session.kerberos->admits = [node = security_.node_principal](const std::string& principal) -> base::Status {
    if (IsPrincipal(principal, node)) return {};
    return base::Error{"User " + principal + " (auth:KERBEROS) is not authorized for protocol interface " +
                       std::string(w::kResourceTracker) + ": this service is only accessible by " + node};
  };
  return options;
}

base::Status Ports::ListenAt(const env::Endpoint& at, Port port, std::vector<rpc::Service> services,
                             env::Endpoint* bound) {
  rpc::ListenOptions options = OptionsOf(port);
  options.services = std::move(services);
  if (port != Port::kAdmin && membership_.may_act) {
    options.is_open = [this] { return Acting(); };
    options.on_waiting = membership_.on_waiting;
  }
  base::Result<env::Endpoint> endpoint = server_.Listen(at, std::move(options));
  if (!endpoint.ok()) return endpoint.error();
  *bound = *endpoint;
  return {};
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
  return manager_->keys().Secret(identifier);
}

base::Result<endpoints::yarn::TokenSecret> Ports::Delegated::Secret(std::string_view identifier) const {
  if (!ports.Acting()) return base::Error{ports.membership_.not_active, endpoints::yarn::kTokenStandby};
  return ports.manager_->delegation()->Secret(identifier);
}

base::Result<endpoints::yarn::TokenSecret> Ports::Credentialed::Secret(std::string_view identifier) const {
  const std::string& members = ports.security_.members_secret;
  if (identifier.starts_with(kMember) && !members.empty() && !node) {
    return endpoints::yarn::TokenSecret{MemberPassword(members, identifier), std::string(identifier)};
  }
  if (!ports.Acting()) return ports.SecretSeen(identifier, node);
  const CredentialStore* known = ports.manager_->credentials();
  if (known == nullptr) return base::Error{"no credentials are taken here"};
  return known->Secret(identifier, node);
}

// What is not seen yet, another manager may know.
base::Result<endpoints::yarn::TokenSecret> Ports::SecretSeen(std::string_view identifier, bool node) const {
  const auto secret = membership_.seen
                          ? CredentialStore::SecretSeen(membership_.seen, identifier, node, loop_.Wall().ms)
                          : base::Result<endpoints::yarn::TokenSecret>(base::Error{});
  if (secret.ok()) return secret;
  return base::Error{membership_.not_active, endpoints::yarn::kTokenStandby};
}

// A node's connection lives as long as the node.
bool Ports::IsRevoked(const rpc::IncomingCall& call) {
  if (!security_.web.callers || !call.caller.by_token()) return false;
  const std::string& identifier = call.caller.token_identifier;
  if (!CredentialStore::IsIdentifier(identifier)) return false;
  const bool node = call.protocol == w::kResourceTracker;
  const auto secret = (node ? nodes_ : clients_).Secret(identifier);
  if (secret.ok()) return false;
  server_.CloseAfter(call.token);
  const bool standby = secret.error().code == endpoints::yarn::kTokenStandby;
  server_.Fail(call.token, standby ? kStandby : endpoints::yarn::exceptions::kInvalidToken, secret.error().message);
  return true;
}

void Ports::Attach(ResourceManager& manager) {
  manager_ = &manager;
  services_.reset(new Services{
      {loop_, manager, server_}, {loop_, manager, server_}, {loop_, manager, server_}, {manager, server_}});
  if (Acting()) LetIn();  // else once its right to act is confirmed
}

void Ports::Detach() {
  manager_ = nullptr;
  services_.reset();
  server_.FailAll(kStandby, membership_.not_active);
}

}  // namespace fairlead::process::rm
