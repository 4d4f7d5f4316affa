#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "process/rm/machine.h"
#include "process/rm/summary.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

/// Names of Hadoop keys in comments.
struct LogAggregationOptions {
  base::Duration time_out = base::Duration::Seconds(600);  // yarn.log-aggregation-status.time-out.ms
  int messages = 10;  // yarn.resourcemanager.max-log-aggregation-diagnostics-in-memory
};

/// What a node has said of an application's logs.
struct NodeLogs {
  using Status = wire::yarn::LogAggregationStatusProto;
  Status status = Status::kNotStart;
  std::vector<std::string> messages;  // of gatherings that went well, and of those that failed: the last ones of each
  std::vector<std::string> failures;
};

/// How far nodes have come with applications' logs (Hadoop's RMAppLogAggregation): owns what each said last.
class LogAggregation {
 public:
  using Reports = std::vector<wire::yarn::LogAggregationReportProto>;
  using Nodes = std::map<model::rm::NodeAddress, NodeLogs>;

  LogAggregation(ResourceMachine& machine, LogAggregationOptions options) : machine_(machine), options_(options) {}

  /// What a registered node says at `now` of applications that ran on it (aggregateLogReport).
  void Record(const model::rm::NodeAddress& address, const Reports& reports, base::WallTime now);
  /// getLogAggregationStatusForAppReport. Cost: the nodes on which it ran.
  LogStatuses Of(const fairlead::rm::App& app) const;
  /// Each node's part at `now`. None is left of those that gathered all, once all nodes are through.
  Nodes NodesOf(const fairlead::rm::App& app, base::WallTime now) const;

 private:
  using Status = NodeLogs::Status;
  struct AppLogs {
    Nodes nodes;
    std::optional<Status> over;  // of all nodes, once they are through: it does not change any more
  };

  bool MayTell(const fairlead::rm::App& app, const model::rm::NodeAddress& address) const;
  void Take(NodeLogs& logs, const wire::yarn::LogAggregationReportProto& report) const;
  void Settle(const fairlead::rm::App& app, AppLogs& logs) const;
  Status StatusOf(const fairlead::rm::App& app, bool late) const;
  void Sweep();

  ResourceMachine& machine_;
  const LogAggregationOptions options_;
  std::map<model::ApplicationId, AppLogs> told_;  // forgotten with the application
  size_t sweep_ = 1024;                           // so many are looked through for forgotten ones
  size_t unproven_ = 0;                           // reports of nodes on which nobody knows that the application ran
};

}  // namespace fairlead::process::rm
