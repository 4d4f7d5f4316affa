#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "config/machine_list.h"
#include "model/queues.h"

namespace fairlead::config {

/// hadoop.proxyuser.NAME.{users,groups,hosts} and the same under yarn.resourcemanager.proxyuser, which goes first: who
/// may act in whose name, and from where (org.apache.hadoop.security.authorize.DefaultImpersonationProvider). A gateway
/// such as Livy, Oozie, Hue or Knox submits so for its users.
class ProxyUsers {
 public:
  /// Resolves the names of hosts. An error names a key whose list of hosts cannot be read.
  static base::Result<ProxyUsers> Read(const HadoopConf& conf, const ResolveHost& resolve);

  struct Claim {
    std::string real;                 // who has logged in, by the short name,
    std::string real_in_full;         // and by the principal
    std::string user;                 // in whose name, by the short name,
    std::string user_as_given;        // and as the caller writes it
    std::vector<std::string> groups;  // of `user`
    std::string address;              // of the caller
  };
  /// Why not, in Hadoop's words.
  base::Status Judge(const Claim& claim) const;
  /// Does `real` act for anybody? Whose groups are looked up is who may be acted for.
  bool Knows(const std::string& real) const { return rules_.contains(real); }

 private:
  struct Rule {
    model::AccessList whose;  // users, and groups of users
    std::optional<MachineList> hosts;
  };
  std::map<std::string, Rule> rules_;  // by the name of who acts
};

}  // namespace fairlead::config
