#include "process/nm/web.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

#include "base/check.h"
#include "base/text.h"
#include "endpoints/v1/nodes.h"
#include "model/resource_words.h"
#include "process/http/conf_page.h"
#include "process/http/jmx.h"
#include "process/http/metrics.h"
#include "process/login/node_pass.h"
#include "process/nm/layout.h"

namespace fairlead::process::nm {

using fairlead::nm::AppView;
using fairlead::nm::ContainerView;
using model::ToString;

namespace {

constexpr int64_t kPageLogBytes = 4096;
constexpr int64_t kPageLogBytesMax = 4 << 20;

int64_t IntOf(const http::Request& request, const std::string& key, int64_t fallback) {
  const auto at = request.query.find(key);
  if (at == request.query.end()) return fallback;
  int64_t value = fallback;
  const char* end = at->second.data() + at->second.size();
  const auto [stop, error] = std::from_chars(at->second.data(), end, value);
  return error == std::errc() && stop == end ? value : fallback;
}

/// Where bytes from `start` on end that are no more than `bytes_max`, and end before `end` where both count from the
/// same side.
int64_t EndWithin(int64_t start, int64_t end, int64_t bytes_max) {
  const int64_t most = start > INT64_MAX - bytes_max ? INT64_MAX : start + bytes_max;
  if (start < 0 && most >= 0) return end;
  return (start < 0) == (end < 0) ? std::min(end, most) : most;
}

/// "Sat Nov 21 09:23:19 +0000 2026", as Hadoop prints a log's time.
std::string TimeText(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[64];
  return std::string(text, std::strftime(text, sizeof text, "%a %b %d %H:%M:%S +0000 %Y", &parts));
}

bool IsOver(const ContainerView& container) { return container.state == model::nm::ContainerState::kDone; }

std::vector<LogFile> FilesOf(const std::map<model::ContainerId, std::vector<LogFile>>& files,
                             const model::ContainerId& id) {
  const auto at = files.find(id);
  return at == files.end() ? std::vector<LogFile>() : at->second;
}

/// /fairlead/v1/logs/APPLICATION[/CONTAINER/FILE]
bool IsAppLogs(const std::vector<std::string>& path) {
  return (path.size() == 4 || path.size() == 6) && path[0] == "fairlead" && path[1] == "v1" && path[2] == "logs";
}

/// A log as it is, whatever it holds.
http::Response LogBytes(std::string text) {
  http::Response response;
  response.body = std::move(text);
  response.content_type = "text/plain;charset=utf-8";
  response.headers = {{"Cache-Control", "no-cache"}, {"X-Content-Type-Options", "nosniff"}};
  return response;
}

}  // namespace

login::WebLoginOptions Web::LoginOptions() const {
  login::WebLoginOptions options;
  options.security = options_.security;
  options.pass = [this](std::string_view pass) -> std::optional<std::string> {
    const auto& keys = manager_.tokens().state();
    for (const auto& key : {keys.nm_current, keys.nm_previous}) {
      if (!key) continue;
      if (auto user = login::UserOfPass(pass, manager_.Pages(), key->bytes, loop_.Wall().ms)) return user;
    }
    return std::nullopt;
  };
  if (!options_.cluster_page.empty()) {
    options.pass_page = [this](const std::string& target) {
      return options_.cluster_page + "/fairlead/v1/pass?node=" + manager_.Pages().ToString() +
             "&to=" + http::PercentEncode(target);
    };
  }
  return options;
}

base::Result<std::unique_ptr<Web>> Web::Start(env::Loop& loop, env::Net& net, ContainerLogs& logs, NodeManager& manager,
                                              Options options) {
  const env::Endpoint endpoint = options.endpoint;
  std::unique_ptr<Web> web(new Web(loop, logs, manager, std::move(options)));
  auto server = http::Server::Listen(
      loop, net, endpoint, web->options_.hosts,
      [raw = web.get()](http::Request request, http::Server::Reply reply) {
        raw->login_.Enter(std::move(request), std::move(reply),
                          [raw](const http::Request& asked, const auto& answer) { raw->Serve(asked, answer); });
      },
      {}, login::VouchOf(web->options_.security));
  if (!server) return server.error();
  web->server_ = std::move(*server);
  return web;
}

void Web::Serve(const http::Request& request, const http::Server::Reply& reply) {
  if (request.path == "/metrics" && (request.method == "GET" || request.method == "HEAD")) return TellMetrics(reply);
  const Segments path = http::PathSegments(request.path);
  if (path.size() >= 2 && path[0] == "services") return TellService(request, path, reply);
  const std::vector<LogQuery> queries = LogsFor(request, path);
  if (queries.empty()) return reply(Answer(request, path, {}));
  struct Gathered {
    Logs logs;
    size_t missing;
  };
  const auto gathered = std::make_shared<Gathered>(Gathered{{}, queries.size()});
  for (const LogQuery& query : queries) {
    logs_.Read(query, alive_([this, request, path, reply, gathered](LogAnswer answer) {
                 gathered->logs.files.merge(answer.files);
                 gathered->logs.named = std::move(answer);
                 if (--gathered->missing != 0) return;
                 if (path[0] != "node") return reply(Answer(request, path, gathered->logs));
                 // A page of control characters has several times their bytes.
                 const auto show = [gathered] {
                   Logs& logs = gathered->logs;
                   logs.shown = http::HtmlEscape(logs.named.error.empty() ? logs.named.text : logs.named.error);
                 };
                 loop_.Offload(show, alive_([this, request, path, reply, gathered] {
                                 reply(Answer(request, path, gathered->logs));
                               }));
               }));
  }
}

// By application, since each has a user of its own. What the caller may not see is not read.
std::vector<LogQuery> Web::LogsFor(const http::Request& request, const Segments& path) const {
  const bool rest = path.size() >= 4 && path[0] == "ws" && path[1] == "v1" && path[2] == "node" &&
                    (path[3] == "containers" || path[3] == "containerlogs");
  const bool page = path.size() >= 3 && path[0] == "node" && path[1] == "containerlogs";
  std::vector<LogQuery> queries;
  if (rest && path.size() == 4) {
    std::map<model::ApplicationId, LogQuery> by_app;
    const fairlead::nm::View view = manager_.View();
    for (const ContainerView& container : view.containers)
      by_app[container.id.attempt.app].containers.push_back(container.id);
    for (auto& [app, query] : by_app) {
      if (!MayView(request, view, app)) continue;
      query.app = app;
      queries.push_back(std::move(query));
    }
    return queries;
  }
  if (IsAppLogs(path)) {
    const base::Result<model::ApplicationId> app = model::ParseApplicationId(path[3]);
    if (!app || !MayView(request, manager_.View(), *app)) return queries;
    LogQuery query;
    query.app = *app;
    if (path.size() == 6) {
      const base::Result<model::ContainerId> id = model::ParseContainerId(path[4]);
      if (!id || id->attempt.app != *app) return queries;
      query.containers = {*id};
      query.file = path[5];
      query.start = IntOf(request, "start", 0);
      query.end = IntOf(request, "end", INT64_MAX);
    }
    queries.push_back(std::move(query));
    return queries;
  }
  if (!rest && !page) return queries;
  const base::Result<model::ContainerId> id = model::ParseContainerId(rest ? path[4] : path[2]);
  if (!id || !MayView(request, manager_.View(), id->attempt.app)) return queries;
  LogQuery& query = queries.emplace_back();
  query.app = id->attempt.app;
  query.containers = {*id};
  if (page) {  // /node/containerlogs/CONTAINER/USER[/FILE][?start=&end=]
    if (path.size() > 4) query.file = path[4];
    query.start = IntOf(request, "start", -kPageLogBytes);
    query.end = EndWithin(query.start, IntOf(request, "end", INT64_MAX), kPageLogBytesMax);
    return queries;
  }
  // size: so many bytes from the start, negative: from the end (NMWebServices.getContainerLogFile).
  const int64_t size = IntOf(request, "size", INT64_MAX);
  if (path[3] == "containerlogs" && path.size() == 6) query.file = path[5];
  if (path[3] == "containers" && path.size() == 7 && path[5] == "logs") query.file = path[6];
  query.start = size < 0 ? size : 0;
  query.end = size < 0 ? INT64_MAX : size;
  return queries;
}

http::Response Web::Answer(const http::Request& request, const Segments& path, const Logs& logs) const {
  if (request.method == "OPTIONS") return http::Allowing("GET, HEAD, OPTIONS");
  if (request.method != "GET" && request.method != "HEAD") return http::TextResponse(405, "Only GET is served here.\n");
  if (path.size() >= 3 && path[0] == "ws" && path[1] == "v1" && path[2] == "node")
    return Rest(request, Segments(path.begin() + 3, path.end()), logs);
  if (request.path == "/readyz") {  // containers may be started here
    const fairlead::nm::View view = manager_.View();
    if (!view.registered) return http::TextResponse(503, "not registered yet\n");
    return view.healthy ? http::TextResponse(200, "ok\n") : http::TextResponse(503, "unhealthy\n");
  }
  if (request.path == "/healthz") {
    const fairlead::nm::View view = manager_.View();
    if (!view.healthy) return http::TextResponse(503, "unhealthy: " + view.health_report + "\n");
    return http::TextResponse(200, view.registered ? "ok\n" : "ok, not registered yet\n");
  }
  if (request.path == "/jmx") return Jmx(request);
  if (std::optional<http::Response> instead = http::InsteadOfServlet(request.path)) return std::move(*instead);
  if (request.path == "/conf") return http::ConfPage(request, options_.configuration.get());
  if (IsAppLogs(path)) return AppLogs(request, path, logs);
  if (path.size() == 2 && path[0] == "static") {
    if (const http::StaticFile* file = FindWebFile(path[1])) return http::StaticResponse(request, *file);
  }
  if (path.empty()) return http::Redirect("/node");
  return Page(request, path, logs);
}

bool Web::MayView(const http::Request& request, const fairlead::nm::View& view, const model::ApplicationId& id) const {
  if (!options_.may_view) return true;
  const std::string caller = http::CallerOf(request);
  const auto app = std::find_if(view.apps.begin(), view.apps.end(), [&](const AppView& a) { return a.id == id; });
  return app == view.apps.end() ? options_.may_view(caller, "", "")
                                : options_.may_view(caller, app->user, app->view_acl);
}

std::optional<http::Response> Web::Forbidden(const http::Request& request, const model::ApplicationId& id) const {
  if (MayView(request, manager_.View(), id)) return std::nullopt;
  return Error(request, 403, "ForbiddenException",
               "java.lang.Exception: User [" + http::CallerOf(request) + "] is not authorized to view " + ToString(id));
}

// ---- /ws/v1/node --------------------------------------------------------------------------------------------------

http::Response Web::Rest(const http::Request& request, const Segments& path, const Logs& logs) const {
  if (path.empty() || (path[0] == "info" && path.size() == 1)) return http::Rendered(request, NodeInfo(), "nodeInfo");
  if (path[0] == "apps") return Apps(request, path);
  if (path[0] == "containers" || path[0] == "containerlogs") return ContainersOrLogs(request, path, logs);
  if (path[0] == "auxiliaryservices" && path.size() == 1)
    return Error(request, 400, "BadRequestException",
                 "java.lang.Exception: Auxiliary services manifest is not enabled");
  return Error(request, 404, "NotFoundException", "java.lang.Exception: " + request.path + " not found");
}

Web::Document Web::NodeInfo() const {
  const fairlead::nm::View view = manager_.View();
  const endpoints::yarn::NodeIdentity& identity = manager_.identity();
  const std::string version = identity.version;
  std::string types = "memory-mb (unit=Mi), vcores";
  for (size_t i = 2; i < model::ResourceTypes::Count(); ++i) types += ", " + std::string(model::ResourceTypes::Name(i));
  Document info = Document::Object();
  info.Add("healthReport", view.health_report)
      .Add("totalVmemAllocatedContainersMB",
           static_cast<int64_t>(static_cast<double>(view.capacity.memory_mib()) * options_.virtual_ratio))
      .Add("totalPmemAllocatedContainersMB", view.capacity.memory_mib())
      .Add("totalVCoresAllocatedContainers", view.capacity.vcores())
      .Add("vmemCheckEnabled", options_.check_virtual)
      .Add("pmemCheckEnabled", options_.check_physical)
      .Add("lastNodeUpdateTime", view.health_checked.ms)
      .Add("resourceTypes", types)
      .Add("nodeHealthy", view.healthy)
      .Add("nodeManagerVersion", version)
      .Add("nodeManagerBuildVersion", version + " from Fairlead")
      .Add("nodeManagerVersionBuiltOn", "see fairlead --version")
      .Add("hadoopVersion", version)
      .Add("hadoopBuildVersion", version + " from Fairlead")
      .Add("hadoopVersionBuiltOn", "see fairlead --version")
      .Add("id", identity.host + ":" + std::to_string(identity.port))
      .Add("nodeHostName", identity.host)
      .Add("nmStartupTime", manager_.started().ms);
  return info;
}

http::Response Web::Apps(const http::Request& request, const Segments& path) const {
  const fairlead::nm::View view = manager_.View();
  const auto document = [](const AppView& app) {
    Document::List containers;
    for (const model::ContainerId& id : app.containers) containers.emplace_back(ToString(id));
    Document out = Document::Object();
    out.Add("id", ToString(app.id)).Add("state", EnumName(app.state)).Add("user", app.user);
    if (!containers.empty()) out.Add("containerids", std::move(containers));
    return out;
  };
  if (path.size() == 2) {
    const base::Result<model::ApplicationId> id = model::ParseApplicationId(path[1]);
    if (!id)
      return Error(request, 400, "BadRequestException",
                   "java.lang.IllegalArgumentException: Invalid ApplicationId prefix: " + path[1] +
                       ". The valid ApplicationId should start with prefix application");
    if (auto forbidden = Forbidden(request, *id)) return *std::move(forbidden);
    for (const AppView& app : view.apps) {
      if (app.id == *id) return http::Rendered(request, document(app), "app");
    }
    return Error(request, 404, "NotFoundException", "java.lang.Exception: app with id " + path[1] + " not found");
  }
  if (path.size() != 1) return Error(request, 404, "NotFoundException", "java.lang.Exception: " + request.path);
  const auto state = request.query.find("state");
  const auto user = request.query.find("user");
  if (state != request.query.end()) {
    using model::nm::AppState;
    bool known = false;
    for (const AppState s : {AppState::kInitializing, AppState::kRunning, AppState::kFinishingContainersWait,
                             AppState::kCleaningUp, AppState::kFinished})
      known |= EnumName(s) == state->second;
    if (!known)
      return Error(request, 400, "IllegalArgumentException",
                   "No enum constant org.apache.hadoop.yarn.server.nodemanager.containermanager.application."
                   "ApplicationState." +
                       state->second);
  }
  if (user != request.query.end() && user->second.empty())
    return Error(request, 400, "BadRequestException",
                 "java.lang.Exception: Error: You must specify a non-empty string for the user");
  Document::List apps;
  for (const AppView& app : view.apps) {
    if (state != request.query.end() && EnumName(app.state) != state->second) continue;
    if (user != request.query.end() && app.user != user->second) continue;
    if (!MayView(request, view, app.id)) continue;
    apps.push_back(document(app));
  }
  Document out = Document::Object();
  if (!apps.empty()) out.Add("app", std::move(apps));
  return http::Rendered(request, out, "apps");
}

Web::Document Web::ContainerInfo(const ContainerView& container, const Logs& logs) const {
  const endpoints::yarn::NodeIdentity& identity = manager_.identity();
  const std::string id = ToString(container.id);
  Document::List files;
  for (const LogFile& file : FilesOf(logs.files, container.id)) files.emplace_back(file.name);
  Document out = Document::Object();
  out.Add("id", id)
      .Add("state", IsOver(container) ? "COMPLETE" : EnumName(container.state))
      .Add("exitCode", container.exit_status)
      .Add("diagnostics", container.diagnostics)
      .Add("user", container.user)
      .Add("totalMemoryNeededMB", container.resources.memory_mib())
      .Add("totalVCoresNeeded", container.resources.vcores())
      .Add("executionType", "GUARANTEED")
      .Add("containerLogsLink", (options_.security.https ? "https://" : "http://") + identity.host + ":" +
                                    std::to_string(identity.http_port) + "/node/containerlogs/" + id + "/" +
                                    container.user)
      .Add("nodeId", identity.host + ":" + std::to_string(identity.port));
  if (!files.empty()) out.Add("containerLogFiles", std::move(files));
  return out;
}

http::Response Web::ContainersOrLogs(const http::Request& request, const Segments& path, const Logs& logs) const {
  const fairlead::nm::View view = manager_.View();
  if (path.size() == 1 && path[0] == "containers") {
    Document::List containers;
    for (const ContainerView& container : view.containers) {
      if (MayView(request, view, container.id.attempt.app)) containers.push_back(ContainerInfo(container, logs));
    }
    Document out = Document::Object();
    if (!containers.empty()) out.Add("container", std::move(containers));
    return http::Rendered(request, out, "containers");
  }
  const base::Result<model::ContainerId> id =
      path.size() < 2 ? base::Result<model::ContainerId>(base::Error{}) : model::ParseContainerId(path[1]);
  if (!id) {
    return Error(request, 400, "BadRequestException",
                 "java.lang.Exception: invalid container id, " + (path.size() < 2 ? std::string() : path[1]));
  }
  if (auto forbidden = Forbidden(request, id->attempt.app)) return *std::move(forbidden);
  if (path[0] == "containerlogs" && path.size() == 3) return LogText(request, *id, path[2], logs);
  if (path[0] == "containers" && path.size() >= 3 && path[2] == "logs") {
    if (path.size() == 3) return LogList(request, *id, logs);
    if (path.size() == 4) return LogText(request, *id, path[3], logs);
  }
  if (path[0] == "containers" && path.size() == 2) {
    for (const ContainerView& container : view.containers) {
      if (container.id == *id) return http::Rendered(request, ContainerInfo(container, logs), "container");
    }
    return Error(request, 404, "NotFoundException",
                 "java.lang.Exception: container with id, " + path[1] + ", not found");
  }
  return Error(request, 404, "NotFoundException", "java.lang.Exception: " + request.path + " not found");
}

// ---- Logs ---------------------------------------------------------------------------------------------------------

http::Response Web::AppLogs(const http::Request& request, const Segments& path, const Logs& logs) const {
  const base::Result<model::ApplicationId> app = model::ParseApplicationId(path[3]);
  if (!app) return http::TextResponse(400, "Not an application's id.\n");
  if (auto forbidden = Forbidden(request, *app)) return *std::move(forbidden);
  if (path.size() == 6) {
    if (!logs.named.found) return http::TextResponse(404, "There is no such log here.\n");
    return logs.named.error.empty() ? LogBytes(logs.named.text) : http::TextResponse(500, logs.named.error + "\n");
  }
  endpoints::v1::Logs answer{.cluster_page = options_.cluster_page};
  for (const auto& [id, of_container] : logs.files) {
    std::vector<std::string>& files = answer.containers.emplace_back(ToString(id)).files;
    for (const LogFile& file : of_container) files.push_back(file.name);
  }
  return http::JsonResponse(200, endpoints::v1::Text(answer));
}

http::Response Web::LogList(const http::Request& request, const model::ContainerId& id, const Logs& logs) const {
  const std::vector<LogFile> files = FilesOf(logs.files, id);
  if (files.empty())
    return Error(request, 404, "NotFoundException", "java.lang.Exception: no log files of container " + ToString(id));
  Document::List list;
  for (const LogFile& file : files) {
    list.push_back(Document::Object()
                       .Add("fileName", file.name)
                       .Add("fileSize", std::to_string(file.size))
                       .Add("lastModifiedTime", TimeText(file.modified)));
  }
  const endpoints::yarn::NodeIdentity& identity = manager_.identity();
  Document out = Document::Object();
  out.Add("containerLogInfo", std::move(list))
      .Add("logAggregationType", "LOCAL")
      .Add("containerId", ToString(id))
      .Add("nodeId", identity.host + ":" + std::to_string(identity.port));
  if (!http::PrefersXml(request)) return http::Rendered(request, out, "containerLogsInfo");
  return http::Rendered(request, Document::Object().Add("containerLogsInfo", std::move(out)), "containerLogsInfoes");
}

http::Response Web::LogText(const http::Request& request, const model::ContainerId& id, const std::string& name,
                            const Logs& logs) const {
  const std::vector<LogFile> files = FilesOf(logs.files, id);
  const auto file = std::find_if(files.begin(), files.end(), [&](const LogFile& f) { return f.name == name; });
  if (file == files.end() || !logs.named.found) {
    const std::string text = "java.lang.Exception: Cannot find this log on the local disk.";
    if (http::FindHeader(request.headers, "Accept").starts_with("text/plain")) return http::TextResponse(404, text);
    return Error(request, 404, "NotFoundException", text);
  }
  if (!logs.named.error.empty()) return Error(request, 500, "IOException", logs.named.error);
  const endpoints::yarn::NodeIdentity& identity = manager_.identity();
  bool running = false;
  for (const ContainerView& container : manager_.View().containers) running |= container.id == id && !IsOver(container);
  std::string head = "Container: " + ToString(id) + " on " + identity.host + ":" + std::to_string(identity.port);
  std::string body = head + "\nLogAggregationType: LOCAL\n" + std::string(head.size(), '=') + "\nLogType:" + name +
                     "\nLogLastModifiedTime:" + TimeText(file->modified) + "\nLogLength:" + std::to_string(file->size) +
                     "\nLogContents:\n" + logs.named.text;
  const int64_t size = IntOf(request, "size", INT64_MAX);
  const int64_t asked = std::min(size < 0 ? std::max(size, -INT64_MAX) * -1 : size, file->size);
  const int64_t missing = asked - static_cast<int64_t>(logs.named.text.size());
  if (missing > 0)
    body += "\n" + base::Counted(missing, "byte") + " more: fairlead logs " + ToString(id.attempt.app) + "\n";
  body += "End of LogType:" + name;
  if (running)
    body += ".This log file belongs to a running container (" + ToString(id) + ") and so may not be complete.";
  body += "\n" + std::string(71, '*') + "\n\n";
  return LogBytes(std::move(body));
}

// ---- Pages --------------------------------------------------------------------------------------------------------

namespace {

/// `frame` with each name replaced; in what it is replaced by nothing is.
std::string Filled(std::string_view frame, const std::map<std::string_view, std::string_view>& texts) {
  std::string out;
  for (size_t mark = frame.find('@'); mark != frame.npos; mark = frame.find('@')) {
    const size_t length = frame.find('@', mark + 1) + 1 - mark;
    const auto text = texts.find(frame.substr(mark, length));
    FL_CHECK(text != texts.end(), "the frame of the node's pages names something else");
    out.append(frame.substr(0, mark)).append(text->second);
    frame.remove_prefix(mark + length);
  }
  return out.append(frame);
}

}  // namespace

http::Response Web::Html(const std::string& title, const std::string& body, const std::string& app) const {
  http::Response response;
  response.content_type = "text/html; charset=utf-8";
  response.headers = {{"Content-Security-Policy", "default-src 'none'; style-src 'self'; img-src 'self'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "SAMEORIGIN"}};
  std::string pages;
  if (!options_.cluster_page.empty()) {
    const std::string page = http::HtmlEscape(options_.cluster_page);
    pages = "<a href=\"" + page + "/cluster\">Applications</a><a href=\"" + page + "/cluster/nodes\">Nodes</a>";
    if (!app.empty()) pages = "<a href=\"" + page + "/cluster/app/" + app + "\">Application</a>" + pages;
  }
  response.body = Filled(FindFrame("frame.html")->bytes,
                         {{"@TITLE@", http::HtmlEscape(title)}, {"@PAGES@", pages}, {"@BODY@", body}});
  return response;
}

http::Response Web::Page(const http::Request& request, const Segments& path, const Logs& logs) const {
  if (path[0] != "node") return http::TextResponse(404, "Not found.\n");
  if (path.size() >= 2 && path[1] == "containerlogs") return LogPage(request, path, logs);
  return FrontPage(request);
}

http::Response Web::FrontPage(const http::Request& request) const {
  const fairlead::nm::View view = manager_.View();
  const endpoints::yarn::NodeIdentity& identity = manager_.identity();
  std::string body = "<p>" + std::string(view.registered ? "registered" : "not registered") + ", " +
                     (view.healthy ? "healthy" : "unhealthy: " + http::HtmlEscape(view.health_report)) + "; " +
                     http::HtmlEscape(model::InWords(view.allocated)) + " in use of " +
                     http::HtmlEscape(model::InWords(view.capacity)) + ".</p>";
  for (const AuxService* service : options_.services) {
    if (!service->has_page()) continue;
    const std::string name = http::HtmlEscape(service->name());
    body += "<p><a href=\"/services/" + name + "/\">The service " + name + "</a>: whom it serves, and how fast.</p>";
  }
  const std::array<std::string, 5> heads = {"Container", "User", "State", "Exit status", "Size"};
  body += "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& head : heads) body += "<th scope=\"col\">" + head + "</th>";
  body += "</tr></thead><tbody>";
  for (const ContainerView& container : view.containers) {
    if (!MayView(request, view, container.id.attempt.app)) continue;
    const std::string id = ToString(container.id);
    const std::array<std::string, 5> cells = {
        "<a href=\"/node/containerlogs/" + id + "/" + http::PercentEncode(container.user) +
            "?user.name=" + http::PercentEncode(http::CallerOf(request)) + "\">" + id + "</a>",
        http::HtmlEscape(container.user), std::string(EnumName(container.state)),
        IsOver(container) ? std::to_string(container.exit_status) : std::string(),
        http::HtmlEscape(model::InWords(container.resources))};
    body += "<tr>";
    for (size_t i = 0; i < cells.size(); ++i) {  // on a phone a cell says itself what it is
      body += "<td data-label=\"" + heads[i] + "\">" + cells[i] + "</td>";
    }
    body += "</tr>";
  }
  return Html("Node " + identity.host + ":" + std::to_string(identity.port), body + "</tbody></table></div>");
}

/// /node/containerlogs/CONTAINER/USER[/FILE][?start=&end=]
http::Response Web::LogPage(const http::Request& request, const Segments& path, const Logs& logs) const {
  const base::Result<model::ContainerId> id =
      path.size() < 3 ? base::Result<model::ContainerId>(base::Error{}) : model::ParseContainerId(path[2]);
  if (!id) return http::TextResponse(400, "Not a container id.\n");
  if (auto forbidden = Forbidden(request, id->attempt.app)) return *std::move(forbidden);
  const std::string title = path.size() > 4 ? path[4] + " of " + path[2] : "Logs of " + path[2];
  const std::vector<LogFile> files = FilesOf(logs.files, *id);
  const std::string base_path =
      "/node/containerlogs/" + path[2] + "/" + (path.size() > 3 ? http::PercentEncode(path[3]) : "user");
  const std::string who = "&user.name=" + http::PercentEncode(http::CallerOf(request));
  const auto link = [&](const std::string& name, int64_t start, const std::string& text) {
    return "<a href=\"" + base_path + "/" + http::PercentEncode(name) + "/?start=" + std::to_string(start) + who +
           "\">" + http::HtmlEscape(text) + "</a>";
  };
  std::string body;
  std::string others;
  for (const LogFile& file : files) {
    const std::string size = std::to_string(file.size);
    const std::string of_name = link(file.name, -kPageLogBytes, file.name);
    if (path.size() <= 4) {
      body += "<p>" + of_name + " : Total file length is " + size + " bytes.</p>";
    } else if (file.name != path[4]) {
      others += " " + of_name;
    } else {
      body += "<p>" + link(file.name, 0, "the whole log") + " (" + size + " bytes)</p>";
      if (logs.named.text.size() == kPageLogBytesMax) {
        body += "<p>Here are 4 MiB of it. All of it: <code>fairlead logs " + ToString(id->attempt.app) + "</code>.</p>";
      }
      body += "<pre>" + logs.shown + "</pre>";
    }
  }
  if (body.empty()) body = "<p>No logs available for container " + http::HtmlEscape(path[2]) + "</p>";
  if (!others.empty()) body = "<p>Other logs of this container:" + others + "</p>" + body;
  return Html(title, body, ToString(id->attempt.app));
}

// ---- Metrics ------------------------------------------------------------------------------------------------------

// NodeManagerMetrics: what has a meaning here, GiB rounded down as there.
http::Response Web::Jmx(const http::Request& request) const {
  const fairlead::nm::View view = manager_.View();
  const model::Resources available = view.capacity - view.allocated;
  int64_t preparing = 0;
  int64_t running = 0;
  int64_t live = 0;
  for (const ContainerView& container : view.containers) {
    preparing += container.state == model::nm::ContainerState::kLocalizing;
    running += container.state == model::nm::ContainerState::kRunning;
    live += !IsOver(container);
  }
  std::vector<http::Bean> beans;
  beans.push_back({"Hadoop:service=NodeManager,name=NodeManagerMetrics",
                   "NodeManagerMetrics",
                   {{"tag.Context", "yarn"},
                    {"tag.Hostname", manager_.identity().host},
                    {"ContainersLaunched", view.counters.launched},
                    {"ContainersCompleted", view.counters.completed},
                    {"ContainersFailed", view.counters.failed},
                    {"ContainersKilled", view.counters.killed},
                    {"ContainersIniting", preparing},
                    {"ContainersRunning", running},
                    {"AllocatedContainers", live},
                    {"AllocatedGB", view.allocated.memory_mib() / 1024},
                    {"AvailableGB", available.memory_mib() / 1024},
                    {"AllocatedVCores", view.allocated.vcores()},
                    {"AvailableVCores", available.vcores()},
                    {"CacheSizeBeforeClean", view.cache_bytes}}});
  http::AddJvmBean("NodeManager", manager_.identity().host, beans);
  return http::JmxAnswer(request.query, beans);
}

http::Response Web::Metrics() const {
  const fairlead::nm::View view = manager_.View();
  const auto& counters = view.counters;
  http::MetricsText out("fairlead_nm_");
  const auto counter = [&](const char* name, const char* help, int64_t value) {
    out.Counter(name, help, static_cast<uint64_t>(value));
  };
  int64_t live = 0;
  for (const ContainerView& container : view.containers) live += !IsOver(container);
  out.Gauge("containers_live", "Containers that have not ended", live);
  counter("containers_launched_total", "Containers started", counters.launched);
  counter("containers_completed_total", "Containers that ended with exit status 0", counters.completed);
  counter("containers_failed_total", "Containers that ended otherwise by themselves", counters.failed);
  counter("containers_killed_total", "Containers that were asked to end", counters.killed);
  out.Gauge("applications", "Applications known on this node", static_cast<int64_t>(view.apps.size()));
  out.Gauge("memory_allocated_mib", "Memory of live containers", view.allocated.memory_mib());
  out.Gauge("memory_capacity_mib", "Memory offered to the resource manager", view.capacity.memory_mib());
  out.Gauge("vcores_allocated", "Virtual cores of live containers", view.allocated.vcores());
  out.Gauge("vcores_capacity", "Virtual cores offered", view.capacity.vcores());
  out.Gauge("cache_bytes", "PUBLIC and PRIVATE localized resources", view.cache_bytes);
  counter("resources_fetched_total", "Resources localized", counters.resources_fetched);
  counter("resource_hits_total", "Resources found in the cache", counters.resource_hits);
  counter("heartbeats_total", "Heartbeats sent", counters.heartbeats);
  counter("heartbeat_failures_total", "Calls to the resource manager without answer", counters.heartbeat_failures);
  counter("registrations_total", "Registrations sent", counters.registrations);
  counter("requests_malformed_total", "Calls refused for what is in them",
          static_cast<int64_t>(manager_.service().malformed()));
  std::vector<std::pair<std::string, int64_t>> over;
  for (const auto& [kind, count] : manager_.service().server().refused())
    over.emplace_back(kind, static_cast<int64_t>(count));
  out.Counters("rpc_too_long_total", "Messages refused for more bytes than their kind may have", "kind", over);
  const rpc::RpcServer::Counters& logins = manager_.service().server().counters();
  counter("rpc_logins_refused_total", "Logins of RPC without a valid token or protocol",
          static_cast<int64_t>(logins.logins_refused));
  counter("rpc_unauthorized_total", "Known callers of RPC who may not speak there",
          static_cast<int64_t>(logins.unauthorized));
  counter("rpc_unprotected_total", "Messages of RPC outside of the protection that was agreed on",
          static_cast<int64_t>(logins.unprotected));
  counter("web_refused_total", http::kWebRefusedHelp.data(), static_cast<int64_t>(server_->refused()));
  counter("web_logins_refused_total", "HTTP requests with a ticket that is refused",
          static_cast<int64_t>(login_.refused()));
  out.Gauge("store_rows_unread", "Rows of the state store that cannot be read and are left out",
            static_cast<int64_t>(manager_.unread().size()));
  out.Gauge("registered", "1 while the resource manager knows this node", view.registered ? 1 : 0);
  out.Gauge("healthy", "1 while disks and the health script are good", view.healthy ? 1 : 0);
  return out.ToResponse();
}

void Web::TellService(const http::Request& request, const Segments& path, const http::Server::Reply& reply) {
  if (request.method != "GET" && request.method != "HEAD") {
    return reply(http::TextResponse(405, "Only GET is served here.\n"));
  }
  if (options_.may_view && !options_.may_view(http::CallerOf(request), "", "")) {
    return reply(http::TextResponse(403, "The pages of services name every application: administrators read them.\n"));
  }
  const std::string own = "/services/" + path[1];
  if (request.path == own) return reply(http::Redirect(own + "/"));  // its files lie below
  const auto done = [&loop = loop_, alive = alive_.watch(), reply](http::Response response) {
    loop.Post([alive, reply, response = std::move(response)] {
      if (alive) reply(response);
    });
  };
  for (AuxService* service : options_.services) {
    if (service->name() != path[1] || !request.path.starts_with(own + "/")) continue;
    if (service->TellPage(request, request.path.substr(own.size() + 1), done)) return;
  }
  reply(http::TextResponse(404, "Not found.\n"));
}

void Web::TellMetrics(const http::Server::Reply& reply) {
  struct Gathered {
    http::Response response;
    size_t missing;
  };
  const auto gathered = std::make_shared<Gathered>(Gathered{Metrics(), options_.services.size()});
  if (gathered->missing == 0) return reply(gathered->response);
  for (AuxService* service : options_.services) {
    service->TellMetrics([&loop = loop_, alive = alive_.watch(), gathered, reply](std::string text) {
      loop.Post([alive, gathered, reply, text = std::move(text)] {
        gathered->response.body += text;
        if (--gathered->missing == 0 && alive) reply(gathered->response);
      });
    });
  }
}

http::Response Web::Error(const http::Request& request, int status, const std::string& exception,
                          const std::string& message) {
  Document document = Document::Object();
  document.Add("exception", exception).Add("message", message);
  const char* package = exception == "IOException"                ? "java.io."
                        : exception == "IllegalArgumentException" ? "java.lang."
                                                                  : "org.apache.hadoop.yarn.webapp.";
  document.Add("javaClassName", package + exception);
  return http::Rendered(request, document, "RemoteException", status);
}

}  // namespace fairlead::process::nm
