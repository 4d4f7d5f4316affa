#include "process/spark_master/master_orders.h"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>

#include "env/net.h"

namespace fairlead::process::spark_master {

namespace {

/// Values of one name in a form (application/x-www-form-urlencoded) or a query.
void Collect(const std::string& text, const std::string& name, std::vector<std::string>& values) {
  std::vector<std::string> parts;
  boost::algorithm::split(parts, text, boost::algorithm::is_any_of("&"));
  for (const std::string& part : parts) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos || http::PercentDecode(part.substr(0, equals), true) != name) continue;
    values.push_back(http::PercentDecode(part.substr(equals + 1), true));
  }
}

std::vector<std::string> ValuesOf(const http::Request& request, const std::string& name) {
  std::vector<std::string> values;
  const size_t query = request.target.find('?');
  if (query != std::string::npos) Collect(request.target.substr(query + 1), name, values);
  Collect(request.body, name, values);
  return values;
}

std::string ValueOf(const http::Request& request, const std::string& name) {
  const std::vector<std::string> values = ValuesOf(request, name);
  return values.empty() ? "" : values.front();
}

bool MayDecommission(const MasterOrders& orders, const std::string& peer) {
  if (!orders.decommission || orders.decommission_from == DecommissionFrom::kNobody) return false;
  return orders.decommission_from == DecommissionFrom::kEverybody || env::IsLoopback(peer);
}

}  // namespace

http::Response Order(StandaloneCluster& cluster, const MasterOrders& orders, const http::Request& request) {
  std::string path = request.path;
  if (path.ends_with('/')) path.pop_back();
  if (path == "/workers/kill") {
    if (!MayDecommission(orders, request.peer)) {
      return http::TextResponse(405,
                                "workers cannot be decommissioned from here: spark.decommission.enabled and "
                                "spark.master.ui.decommission.allow.mode say who may");
    }
    int found = 0;
    for (const std::string& host : ValuesOf(request, "host")) found += cluster.DecommissionHost(host);
    return http::TextResponse(found > 0 ? 200 : 404, std::to_string(found) + " workers are decommissioned");
  }
  if (path != "/app/kill" && path != "/driver/kill") return http::TextResponse(405, "nothing can be ordered here");
  const std::string id = ValueOf(request, "id");
  if (orders.kill && ValueOf(request, "terminate") == "true") {
    if (path == "/app/kill") cluster.KillApplication(id);
    if (path == "/driver/kill") cluster.KillDriver(id, [](bool) {});
  }
  http::Response back = http::TextResponse(302, "");
  back.headers.emplace_back("Location", "/");
  return back;
}

}  // namespace fairlead::process::spark_master
