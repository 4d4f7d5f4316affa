#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "model/nm.h"
#include "nm/nm.h"
#include "process/nm/app_tokens.h"
#include "process/nm/log_policy.h"
#include "process/nm/ports.h"
#include "process/nm/state_writer.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::nm {

/// Names of Hadoop keys behind the values in comments.
struct LogSettings {
  base::Duration roll_every{};    // yarn.nodemanager.log-aggregation.roll-monitoring-interval-seconds; 0: no rolls
  std::string policy_class;       // yarn.nodemanager.log-aggregation.policy.class; empty: all containers
  std::string policy_parameters;  // yarn.nodemanager.log-aggregation.policy.parameters
  base::Duration remember = base::Duration::Seconds(600);  // yarn.log-aggregation-status.time-out.ms
  /// yarn.nm.liveness-monitor.expiry-interval-ms with Kerberos: so long after an application's end the manager keeps up
  /// its tokens; 0: it keeps none.
  base::Duration tokens_kept{};
};

/// When the logs leave the node, and for which containers (Hadoop: LogAggregationService, AppLogAggregatorImpl): at
/// their application's end, and while it runs, where its context names files that may go before. Decides and reports; a
/// LogAggregator carries. All rolling applications of a node roll at the same time.
class LogGathering {
 public:
  using Done = std::function<void(const std::string& error)>;
  using Gathered = std::function<void(const base::Result<std::string>& note)>;
  struct Ports {
    env::Loop& loop;
    env::Log& log;
    NodeDirs& dirs;
    LogAggregator& aggregator;
    StateWriter& state;
    const fairlead::nm::Nm& core;
    const AppTokens& tokens;
  };

  LogGathering(Ports ports, LogSettings settings);

  /// Takes what the last run stored, and looks again at what ended just before its end.
  base::Status Start(env::Store& store, const model::nm::Started& started, std::vector<env::UnreadRow>& unread);
  /// The name under which the node's files are: host:port.
  void SetNode(const std::string& node_id) { node_id_ = node_id; }
  /// Of an application that the core knows.
  void Ended(const model::nm::ContainerEnded& container);
  /// All that is left of an application's logs; `done` runs once, with "" or why not all has left.
  void Finish(const model::nm::HandleLogs& effect, Done done);

  /// Applications that have ended and need their tokens longer, since their logs have not left; each is named again
  /// well before the manager would let go (NodeStatusUpdaterImpl.createKeepAliveApplicationList).
  std::vector<model::ApplicationId> KeepAlive();
  /// What the resource manager has not yet heard, and that it has heard the first `count` of it.
  const std::vector<wire::yarn::LogAggregationReportProto>& reports() const { return reports_; }
  void Told(size_t count);
  /// How far the logs are of each application that runs here or ended lately, for a resource manager that has restarted
  /// (NMLogAggregationStatusTracker).
  std::vector<wire::yarn::LogAggregationReportProto> Remembered();

 private:
  struct LeftOut {
    std::vector<model::ContainerId> containers;
    FL_FIELDS(containers)
  };
  struct Last {
    wire::yarn::LogAggregationReportProto report;
    base::Instant at;
  };

  LogPolicy PolicyOf(const LogContext& context) const;
  bool Takes(const model::nm::AppRecord& app, const model::nm::ContainerEnded& container) const;
  void RollAll();
  void Roll(const model::nm::AppRecord& app, const std::vector<const fairlead::nm::ContainerView*>& containers);
  AggregationPlan PlanOf(const model::nm::AppRecord& app, const LogContext& context) const;
  void Begin(AggregationPlan plan, Gathered done);
  void Report(const model::ApplicationId& app, wire::yarn::LogAggregationStatusProto status, const std::string& why);
  void ForgetOld();

  Ports ports_;
  const LogSettings settings_;
  std::string node_id_;
  std::map<model::ApplicationId, std::set<model::ContainerId>> left_out_;
  std::map<model::ApplicationId, std::function<void()>> under_way_;  // what waits for its end, if anything does
  std::map<model::ApplicationId, base::Instant> leaving_;            // that have ended: when KeepAlive names them
  std::vector<wire::yarn::LogAggregationReportProto> reports_;
  std::map<model::ApplicationId, Last> last_;
  env::Timer timer_{ports_.loop};
  env::Alive alive_;
};

}  // namespace fairlead::process::nm
