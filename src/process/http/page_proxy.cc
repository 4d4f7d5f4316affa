#include "process/http/page_proxy.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/predicate.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "process/http/client.h"
#include "process/http/known_hosts.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::http {

namespace {

/// Whoever finds it in a request has passed that on already.
constexpr const char* kVia = "Via";
constexpr const char* kOwnHop = "1.1 fairlead-proxy";
constexpr std::string_view kHttp = "http://", kHttps = "https://";
/// What is fetched at a time; a page is the half of it at most.
constexpr peers::PeerLimits kFetched{.connections_max = 500, .per_address_max = 100, .bytes_max = size_t{32} << 20};

/// One for a thread, and so for a daemon: one that leads again still holds what it fetched before.
std::shared_ptr<peers::PeerTable> Fetched() {
  thread_local const auto table = std::make_shared<peers::PeerTable>(kFetched);
  return table;
}

bool IsOneOf(std::string_view name, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* each) { return boost::algorithm::iequals(name, each); });
}

bool IsPassedOn(std::string_view name) {
  return IsOneOf(name, {"Accept", "Accept-Language", "Accept-Charset", "User-Agent", "Content-Type", "Origin",
                        "Access-Control-Request-Method", "Access-Control-Request-Headers"});
}

bool IsOfConnection(std::string_view name) {
  return IsOneOf(name, {"Transfer-Encoding", "Content-Length", "Content-Type", "Connection", "Keep-Alive"});
}

/// What says something of the whole server that a browser sees, which is ours: cookies (a page gets none, so it has no
/// use for them), what is to be forgotten, how and where it is to be reached, who answers for its paths.
bool IsOfServer(std::string_view name) {
  return IsOneOf(name, {"Set-Cookie", "Set-Cookie2", "Clear-Site-Data", "Strict-Transport-Security", "Alt-Svc",
                        "Service-Worker-Allowed"});
}

uint16_t UsualPort(bool https) { return https ? 443 : 80; }

}  // namespace

std::string ShownFrom(const Request& request) {
  std::string_view referer = FindHeader(request.headers, "Referer");
  const size_t host = referer.find("://");
  const size_t path = host == std::string_view::npos ? host : referer.find('/', host + 3);
  const size_t proxy = path == std::string_view::npos ? path : referer.find(kProxyPath, path);
  if (proxy == std::string_view::npos) return "";
  referer.remove_prefix(proxy + kProxyPath.size());
  return std::string(referer.substr(0, referer.find_first_of("/?")));
}

base::Result<PageAddress> ParsePageUrl(std::string url, std::string_view whose) {
  const bool https = url.starts_with(kHttps);
  if (https || url.starts_with(kHttp)) url.erase(0, (https ? kHttps : kHttp).size());
  const size_t slash = url.find('/');
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(url.substr(0, slash), UsualPort(https));
  if (!endpoint.ok()) return endpoint.error();
  PageAddress page{https, std::move(*endpoint), slash == std::string::npos ? "" : url.substr(slash)};
  while (page.path.ends_with('/')) page.path.pop_back();
  if (!IsVisible(page.path)) return base::Error{std::string(whose) + " has an address that is none"};
  return page;
}

std::optional<Response> ProxyRefusal(const Request& request, std::initializer_list<std::string_view> methods) {
  if (IsForeignFetch(request)) return TextResponse(403, "Follow a link to come here.\n");
  if (std::ranges::find(methods, request.method) == methods.end()) {
    return TextResponse(
        405, "The proxy passes on " +
                 boost::algorithm::join(std::vector<std::string>(methods.begin(), methods.end()), ", ") + " alone.\n");
  }
  if (FindHeader(request.headers, kVia).find(kOwnHop) != std::string_view::npos) {
    return TextResponse(508, "The page that is asked for leads back to this proxy.\n");
  }
  return std::nullopt;
}

namespace {

constexpr int kHops = 5;

/// `location` without the page's own origin: a path from the "/" on, or a relative one. nullopt: it leads to another
/// server.
std::optional<std::string> OwnPath(std::string_view location, const PageAddress& page) {
  const std::string_view own_scheme = page.https ? "https:" : "http:";
  const env::Endpoint& own = page.endpoint;
  const size_t name = location.find_first_of(":/?#");
  const bool scheme = name != std::string_view::npos && location[name] == ':';
  if (scheme && !boost::algorithm::istarts_with(location, own_scheme)) return std::nullopt;
  if (scheme) location.remove_prefix(own_scheme.size());
  if (!location.starts_with("//")) return scheme ? std::nullopt : std::optional(std::string(location));
  location.remove_prefix(2);
  const size_t end = std::min(location.find_first_of("/?#"), location.size());
  const base::Result<env::Endpoint> endpoint = env::ParseEndpoint(location.substr(0, end), UsualPort(page.https));
  if (!endpoint.ok() || endpoint->port != own.port || !boost::algorithm::iequals(endpoint->host, own.host)) {
    return std::nullopt;
  }
  location.remove_prefix(end);
  return (location.starts_with('/') ? "" : "/") + std::string(location);
}

/// What follows `prefix` in a path; nullopt: the path is not below it.
std::optional<std::string> Below(const std::string& path, const std::string& prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  std::string rest = path.substr(prefix.size());
  if (!rest.empty() && rest[0] != '/' && rest[0] != '?' && rest[0] != '#') return std::nullopt;
  return rest;
}

/// The path of an address of ours.
std::string PathOf(const std::string& address) {
  const size_t scheme = address.find("://");
  if (scheme == std::string::npos) return address;
  const size_t path = address.find('/', scheme + 3);
  return path == std::string::npos ? "" : address.substr(path);
}

/// One page on its way, until `done_`.
class Passing : public std::enable_shared_from_this<Passing> {
 public:
  Passing(env::Loop& loop, env::Net& net, const Request& request, Shown shown,
          std::function<void(base::Result<Response>)> done)
      : loop_(loop), net_(net), shown_(std::move(shown)), done_(std::move(done)) {
    fetch_.endpoint = shown_.page.endpoint;
    fetch_.scheme = shown_.page.https ? kHttps : kHttp;
    fetch_.method = request.method;
    for (const auto& [name, value] : request.headers) {
      if (IsPassedOn(name)) fetch_.headers.emplace_back(name, value);
    }
    fetch_.headers.insert(fetch_.headers.end(), shown_.more.begin(), shown_.more.end());
    fetch_.headers.emplace_back(kVia, kOwnHop);
    fetch_.body = request.body;
    fetch_.body_bytes_max = kFetched.bytes_max / 2;
    fetch_.table = Fetched();
    fetch_.charged = shown_.owner;
  }

  void Get(const std::string& target) {
    fetch_.target = target;
    Fetch(loop_, net_, fetch_, [self = shared_from_this()](base::Result<Response> answer) {
      if (!answer.ok()) return self->done_(std::move(answer));
      std::erase_if(answer->headers,
                    [](const auto& header) { return IsOfConnection(header.first) || IsOfServer(header.first); });
      self->Redirected(std::move(*answer));
    });
  }

 private:
  void Redirected(Response answer) {
    const auto is_location = [](const auto& each) { return boost::algorithm::iequals(each.first, "Location"); };
    const auto header = std::ranges::find_if(answer.headers, is_location);
    if (header == answer.headers.end()) return done_(std::move(answer));
    // Browsers take a backslash for a slash, and of several one that was not looked at.
    if (header->second.find('\\') != std::string::npos || std::ranges::count_if(answer.headers, is_location) > 1) {
      return done_(base::Error{"the page leads to an address that is none"});
    }
    const std::optional<std::string> path = OwnPath(header->second, shown_.page);
    if (!path) {
      return done_(base::Error{"the page leads to " + header->second +
                               ", another server, and the proxy shows nothing but the page itself"});
    }
    if (path->starts_with('/') && !Below(*path, PathOf(shown_.below))) {
      const std::optional<std::string> rest = Below(*path, shown_.page.path);
      if (!rest) return Follow(*path, std::move(answer));
      header->second = shown_.below + (rest->starts_with('/') ? "" : "/") + *rest;
    }
    done_(std::move(answer));
  }

  /// Our addresses have no name for that part of the page's server.
  void Follow(const std::string& path, Response answer) {
    const bool reads = fetch_.method == "GET" || fetch_.method == "HEAD";
    if (!reads || answer.status < 300 || answer.status > 399) return done_(std::move(answer));
    if (++hops_ > kHops || !IsVisible(path)) return done_(base::Error{"the page leads on and on"});
    Get(path.substr(0, path.find('#')));
  }

  env::Loop& loop_;
  env::Net& net_;
  const Shown shown_;
  std::function<void(base::Result<Response>)> done_;
  ClientRequest fetch_;
  int hops_ = 0;
};

}  // namespace

void PassOn(env::Loop& loop, const PageNets& nets, const Request& request, Shown shown,
            std::function<void(base::Result<Response>)> done) {
  if (shown.page.https && nets.https == nullptr) {
    return done(base::Error{"it is HTTPS, and nobody here knows whom to trust"});
  }
  env::Net& net = shown.page.https ? *nets.https : nets.http;
  const std::string& base = shown.page.path;
  const std::string target = shown.rest == "/" && !base.empty() ? base : base + shown.rest;
  std::make_shared<Passing>(loop, net, request, std::move(shown), std::move(done))->Get(target);
}

}  // namespace fairlead::process::http
