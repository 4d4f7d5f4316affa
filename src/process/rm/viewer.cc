#include "process/rm/viewer.h"

#include "config/allocation_file.h"
#include "model/access_list.h"

namespace fairlead::process::rm {

bool Viewer::IsAdministrator() const { return model::Lists(administrators, user, groups); }

bool Viewer::MayUse(const std::string& queue, bool administer) const {
  return queues->Allows(queue, user, groups, administer);
}

bool Viewer::May(const fairlead::rm::App& app, bool modify) const {
  if (!acls || user == app.submission.user) return true;
  if (IsAdministrator()) return true;
  const std::string& acl = modify ? app.submission.modify_acl : app.submission.view_acl;
  if (model::Lists(config::ParseAccessList(acl.empty() ? " " : acl), user, groups)) return true;
  return MayUse(app.submission.queue, true);
}

}  // namespace fairlead::process::rm
