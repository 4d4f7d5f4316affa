#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/checksum.h"
#include "config/allocation_edit.h"
#include "endpoints/rest/request_body.h"
#include "endpoints/v1/queues.h"
#include "process/rm/draining.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// What operators do by Fairlead's own REST: a node's state, the queues' file read again. Administrators alone
// (yarn.admin.acl); the HTTP server has refused requests that pages of other sites make.

namespace fairlead::process::rm {

namespace rest = endpoints::rest;
namespace v1 = endpoints::v1;

namespace {

base::Result<QueueChange> ReadChange(const std::string& queue, const nlohmann::json& body) {
  QueueChange change{queue, {}};
  const auto settings = body.find("settings");
  if (settings == body.end() || !settings->is_object() || settings->empty()) {
    return base::Error{"write {\"settings\": {NAME: VALUE, ...}}; an empty value takes a setting out"};
  }
  for (const auto& [name, value] : settings->items()) {
    if (!value.is_string()) return base::Error{"the value of " + name + " is to be a text"};
    change.settings.emplace_back(name, value.get<std::string>());
  }
  return change;
}

}  // namespace

void OwnError(const http::Server::Reply& reply, int status, const std::string& message) {
  reply(http::JsonResponse(status, v1::Text(v1::Error{message})));
}

bool Web::RefuseStranger(const std::string& user, const Reply& reply) const {
  if (manager_.access().Of(user).IsAdministrator()) return false;
  OwnError(reply, 403, user + " is no administrator (yarn.admin.acl): ask one of them");
  return true;
}

// PUT nodes/HOST:PORT/state {"state": "DECOMMISSIONING" | "DECOMMISSIONED" | "RUNNING", "timeout_s": N}; of a host that
// is taken out nodes/HOST/state, too: after a restart nobody knows the ports of what ran there.
void Web::SetNodeState(const http::Request& request, const std::string& address, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (RefuseStranger(user, reply)) return;
  const Node* node = FindNamed(address);
  if (!node && !manager_.draining().hosts().contains(address))
    return OwnError(reply, 404, "there is no node " + address);
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
  const model::rm::NodeAddress named = node ? node->address : model::rm::NodeAddress{address, 0};
  const std::vector<std::string> closed = manager_.draining().maintenance().Now();
  if (!seconds && std::find(closed.begin(), closed.end(), named.host) != closed.end()) {
    return OwnError(
        reply, 409,
        "maintenance of " + named.host + " has begun; fairlead node drain " + named.host + " --cancel ends it");
  }
  const std::string what = !seconds ? "taken back into service" : *seconds == 0 ? "decommissioned" : "drained";
  manager_.NoteAction(http::ActorOf(request), request.peer, "node " + address + " is " + what, {}, "", address);
  manager_.draining().Drain(
      named.host, seconds, http::ActorOf(request) + " from " + request.peer,
      [this, named, reply](const base::Status& done) {
        if (!done.ok()) return OwnError(reply, 500, done.error().message);
        const Node* now = manager_.core().FindNode(named);
        reply(http::JsonResponse(200, v1::Text(v1::NodeState{now ? std::string(EnumName(now->state)) : ""})));
      });
}

// PUT nodes/HOST:PORT/maintenance {"at_ms": N, "for_s": N}: a window of all nodes of the host, from N milliseconds
// since 1970 on; {"cancel": true}: none. Of a host with windows nodes/HOST/maintenance, too. The answer has the windows
// left.
void Web::SetMaintenance(const http::Request& request, const std::string& address, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (RefuseStranger(user, reply)) return;
  const Node* node = FindNamed(address);
  Maintenance& maintenance = manager_.draining().maintenance();
  if (!node && !maintenance.hosts().contains(address)) return OwnError(reply, 404, "there is no node " + address);
  const auto body = rest::ParseBody("application/json", request.body, "node");
  if (!body.ok()) return OwnError(reply, 400, body.error().message);
  const std::string host = node ? node->address.host : address;
  const auto done = [this, host, reply, user = http::ActorOf(request), peer = request.peer](const std::string& what) {
    return [this, host, reply, user, peer, what](const base::Status& status) {
      if (!status.ok()) return OwnError(reply, 400, status.error().message);
      manager_.NoteAction(user, peer, what, {}, "", host);
      reply(http::JsonResponse(200, v1::Text(v1::Maintenance{WindowsOf(manager_.draining().maintenance(), &host)})));
    };
  };
  const auto cancel = body->find("cancel");
  if (cancel != body->end() && cancel->is_boolean() && cancel->get<bool>()) {
    return maintenance.Cancel(host, done("the maintenance of host " + host + " is cancelled"));
  }
  const int64_t from_ms = rest::Number(*body, "at_ms", 0);
  const int64_t for_s = rest::Number(*body, "for_s", 0);
  if (from_ms <= 0 || for_s <= 0 || for_s > Maintenance::kLongestMs / 1000 || from_ms > INT64_MAX / 2) {
    return OwnError(reply, 400,
                    "write {\"at_ms\": N, \"for_s\": N} with milliseconds since 1970 and seconds, at most 30 "
                    "days, or {\"cancel\": true}");
  }
  maintenance.Add(host, {from_ms, from_ms + for_s * 1000, http::ActorOf(request), request.peer},
                  done("maintenance of host " + host + " is announced, for " + std::to_string(for_s) + " s"));
}

// POST queues/refresh: as `yarn rmadmin -refreshQueues`.
void Web::RefreshQueues(const http::Request& request, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (RefuseStranger(user, reply)) return;
  manager_.NoteAction(http::ActorOf(request), request.peer, "the queues' file is read again", {}, "root", "");
  TakeQueues(reply, v1::Text(v1::QueuesRefreshed{.file = manager_.options().queue_file}));
}

void Web::TakeQueues(const Reply& reply, const std::string& answer) {
  base::Result<model::QueueTree> queues = manager_.ReadQueues();
  if (!queues.ok()) return OwnError(reply, 400, queues.error().message);
  manager_.ReloadQueues(std::move(*queues), [reply, answer](const auto& refused) {
    if (refused) return OwnError(reply, 400, refused->message);
    reply(http::JsonResponse(200, answer));
  });
}

// PUT queues/NAME/settings {"settings": {"weight": "3"}, "version": "..."}: as `fairlead queue set`. Without a version
// nothing is written: the answer says what would differ, and the version of the file that this is about.
void Web::SetQueue(const http::Request& request, const std::string& queue, const Reply& reply) {
  const std::string user = http::CallerOf(request);
  if (RefuseStranger(user, reply)) return;
  const ResourceManagerOptions& options = manager_.options();
  if (!options.edit_queue_file) return OwnError(reply, 404, "the queues of this resource manager are in no file");
  const auto body = rest::ParseBody("application/json", request.body, "queue");
  if (!body.ok()) return OwnError(reply, 400, body.error().message);
  const base::Result<QueueChange> change = ReadChange(queue, *body);
  if (!change.ok()) return OwnError(reply, 400, change.error().message);
  const base::Result<QueueEdit> edit = options.edit_queue_file(*change);
  if (!edit.ok()) return OwnError(reply, 400, edit.error().message);
  const std::string version = std::to_string(base::Checksum({edit->before}));
  const std::string about = rest::Text(*body, "version");
  const std::string answer =
      v1::Text(v1::QueueFileChange{edit->file, config::LinesThatDiffer(edit->before, edit->after), version});
  if (about.empty()) return reply(http::JsonResponse(200, answer));
  if (about != version) return OwnError(reply, 409, "the file has changed since; look at what would differ now");
  if (const base::Status written = options.write_queue_file(*edit); !written.ok()) {
    return OwnError(reply, 500, written.error().message + "; use `fairlead queue set` where the file may be written");
  }
  manager_.NoteAction(http::ActorOf(request), request.peer,
                      "settings of queue " + queue + " are changed in " + edit->file, {}, queue, "");
  TakeQueues(reply, answer);
}

}  // namespace fairlead::process::rm
