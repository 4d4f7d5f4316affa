#pragma once

#include <cstdint>

#include "process/http/http.h"
#include "process/spark_master/standalone_cluster.h"

namespace fairlead::process::spark_master {

/// From where POST /workers/kill is taken (spark.master.ui.decommission.allow.mode).
enum class DecommissionFrom : uint8_t { kNobody, kLoopback, kEverybody };

/// What people may order on the master's page.
struct MasterOrders {
  bool kill = true;           // spark.ui.killEnabled
  bool decommission = false;  // spark.decommission.enabled
  DecommissionFrom decommission_from = DecommissionFrom::kLoopback;
};

/// POST /app/kill/ and /driver/kill/ (id, terminate=true), answered as Spark's by the way back to the page, and
/// /workers/kill/ (host): 200 when there was one, else 404; 405 where it may not be ordered. Pages of other sites are
/// refused before this is called (http/known_hosts.h).
http::Response Order(StandaloneCluster& cluster, const MasterOrders& orders, const http::Request& request);

}  // namespace fairlead::process::spark_master
