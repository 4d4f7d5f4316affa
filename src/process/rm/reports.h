#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "rm/core.h"
#include "scheduler/scheduler.h"
#include "wire/yarn/client.h"

// What clients read of the resource manager's state, as YARN's records (RMAppImpl.createAndGetApplicationReport and
// its like).

namespace fairlead::process::rm {

using fairlead::rm::App;
using fairlead::rm::Attempt;
using fairlead::rm::Container;
using fairlead::rm::Core;
using fairlead::rm::Node;

/// What an application holds and has used so far.
struct AppUsage {
  model::Resources used;
  int32_t containers = 0;
  model::Resources reserved;
  int32_t reservations = 0;
  int64_t memory_seconds = 0;
  int64_t vcore_seconds = 0;
  int64_t preempted_memory_seconds = 0;
  int64_t preempted_vcore_seconds = 0;
};
/// What there is to know at `at`, from which AppUsage follows for any later time as long as nothing changes.
struct UsageRecord {
  base::WallTime at;
  model::Resources used;
  int32_t containers = 0;
  model::Resources reserved;
  int32_t reservations = 0;
  int64_t memory_ms = 0;
  int64_t vcore_ms = 0;
  int64_t preempted_memory_ms = 0;
  int64_t preempted_vcore_ms = 0;
};
AppUsage UsageAt(const UsageRecord& record, base::WallTime now);
/// Cost: the application's live containers.
UsageRecord UsageRecordOf(const App& app, base::WallTime now);

/// One node as readers see it; any thread may read it.
struct NodeRow {
  model::rm::NodeAddress address;
  std::string http_address;
  std::string rack;
  model::rm::NodeState state = model::rm::NodeState::kNew;
  bool in_scheduler = false;
  model::Resources capacity;
  model::Resources used;
  int32_t containers = 0;
  model::MeasuredUse use;
  model::MeasuredUse containers_use;
  std::string version;
  std::string health_report;
  base::WallTime health_time;
  std::vector<std::string> labels;
  int64_t decommission_timeout_s = -1;
};
/// Without what runs on it.
NodeRow NodeRowOf(const Node& node);
/// `only`, or null for all nodes in Core::ForEachNode's order. Cost: all live containers, besides.
std::vector<NodeRow> NodeRows(const Core& core, const Node* only = nullptr);

/// What reports of applications tell of others.
struct ReportFacts {
  base::WallTime now;
  std::string proxy_base;      // of masters' pages
  int64_t cluster_memory = 0;  // MiB, of the nodes that the scheduler knows
};
/// `full` false: the caller may not see more than that the application exists.
wire::yarn::ApplicationReportProto ReportOf(const App& app, const UsageRecord& used, bool full,
                                            const ReportFacts& facts);
wire::yarn::ApplicationAttemptReportProto ReportOf(const App& app, const Attempt& attempt);
wire::yarn::ContainerReportProto ReportOf(const Core& core, const App& app, const Container& container);
wire::yarn::NodeReportProto ReportOf(const NodeRow& node);

/// The label that the master's container is asked for with; empty: none.
std::string MasterLabelOf(const App& app);
/// The URL of the master's page that clients are shown.
std::string TrackingUrl(const App& app, const Attempt& attempt);

/// True when the application passes the filters of getApplications.
bool Matches(const App& app, const wire::yarn::GetApplicationsRequestProto& request);

using model::FullQueueName;

/// yyyy-MM-dd'T'HH:mm:ss.SSSZ in UTC (Times.formatISO8601).
std::string Iso8601(base::WallTime time);
/// Reads what Iso8601 and Java's SimpleDateFormat write; Error when malformed.
base::Result<base::WallTime> ParseIso8601(std::string_view text);

}  // namespace fairlead::process::rm
