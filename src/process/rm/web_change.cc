#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <utility>

#include "endpoints/yarn/refusals.h"
#include "endpoints/yarn/rm_convert.h"
#include "process/rm/web.h"
#include "process/rm/web_resources.h"

// The part of /ws/v1/cluster that changes something: new application, submission, kill, move, priority, timeout.

namespace fairlead::process::rm {

namespace m = model::rm;
namespace w = wire::yarn;
using endpoints::rest::Document;
using nlohmann::json;

namespace {

constexpr int kNestingMax = 32;

/// XML elements as JSON: repeated names become arrays, texts strings.
json FromXml(const pugi::xml_node& node, int depth) {
  if (depth > kNestingMax) return nullptr;
  json object = json::object();
  bool any = false;
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() != pugi::node_element) continue;
    any = true;
    json value = FromXml(child, depth + 1);
    if (!object.contains(child.name())) {
      object[child.name()] = std::move(value);
      continue;
    }
    json& there = object[child.name()];
    if (!there.is_array()) there = json::array({there});
    there.push_back(std::move(value));
  }
  return any ? object : json(node.text().as_string());
}

int NestingOf(const std::string& text) {
  int depth = 0;
  int deepest = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && quoted) {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && (text[i] == '{' || text[i] == '[')) {
      deepest = std::max(deepest, ++depth);
    } else if (!quoted && (text[i] == '}' || text[i] == ']')) {
      --depth;
    }
  }
  return deepest;
}

/// The body as a JSON object; XML by its content type.
base::Result<json> ParseBody(const http::Request& request, const char* root) {
  if (http::FindHeader(request.headers, "Content-Type").find("xml") != std::string_view::npos) {
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(request.body.data(), request.body.size());
    if (!parsed) return base::Error{std::string("the body is not XML: ") + parsed.description()};
    return FromXml(document.document_element(), 0);
  }
  if (NestingOf(request.body) > kNestingMax) return base::Error{"the body is nested too deeply"};
  json body = json::parse(request.body, nullptr, false);
  if (body.is_discarded() || !body.is_object()) return base::Error{"the body is not a JSON object"};
  if (body.size() == 1 && body.contains(root)) body = json(body[root]);
  return body;
}

std::string Text(const json& object, const char* key, const std::string& fallback = "") {
  if (!object.is_object() || !object.contains(key)) return fallback;
  const json& value = object[key];
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() || value.is_structured() ? fallback : value.dump();
}
int64_t Number(const json& object, const char* key, int64_t fallback) {
  const std::string text = Text(object, key);
  if (text.empty()) return fallback;
  return std::strtoll(text.c_str(), nullptr, 10);
}
bool Flag(const json& object, const char* key) { return Text(object, key) == "true"; }

/// The elements of `object[key]`, or of `object[key][inner]` where there is one: JAXB writes a lone element bare.
std::vector<json> Items(const json& object, const char* key, const char* inner = nullptr) {
  if (!object.is_object() || !object.contains(key)) return {};
  json value = object[key];
  if (inner && value.is_object()) {
    if (!value.contains(inner)) return {};
    value = json(value[inner]);
  }
  if (value.is_array()) return value.get<std::vector<json>>();
  if (value.is_null()) return {};
  return {value};
}

std::string FromBase64Url(const std::string& text) {
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    int value = -1;
    if (c >= 'A' && c <= 'Z') value = c - 'A';
    if (c >= 'a' && c <= 'z') value = c - 'a' + 26;
    if (c >= '0' && c <= '9') value = c - '0' + 52;
    if (c == '+' || c == '-') value = 62;
    if (c == '/' || c == '_') value = 63;
    if (value < 0) continue;
    bits = bits << 6 | static_cast<uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      out.push_back(static_cast<char>(bits >> count & 0xff));
    }
  }
  return out;
}

/// "scheme://host:port/path" of a local resource.
w::URLProto UrlOf(const std::string& text) {
  w::URLProto url;
  const size_t colon = text.find(':');
  std::string rest = text;
  if (colon != std::string::npos) {
    url.scheme = text.substr(0, colon);
    rest = text.substr(colon + 1);
  }
  url.port = -1;
  if (rest.starts_with("//")) {
    const size_t slash = rest.find('/', 2);
    const std::string authority = rest.substr(2, slash == std::string::npos ? std::string::npos : slash - 2);
    rest = slash == std::string::npos ? "/" : rest.substr(slash);
    const size_t port = authority.rfind(':');
    if (!authority.empty()) url.host = authority.substr(0, port);
    if (port != std::string::npos) url.port = std::atoi(authority.c_str() + port + 1);
  }
  url.file = http::PercentDecode(rest, false);
  return url;
}

w::ContainerLaunchContextProto LaunchContextOf(const json& spec) {
  w::ContainerLaunchContextProto context;
  for (const json& entry : Items(spec, "local-resources", "entry")) {
    const json value = entry.is_object() && entry.contains("value") ? entry["value"] : json::object();
    w::StringLocalResourceMapProto& resource = context.local_resources.emplace_back();
    resource.key = Text(entry, "key");
    resource.value.emplace();
    resource.value->resource = UrlOf(Text(value, "resource"));
    resource.value->size = Number(value, "size", 0);
    resource.value->timestamp = Number(value, "timestamp", 0);
    const std::string type = Text(value, "type");
    resource.value->type = type == "ARCHIVE"   ? w::LocalResourceTypeProto::kArchive
                           : type == "PATTERN" ? w::LocalResourceTypeProto::kPattern
                                               : w::LocalResourceTypeProto::kFile;
    const std::string visibility = Text(value, "visibility");
    resource.value->visibility = visibility == "PUBLIC"    ? w::LocalResourceVisibilityProto::kPublic
                                 : visibility == "PRIVATE" ? w::LocalResourceVisibilityProto::kPrivate
                                                           : w::LocalResourceVisibilityProto::kApplication;
  }
  for (const json& entry : Items(spec, "environment", "entry")) {
    w::StringStringMapProto& variable = context.environment.emplace_back();
    variable.key = Text(entry, "key");
    variable.value = Text(entry, "value");
  }
  for (const json& command : Items(spec, "commands", "command")) {
    if (command.is_string()) context.command.push_back(command.get<std::string>());
  }
  for (const json& entry : Items(spec, "service-data", "entry")) {
    w::StringBytesMapProto& data = context.service_data.emplace_back();
    data.key = Text(entry, "key");
    data.value = FromBase64Url(Text(entry, "value"));
  }
  for (const json& entry : Items(spec, "application-acls", "entry")) {
    w::ApplicationACLMapProto& acl = context.application_acls.emplace_back();
    acl.access_type = Text(entry, "key") == "MODIFY_APP" ? w::ApplicationAccessTypeProto::kModifyApp
                                                         : w::ApplicationAccessTypeProto::kViewApp;
    acl.acl = Text(entry, "value");
  }
  return context;
}

base::Result<w::ApplicationSubmissionContextProto> ContextOf(const json& body) {
  w::ApplicationSubmissionContextProto context;
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(Text(body, "application-id"));
  if (!id.ok()) return base::Error{"application-id: " + id.error().message};
  context.application_id = endpoints::yarn::ToWire(*id);
  if (body.contains("application-name")) context.application_name = Text(body, "application-name");
  if (body.contains("queue")) context.queue = Text(body, "queue");
  if (body.contains("application-type")) context.application_type = Text(body, "application-type");
  context.priority = endpoints::yarn::PriorityToWire(static_cast<int32_t>(Number(body, "priority", 0)));
  context.unmanaged_am = Flag(body, "unmanaged-AM");
  context.max_app_attempts = static_cast<int32_t>(Number(body, "max-app-attempts", 0));
  context.keep_containers_across_application_attempts = Flag(body, "keep-containers-across-application-attempts");
  if (body.contains("attempt-failures-validity-interval")) {
    context.attempt_failures_validity_interval = Number(body, "attempt-failures-validity-interval", -1);
  }
  for (const json& tag : Items(body, "application-tags", "tag")) {
    if (tag.is_string()) context.application_tags.push_back(tag.get<std::string>());
  }
  const json resource = body.contains("resource") ? body["resource"] : json::object();
  context.resource =
      endpoints::yarn::ToWire(model::Resources::Of(Number(resource, "memory", 1024), Number(resource, "vCores", 1)));
  if (body.contains("am-container-spec")) context.am_container_spec = LaunchContextOf(body["am-container-spec"]);
  if (!context.am_container_spec) context.am_container_spec.emplace();
  return context;
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
  const auto* refused = std::get_if<m::CallRefused>(&effect);
  if (!refused) return false;
  const endpoints::yarn::RemoteException exception = endpoints::yarn::ExceptionOf(refused->refused);
  const int status = StatusOf(exception.class_name);
  const char* name = status == 404 ? "NotFoundException" : status == 403 ? "ForbiddenException" : "BadRequestException";
  reply(Error(request, status, name, exception.class_name + ": " + exception.message));
  return true;
}

void Web::NewApplication(const http::Request& request, const Reply& reply) {
  manager_.Ask(m::NewApplication{}, [request, reply, this](const m::OuterEffect& effect) {
    if (Refused(request, reply, effect)) return;
    const auto& answer = std::get<m::NewApplicationAnswer>(effect);
    const Document document = Document::Object()
                                  .Add("application-id", ToString(answer.app))
                                  .Add("maximum-resource-capability", ResourceDocument(answer.maximum));
    reply(Render(request, document, BareRoot(request, "NewApplication")));
  });
}

void Web::Submit(const http::Request& request, const Reply& reply) {
  const base::Result<json> body = ParseBody(request, "application-submission-context");
  if (!body.ok())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + body.error().message));
  const base::Result<w::ApplicationSubmissionContextProto> context = ContextOf(*body);
  if (!context.ok()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + context.error().message));
  }
  base::Result<m::Submission> submission =
      endpoints::yarn::ToSubmission(*context, manager_.SubmitterOf(UserOf(request), request.peer));
  if (!submission.ok()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + submission.error().message));
  }
  m::Submit event;
  event.submission = std::move(*submission);
  const std::string id = ToString(event.submission.id);
  manager_.Ask(std::move(event), [request, reply, id, this](const m::OuterEffect& effect) {
    if (Refused(request, reply, effect)) return;
    http::Response response;
    response.status = 202;
    response.content_type = "application/json;charset=utf-8";
    response.headers = {{"Location", manager_.core().config().web_base + "/ws/v1/cluster/apps/" + id}};
    reply(std::move(response));
  });
}

void Web::SetState(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = ParseBody(request, "appstate");
  const std::string state = body.ok() ? Text(*body, "state") : "";
  const std::string user = UserOf(request);
  if (state.empty())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No state was given."));
  const std::string id = ToString(app.submission.id);
  const auto done = [request, reply, id](int status, const std::string& text) {
    reply(Render(request, Document::Object().Add("state", text), BareRoot(request, "appstate"), status));
  };
  if (state != "KILLED") {
    const std::string now(EnumName(Core::VisibleState(app)));
    if (state == now) return done(200, state);
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.Exception: Only '" + std::string("KILLED") + "' is allowed as a target state."));
  }
  if (!manager_.MayAccess(user, app, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + user + " cannot perform operation MODIFY_APP on " + id));
  }
  if (app.state == m::AppState::kFinished || app.state == m::AppState::kFailed || app.state == m::AppState::kKilled) {
    return done(200, std::string(EnumName(app.state)));
  }
  m::KillApp event;
  event.app = app.submission.id;
  event.diagnostics = "Application " + id + " was killed by user " + user + " at " + request.peer;
  if (const std::string why = Text(*body, "diagnostics"); !why.empty()) {
    event.diagnostics += " with diagnostic message: " + why;
  }
  manager_.Ask(std::move(event), [](const m::OuterEffect&) {});
  done(202, "KILLING");
}

void Web::Move(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = ParseBody(request, "appqueue");
  const std::string queue = body.ok() ? Text(*body, "queue") : "";
  if (queue.empty())
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No queue was given."));
  if (!manager_.MayAccess(UserOf(request), app, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + UserOf(request) + " cannot perform operation MODIFY_APP"));
  }
  if (const std::string denied = manager_.MoveError(UserOf(request), app.submission.id, queue); !denied.empty()) {
    return reply(Error(request, 403, "ForbiddenException", "java.security.AccessControlException: " + denied));
  }
  m::MoveApp event;
  event.app = app.submission.id;
  event.queue = queue;
  manager_.Ask(std::move(event), [request, reply, id = app.submission.id, this](const m::OuterEffect& effect) {
    if (Refused(request, reply, effect)) return;
    const App* moved = manager_.core().FindApp(id);
    const std::string now = moved ? moved->submission.queue : "";
    reply(Render(request, Document::Object().Add("queue", now), BareRoot(request, "appqueue")));
  });
}

void Web::SetPriority(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = ParseBody(request, "applicationpriority");
  if (!body.ok() || Text(*body, "priority").empty()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: No priority was given."));
  }
  if (!manager_.MayAccess(UserOf(request), app, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + UserOf(request) + " cannot perform operation MODIFY_APP"));
  }
  m::SetPriority event;
  event.app = app.submission.id;
  event.priority = static_cast<int32_t>(Number(*body, "priority", 0));
  manager_.Ask(std::move(event), [request, reply, this](const m::OuterEffect& effect) {
    if (Refused(request, reply, effect)) return;
    const int32_t priority = std::get<m::PriorityAnswer>(effect).priority;
    reply(Render(request, Document::Object().Add("priority", priority), BareRoot(request, "applicationpriority")));
  });
}

void Web::SetTimeout(const http::Request& request, const App& app, const Reply& reply) {
  const base::Result<json> body = ParseBody(request, "timeout");
  const std::string expiry = body.ok() ? Text(*body, "expiryTime") : "";
  const base::Result<base::WallTime> expires = ParseIso8601(expiry);
  if (!expires.ok()) {
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + expires.error().message));
  }
  if (!manager_.MayAccess(UserOf(request), app, true)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + UserOf(request) + " cannot perform operation MODIFY_APP"));
  }
  m::SetLifetime event;
  event.app = app.submission.id;
  event.expires = *expires;
  manager_.Ask(std::move(event), [request, reply, id = app.submission.id, this](const m::OuterEffect& effect) {
    if (Refused(request, reply, effect)) return;
    if (const App* changed = manager_.core().FindApp(id)) {
      reply(Render(request, TimeoutDocument(*changed, manager_.now_wall()), "timeout"));
    }
  });
}

}  // namespace fairlead::process::rm
