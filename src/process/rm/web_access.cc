#include <utility>

#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/queues/QUEUE/access (RMWebServices.checkUserAccessToQueue): gateways ask whether a user may use a
// queue.

namespace fairlead::process::rm {

using endpoints::rest::Document;

void Web::QueueAccess(const http::Request& request, const Segments& path, const Reply& reply) {
  const std::string& queue = path[0];
  const std::string caller = http::CallerOf(request);
  if (!manager_.access().QueueExists(queue) || !manager_.access().Of(caller).MayUse(queue, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User=" + caller + " doesn't haven access to queue=" + queue +
                           " so it cannot check ACLs for other users."));
  }
  const std::string user(Asked(request.query, "user"));
  if (user.empty()) return reply(Error(request, 400, "IllegalArgumentException", "Null user"));
  const std::string_view asked = Asked(request.query, "queue-acl-type");
  const std::string type(asked.empty() ? "SUBMIT_APPLICATIONS" : asked);
  const bool administer = type == "ADMINISTER_QUEUE";
  if (!administer && type != "SUBMIT_APPLICATIONS") {
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.Exception: Specified queueAclType=" + type +
                           " is not a valid type, valid queue acl types={SUBMIT_APPLICATIONS/ADMINISTER_QUEUE}"));
  }
  const auto answer = [this, request, queue, user, type, administer, reply] {
    const bool may = manager_.access().Of(user).MayUse(queue, administer);
    const std::string why = "User=" + user + " doesn't have access to queue=" + queue + " with acl-type=" + type;
    reply(http::Rendered(
        request,
        Document::Object().Add("allowed", may ? "true" : "false").Add("user", user).Add("diagnostics", may ? "" : why),
        BareRoot(request, "rmQueueAclInfo")));
  };
  if (manager_.access().known().Knows(user)) return answer();
  manager_.access().known().Learn(user, alive_([request, reply, answer] { http::Guard(request, reply, answer); }));
}

}  // namespace fairlead::process::rm
