#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/net.h"
#include "env_zookeeper/elector.h"
#include "process/http/known_hosts.h"
#include "process/http/token_filter.h"
#include "process/spark_master/master_orders.h"
#include "process/spark_master/master_proxy.h"
#include "process/spark_master/spark_master.h"
#include "process/spark_master/standalone_cluster.h"
#include "shell/spark/master_daemon.h"
#include "shell/spark/spark_properties.h"
#include "shell/tls/spark_tls.h"

namespace fairlead::shell {

/// spark.deploy.recoveryMode.
enum class RecoveryMode : uint8_t { kNone, kFilesystem, kRocksDb, kZooKeeper };

/// spark.ui.reverseProxy, .reverseProxyUrl; and whom it trusts where pages are HTTPS.
struct TrustingProxy : process::spark_master::ReverseProxy {
  TlsFiles trust;
};

struct StandaloneMasterSettings {
  process::spark_master::SparkMasterSettings master;
  process::spark_master::StandaloneSettings cluster;
  process::spark_master::MasterOrders orders;
  TrustingProxy proxy;
  env::Endpoint web;
  int port_retries = 0;                                   // spark.port.maxRetries: of the page's port and the REST port
  process::http::KnownHosts hosts;                        // under which names the web ports are served
  std::optional<PageTls> tls;                             // of the page: spark.ssl.standalone.*
  std::optional<env::Endpoint> rest;                      // spark.master.rest.enabled
  bool rest_https = false;                                // spark.fairlead.rest.https
  std::optional<process::http::TokenFilter> rest_filter;  // spark.master.rest.filters
  process::http::ServerLimits rest_limits;                // spark.master.rest.maxRequestBodySize
  std::optional<process::http::TokenFilter> page_filter;  // spark.ui.filters
  RecoveryMode recovery = RecoveryMode::kNone;
  std::string recovery_directory;         // spark.deploy.recoveryDirectory
  env_zookeeper::ElectorOptions elector;  // spark.deploy.zookeeper.url, .dir
  bool knows_callers = false;             // fairlead.callers.uids
  std::string profile;                    // who places executors
  std::string wishes = "none";            // its switches that are on
  std::vector<std::string> warnings;
};

/// What Spark's own Master would take from its flags, environment and properties; docs/spark-master.md has the table.
base::Result<StandaloneMasterSettings> ReadStandaloneMasterSettings(const SparkMasterOptions& options);
/// The same of this Spark; `keys` in the place of its files and variables.
base::Result<StandaloneMasterSettings> ReadStandaloneMasterSettings(const SparkMasterOptions& options,
                                                                    endpoints::spark::SparkBuild build,
                                                                    SparkKeys& keys);

/// An option, else an environment variable, else `otherwise`.
base::Result<uint16_t> PortOf(const std::optional<uint16_t>& option, const char* variable, int64_t otherwise);
/// spark.port.maxRetries.
int ReadPortRetries(SparkKeys& keys);
/// spark.ui.reverseProxy: spark.ui.reverseProxyUrl without its final slash, "" without one; nothing: it is off.
std::optional<std::string> ReadReverseProxy(SparkKeys& keys);
/// Where a daemon listens: what was said, else the variable's, else 127.0.0.1.
std::string HostOf(const std::string& option, const char* variable);
/// As which others know a daemon that listens on `host`.
std::string AdvertisedHost(const std::string& host);

}  // namespace fairlead::shell
