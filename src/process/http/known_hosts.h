#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "process/http/http.h"

namespace fairlead::process::http {

/// By which names a listener is reached. A browser may be led to any address under any name (DNS
/// rebinding), and then takes the page of that name and the daemon behind it for one site: a name that is not known
/// here is not served at all. Literal addresses and localhost are always known, since no stranger can own them.
struct KnownHosts {
  std::set<std::string> names;    ///< in lower case, of this machine and those that its configuration calls it by
  std::set<std::string> proxies;  ///< NAME or NAME:PORT of what stands before it, pages of which may change things
  bool any = false;               ///< every name is served: nothing is held against rebinding

  void AddName(std::string_view name);
  void AddProxy(std::string_view name);
};

/// Why `request` is not to be served: 400 without exactly one well-formed Host or with a target that is no path, 421
/// for a name that is not known, 403 for a change that a page of another site asks for (Origin, Sec-Fetch-Site; what is
/// no browser sends neither). nullopt: it may be served.
std::optional<Response> Refusal(const KnownHosts& hosts, const Request& request);

/// True for a request that a page of another site makes by itself, unlike somebody who follows a link.
bool IsForeignFetch(const Request& request);

}  // namespace fairlead::process::http
