#pragma once

#include <string>
#include <string_view>

#include "process/http/http.h"
#include "process/http/static_file.h"
#include "process/spark_master/master_proxy.h"
#include "process/spark_master/standalone_cluster.h"

namespace fairlead::process::spark_master {

/// The JSON of the master's page (org.apache.spark.deploy.JsonProtocol.writeMasterState): `/json/`, in Spark 4 also
/// `/json/FIELD` and `/json/clusterutilization`. `spark4`: which release answers.
std::string MasterJson(const StandaloneCluster& cluster, const std::string& field, bool spark4);

/// `/metrics/master/json/`: the gauges of Spark's MasterSource.
std::string MasterGauges(const StandaloneCluster& cluster);
/// `/metrics`, for Prometheus.
http::Response MasterMetrics(const StandaloneCluster& cluster);
/// The executors of an application, the latest 200 of this life of the master with those that have ended:
/// `/fairlead/executors` (appId).
std::string ExecutorsJson(const StandaloneCluster& cluster, const std::string& id);
/// Why each application and driver waits, beside what `/json/` says: `/fairlead/waiting`.
std::string WaitingJson(const StandaloneCluster& cluster);
/// What the machine of each worker that is alive uses, as it said last: `/fairlead/use`. Amounts that are not known are
/// left out, and so are workers that tell nothing: Spark's own, and all where nobody decides by it.
std::string UseJson(const StandaloneCluster& cluster);

/// A file of web/; null when there is none of this name.
const http::StaticFile* FindWebFile(std::string_view name);

/// The master's page, that of an application (/app/, appId), all of the above by their paths, /app/json/ of one,
/// /fairlead/pages, /healthz, and /readyz: whether it is ALIVE.
http::Response MasterPage(const StandaloneCluster& cluster, const ReverseProxy& proxy, const http::Request& request,
                          bool spark4);

}  // namespace fairlead::process::spark_master
