#include "process/rm/web.h"

#include <utility>

#include "process/http/conf_page.h"
#include "process/http/jmx.h"
#include "process/rm/questions.h"
#include "process/rm/web_resources.h"

namespace fairlead::process::rm {

namespace {

/// Why no application can be submitted; empty: it can.
std::string WhyNotReady(const Batches& batches) {
  if (!batches.decides()) return "the state store is not open for changes";
  return batches.store_error().empty() ? "" : "nothing can be stored: " + batches.store_error();
}

login::WebLoginOptions LoginOptions(ResourceManager& manager) {
  login::WebLoginOptions options;
  options.security = manager.options().security.web;
  options.cookie_type = "kerberos-dt";  // of the resource manager's handler, which takes tokens as well
  if (DelegationTokens* tokens = manager.delegation()) {
    options.token = [tokens](std::string_view identifier) { return tokens->Secret(identifier); };
    options.cancel = [tokens](const http::Request& request, const http::Server::Reply& reply) {
      CancelByHolder(*tokens, request, reply);
    };
  }
  if (const CredentialStore* known = manager.credentials()) {
    options.credential = [known](std::string_view identifier) { return known->Secret(identifier, false); };
  }
  options.impersonate = [&manager](const endpoints::yarn::Caller& caller, const std::string& address,
                                   const login::WebLoginOptions::Done& done) {
    manager.admission().Judge(caller, "", address, done);
  };
  return options;
}

}  // namespace

Web::Web(env::Loop& loop, const http::PageNets& nets, ResourceManager& manager)
    : loop_(loop),
      nets_(nets),
      manager_(manager),
      login_(loop, LoginOptions(manager)),
      questions_(std::make_shared<Questions>(loop)) {
  SurveyWaiting();
}

base::Result<std::unique_ptr<Web>> Web::Start(env::Loop& loop, const http::PageNets& nets,
                                              const env::Endpoint& endpoint, http::KnownHosts hosts,
                                              ResourceManager& manager) {
  std::unique_ptr<Web> web(new Web(loop, nets, manager));
  base::Result<std::unique_ptr<http::Server>> server = http::Server::Listen(
      loop, nets.http, endpoint, std::move(hosts),
      [raw = web.get()](http::Request request, Reply reply) { raw->Serve(std::move(request), std::move(reply)); }, {},
      login::VouchOf(manager.options().security.web));
  if (!server.ok()) return server.error();
  web->server_ = std::move(*server);
  web->port_ = web->server_.get();
  return web;
}

base::Status Web::StartProxy(const env::Endpoint& endpoint, http::KnownHosts hosts) {
  const auto serve = [this](const http::Request& request, const Reply& reply) {
    const Segments path = http::PathSegments(request.path);
    if (request.method == "OPTIONS") return reply(http::Allowing("GET, HEAD, PUT, OPTIONS"));
    if (!path.empty() && path[0] == "proxy") {
      return Learned(&Web::Proxy, request, Segments(path.begin() + 1, path.end()), reply);
    }
    if (request.path == "/healthz") return reply(http::TextResponse(200, "ok\n"));
    if (std::optional<http::Response> elsewhere = FileOfMaster(request)) return reply(std::move(*elsewhere));
    reply(http::TextResponse(404, "Here are masters' pages alone: /proxy/APPLICATION/\n"));
  };
  auto server = http::Server::Listen(
      loop_, nets_.http, endpoint, std::move(hosts),
      [this, serve](http::Request request, Reply reply) { login_.Enter(std::move(request), std::move(reply), serve); },
      {}, login::VouchOf(manager_.options().security.web));
  if (!server.ok()) return server.error();
  proxy_ = std::move(*server);
  return {};
}

void Web::Serve(http::Request request, Reply reply) {
  login_.Enter(std::move(request), std::move(reply), [this](const http::Request& asked, const Reply& answer) {
    const base::Instant began = loop_.ReadClock();
    Route(asked, answer);
    served_.Add(loop_.ReadClock() - began);
  });
}

void Web::Route(const http::Request& request, const Reply& reply) {
  Segments path = http::PathSegments(request.path);
  const bool proxied = !path.empty() && path[0] == "proxy";
  if (request.method == "OPTIONS") {
    return reply(http::Allowing(proxied ? "GET, HEAD, PUT, OPTIONS" : "GET, HEAD, PUT, POST, OPTIONS"));
  }
  if (DelegationOperation(request, reply)) return;
  const auto starts = [&](std::initializer_list<std::string_view> prefix) {
    if (path.size() < prefix.size()) return false;
    size_t i = 0;
    for (const std::string_view part : prefix) {
      if (path[i++] != part) return false;
    }
    return true;
  };
  const auto rest = [&](size_t n) { return Segments(path.begin() + static_cast<std::ptrdiff_t>(n), path.end()); };
  if (starts({"ws", "v1", "cluster"})) return Learned(&Web::Cluster, request, rest(3), reply);
  if (starts({"fairlead", "v1"})) return Learned(&Web::Own, request, rest(2), reply);
  if (starts({"proxy"})) {
    if (!proxy_) return Learned(&Web::Proxy, request, rest(1), reply);
    if (request.method != "GET" && request.method != "HEAD") return reply(http::TextResponse(405, "Not here.\n"));
    return reply(http::Redirect(manager_.core().config().ProxyBase() + request.target));
  }
  if (request.path == "/metrics") return Metrics(reply);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (request.path == "/jmx" && reads) return Jmx(request, reply);
  if (request.path == "/conf" && reads) {
    return reply(http::ConfPage(request, manager_.options().configuration.get()));
  }
  if (std::optional<http::Response> instead = http::InsteadOfServlet(request.path)) return reply(std::move(*instead));
  if (request.path == "/healthz") return reply(http::TextResponse(200, "ok\n"));
  if (request.path == "/readyz") {  // applications may be submitted
    const std::string why = WhyNotReady(manager_.batches());
    return reply(why.empty() ? http::TextResponse(200, "ok\n") : http::TextResponse(503, why + "\n"));
  }
  if (request.path == "/isActive") return reply(http::TextResponse(200, "I am Active!\n"));
  if (request.path == "/") return reply(http::Redirect("/cluster"));  // RMWebApp
  // One page for people; its script shows what the address names.
  const bool page = path.empty() || path[0] == "cluster";
  if (page || (path[0] == "static" && path.size() == 2)) {
    const http::StaticFile* file = FindWebFile(page ? "index.html" : path[1]);
    if (file) return reply(http::StaticResponse(request, *file));
  }
  std::optional<http::Response> elsewhere = FileOfMaster(request);
  reply(elsewhere ? std::move(*elsewhere) : NotFound());
}

void Web::Learned(Part part, const http::Request& request, const Segments& path, const Reply& reply) {
  const std::string caller = http::CallerOf(request);
  if (manager_.access().known().Knows(caller)) return (this->*part)(request, path, reply);
  manager_.access().known().Learn(caller, alive_([this, part, request, path, reply] {
                                    http::Guard(request, reply, [&] { (this->*part)(request, path, reply); });
                                  }));
}

http::Response NotFound() {
  http::Response page = http::TextResponse(404,
                                           "<!doctype html><html lang=\"en\"><title>Not found</title><p>Not found. "
                                           "<a href=\"/cluster\">Applications</a>\n");
  page.content_type = "text/html; charset=utf-8";
  return page;
}

std::string_view BareRoot(const http::Request& request, std::string_view root) {
  return http::PrefersXml(request) ? root : std::string_view();
}

namespace {
/// On a pool's thread nobody else would catch it.
http::Response Guarded(std::string_view what, const std::function<http::Response()>& make) {
  try {
    return make();
  } catch (const std::exception& error) {
    return http::BrokenPage(what, error);
  }
}
}  // namespace

void Web::Aside(std::string_view what, const Reply& reply, std::function<http::Response()> make) {
  auto made = std::make_shared<http::Response>();
  loop_.Offload([made, what = std::string(what), make = std::move(make)] { *made = Guarded(what, make); },
                [made, reply] { reply(std::move(*made)); });
}

namespace {
std::function<http::Response()> Rendering(const http::Request& request, std::string_view root,
                                          std::function<endpoints::rest::Document()> make) {
  return [xml = http::PrefersXml(request), root = std::string(root), make = std::move(make)] {
    const endpoints::rest::Document document = make();
    return http::RestAnswer(200, xml, xml ? document.ToXml(root) : document.ToJson(root));
  };
}
}  // namespace

void Web::RenderAside(const http::Request& request, std::string_view root, const Reply& reply,
                      std::function<Document()> make) {
  Aside(root, reply, Rendering(request, root, std::move(make)));
}

void Web::RenderInTurn(const http::Request& request, std::string_view root, const Reply& reply,
                       std::function<std::function<Document()>()> begin) {
  auto made = std::make_shared<http::Response>();
  large_.Add(
      request.asker,
      [made, request, root = std::string(root), begin = std::move(begin)]() -> LargeAnswers::Work {
        return [made, root, render = Rendering(request, root, begin())] { *made = Guarded(root, render); };
      },
      [made, reply] { reply(std::move(*made)); });
}

// GenericExceptionHandler of YARN's web services.
http::Response Web::Error(const http::Request& request, int status, const std::string& exception,
                          const std::string& message) {
  const bool own = exception.ends_with("NotFoundException") || exception == "BadRequestException" ||
                   exception == "ForbiddenException" || exception == "ConflictException";
  Document document = Document::Object();
  document.Add("exception", exception).Add("message", message);
  std::string package = "java.lang.";
  if (own) package = "org.apache.hadoop.yarn.webapp.";
  if (exception == "AccessControlException") package = "org.apache.hadoop.security.";
  if (exception == "AuthorizationException") package = "org.apache.hadoop.security.authorize.";
  if (exception == "YarnException") package = "org.apache.hadoop.yarn.exceptions.";
  document.Add("javaClassName", package + exception);
  return http::Rendered(request, document, "RemoteException", status);
}

}  // namespace fairlead::process::rm
