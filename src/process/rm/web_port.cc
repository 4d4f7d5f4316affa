#include "process/rm/web_port.h"

#include <utility>
#include <vector>

#include "endpoints/v1/cluster.h"
#include "process/http/conf_page.h"
#include "process/http/jmx.h"
#include "process/rm/web_resources.h"

namespace fairlead::process::rm {

namespace {

http::Response ComeBack(const std::string& why) {
  http::Response response = http::TextResponse(503, why + "\n");
  response.headers = {{"Retry-After", "1"}};
  return response;
}

/// A reply that is given once for certain: if the manager ends before, its callers are told to come back.
class Owed {
 public:
  explicit Owed(http::Server::Reply reply) : reply_(std::move(reply)) {}
  ~Owed() {
    if (reply_) reply_(ComeBack("This resource manager has just stepped down."));
  }
  Owed(const Owed&) = delete;
  Owed& operator=(const Owed&) = delete;
  void Give(http::Response response) {
    if (reply_) std::exchange(reply_, nullptr)(std::move(response));
  }

 private:
  http::Server::Reply reply_;
};

}  // namespace

WebPort::WebPort(env::Loop& loop, Standby standby)
    : standby_(std::move(standby)),
      login_(loop, {.security = standby_.security,
                    .cookie_type = "kerberos-dt",
                    .credential = [&loop, seen = standby_.seen](std::string_view identifier) {
                      return CredentialStore::SecretSeen(seen, identifier, false, loop.Wall().ms);
                    }}) {}

base::Result<std::unique_ptr<WebPort>> WebPort::Listen(env::Loop& loop, env::Net& net, const env::Endpoint& endpoint,
                                                       http::KnownHosts hosts, Standby standby) {
  std::unique_ptr<WebPort> port(new WebPort(loop, std::move(standby)));
  base::Result<std::unique_ptr<http::Server>> server = http::Server::Listen(
      loop, net, endpoint, std::move(hosts),
      [raw = port.get()](http::Request request, http::Server::Reply reply) {
        raw->Serve(std::move(request), std::move(reply));
      },
      {}, login::VouchOf(port->standby_.security));
  if (!server.ok()) return server.error();
  port->server_ = std::move(*server);
  return port;
}

// What RMWebAppFilter does not redirect, as far as it is here (IsActiveServlet, RMWebServices.getClusterInfo).
std::optional<http::Response> WebPort::OfThisProcess(const http::Request& request) const {
  if (request.path == "/conf") return http::ConfPage(request, standby_.configuration.get());
  if (request.path == "/jmx") {
    std::vector<http::Bean> beans;
    http::AddJvmBean("ResourceManager", standby_.membership().id, beans);
    return http::JmxAnswer(request.query, beans);
  }
  if (request.path == "/cluster/cluster") {
    const std::string active = standby_.active();
    return http::TextResponse(200, "This is " + standby_.membership().id + ", a standby. " +
                                       (active.empty() ? "Nobody is known to lead." : "It follows " + active + ".") +
                                       "\n");
  }
  if (std::optional<http::Response> instead = http::InsteadOfServlet(request.path)) return instead;
  if (request.path != "/ws/v1/cluster/info") return std::nullopt;
  ClusterFacts facts{standby_.started, standby_.version, false, false, !standby_.active().empty()};
  return http::Rendered(request, ClusterDocument(facts), "clusterInfo");
}

void WebPort::Serve(http::Request request, http::Server::Reply reply) {
  if (request.path == "/fairlead/v1/ha") {
    const Membership now = standby_.membership();
    return reply(
        http::JsonResponse(200, endpoints::v1::Text(endpoints::v1::Ha{now.id, now.leader, now.session.millis()})));
  }
  if (web_ && standby_.acting()) {
    const auto owed = std::make_shared<Owed>(std::move(reply));
    return web_->Serve(std::move(request), [owed](http::Response response) { owed->Give(std::move(response)); });
  }
  if (request.path == "/isActive") return reply(http::TextResponse(405, "I am not Active!\n"));
  if (request.path == "/healthz") return reply(http::TextResponse(200, "standby\n"));
  if (std::optional<http::Response> own = OfThisProcess(request)) {
    return login_.Enter(std::move(request), std::move(reply),
                        [own = *std::move(own)](const http::Request&, const auto& answer) { answer(own); });
  }
  if (request.path == "/readyz") return reply(ComeBack("This is a standby."));
  const std::string active = standby_.active();
  if (active.empty()) return reply(ComeBack("There is currently no active resource manager."));
  const std::string url = active + request.target;
  http::Response response = http::TextResponse(307, "This is standby RM. The redirect url is: " + url + "\n");
  response.headers = {{"Location", url}};
  reply(std::move(response));
}

}  // namespace fairlead::process::rm
