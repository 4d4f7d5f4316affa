#pragma once

#include <functional>
#include <string>
#include <vector>

#include "env/loop.h"
#include "process/rm/known_groups.h"
#include "process/rm/machine.h"
#include "process/rm/viewer.h"

namespace fairlead::process::rm {

/// Who may do what. Owns what is known of users' groups.
class Access {
 public:
  /// `administrators`: yarn.admin.acl. `own_user`: whom this process runs as. `filters_lists`: lists of applications
  /// have no row of one that the caller may not see.
  Access(env::Loop& loop, const ResourceMachine& machine, model::AccessList administrators, std::string own_user,
         std::function<KnownGroups::Groups(const std::string&)> groups_of, bool filters_lists)
      : known_(loop, std::move(groups_of)),
        machine_(machine),
        administrators_(std::move(administrators)),
        own_user_(std::move(own_user)),
        filters_lists_(filters_lists) {}

  KnownGroups& known() { return known_; }
  /// Of a user who was learnt (known).
  Viewer Of(const std::string& user) const;
  /// Does the scheduler have such a queue? O(queues).
  bool QueueExists(const std::string& queue) const;
  /// Empty when `user` may move an application to the queue; else why not, as Hadoop says it.
  std::string MoveError(const std::string& user, const model::ApplicationId& app, const std::string& queue) const;
  /// Whether a caller who has shown who he is may make credentials, with which he is whoever he wants: the daemon's own
  /// user, root, and an administrator where yarn.admin.acl does not say that everybody is one.
  bool MayMakeCredentials(const std::string& user) const;

 private:
  KnownGroups known_;
  const ResourceMachine& machine_;
  const model::AccessList administrators_;
  const std::string own_user_;
  const bool filters_lists_;
};

}  // namespace fairlead::process::rm
