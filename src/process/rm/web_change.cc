#include <nlohmann/json.hpp>
#include <utility>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/rm_decode.h"
#include "endpoints/yarn/text_bounds.h"
#include "process/rm/operation_audit.h"
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

/// True after answering: yarn.webapp.enable-rest-app-submissions is false.
bool RefuseSubmissions(const ResourceManager& manager, const http::Server::Reply& reply) {
  if (manager.options().security.rest_submissions) return false;
  reply(http::TextResponse(403, "App submission via REST is disabled."));
  return true;
}

}  // namespace

/// What a request asks to be changed. How it is answered, its line in the audit says, too.
struct Web::Change {
  const ResourceManager& manager;
  http::Request request;
  Reply reply;
  Operation operation;

  void Refuse(int status, const char* exception, const std::string& message) const {
    NoteOperation(manager.options().security.audit, operation, message);
    reply(Error(request, status, exception, message));
  }
  void RefuseStranger(const std::string& message) const {
    Change unauthorized = *this;
    unauthorized.operation.failure = kUnauthorized;
    unauthorized.Refuse(403, "ForbiddenException", message);
  }
  void RefuseCall(const endpoints::yarn::RemoteException& exception) const {
    const int status = StatusOf(exception.class_name);
    const char* const name = status == 404   ? "NotFoundException"
                             : status == 403 ? "ForbiddenException"
                                             : "BadRequestException";
    Refuse(status, name, exception.class_name + ": " + exception.message);
  }
  bool Refused(const m::OuterEffect& effect) const {
    const auto refused = RefusalOf(effect);
    if (refused) RefuseCall(*refused);
    return refused.has_value();
  }
  void Done(http::Response response) const {
    NoteOperation(manager.options().security.audit, operation, std::nullopt);
    reply(std::move(response));
  }
};

Web::Change Web::ChangeOf(const char* name, const http::Request& request, const model::ApplicationId& app,
                          const Reply& reply) const {
  model::Caller caller;
  caller.user = http::CallerOf(request);
  if (request.visitor) caller.real_user = request.visitor->real_user;
  return {manager_,
          request,
          reply,
          {.name = name,
           .target = "RMWebService",
           .caller = std::move(caller),
           .ip = request.peer,
           .about = AboutApp(app)}};
}

void Web::NewApplication(const http::Request& request, const Reply& reply) {
  if (RefuseSubmissions(manager_, reply)) return;
  manager_.batches().Ask(m::NewApplication{}, [request, reply](const auto& effect) {
    if (const auto refused = RefusalOf(effect)) {
      return reply(Error(request, 400, "BadRequestException", refused->class_name + ": " + refused->message));
    }
    const auto& answer = std::get<m::NewApplicationAnswer>(effect);
    const Document document = Document::Object()
                                  .Add("application-id", ToString(answer.app))
                                  .Add("maximum-resource-capability", ResourceDocument(answer.maximum));
    reply(http::Rendered(request, document, BareRoot(request, "NewApplication")));
  });
}

void Web::Submit(const http::Request& request, const Reply& reply) {
  if (RefuseSubmissions(manager_, reply)) return;
  Change change = ChangeOf(operations::kSubmit, request, {}, reply);
  change.operation.failure = kNotSubmitted;
  const auto refuse = [&change](const std::string& why) {
    change.Refuse(400, "BadRequestException", "java.lang.Exception: " + why);
  };
  const base::Result<json> body = BodyOf(request, "application-submission-context");
  if (!body.ok()) return refuse(body.error().message);
  const base::Result<w::ApplicationSubmissionContextProto> context = endpoints::rest::SubmissionOf(*body);
  if (!context.ok()) return refuse(context.error().message);
  const model::ApplicationId app = endpoints::yarn::FromWire(context->ApplicationId());
  const std::string id = ToString(app);
  change.operation.about =
      AboutSubmission(id, context->queue.value_or(""), context->node_label_expression.value_or(""));
  base::Result<m::Submission> submission = endpoints::yarn::ToSubmission(
      *context, {http::CallerOf(request), manager_.access().known().Of(http::CallerOf(request)), request.peer});
  if (!submission.ok()) {
    manager_.CountRefused(submission.error());
    return refuse(submission.error().message);
  }
  manager_.SubmitApplication(std::move(*submission), [change = std::move(change), app, id, this](const auto& refused) {
    if (refused) return change.RefuseCall(*refused);
    if (!change.operation.caller.real_user.empty()) {
      manager_.NoteAction(http::ActorOf(change.request), change.request.peer, id + " is submitted", app, "", "",
                          ResourceManager::LogHas::kOperation);
    }
    http::Response response;
    response.status = 202;
    response.content_type = "application/json;charset=utf-8";
    response.headers = {{"Location", manager_.core().config().web_base + "/ws/v1/cluster/apps/" + id}};
    change.Done(std::move(response));
  });
}

void Web::SetState(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = BodyOf(request, "appstate");
  const std::string state = body.ok() ? Text(*body, "state") : "";
  const std::string user = http::CallerOf(request);
  const Change change = ChangeOf(operations::kKill, request, app.submission.id, reply);
  const auto refuse = [&change](const std::string& why) {
    change.Refuse(400, "BadRequestException", "java.lang.Exception: " + why);
  };
  if (state.empty()) return refuse("No state was given.");
  const std::string id = ToString(app.submission.id);
  const auto answer = [&request](int status, const std::string& text) {
    return http::Rendered(request, Document::Object().Add("state", text), BareRoot(request, "appstate"), status);
  };
  if (state != "KILLED") {
    if (state == EnumName(Core::VisibleState(app))) return reply(answer(200, state));
    return refuse("Only 'KILLED' is allowed as a target state.");
  }
  if (!manager_.access().Of(user).May(app, true)) {
    return change.RefuseStranger("java.lang.Exception: User " + user + " cannot perform operation MODIFY_APP on " + id);
  }
  if (app.state == m::AppState::kFinished || app.state == m::AppState::kFailed || app.state == m::AppState::kKilled) {
    return reply(answer(200, std::string(EnumName(app.state))));
  }
  const std::string why = Text(*body, "diagnostics");
  if (const base::Status within = endpoints::yarn::Within("diagnostics", why.size(), endpoints::yarn::kDiagnosticsMax);
      !within.ok()) {
    manager_.CountRefused(within.error());
    return refuse(within.error().message);
  }
  m::KillApp event;
  event.app = app.submission.id;
  event.diagnostics = "Application " + id + " was killed by user " + user + " at " + request.peer;
  if (!why.empty()) event.diagnostics += " with diagnostic message: " + why;
  manager_.NoteKill(http::ActorOf(request), request.peer, app);
  manager_.batches().Ask(std::move(event), [](const auto&) {});
  change.Done(answer(202, "KILLING"));
}

void Web::Move(const http::Request& request, const App& app, const Reply& reply) {
  const Change change = ChangeOf(operations::kMove, request, app.submission.id, reply);
  const base::Result<json> body = BodyOf(request, "appqueue");
  const std::string queue = body.ok() ? Text(*body, "queue") : "";
  if (queue.empty()) return change.Refuse(400, "BadRequestException", "java.lang.Exception: No queue was given.");
  if (!MayChange(change, app)) return;
  if (const std::string denied = manager_.access().MoveError(http::CallerOf(request), app.submission.id, queue);
      !denied.empty()) {
    return change.RefuseStranger("java.security.AccessControlException: " + denied);
  }
  m::MoveApp event;
  event.app = app.submission.id;
  event.queue = queue;
  manager_.batches().Ask(std::move(event), [change, id = app.submission.id, this](const auto& effect) {
    if (change.Refused(effect)) return;
    const http::Request& from = change.request;
    manager_.NoteMove(http::ActorOf(from), from.peer, id);
    const App* moved = manager_.core().FindApp(id);
    const std::string now = moved ? moved->submission.queue : "";
    change.Done(http::Rendered(from, Document::Object().Add("queue", now), BareRoot(from, "appqueue")));
  });
}

bool Web::MayChange(const Change& change, const App& app) const {
  const std::string user = http::CallerOf(change.request);
  if (manager_.access().Of(user).May(app, true)) return true;
  change.RefuseStranger("java.lang.Exception: User " + user + " cannot perform operation MODIFY_APP");
  return false;
}

void Web::SetPriority(const http::Request& request, const App& app, const Reply& reply) {
  const Change change = ChangeOf(operations::kSetPriority, request, app.submission.id, reply);
  const base::Result<json> body = BodyOf(request, "applicationpriority");
  const std::string priority = body.ok() ? Text(*body, "priority") : "";
  if (priority.empty() || priority.find_first_not_of("-0123456789") != std::string::npos) {
    return change.Refuse(400, "BadRequestException", "java.lang.Exception: No priority was given.");
  }
  if (!MayChange(change, app)) return;
  m::SetPriority event;
  event.app = app.submission.id;
  event.user = http::CallerOf(request);
  event.groups = manager_.access().Of(event.user).groups;
  event.priority = endpoints::rest::SmallNumber(*body, "priority", 0);
  manager_.batches().Ask(std::move(event), [change, id = app.submission.id, this](const auto& effect) {
    if (change.Refused(effect)) return;
    const http::Request& from = change.request;
    const int32_t now = std::get<m::PriorityAnswer>(effect).priority;
    manager_.NotePriority(http::ActorOf(from), from.peer, id, now);
    change.Done(http::Rendered(from, Document::Object().Add("priority", now), BareRoot(from, "applicationpriority")));
  });
}

void Web::SetTimeout(const http::Request& request, const App& app, const Reply& reply) {
  const Change change = ChangeOf(operations::kSetTimeouts, request, app.submission.id, reply);
  const base::Result<json> body = BodyOf(request, "timeout");
  const std::string expiry = body.ok() ? Text(*body, "expiryTime") : "";
  const base::Result<base::WallTime> expires = ParseIso8601(expiry);
  if (!expires.ok()) {
    return change.Refuse(400, "BadRequestException", "java.lang.Exception: " + expires.error().message);
  }
  if (!MayChange(change, app)) return;
  m::SetLifetime event;
  event.app = app.submission.id;
  event.expires = *expires;
  manager_.batches().Ask(std::move(event), [change, id = app.submission.id, this](const auto& effect) {
    if (change.Refused(effect)) return;
    const App* changed = manager_.core().FindApp(id);
    change.Done(changed ? http::Rendered(change.request, TimeoutDocument(*changed, manager_.now_wall()), "timeout")
                        : NotFound());
  });
}

}  // namespace fairlead::process::rm
