#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"
#include "model/queues.h"

namespace fairlead::shell {

/// Groups of a user, primary first; none of one who is not known. For any thread; may wait for a directory service.
using GroupLookup = std::function<std::vector<std::string>(const std::string& user)>;

/// As hadoop.security.group.mapping says (org.apache.hadoop.security.Groups): the machine's accounts or nobody's;
/// another class is refused. hadoop.user.group.static.mapping.overrides goes first.
GroupLookup ReadGroupLookup(const config::HadoopConf& conf);

/// The name of the user that this process runs as, or his number where he has none.
std::string OwnUser();

/// yarn.admin.acl, and the daemon's own user, who always is one (AdminService, AdminACLsManager).
model::AccessList ReadAdministrators(const config::HadoopConf& conf);

/// Whether `caller` may see an application of `owner` whose list of viewers is `view_acl` (ApplicationACLsManager).
using ViewAccess =
    std::function<bool(const std::string& caller, const std::string& owner, const std::string& view_acl)>;

/// By yarn.acl.enable: without it everybody sees everything. Keeps the groups of callers for five minutes.
ViewAccess ReadViewAccess(const config::HadoopConf& conf);

}  // namespace fairlead::shell
