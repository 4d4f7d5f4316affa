#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/queue_set.h"
#include "rm/state.h"

namespace fairlead::process::rm {

/// One user's eyes and hands (yarn.acl.enable, yarn.admin.acl, the queues' lists). Whoever owns it may take it to any
/// thread.
struct Viewer {
  std::string user;
  std::vector<std::string> groups;
  bool acls = false;
  model::AccessList administrators;
  std::shared_ptr<const model::QueueSet> queues;
  bool filters_lists = false;

  bool IsAdministrator() const;
  /// Is the user on the list of the queue or of one above it?
  bool MayUse(const std::string& queue, bool administer) const;
  /// May the user see (or change) the application? (ApplicationACLsManager)
  bool May(const fairlead::rm::App& app, bool modify) const;
  /// Is the application in lists that the user asks for, if only with what strangers are told of it?
  bool Lists(const fairlead::rm::App& app) const { return !filters_lists || May(app, false); }
};

}  // namespace fairlead::process::rm
