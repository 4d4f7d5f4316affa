#include <algorithm>
#include <utility>
#include <vector>

#include "process/rm/scheduler_conf_body.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster/scheduler-conf (RMWebServices.getSchedulerConfiguration, updateSchedulerConfiguration,
// validateAndGetSchedulerConfiguration, formatSchedulerConfiguration): what `yarn schedulerconf` calls.

namespace fairlead::process::rm {

namespace rest = endpoints::rest;
using rest::Document;

namespace {

/// dao/ConfInfo.
Document KeysDocument(const config::Properties& keys) {
  Document::List list;
  for (const auto& [name, value] : keys) list.push_back(Document::Object().Add("name", name).Add("value", value));
  return Document::Object().Add("property", Document(std::move(list)));
}

/// A text alone, which Hadoop calls JSON, or XML.
http::Response Words(const http::Request& request, int status, std::string words) {
  return http::RestAnswer(status, http::PrefersXml(request), std::move(words));
}

/// What Hadoop says where no change is taken. `what`: the part of the address below scheduler-conf.
std::string NoChanges(std::string_view what, bool get, std::string_view scheduler) {
  if (what == "validate") return "Configuration change validation only supported by MutableConfScheduler.";
  if (what == "version") return "Configuration Version only supported by MutableConfScheduler.";
  if (what == "format") return "Scheduler Configuration format only supported by MutableConfScheduler";
  if (get) {
    return "This API only supports to retrieve scheduler configuration from a mutable-conf scheduler, underneath "
           "scheduler " +
           std::string(scheduler) + " is not an instance of MutableConfScheduler";
  }
  return std::string("Configuration change only supported by ") +
         (scheduler == "CapacityScheduler" ? "mutable configuration store." : "MutableConfScheduler.");
}

}  // namespace

void Web::ClusterConf(const http::Request& request, const Segments& path, const Reply& reply) {
  const std::string what = path.empty() ? "" : path[0];
  const bool get = request.method == "GET" || request.method == "HEAD";
  const bool change = request.method == (what == "validate" ? "POST" : "PUT") && (what.empty() || what == "validate");
  if (path.size() > 1 || (!what.empty() && what != "validate" && what != "version" && what != "format")) {
    return reply(NotFound());
  }
  if (!change && (!get || what == "validate" || (what == "format" && request.method == "HEAD"))) {
    return reply(Error(request, 405, "WebApplicationException", "The method is not allowed here."));
  }
  // To format is to change every queue: Hadoop lets everybody do it while yarn.acl.enable is false.
  if ((manager_.options().core.acls || what == "format") &&
      !manager_.access().Of(http::CallerOf(request)).IsAdministrator()) {
    return reply(
        Error(request, 403, "ForbiddenException", "java.lang.Exception: Only admins can carry out this operation."));
  }
  const SchedulerConf* conf = manager_.scheduler_conf();
  if (!conf) return reply(Words(request, 400, NoChanges(what, get, manager_.options().hadoop_scheduler)));
  if (change) return ChangeConf(request, what == "validate", reply);
  if (what == "format") return FormatConf(request, reply);
  if (what == "version") {
    return reply(http::Rendered(request, Document::Object().Add("versionID", std::to_string(conf->now().version)),
                                BareRoot(request, "configversion")));
  }
  reply(http::Rendered(request, KeysDocument(conf->now().keys), BareRoot(request, "configuration")));
}

// ConfigurationMutationACLPolicy.
bool Web::MayChangeConf(const std::string& user, const config::CapacityChange& change) const {
  const Viewer viewer = manager_.access().Of(user);
  if (viewer.IsAdministrator()) return true;
  if (!manager_.options().scheduler_conf->queue_admins || !change.global.empty()) return false;
  const auto may = [&](const std::string& path) { return viewer.MayUse(path, true); };
  const auto may_all = [&](const std::vector<config::CapacityChange::Queue>& queues) {
    return std::ranges::all_of(queues, [&](const auto& queue) { return may(queue.path); });
  };
  return std::ranges::all_of(change.remove, may) && may_all(change.add) && may_all(change.update);
}

void Web::ChangeConf(const http::Request& request, bool only_try, const Reply& reply) {
  base::Result<config::CapacityChange> change =
      ConfChangeOf(http::FindHeader(request.headers, "Content-Type"), request.body);
  if (!change.ok()) {
    manager_.CountRefused(change.error());
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + change.error().message));
  }
  if (only_try) {
    const base::Result<config::Properties> keys = config::WithChange(manager_.scheduler_conf()->now().keys, *change);
    const base::Status tried = keys.ok() ? manager_.TryQueues(*keys) : keys.error();
    if (tried.ok()) return reply(http::Rendered(request, KeysDocument(*keys), BareRoot(request, "configuration")));
    return reply(
        Words(request, 400,
              "CapacityScheduler configuration validation failed:java.io.IOException: " + tried.error().message));
  }
  const std::string user = http::CallerOf(request);
  if (!MayChangeConf(user, *change)) return reply(Words(request, 400, "User is not admin of all modified queues."));
  manager_.NoteAction(http::ActorOf(request), request.peer, "the scheduler's configuration is changed", {}, "root", "");
  manager_.scheduler_conf()->Change(*std::move(change), [request, reply](const base::Status& done) {
    reply(Words(request, done.ok() ? 200 : 400,
                done.ok() ? "Configuration change successfully applied." : done.error().message));
  });
}

void Web::FormatConf(const http::Request& request, const Reply& reply) {
  // Hadoop made this a GET, which any page can have its reader's browser send.
  if (http::FindHeader(request.headers, "User-Agent").starts_with("Mozilla/")) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: Not from a browser: use yarn schedulerconf -format."));
  }
  manager_.NoteAction(http::ActorOf(request), request.peer, "the scheduler's configuration becomes that of the file",
                      {}, "root", "");
  manager_.scheduler_conf()->Format([request, reply](const base::Status& done) {
    reply(Words(request, done.ok() ? 200 : 400,
                done.ok() ? "Configuration under store successfully formatted." : done.error().message));
  });
}

}  // namespace fairlead::process::rm
