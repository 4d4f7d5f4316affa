#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "config/machine_list.h"
#include "model/queues.h"

namespace fairlead::config {

/// hadoop-policy.xml: who may speak which protocol, and from where, before any list of YARN's
/// (org.apache.hadoop.security.authorize.ServiceAuthorizationManager).
class ServicePolicy {
 public:
  struct Service {
    std::string_view protocol;  // Java's name
    std::string_view key;       // "security.applicationclient.protocol.acl"
  };
  /// Of each service its list, those who are blocked, hosts and blocked hosts (KEY.blocked, KEY with .hosts in the
  /// place of .acl, and that with .blocked); where one is not written, security.service.authorization.default's.
  static base::Result<ServicePolicy> Read(const HadoopConf& policy, std::span<const Service> services,
                                          const ResolveHost& resolve);

  struct Claim {
    std::string_view protocol;
    std::string user;                 // by the short name
    std::string shown;                // "mallory@EXAMPLE.COM (auth:KERBEROS)"
    std::vector<std::string> groups;  // of the user
    std::string address;
  };
  /// Why not, in Hadoop's words.
  base::Status Judge(const Claim& claim) const;
  /// Do the lists of the protocol name groups?
  bool NamesGroups(std::string_view protocol) const;

 private:
  struct Rule {
    model::AccessList allowed;
    model::AccessList blocked;
    MachineList hosts;
    MachineList blocked_hosts;
  };
  std::map<std::string, Rule, std::less<>> rules_;  // by protocol
};

}  // namespace fairlead::config
