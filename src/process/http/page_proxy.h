#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/http/http.h"

// Passing the page of a program on to a browser, below a path of ours: masters' pages at the resource manager, drivers'
// and workers' at the Standalone Master.

namespace fairlead::process::http {

/// The header by which the resource manager shows a page that a request is its proxy's.
inline constexpr std::string_view kPageSecret = "Fairlead-Page-Secret";

/// Below which pages are shown, each below its id.
inline constexpr std::string_view kProxyPath = "/proxy/";

/// The id of the page from which a browser asks, by its Referer; empty: none that is shown by a proxy. Pages of Hadoop
/// and Spark name static files as if these were the proxy's own.
std::string ShownFrom(const Request& request);

/// Where a page is.
struct PageAddress {
  bool https = false;
  env::Endpoint endpoint;
  std::string path;  // without a final slash
};

/// "http://host:port/base", "https://host:port/base" or "host:port/base". `whose` begins the error: "the master's
/// page".
base::Result<PageAddress> ParsePageUrl(std::string url, std::string_view whose);

/// Why a request is not to be passed on: a page of another site makes it by itself (such pages may act on GET), its
/// method is none of `methods`, or it has come through this proxy before.
std::optional<Response> ProxyRefusal(const Request& request, std::initializer_list<std::string_view> methods);

/// By which pages are fetched.
struct PageNets {
  env::Net& http;
  env::Net* https = nullptr;  // speaks TLS, and knows whom to trust; null: pages that are HTTPS are not shown
};

/// How a page is shown.
struct Shown {
  PageAddress page;
  std::string rest;   // the path and query that are asked for, from the "/" on
  std::string below;  // the path or address of ours below which the page is shown, without a final slash
  std::string owner;  // whose pages hold more than others' is refused first
  Headers more;       // that the page gets besides
};

/// Fetches `rest` of the page with what of the request may be passed on: its method, its body and headers that say
/// nothing of who asks. `done` gets the answer with the headers of its connection left out. A redirection leads below
/// `below`; one to another part of the page's server is followed here, one to another server is an error. What this
/// thread fetches at a time has a bound, and so has a page; over that a fetch of the owner whose pages hold most fails.
void PassOn(env::Loop& loop, const PageNets& nets, const Request& request, Shown shown,
            std::function<void(base::Result<Response>)> done);

}  // namespace fairlead::process::http
