#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// What operators do by Fairlead's own REST: a node's state, the queues' file read again. Administrators alone
// (yarn.admin.acl); the HTTP server has refused requests that pages of other sites make.

namespace fairlead::process::rm {

namespace rest = endpoints::rest;
using rest::Document;

void Web::OwnError(const Reply& reply, int status, const std::string& message) {
  reply(http::JsonResponse(status, Document::Object().Add("error", message).ToJson("")));
}

// PUT nodes/HOST:PORT/state {"state": "DECOMMISSIONING" | "DECOMMISSIONED" | "RUNNING", "timeout_s": N}
void Web::SetNodeState(const http::Request& request, const std::string& address, const Reply& reply) {
  const std::string user = UserOf(request);
  if (!manager_.IsAdministrator(user)) {
    return OwnError(reply, 403, user + " is no administrator (yarn.admin.acl): ask one of them");
  }
  const Node* node = FindNamed(address);
  if (!node) return OwnError(reply, 404, "there is no node " + address);
  const auto body = rest::ParseBody("application/json", request.body, "node");
  if (!body.ok()) return OwnError(reply, 400, body.error().message);
  const std::string wanted = rest::Text(*body, "state");
  std::optional<int64_t> seconds;
  if (wanted == "DECOMMISSIONING") {
    seconds = std::clamp<int64_t>(rest::Number(*body, "timeout_s", -1), -1, INT32_MAX);
  } else if (wanted == "DECOMMISSIONED") {
    seconds = 0;
  } else if (wanted != "RUNNING") {
    return OwnError(reply, 400, "write {\"state\": ...} with DECOMMISSIONING, DECOMMISSIONED or RUNNING");
  }
  const model::rm::NodeAddress named = node->address;
  const std::string what = !seconds ? "taken back into service" : *seconds == 0 ? "decommissioned" : "drained";
  manager_.NoteAction(user, request.peer, "node " + ToString(named) + " is " + what, {}, "", ToString(named));
  manager_.DrainHost(named.host, seconds, [this, named, reply](const base::Status& done) {
    if (!done.ok()) return OwnError(reply, 500, done.error().message);
    const Node* now = manager_.core().FindNode(named);
    reply(http::JsonResponse(
        200, Document::Object().Add("state", now ? EnumName(now->state) : std::string_view("")).ToJson("")));
  });
}

// POST queues/refresh: as `yarn rmadmin -refreshQueues`.
void Web::RefreshQueues(const http::Request& request, const Reply& reply) {
  const std::string user = UserOf(request);
  if (!manager_.IsAdministrator(user)) {
    return OwnError(reply, 403, user + " is no administrator (yarn.admin.acl): ask one of them");
  }
  base::Result<model::QueueTree> queues = manager_.options().read_queues();
  if (!queues.ok()) return OwnError(reply, 400, queues.error().message);
  manager_.NoteAction(user, request.peer, "the queues' file is read again", {}, "root", "");
  manager_.ReloadQueues(std::move(*queues), [reply](const auto& refused) {
    if (refused) return OwnError(reply, 400, refused->message);
    reply(http::JsonResponse(200, Document::Object().Add("refreshed", true).ToJson("")));
  });
}

}  // namespace fairlead::process::rm
