#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "wire/yarn/client.h"

// What apps, why, nodes and queues print, of a live cluster or of an older state of it.

namespace fairlead::apps {

/// In memory, MiB.
struct ClusterSums {
  int64_t nodes = 0;  // that run
  int64_t running = 0;
  int64_t pending = 0;
  int64_t containers = 0;
  int64_t used_mib = 0;
  int64_t total_mib = 0;
};
/// As `status` says it.
std::string SumsText(const ClusterSums& sums);
/// `now_ms`: the ages of those that run count up to it.
void PrintApps(const std::vector<wire::yarn::ApplicationReportProto>& reports, int64_t now_ms, bool json);
/// `detail`: of /fairlead/v1/apps/ID, with "pending"; null of another resource manager's.
void PrintWhy(const wire::yarn::ApplicationReportProto& report, const nlohmann::ordered_json& detail, bool json);
/// `scheme`: of nodes' pages; `known`: of /fairlead/v1/nodes: windows of maintenance, and what agents tell.
void PrintNodes(const std::vector<wire::yarn::NodeReportProto>& nodes, bool json, const std::string& scheme = "http://",
                const nlohmann::ordered_json& known = nlohmann::ordered_json::object());
/// A line for each window.
void PrintMaintenance(const nlohmann::ordered_json& windows);
/// What the queue used in the past, decayed: "12.3 %" of the cluster; "-" where nobody counts it.
std::string PastUseText(const nlohmann::ordered_json& queue);
/// `answer`: of /fairlead/v1/queues.
void PrintQueues(nlohmann::ordered_json answer, bool json);

}  // namespace fairlead::apps
