#include "process/rm/access.h"

#include <algorithm>

#include "endpoints/yarn/text_bounds.h"
#include "process/rm/reports.h"

namespace fairlead::process::rm {

Viewer Access::Of(const std::string& user) const {
  const Core& core = machine_.core();
  return {user, known_.Of(user), core.config().acls, administrators_, core.queues(), filters_lists_};
}

bool Access::QueueExists(const std::string& queue) const {
  const std::vector<scheduler::QueueView> queues = machine_.scheduler().GetQueues().queues;
  return std::ranges::any_of(queues, [name = FullQueueName(queue)](const auto& one) { return one.name == name; });
}

// ClientRMService.moveApplicationAcrossQueues.
std::string Access::MoveError(const std::string& user, const model::ApplicationId& app,
                              const std::string& queue) const {
  const base::Status within = endpoints::yarn::Within("queue", queue.size(), endpoints::yarn::kNameMax);
  if (!within.ok()) return within.error().message;
  const Viewer viewer = Of(user);
  if (!viewer.acls) return "";
  if (QueueExists(queue) && (viewer.MayUse(queue, false) || viewer.MayUse(queue, true))) return "";
  return "User " + user + " cannot submit applications to target queue or the target queue doesn't exist: " + queue +
         " while moving " + ToString(app);
}

bool Access::MayMakeCredentials(const std::string& user) const {
  if (user == "root" || user == own_user_) return true;
  return !administrators_.everybody && Of(user).IsAdministrator();
}

}  // namespace fairlead::process::rm
