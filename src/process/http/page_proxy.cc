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

}  // namespace

base::Result<PageAddress> ParsePageUrl(std::string url, std::string_view whose) {
  constexpr std::string_view kHttp = "http://";
  if (url.starts_with("https://")) return base::Error{std::string(whose) + " is HTTPS, which the proxy does not speak"};
  if (url.starts_with(kHttp)) url.erase(0, kHttp.size());
  const size_t slash = url.find('/');
  base::Result<env::Endpoint> endpoint = env::ParseEndpoint(url.substr(0, slash), 80);
  if (!endpoint.ok()) return endpoint.error();
  PageAddress page{std::move(*endpoint), slash == std::string::npos ? "" : url.substr(slash)};
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

void PassOn(env::Loop& loop, env::Net& net, const Request& request, const PageAddress& page, const std::string& rest,
            const std::string& owner, Headers more, std::function<void(base::Result<Response>)> done) {
  ClientRequest fetch;
  fetch.endpoint = page.endpoint;
  fetch.method = request.method;
  fetch.target = rest == "/" && !page.path.empty() ? page.path : page.path + rest;
  for (const auto& [name, value] : request.headers) {
    if (IsPassedOn(name)) fetch.headers.emplace_back(name, value);
  }
  fetch.headers.insert(fetch.headers.end(), more.begin(), more.end());
  fetch.headers.emplace_back(kVia, kOwnHop);
  fetch.body = request.body;
  fetch.body_bytes_max = kFetched.bytes_max / 2;
  fetch.table = Fetched();
  fetch.charged = owner;
  Fetch(loop, net, std::move(fetch), [done = std::move(done)](base::Result<Response> answer) {
    if (answer.ok()) {
      std::erase_if(answer->headers, [](const auto& header) {
        return IsOneOf(header.first,
                       {"Transfer-Encoding", "Content-Length", "Content-Type", "Connection", "Keep-Alive"});
      });
    }
    done(std::move(answer));
  });
}

}  // namespace fairlead::process::http
