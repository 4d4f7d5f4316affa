#include "process/rm/viewer.h"

#include "config/allocation_file.h"
#include "model/access_list.h"
#include "rm/access.h"

namespace fairlead::process::rm {

const std::vector<std::string>& Viewer::Groups() {
  if (!groups_) groups_ = rules_.groups_of(user_);
  return *groups_;
}

bool Viewer::May(const fairlead::rm::App& app, bool modify) {
  if (!rules_.acls || user_ == app.submission.user) return true;
  if (model::Lists(rules_.administrators, user_, Groups())) return true;
  const std::string& acl = modify ? app.submission.modify_acl : app.submission.view_acl;
  if (model::Lists(config::ParseAccessList(acl.empty() ? " " : acl), user_, Groups())) return true;
  return fairlead::rm::QueueAllows(*rules_.queues, app.submission.queue, user_, Groups(), true);
}

}  // namespace fairlead::process::rm
