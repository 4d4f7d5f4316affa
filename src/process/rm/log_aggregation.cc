#include "process/rm/log_aggregation.h"

#include <algorithm>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/text_bounds.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;

namespace {

constexpr size_t kUnprovenMost = 100'000;

bool IsThrough(w::LogAggregationStatusProto status) {
  return status == w::LogAggregationStatusProto::kSucceeded || status == w::LogAggregationStatusProto::kFailed;
}

}  // namespace

// Of nodes alone on which it ran: a stranger may register as many others as he likes. Where applications ran that ended
// in an earlier run of the manager nobody knows; of all these together so many reports are kept, without their texts.
bool LogAggregation::MayTell(const App& app, const model::rm::NodeAddress& address) const {
  const Core& core = machine_.core();
  if (app.ran_on.empty()) return fairlead::rm::IsOver(app.state) && unproven_ < kUnprovenMost;
  return std::any_of(app.ran_on.begin(), app.ran_on.end(), [&](model::NodeIndex index) {
    const Node* node = core.NodeAt(index);
    return node && node->address == address;
  });
}

void LogAggregation::Record(const model::rm::NodeAddress& address, const Reports& reports, base::WallTime now) {
  const Core& core = machine_.core();
  if (!core.FindNode(address)) return;
  for (const w::LogAggregationReportProto& report : reports) {
    const model::ApplicationId id = endpoints::yarn::FromWire(report.ApplicationId());
    const App* app = report.log_aggregation_status ? core.FindApp(id) : nullptr;
    if (!app || !MayTell(*app, address)) continue;
    const Status before = Of(*app).At(*app, now);
    if (IsThrough(before) || before == Status::kTimeOut) continue;
    AppLogs& logs = told_[id];
    const auto [one, is_new] = logs.nodes.try_emplace(address);
    if (is_new && app->ran_on.empty()) ++unproven_;
    Take(one->second, report);
    if (app->ran_on.empty()) one->second = {.status = one->second.status, .messages = {}, .failures = {}};
    Settle(*app, logs);
    machine_.Touch(app->index);
  }
  if (told_.size() >= sweep_) Sweep();
}

// updateLogAggregationDiagnosticMessages. What failed once while it runs is not forgotten before its end.
void LogAggregation::Take(NodeLogs& logs, const w::LogAggregationReportProto& report) const {
  const Status status = *report.log_aggregation_status;
  if (status != Status::kRunning || logs.status != Status::kRunningWithFailure) logs.status = status;
  const bool failed = status == Status::kRunningWithFailure;
  if (!report.diagnostics || report.diagnostics->empty() || (!failed && status != Status::kRunning)) return;
  std::vector<std::string>& texts = failed ? logs.failures : logs.messages;
  texts.push_back(endpoints::yarn::EndOf(*report.diagnostics, endpoints::yarn::kLogMessageMax));
  while (std::cmp_greater(texts.size(), options_.messages)) texts.erase(texts.begin());
}

// updateLogAggregationStatus: once all nodes are through, what failed alone is still of interest.
void LogAggregation::Settle(const App& app, AppLogs& logs) const {
  const Status status = StatusOf(app, false);
  if (!fairlead::rm::IsOver(app.state) || !IsThrough(status)) return;
  logs.over = status;
  std::erase_if(logs.nodes, [](const auto& entry) { return entry.second.status != Status::kFailed; });
  for (auto& [address, one] : logs.nodes) one.messages.clear();
}

void LogAggregation::Sweep() {
  const Core& core = machine_.core();
  std::erase_if(told_, [&](const auto& entry) { return !core.FindApp(entry.first); });
  sweep_ = 2 * told_.size() + 1024;
  unproven_ = 0;
  for (const auto& [id, logs] : told_) {
    if (core.FindApp(id)->ran_on.empty()) unproven_ += logs.nodes.size();
  }
}

LogAggregation::Nodes LogAggregation::NodesOf(const App& app, base::WallTime now) const {
  if (!machine_.core().config().log_aggregation) return {};
  const auto told = told_.find(app.submission.id);
  Nodes nodes = told != told_.end() ? told->second.nodes : Nodes();
  if (told != told_.end() && told->second.over) return nodes;
  for (const model::NodeIndex index : app.ran_on) {
    if (const Node* node = machine_.core().NodeAt(index)) nodes.try_emplace(node->address);
  }
  for (auto& [address, one] : nodes) {
    if (!IsThrough(one.status) && LogStatuses::IsLate(app, options_.time_out, now)) one.status = Status::kTimeOut;
  }
  return nodes;
}

LogStatuses LogAggregation::Of(const App& app) const {
  if (!machine_.core().config().log_aggregation) return {};
  return {StatusOf(app, false), StatusOf(app, true), options_.time_out};
}

LogAggregation::Status LogAggregation::StatusOf(const App& app, bool late) const {
  const auto told = told_.find(app.submission.id);
  static const Nodes kNone;
  const Nodes& nodes = told != told_.end() ? told->second.nodes : kNone;
  if (told != told_.end() && told->second.over) return *told->second.over;
  std::map<Status, size_t> count;
  size_t all = 0;
  const auto add = [&](Status status) {
    ++count[late && !IsThrough(status) ? Status::kTimeOut : status];
    ++all;
  };
  for (const auto& [address, one] : nodes) add(one.status);
  size_t gone = 0;  // nodes that nobody knows any more; some have told
  size_t told_and_gone = nodes.size();
  for (const model::NodeIndex index : app.ran_on) {
    const Node* node = machine_.core().NodeAt(index);
    if (!node) {
      ++gone;
    } else if (nodes.contains(node->address)) {
      --told_and_gone;
    } else {
      add(Status::kNotStart);
    }
  }
  for (; gone > told_and_gone; --gone) add(Status::kNotStart);
  if (count[Status::kNotStart] == all) return Status::kNotStart;
  if (count[Status::kSucceeded] + count[Status::kFailed] + count[Status::kTimeOut] == all) {
    const bool is_over = fairlead::rm::IsOver(app.state);
    if (count[Status::kFailed] > 0 && is_over) return Status::kFailed;
    if (count[Status::kTimeOut] > 0) return Status::kTimeOut;
    return is_over ? Status::kSucceeded : Status::kRunning;
  }
  return count[Status::kRunningWithFailure] > 0 ? Status::kRunningWithFailure : Status::kRunning;
}

}  // namespace fairlead::process::rm
