#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/proxy_users.h"
#include "config/service_policy.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/alive.h"
#include "env/audit.h"
#include "env/loop.h"
#include "process/rm/known_groups.h"

namespace fairlead::process::rm {

/// hadoop.proxyuser.* and, with hadoop.security.authorization, hadoop-policy.xml.
struct AdmissionRules {
  config::ProxyUsers proxies;
  std::optional<config::ServicePolicy> policy;  // nothing: hadoop.security.authorization is off
};

/// The protocols of the resource manager's ports by their keys in hadoop-policy.xml (RMPolicyProvider).
std::span<const config::ServicePolicy::Service> ManagerServices();

struct AdmissionOptions {
  AdmissionRules rules;
  /// The same as the files have it now; may block: called on any thread.
  std::function<base::Result<AdmissionRules>()> read;
  std::function<std::vector<std::string>(const std::string&)> groups_of;
  /// With a policy nodes are bound to their hosts: "nm/_HOST@EXAMPLE.COM" with the name of an address. May block.
  /// Empty: they are not.
  std::function<std::string(const std::string& address)> node_at;
  env::Audit audit;
};

/// Who may speak to the manager at all, and who in another's name: what comes before every list of YARN's. Users'
/// groups are looked up off the loop.
class Admission {
 public:
  Admission(env::Loop& loop, AdmissionOptions options);

  using Done = std::function<void(const base::Status&)>;
  /// May he speak `protocol`, in whose name he would? An empty protocol is no protocol of RPC: REST. `done` is called
  /// once, now or later; never when this ends before. The error is Hadoop's text.
  void Judge(const endpoints::yarn::Caller& caller, const std::string& protocol, const std::string& address,
             const Done& done);

  bool has_policy() const { return rules_->policy.has_value(); }
  /// What the files have now counts from `done` on (rmadmin -refreshSuperUserGroupsConfiguration, -refreshServiceAcl);
  /// with an error everything stays.
  void RefreshProxies(Done done);
  void RefreshPolicy(Done done);
  /// rmadmin -refreshUserToGroupsMappings
  void ExpireGroups() { groups_.Expire(); }

 private:
  struct Asked;
  void JudgeKnown(const Asked& asked);
  base::Status Verdict(const Asked& asked) const;
  void Read(std::function<base::Status(const AdmissionRules&)> take, Done done);

  env::Loop& loop_;
  const AdmissionOptions options_;
  std::shared_ptr<const AdmissionRules> rules_;
  KnownGroups groups_;
  env::Alive alive_;
};

}  // namespace fairlead::process::rm
