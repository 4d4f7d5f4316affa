#pragma once

#include <string>

#include "env/loop.h"
#include "env/net.h"
#include "process/http/http.h"
#include "process/http/page_proxy.h"
#include "process/http/server.h"
#include "process/spark_master/standalone_cluster.h"
#include "process/spark_master/standalone_master.h"

namespace fairlead::process::spark_master {

/// spark.ui.reverseProxy: pages of workers and of applications' drivers below the master's own
/// (org.apache.spark.ui.JettyUtils.createProxyHandler).
struct ReverseProxy {
  bool on = false;
  std::string front;  // spark.ui.reverseProxyUrl without its final slash: where users reach the master; empty: as it is
};

/// `/proxy/ID/...` fetches from the page of the worker or running application of this id, by GET, HEAD and POST. On the
/// loop's thread; what is on its way outlives this.
class MasterProxy {
 public:
  MasterProxy(env::Loop& loop, http::PageNets nets, StandaloneMaster& master, ReverseProxy settings);

  /// Whether a request is for the proxy: below /proxy/, or for a static file of a page that came through it, which
  /// Spark's pages take for the master's.
  bool Takes(const http::Request& request) const;
  void Handle(const http::Request& request, const http::Server::Reply& reply) const;

 private:
  std::string UrlOf(const std::string& id) const;

  env::Loop& loop_;
  const http::PageNets nets_;
  StandaloneMaster& master_;
  const ReverseProxy settings_;
};

/// Where the pages of each worker that is shown and each running application are, by id: direct, or through the proxy.
std::string PagesJson(const StandaloneCluster& cluster, const ReverseProxy& proxy);

}  // namespace fairlead::process::spark_master
