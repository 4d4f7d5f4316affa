#include "engine/driver/driver_page.h"

#include "engine/history/history_page.h"
#include "env_posix/host_names.h"

namespace fairlead::engine {

namespace http = process::http;

base::Result<std::unique_ptr<DriverPage>> DriverPage::Listen(env::Loop& loop, env::Net& net,
                                                             const env::Endpoint& endpoint,
                                                             const history::History& history) {
  http::KnownHosts hosts;
  for (const std::string& name : env_posix::OwnHostNames()) hosts.AddName(name);
  hosts.AddName(endpoint.host);
  auto server = http::Server::Listen(loop, net, endpoint, std::move(hosts),
                                     [&history](const http::Request& request, const http::Server::Reply& reply) {
                                       if (request.method != "GET" && request.method != "HEAD")
                                         return reply(http::TextResponse(405, "only GET\n"));
                                       if (request.path == "/history.json")
                                         return reply(http::JsonResponse(200, history::ToJson(history)));
                                       if (request.path != "/")
                                         return reply(http::TextResponse(404, "there are / and /history.json\n"));
                                       http::Response response = http::TextResponse(200, history::ToHtml(history));
                                       response.content_type = "text/html; charset=utf-8";
                                       // The page brings its own style and script and wants nothing from anywhere else.
                                       response.headers.emplace_back(
                                           "Content-Security-Policy",
                                           "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
                                           "connect-src 'self'");
                                       reply(std::move(response));
                                     });
  if (!server) return server.error();
  auto page = std::make_unique<DriverPage>();
  page->server_ = std::move(*server);
  return page;
}

}  // namespace fairlead::engine
