#include "process/http/known_hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "base/text.h"

namespace fairlead::process::http {
namespace {

constexpr size_t kNameBytesMax = 255;  // of DNS

/// "host", "host:port", "[v6]" or "[v6]:port" of a Host or Origin header.
struct Authority {
  std::string host;  // in lower case, without brackets and without DNS's final dot
  std::string port;
};

bool IsPort(std::string_view text) {
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  return error == std::errc() && end == text.data() + text.size();
}

bool MayStandInName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

bool IsAddress(int family, const std::string& text) {
  in6_addr address{};
  return ::inet_pton(family, text.c_str(), &address) == 1;
}

std::optional<Authority> ParseAuthority(std::string_view text) {
  if (text.size() > kNameBytesMax + 8) return std::nullopt;
  const bool brackets = text.starts_with('[');
  const size_t end = brackets ? text.find(']') : text.find(':');
  if (brackets && end == std::string_view::npos) return std::nullopt;
  Authority out{base::Lowered(brackets ? text.substr(1, end - 1) : text.substr(0, end)), ""};
  if (std::string_view rest = end == std::string_view::npos ? "" : text.substr(end + brackets); !rest.empty()) {
    if (rest[0] != ':' || !IsPort(rest.substr(1))) return std::nullopt;
    out.port = rest.substr(1);
  }
  if (brackets) return IsAddress(AF_INET6, out.host) ? std::optional(out) : std::nullopt;
  if (out.host.ends_with('.')) out.host.pop_back();
  if (out.host.empty() || !std::all_of(out.host.begin(), out.host.end(), MayStandInName)) return std::nullopt;
  return out;
}

bool IsKnown(const KnownHosts& hosts, const Authority& at) {
  return hosts.any || at.host == "localhost" || IsAddress(AF_INET, at.host) || IsAddress(AF_INET6, at.host) ||
         hosts.names.contains(at.host) ||
         // A proxy's name is known with every port: a tunnel to this daemon may lie on another one.
         std::any_of(hosts.proxies.begin(), hosts.proxies.end(), [&](const std::string& proxy) {
           const auto named = ParseAuthority(proxy);
           return named && named->host == at.host;
         });
}

/// Whether pages of `origin` are this daemon's own, as a browser that asked for `host` sees it: directly, or by a
/// proxy.
bool IsOwnOrigin(const KnownHosts& hosts, std::string_view origin, std::string_view host) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    const std::string site = base::Lowered(origin.substr(scheme.size()));
    return site == base::Lowered(host) || hosts.proxies.contains(site);
  }
  return false;
}

bool IsChange(const Request& request) {
  return request.method != "GET" && request.method != "HEAD" && request.method != "OPTIONS";
}

/// Sec-Fetch-Site of a page that is not of this very origin; another port of this host is another site, too.
bool IsFromOtherSite(const Request& request) {
  const std::string_view site = FindHeader(request.headers, "Sec-Fetch-Site");
  return !site.empty() && site != "same-origin" && site != "none";
}

}  // namespace

void KnownHosts::AddName(std::string_view name) { names.insert(base::Lowered(name)); }
void KnownHosts::AddProxy(std::string_view name) { proxies.insert(base::Lowered(name)); }

std::optional<Response> Refusal(const KnownHosts& hosts, const Request& request) {
  if (!request.target.starts_with('/') && !(request.method == "OPTIONS" && request.target == "*")) {
    return TextResponse(400, "The target must be a path; this is no proxy.\n");
  }
  const auto headers_of = [&](std::string_view name) {
    std::vector<std::string_view> values;
    for (const auto& header : request.headers) {
      if (base::Lowered(header.first) == base::Lowered(name)) values.push_back(header.second);
    }
    return values;
  };
  const auto named = headers_of("Host");
  // HTTP/1.0 knows no Host; no browser speaks it.
  if (named.size() > 1 || (named.empty() && request.version > 10)) {
    return TextResponse(400, "A request has one Host header.\n");
  }
  const std::string_view host = named.empty() ? std::string_view() : named[0];
  if (!named.empty()) {
    const auto at = ParseAuthority(host);
    if (!at) return TextResponse(400, "The Host header is not HOST or HOST:PORT.\n");
    if (!IsKnown(hosts, *at)) {
      return TextResponse(421, "This daemon is not known as '" + at->host +
                                   "'. Use its address or its machine's name, or add the name to fairlead.http.hosts "
                                   "in its configuration.\n");
    }
  }
  if (!IsChange(request)) return std::nullopt;
  const auto origins = headers_of("Origin");
  const bool own = std::all_of(origins.begin(), origins.end(),
                               [&](std::string_view origin) { return IsOwnOrigin(hosts, origin, host); });
  if (own && !IsFromOtherSite(request)) return std::nullopt;
  return TextResponse(403,
                      "Requests from another site may not change anything. A proxy in front of this daemon is named in "
                      "fairlead.http.hosts.\n");
}

bool IsForeignFetch(const Request& request) {
  return IsFromOtherSite(request) && FindHeader(request.headers, "Sec-Fetch-Mode") != "navigate";
}

}  // namespace fairlead::process::http
