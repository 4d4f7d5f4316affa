#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/audit.h"
#include "env/gss.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/login/web_login.h"
#include "process/rm/admission.h"
#include "process/rm/credential_store.h"
#include "process/rpc/rpc_client.h"
#include "process/rpc/rpc_server.h"

namespace fairlead::process::rm {

class ResourceManager;
struct Services;

struct PortAddresses {
  env::Endpoint client;     // yarn.resourcemanager.address
  env::Endpoint scheduler;  // yarn.resourcemanager.scheduler.address
  env::Endpoint tracker;    // yarn.resourcemanager.resource-tracker.address
  env::Endpoint admin;      // yarn.resourcemanager.admin.address
};

/// How it is known who calls, and what protects the calls. Without `gss` (hadoop.security.authentication=simple) names
/// are believed.
struct PortSecurity {
  env::Gss* gss = nullptr;               // as the manager's principal; outlives the ports
  endpoints::yarn::KerberosLogin login;  // of that principal
  std::string manager_principal;         // yarn.resourcemanager.principal, maybe with _HOST
  std::string node_principal;            // yarn.nodemanager.principal: nobody else may be a node
  env::Audit audit;                      // of logins, refusals and changes
  wire::hadoop_rpc::Protections protections = {wire::hadoop_rpc::Protection::kAuthentication};
  AdmissionOptions admission;
  login::WebSecurity web;
  bool filters_lists = false;  // yarn.webapp.filter-entity-list-by-user: who may not see an application misses its row
  bool rest_submissions = true;  // yarn.webapp.enable-rest-app-submissions
  /// By which managers of one cluster show each other without Kerberos that they are its managers; empty: they do not.
  std::string members_secret;

  rpc::RpcClientSecurity ForCalls() const { return {gss, protections}; }
};

/// As whom the manager `id` calls another, and whether a caller is a manager so.
endpoints::yarn::RpcToken MemberToken(const std::string& members_secret, const std::string& id);
bool IsMember(const endpoints::yarn::Caller& caller);

/// Whether `principal` is `configured`, where the host _HOST stands for any.
bool IsPrincipal(std::string_view principal, std::string_view configured);

/// The RPC ports of a process that runs a resource manager, now or when it is elected. They stay open from its start to
/// its end. While no manager acts, what arrives at the first three waits (rpc::ListenOptions::is_open), so that nodes,
/// masters and clients which come to this process first find a closed port nowhere: one costs them half a minute
/// (yarn.resourcemanager.connect.retry-interval.ms).
class Ports final : private endpoints::yarn::TokenAuthority {
 public:
  /// What only one of several managers has; left empty by one that runs alone.
  struct Membership {
    std::function<bool()> may_act;
    /// Calls wait for a manager.
    std::function<void()> on_waiting;
    std::function<void(const rpc::IncomingCall&)> on_ha_call;
    /// Whether, as far as this process knows, no manager leads.
    std::function<bool()> nobody_leads;
    /// "ResourceManager rm2 is not Active!"
    std::string not_active;
    /// What this process has seen of the leader's rows.
    CredentialStore::Seen seen;
  };

  static base::Result<std::unique_ptr<Ports>> Listen(env::Loop& loop, env::Net& net, const PortAddresses& addresses,
                                                     Membership membership = {}, PortSecurity security = {});
  ~Ports() override;

  /// Calls are the manager's from now on, also those that wait.
  void Attach(ResourceManager& manager);
  /// Nobody's. What the manager has not answered is refused with a StandbyException: callers ask the other manager.
  void Detach();
  /// What waits is taken: by the manager if it acts, else it is refused with a StandbyException. `mark`: what came to
  /// wait later waits on (RpcServer::WaitingMark).
  void LetIn(rpc::RpcServer::Mark mark) { server_.LetIn(mark); }
  void LetIn() { LetIn(server_.WaitingMark()); }

  rpc::RpcServer& server() { return server_; }
  const rpc::RpcServer& server() const { return server_; }
  Admission& admission() { return admission_; }
  const PortAddresses& bound() const { return bound_; }

 private:
  Ports(env::Loop& loop, env::Net& net, Membership membership, PortSecurity security);
  bool Acting() const { return manager_ && (!membership_.may_act || membership_.may_act()); }
  enum class Port { kClient, kScheduler, kTracker, kAdmin };
  rpc::ListenOptions OptionsOf(Port port);
  base::Status ListenAt(const env::Endpoint& at, Port port, std::vector<rpc::Service> services, env::Endpoint* bound);
  /// A protocol that one of `services_` speaks.
  template <class Service>
  rpc::Service Of(std::string_view protocol, std::span<const wire::proto::MethodInfo> methods,
                  Service Services::*service,
                  void (Service::*on_call)(const rpc::IncomingCall& call) = &Service::OnCall);
  void Refuse(const rpc::IncomingCall& call);
  base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier) const override;
  /// Of the client port: delegation tokens.
  struct Delegated final : endpoints::yarn::TokenAuthority {
    explicit Delegated(const Ports& of) : ports(of) {}
    base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier) const override;
    const Ports& ports;
  };

  env::Loop& loop_;
  rpc::RpcServer server_;
  Membership membership_;
  const PortSecurity security_;
  Admission admission_;
  const Delegated delegated_{*this};
  /// Credentials of nodes, or of clients (fairlead.auth=credentials).
  struct Credentialed final : endpoints::yarn::TokenAuthority {
    Credentialed(const Ports& of, bool of_nodes) : ports(of), node(of_nodes) {}
    base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier) const override;
    const Ports& ports;
    const bool node;
  };
  base::Result<endpoints::yarn::TokenSecret> SecretSeen(std::string_view identifier, bool node) const;
  const Credentialed nodes_{*this, true};
  const Credentialed clients_{*this, false};
  /// The caller's credential is revoked: the call is refused, and its connection ends.
  bool IsRevoked(const rpc::IncomingCall& call);
  ResourceManager* manager_ = nullptr;
  std::unique_ptr<Services> services_;  // of the manager
  PortAddresses bound_;
};

}  // namespace fairlead::process::rm
