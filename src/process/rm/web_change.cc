#include <nlohmann/json.hpp>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "endpoints/yarn/text_bounds.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// The part of /ws/v1/cluster that changes something: new application, submission, kill, move, priority, timeout.

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;
using endpoints::rest::Document;
using endpoints::rest::Text;
using nlohmann::json;

namespace {

base::Result<json> BodyOf(const http::Request& request, const char* root) {
  return endpoints::rest::ParseBody(http::FindHeader(request.headers, "Content-Type"), request.body, root);
}

/// HTTP status of an exception of the core, and its name in a REST error (RMWebServices wraps a YarnException of the
/// client service into a BadRequestException).
int StatusOf(std::string_view exception) {
  if (exception == endpoints::yarn::exceptions::kApplicationNotFound) return 404;
  if (exception == endpoints::yarn::exceptions::kAccessControl) return 403;
  return 400;
}

}  // namespace

bool Web::Refused(const http::Request& request, const Reply& reply, const m::OuterEffect& effect) const {
  const auto refused = RefusalOf(effect);
  if (refused) RefuseCall(request, reply, *refused);
  return refused.has_value();
}

void Web::RefuseCall(const http::Request& request, const Reply& reply,
                     const endpoints::yarn::RemoteException& exception) const {
  const int status = StatusOf(exception.class_name);
  const char* name = status == 404 ? "NotFoundException" : status == 403 ? "ForbiddenException" : "BadRequestException";
  reply(Error(request, status, name, exception.class_name + ": " + exception.message));
}

void Web::NewApplication(const http::Request& request, const Reply& reply) {
  manager_.batches().Ask(m::NewApplication{}, [request, reply, this](const auto& effect) {
    if (Refused(request, reply, effect)) return;
    const auto& answer = std::get<m::NewApplicationAnswer>(effect);
    const Document document = Document::Object()
                                  .Add("application-id", ToString(answer.app))
                                  .Add("maximum-resource-capability", ResourceDocument(answer.maximum));
    reply(http::Rendered(request, document, BareRoot(request, "NewApplication")));
  });
}

void Web::Submit(const http::Request& request, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "application-submission-context");
  if (!body.ok())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + body.error().message));
  const base::Result<w::ApplicationSubmissionContextProto> context = endpoints::rest::SubmissionOf(*body);
  if (!context.ok()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + context.error().message));
  }
  base::Result<m::Submission> submission = endpoints::yarn::ToSubmission(
      *context, {http::CallerOf(request), manager_.access().known().Of(http::CallerOf(request)), request.peer});
  if (!submission.ok()) {
    manager_.CountRefused(submission.error());
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + submission.error().message));
  }
  const model::ApplicationId app = submission->id;
  const std::string id = ToString(app);
  manager_.SubmitApplication(std::move(*submission), [request, reply, app, id, this](const auto& refused) {
    if (refused) return RefuseCall(request, reply, *refused);
    if (request.visitor && !request.visitor->real_user.empty()) {
      manager_.NoteAction(http::ActorOf(request), request.peer, id + " is submitted", app, "", "");
    }
    http::Response response;
    response.status = 202;
    response.content_type = "application/json;charset=utf-8";
    response.headers = {{"Location", manager_.core().config().web_base + "/ws/v1/cluster/apps/" + id}};
    reply(std::move(response));
  });
}

void Web::SetState(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "appstate");
  const std::string state = body.ok() ? Text(*body, "state") : "";
  const std::string user = http::CallerOf(request);
  if (state.empty())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No state was given."));
  const std::string id = ToString(app.submission.id);
  const auto done = [request, reply, id](int status, const std::string& text) {
    reply(http::Rendered(request, Document::Object().Add("state", text), BareRoot(request, "appstate"), status));
  };
  if (state != "KILLED") {
    const std::string now(EnumName(Core::VisibleState(app)));
    if (state == now) return done(200, state);
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.Exception: Only '" + std::string("KILLED") + "' is allowed as a target state."));
  }
  if (!manager_.access().Of(user).May(app, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + user + " cannot perform operation MODIFY_APP on " + id));
  }
  if (app.state == m::AppState::kFinished || app.state == m::AppState::kFailed || app.state == m::AppState::kKilled) {
    return done(200, std::string(EnumName(app.state)));
  }
  const std::string why = Text(*body, "diagnostics");
  if (const base::Status within = endpoints::yarn::Within("diagnostics", why.size(), endpoints::yarn::kDiagnosticsMax);
      !within.ok()) {
    manager_.CountRefused(within.error());
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + within.error().message));
  }
  m::KillApp event;
  event.app = app.submission.id;
  event.diagnostics = "Application " + id + " was killed by user " + user + " at " + request.peer;
  if (!why.empty()) event.diagnostics += " with diagnostic message: " + why;
  manager_.NoteKill(http::ActorOf(request), request.peer, app);
  manager_.batches().Ask(std::move(event), [](const auto&) {});
  done(202, "KILLING");
}

void Web::Move(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "appqueue");
  const std::string queue = body.ok() ? Text(*body, "queue") : "";
  if (queue.empty())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No queue was given."));
  if (!manager_.access().Of(http::CallerOf(request)).May(app, true)) {
    return reply(
        Error(request, 403, "ForbiddenException",
              "java.lang.Exception: User " + http::CallerOf(request) + " cannot perform operation MODIFY_APP"));
  }
  if (const std::string denied = manager_.access().MoveError(http::CallerOf(request), app.submission.id, queue);
      !denied.empty()) {
    return reply(Error(request, 403, "ForbiddenException", "java.security.AccessControlException: " + denied));
  }
  m::MoveApp event;
  event.app = app.submission.id;
  event.queue = queue;
  manager_.batches().Ask(std::move(event), [request, reply, id = app.submission.id, this](const auto& effect) {
    if (Refused(request, reply, effect)) return;
    manager_.NoteMove(http::ActorOf(request), request.peer, id);
    const App* moved = manager_.core().FindApp(id);
    const std::string now = moved ? moved->submission.queue : "";
    reply(http::Rendered(request, Document::Object().Add("queue", now), BareRoot(request, "appqueue")));
  });
}

void Web::SetPriority(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "applicationpriority");
  const std::string priority = body.ok() ? Text(*body, "priority") : "";
  if (priority.empty() || priority.find_first_not_of("-0123456789") != std::string::npos) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No priority was given."));
  }
  if (!manager_.access().Of(http::CallerOf(request)).May(app, true)) {
    return reply(
        Error(request, 403, "ForbiddenException",
              "java.lang.Exception: User " + http::CallerOf(request) + " cannot perform operation MODIFY_APP"));
  }
  m::SetPriority event;
  event.app = app.submission.id;
  event.priority = endpoints::rest::SmallNumber(*body, "priority", 0);
  manager_.batches().Ask(std::move(event), [request, reply, id = app.submission.id, this](const auto& effect) {
    if (Refused(request, reply, effect)) return;
    const int32_t now = std::get<m::PriorityAnswer>(effect).priority;
    manager_.NotePriority(http::ActorOf(request), request.peer, id, now);
    reply(http::Rendered(request, Document::Object().Add("priority", now), BareRoot(request, "applicationpriority")));
  });
}

void Web::SetTimeout(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "timeout");
  const std::string expiry = body.ok() ? Text(*body, "expiryTime") : "";
  const base::Result<base::WallTime> expires = ParseIso8601(expiry);
  if (!expires.ok()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + expires.error().message));
  }
  if (!manager_.access().Of(http::CallerOf(request)).May(app, true)) {
    return reply(
        Error(request, 403, "ForbiddenException",
              "java.lang.Exception: User " + http::CallerOf(request) + " cannot perform operation MODIFY_APP"));
  }
  m::SetLifetime event;
  event.app = app.submission.id;
  event.expires = *expires;
  manager_.batches().Ask(std::move(event), [request, reply, id = app.submission.id, this](const auto& effect) {
    if (Refused(request, reply, effect)) return;
    if (const App* changed = manager_.core().FindApp(id)) {
      reply(http::Rendered(request, TimeoutDocument(*changed, manager_.now_wall()), "timeout"));
    } else {
      reply(NotFound());
    }
  });
}

}  // namespace fairlead::process::rm
