#include "process/rm/log_aggregation.h"

#include <algorithm>

#include "endpoints/yarn/rm_convert.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;

void LogAggregation::Record(const w::NodeHeartbeatRequestProto& request) {
  const Core& core = machine_.core();
  const model::rm::NodeAddress address = endpoints::yarn::FromWire(request.node_status->NodeId());
  if (!core.FindNode(address)) return;
  const auto is_it = [&](model::NodeIndex index) {
    const Node* node = core.NodeAt(index);
    return node && node->address == address;
  };
  for (const w::LogAggregationReportProto& report : request.log_aggregation_reports_for_apps) {
    const model::ApplicationId id = endpoints::yarn::FromWire(report.ApplicationId());
    const App* app = report.log_aggregation_status ? core.FindApp(id) : nullptr;
    // Of nodes alone on which it ran: a stranger may register as many others as he likes.
    if (!app || std::none_of(app->ran_on.begin(), app->ran_on.end(), is_it)) continue;
    told_[id][address] = *report.log_aggregation_status;
    machine_.Touch(app->index);
  }
  if (told_.size() < sweep_) return;
  std::erase_if(told_, [&](const auto& entry) { return !core.FindApp(entry.first); });
  sweep_ = 2 * told_.size() + 1024;
}

LogStatuses LogAggregation::Of(const App& app) const {
  if (!machine_.core().config().log_aggregation) return {};
  return {StatusOf(app, false), StatusOf(app, true)};
}

LogAggregation::Status LogAggregation::StatusOf(const App& app, bool late) const {
  const auto told = told_.find(app.submission.id);
  std::map<Status, size_t> count;
  for (const model::NodeIndex index : app.ran_on) {
    const Node* node = machine_.core().NodeAt(index);
    Status status = Status::kNotStart;
    if (node && told != told_.end()) {
      if (const auto own = told->second.find(node->address); own != told->second.end()) status = own->second;
    }
    const bool ended = status == Status::kSucceeded || status == Status::kFailed;
    ++count[late && !ended ? Status::kTimeOut : status];
  }
  const size_t all = app.ran_on.size();
  if (count[Status::kNotStart] == all) return Status::kNotStart;
  if (count[Status::kSucceeded] + count[Status::kFailed] + count[Status::kTimeOut] == all) {
    if (count[Status::kFailed] > 0) return Status::kFailed;
    if (count[Status::kTimeOut] > 0) return Status::kTimeOut;
    return Core::IsCompleted(app) ? Status::kSucceeded : Status::kRunning;
  }
  return count[Status::kRunningWithFailure] > 0 ? Status::kRunningWithFailure : Status::kRunning;
}

}  // namespace fairlead::process::rm
