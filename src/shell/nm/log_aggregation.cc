#include "shell/nm/log_aggregation.h"

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/log_files.h"
#include "shell/nm/log_target.h"
#include "shell/nm/rolled_logs.h"

namespace fairlead::shell {

namespace {

using process::nm::AggregationPlan;

class Aggregator final : public process::nm::LogAggregator {
 public:
  Aggregator(env::Loop& loop, Errands& errands, LogAggregationOptions options)
      : loop_(loop), errands_(errands), options_(std::move(options)) {}
  void Aggregate(AggregationPlan plan, std::function<void(const base::Result<std::string>&)> done) override {
    Order order;
    order.submitter = plan.user;
    const std::string lane = "aggregate " + plan.user;
    errands_.RunOn(loop_, lane, std::move(order), AggregateErrand{std::move(plan), options_}, std::move(done));
  }

 private:
  env::Loop& loop_;
  Errands& errands_;
  const LogAggregationOptions options_;
};

base::Status PutLogs(const LogTarget& target, const std::string& name, const AggregationPlan& plan,
                     const LogSources& logs, const LogAggregationOptions& options) {
  return target.Put(name, [&](int file) { return WriteLogFile(file, plan, logs, options); });
}

/// Room for one more file of the node's: the oldest ones go (LogAggregationFileController.cleanOldLogs).
base::Status MakeRoom(const LogTarget& target, const std::string& node, RolledLogs& rolled, int64_t files_max) {
  std::set<int64_t> gathered = rolled.Gathered();
  while (!gathered.empty() && static_cast<int64_t>(gathered.size()) >= files_max) {
    const int64_t oldest = *gathered.begin();
    if (base::Status removed = target.Remove(node + "_" + std::to_string(oldest)); !removed) return removed;
    rolled.Forget(oldest);
    gathered.erase(oldest);
  }
  return {};
}

/// Brings all rolls that are on their way, the oldest first.
base::Status BringRolls(const AggregationPlan& plan, const LogAggregationOptions& options, RolledLogs& rolled) {
  const std::set<int64_t> times = rolled.OnTheirWay();
  if (times.empty()) return {};
  const auto target = OpenLogTarget(plan, options);
  if (!target) return target.error();
  const bool bounded = options.format == LogFileFormat::kTFile;
  for (const int64_t time : times) {
    const std::string name = LogFileName(plan) + "_" + std::to_string(time);
    const base::Result<bool> is_there = (*target)->Has(name);
    if (!is_there) return is_there.error();
    const LogSources logs = *is_there ? LogSources() : rolled.Of(time);
    base::Status brought;
    if (!logs.empty()) {
      if (bounded) brought = MakeRoom(**target, LogFileName(plan), rolled, options.files_max);
      if (brought) brought = PutLogs(**target, name, plan, logs, options);
    }
    if (brought) brought = rolled.Arrived(time, bounded && (*is_there || !logs.empty()));
    if (!brought) return brought;
  }
  return {};
}

base::Status Roll(const AggregationPlan& plan, const LogChoice& choice, const LogAggregationOptions& options) {
  RolledLogs rolled(plan);
  rolled.Move([&](const model::ContainerId& id, const std::string& file) { return choice.Takes(id, file); });
  base::Status brought = BringRolls(plan, options, rolled);
  if (!brought && plan.is_over) rolled.PutBack();  // nobody tries again: they are served from where they were
  return brought;
}

base::Status GatherAll(const AggregationPlan& plan, const LogChoice& choice, const LogAggregationOptions& options) {
  const LogSources logs =
      FindLogs(plan, "", [&](const model::ContainerId& id, const std::string& file) { return choice.Takes(id, file); });
  if (logs.empty()) return {};
  const auto target = OpenLogTarget(plan, options);
  return target ? PutLogs(**target, LogFileName(plan), plan, logs, options) : target.error();
}

}  // namespace

base::Result<std::string> AggregateLogs(const AggregationPlan& plan, const LogAggregationOptions& options) {
  if (!process::nm::IsPlainName(plan.user)) return base::Error{"the user name cannot be used as a directory name"};
  const base::Result<LogChoice> choice = LogChoice::Of(plan);
  if (!choice) return choice.error();
  const base::Status status = plan.rolls ? Roll(plan, *choice, options) : GatherAll(plan, *choice, options);
  if (!status) return status.error();
  return choice->unread();
}

std::unique_ptr<process::nm::LogAggregator> MakeLogAggregator(env::Loop& loop, Errands& errands,
                                                              LogAggregationOptions options) {
  // Where it cannot be made, each application's report says so.
  if (options.web_hdfs.empty()) {
    [[maybe_unused]] const base::Status made = MakeRoot(options.root, errands.switches_user() ? 01777 : 0755);
  }
  return std::make_unique<Aggregator>(loop, errands, std::move(options));
}

}  // namespace fairlead::shell
