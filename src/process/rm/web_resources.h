#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "endpoints/rest/document.h"
#include "endpoints/v1/nodes.h"
#include "process/http/server.h"
#include "process/rm/delegation_tokens.h"
#include "process/rm/maintenance.h"
#include "process/rm/reports.h"
#include "scheduler/scheduler.h"

namespace fairlead::process::rm {

// Measured amounts as Hadoop's pages have them; what is not known is 0 there.
inline int64_t MiB(int64_t bytes) { return std::max<int64_t>(0, bytes) >> 20; }
inline double Cores(int64_t milli_cores) { return static_cast<double>(std::max<int64_t>(0, milli_cores)) / 1000; }

/// dao/ResourceInfo. `bounds`: says with each type the least and the most that may be asked for, as Hadoop does of what
/// is configured and not computed.
struct Bounds {
  model::Resources minimum, maximum;
};
endpoints::rest::Document ResourceDocument(const model::Resources& resources,
                                           const std::optional<Bounds>& bounds = std::nullopt);

using Query = std::map<std::string, std::string>;
/// The query's value; empty when it has none.
std::string_view Asked(const Query& query, const std::string& key);
/// A number of the query within [0, 2^31), or `otherwise`.
size_t AskedNumber(const Query& query, const std::string& key, size_t otherwise);

/// dao/ClusterInfo.
struct ClusterFacts {
  int64_t started = 0;       // milliseconds since 1970
  std::string_view version;  // of Hadoop's protocols
  bool active = true;
  bool alone = true;           // it is no member of several
  bool sees_zookeeper = true;  // of a member
};
endpoints::rest::Document ClusterDocument(const ClusterFacts& facts);
/// Maintenance windows, of one host alone where `host` is not null.
std::vector<endpoints::v1::MaintenanceWindow> WindowsOf(const Maintenance& maintenance, const std::string* host);
/// dao/AppTimeoutInfo.
endpoints::rest::Document TimeoutDocument(const App& app, base::WallTime now);

/// Some beans are written without their root in JSON: "" then, `root` for XML.
std::string_view BareRoot(const http::Request& request, std::string_view root);
/// No resource has this address: a page, as Hadoop's container gives it, and no exception.
http::Response NotFound();
/// A file that a page which came through the proxy takes for ours, as Hadoop's do a picture; nullopt: it is none.
std::optional<http::Response> FileOfMaster(const http::Request& request);
/// An error of Fairlead's own REST.
void OwnError(const http::Server::Reply& reply, int status, const std::string& message);

/// PUT ?op=CANCELDELEGATIONTOKEN&token=T, without a login (DelegationTokenAuthenticationHandler).
void CancelByHolder(DelegationTokens& tokens, const http::Request& request, const http::Server::Reply& reply);

}  // namespace fairlead::process::rm
