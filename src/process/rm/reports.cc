#include "process/rm/reports.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <unordered_map>

#include "endpoints/yarn/rm_convert.h"
#include "process/rm/scheme.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;
using endpoints::yarn::ToWire;
using model::rm::AppState;
using model::rm::NodeState;

UsageRecord UsageRecordOf(const App& app, base::WallTime now) {
  UsageRecord record;
  record.at = now;
  for (const auto& [number, attempt] : app.attempts) {
    record.memory_ms += attempt.memory_ms;
    record.vcore_ms += attempt.vcore_ms;
    record.preempted_memory_ms += attempt.preempted_memory_ms;
    record.preempted_vcore_ms += attempt.preempted_vcore_ms;
  }
  app.containers.ForEach([&](const Container& container) {
    record.used += container.resources;
    ++record.containers;
    const int64_t ms = std::max<int64_t>(0, now.ms - container.created.ms);
    record.memory_ms += ms * container.resources.memory_mib();
    record.vcore_ms += ms * container.resources.vcores();
  });
  for (const auto& [id, resources] : app.reservations) record.reserved += resources;
  record.reservations = static_cast<int32_t>(app.reservations.size());
  return record;
}

AppUsage UsageAt(const UsageRecord& record, base::WallTime now) {
  const int64_t ms = std::max<int64_t>(0, now.ms - record.at.ms);
  AppUsage usage;
  usage.used = record.used;
  usage.containers = record.containers;
  usage.reserved = record.reserved;
  usage.reservations = record.reservations;
  usage.memory_seconds = (record.memory_ms + ms * record.used.memory_mib()) / 1000;
  usage.vcore_seconds = (record.vcore_ms + ms * record.used.vcores()) / 1000;
  usage.preempted_memory_seconds = record.preempted_memory_ms / 1000;
  usage.preempted_vcore_seconds = record.preempted_vcore_ms / 1000;
  return usage;
}

NodeRow NodeRowOf(const Node& node) {
  return {node.address,
          node.HttpAddress(),
          node.rack,
          node.state,
          node.in_scheduler,
          node.capacity,
          {},
          0,
          node.use,
          node.containers_use,
          node.version,
          node.health_report,
          node.health_time,
          node.labels,
          node.decommission_timeout_s};
}

std::vector<NodeRow> NodeRows(const Core& core, const Node* only) {
  std::vector<NodeRow> rows;
  std::unordered_map<uint32_t, size_t> at;  // by the node's index
  const auto add = [&](const Node& node) {
    at.emplace(node.index.value, rows.size());
    rows.push_back(NodeRowOf(node));
  };
  only ? add(*only) : core.ForEachNode(add);
  core.ForEachApp([&](const App& app) {
    app.containers.ForEach([&](const Container& container) {
      const auto row = at.find(container.node.value);
      if (row == at.end()) return;
      rows[row->second].used += container.resources;
      ++rows[row->second].containers;
    });
  });
  return rows;
}

std::string TrackingUrl(const App& app, const Attempt& attempt) {
  return app.submission.unmanaged ? attempt.original_url : attempt.proxied_url;
}

namespace {
w::AppTimeoutsMapProto LifetimeOf(const App& app, base::WallTime now) {
  w::AppTimeoutsMapProto entry;
  entry.application_timeout_type = w::ApplicationTimeoutTypeProto::kLifetime;
  w::ApplicationTimeoutProto timeout;
  timeout.application_timeout_type = w::ApplicationTimeoutTypeProto::kLifetime;
  timeout.expire_time = "UNLIMITED";
  timeout.remaining_time = -1;
  if (app.expires.ms > 0) {
    timeout.expire_time = Iso8601(app.expires);
    timeout.remaining_time = Core::IsCompleted(app) ? 0 : std::max<int64_t>(0, (app.expires.ms - now.ms) / 1000);
  }
  entry.application_timeout = std::move(timeout);
  return entry;
}

w::ApplicationResourceUsageReportProto UsageReport(const App& app, const AppUsage& usage, int64_t cluster) {
  w::ApplicationResourceUsageReportProto report;
  const bool ended = usage.containers == 0 && Core::IsCompleted(app);
  report.num_used_containers = ended ? -1 : usage.containers;
  report.num_reserved_containers = ended ? -1 : usage.reservations;
  const model::Resources unknown = model::Resources::Of(-1, -1);
  report.used_resources = ToWire(ended ? unknown : usage.used);
  report.reserved_resources = ToWire(ended ? unknown : usage.reserved);
  report.needed_resources = ToWire(ended ? unknown : usage.used + usage.reserved);
  report.memory_seconds = usage.memory_seconds;
  report.vcore_seconds = usage.vcore_seconds;
  report.preempted_memory_seconds = usage.preempted_memory_seconds;
  report.preempted_vcore_seconds = usage.preempted_vcore_seconds;
  const double share =
      cluster > 0 ? 100.0 * static_cast<double>(usage.used.memory_mib()) / static_cast<double>(cluster) : 0;
  report.cluster_usage_percentage = static_cast<float>(share);
  report.queue_usage_percentage = static_cast<float>(share);
  const auto add = [](std::vector<w::StringLongMapProto>& map, const char* key, int64_t value) {
    w::StringLongMapProto& entry = map.emplace_back();
    entry.key = key;
    entry.value = value;
  };
  add(report.application_resource_usage_map, "memory-mb", usage.memory_seconds);
  add(report.application_resource_usage_map, "vcores", usage.vcore_seconds);
  add(report.application_preempted_resource_usage_map, "memory-mb", usage.preempted_memory_seconds);
  add(report.application_preempted_resource_usage_map, "vcores", usage.preempted_vcore_seconds);
  return report;
}

/// What those are shown who may not see the application (RMServerUtils.DUMMY_APPLICATION_RESOURCE_USAGE_REPORT).
w::ApplicationResourceUsageReportProto HiddenUsage() {
  w::ApplicationResourceUsageReportProto report;
  report.num_used_containers = -1;
  report.num_reserved_containers = -1;
  report.used_resources = report.reserved_resources = report.needed_resources = ToWire(model::Resources::Of(-1, -1));
  return report;
}
}  // namespace

std::string MasterLabelOf(const App& app) {
  // One that had ended before a restart has the asks of its submission alone.
  for (const std::vector<model::Ask>* asks : {&app.master_asks, &app.submission.master_asks}) {
    for (const model::Ask& ask : *asks) {
      if (!ask.label.empty()) return ask.label;
    }
    if (!asks->empty() && asks == &app.master_asks) return "";
  }
  return app.submission.label;
}

w::ApplicationReportProto ReportOf(const App& app, const UsageRecord& used, bool full, const ReportFacts& facts) {
  const base::WallTime now = facts.now;
  w::ApplicationReportProto report;
  const Attempt* attempt = app.current();
  report.application_id = ToWire(app.submission.id);
  report.user = app.submission.user;
  report.queue = app.submission.queue;
  report.name = app.submission.name;
  report.host = "N/A";
  report.rpc_port = -1;
  report.yarn_application_state = ToWire(Core::VisibleState(app));
  report.tracking_url = "N/A";
  report.diagnostics = "N/A";
  report.start_time = app.started.ms;
  report.finish_time = Core::IsCompleted(app) ? app.finished.ms : 0;
  report.final_application_status = ToWire(Core::VisibleFinalStatus(app));
  report.original_tracking_url = "N/A";
  report.progress = 0;
  report.application_type = app.submission.type;
  report.application_tags = app.submission.tags;
  report.unmanaged_application = app.submission.unmanaged;
  report.priority = endpoints::yarn::PriorityToWire(app.submission.priority);
  report.app_timeouts = {LifetimeOf(app, now)};
  report.launch_time = app.launched.ms;
  report.app_node_label_expression = app.submission.label.empty() ? "<Not set>" : app.submission.label;
  if (!app.submission.unmanaged) {
    const std::string label = MasterLabelOf(app);
    report.am_node_label_expression = label.empty() ? "<DEFAULT_PARTITION>" : label;
  }
  report.app_resource_usage = HiddenUsage();
  model::ApplicationAttemptId attempt_id{app.submission.id, -1};
  if (full) {
    report.tracking_url = facts.proxy_base + "/proxy/" + ToString(app.submission.id) + "/";
    report.diagnostics = Core::VisibleDiagnostics(app);
    report.app_resource_usage = UsageReport(app, UsageAt(used, now), facts.cluster_memory);
    if (attempt) {
      attempt_id = attempt->id;
      report.tracking_url = TrackingUrl(app, *attempt);
      report.original_tracking_url = attempt->original_url;
      report.host = attempt->host;
      report.rpc_port = attempt->rpc_port;
      report.progress = attempt->progress;
    }
  }
  report.current_application_attempt_id = ToWire(attempt_id);
  return report;
}

w::ApplicationAttemptReportProto ReportOf(const App& app, const Attempt& attempt) {
  w::ApplicationAttemptReportProto report;
  report.application_attempt_id = ToWire(attempt.id);
  report.host = attempt.host;
  report.rpc_port = attempt.rpc_port;
  report.tracking_url = app.submission.unmanaged ? attempt.original_url : attempt.proxied_url;
  report.original_tracking_url = attempt.original_url;
  report.diagnostics = Core::VisibleDiagnostics(attempt);
  report.yarn_application_attempt_state = ToWire(Core::VisibleState(attempt));
  if (attempt.master.id.value != 0) report.am_container_id = ToWire(attempt.master.id);
  report.start_time = attempt.started.ms;
  report.finish_time = attempt.finished.ms;
  return report;
}

w::ContainerReportProto ReportOf(const Core& core, const App& app, const Container& container) {
  const Node& node = *core.NodeAt(container.node);
  w::ContainerReportProto report;
  report.container_id = ToWire(container.id);
  report.resource = ToWire(container.resources);
  report.node_id = ToWire(node.address);
  report.priority = endpoints::yarn::PriorityToWire(container.priority);
  report.creation_time = container.created.ms;
  report.finish_time = 0;
  if (!container.diagnostics.empty()) report.diagnostics_info = container.diagnostics;
  const std::string web = SchemeOf(core.config().web_base) + node.HttpAddress();
  report.log_url = web + "/node/containerlogs/" + ToString(container.id) + "/" + app.submission.user;
  report.container_exit_status = 0;
  report.container_state = w::ContainerStateProto::kRunning;
  report.node_http_address = web;
  report.execution_type = w::ExecutionTypeProto::kGuaranteed;
  return report;
}

w::NodeReportProto ReportOf(const NodeRow& node) {
  w::NodeReportProto report;
  report.node_id = ToWire(node.address);
  report.http_address = node.http_address;
  report.rack_name = node.rack;
  report.used = ToWire(node.used);
  report.capability = ToWire(node.capacity);
  report.num_containers = node.containers;
  report.node_state = ToWire(node.state);
  report.health_report = node.health_report;
  report.last_health_report_time = node.health_time.ms;
  report.node_labels = node.labels;
  if (node.decommission_timeout_s >= 0) {
    report.decommissioning_timeout = static_cast<uint32_t>(node.decommission_timeout_s);
  }
  return report;
}

namespace {
bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  });
}
template <class List>
bool Lists(const List& list, std::string_view value) {
  return list.empty() || std::any_of(list.begin(), list.end(), [&](const auto& item) { return item == value; });
}
}  // namespace

bool Matches(const App& app, const w::GetApplicationsRequestProto& request) {
  if (app.state == AppState::kNew) return false;
  if (!request.application_types.empty() &&
      std::none_of(request.application_types.begin(), request.application_types.end(),
                   [&](const std::string& type) { return EqualIgnoringCase(type, app.submission.type); })) {
    return false;
  }
  if (!request.application_states.empty()) {
    const auto state = ToWire(Core::VisibleState(app));
    if (std::find(request.application_states.begin(), request.application_states.end(), state) ==
        request.application_states.end()) {
      return false;
    }
  }
  if (!Lists(request.users, app.submission.user)) return false;
  if (!Lists(request.queues, app.submission.queue)) return false;  // the full name alone, as the FairScheduler has it
  if (!request.application_tags.empty()) {
    const bool any = std::any_of(app.submission.tags.begin(), app.submission.tags.end(), [&](const std::string& tag) {
      return std::any_of(request.application_tags.begin(), request.application_tags.end(),
                         [&](const std::string& wanted) { return EqualIgnoringCase(wanted, tag); });
    });
    if (!any) return false;
  }
  if (request.name && *request.name != app.submission.name) return false;
  const auto outside = [](int64_t value, const std::optional<int64_t>& from, const std::optional<int64_t>& to) {
    return (from && value < *from) || (to && value > *to);
  };
  if (outside(app.started.ms, request.start_begin, request.start_end)) return false;
  return !outside(app.finished.ms, request.finish_begin, request.finish_end);
}

namespace {
struct Civil {
  int64_t year;
  int month;
  int day;
};
/// Days since 1970-01-01 <-> civil date (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
Civil CivilFromDays(int64_t days) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t doe = days - era * 146097;
  const int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  const int64_t mp = (5 * doy + 2) / 153;
  const int month = static_cast<int>(mp < 10 ? mp + 3 : mp - 9);
  return {yoe + era * 400 + (month <= 2 ? 1 : 0), month, static_cast<int>(doy - (153 * mp + 2) / 5 + 1)};
}
int64_t DaysFromCivil(Civil date) {
  const int64_t year = date.year - (date.month <= 2 ? 1 : 0);
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t yoe = year - era * 400;
  const int64_t doy = (153 * (date.month > 2 ? date.month - 3 : date.month + 9) + 2) / 5 + date.day - 1;
  const int64_t doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
  return era * 146097 + doe - 719468;
}
}  // namespace

std::string Iso8601(base::WallTime time) {
  int64_t days = time.ms / 86'400'000;
  int64_t rest = time.ms % 86'400'000;
  if (rest < 0) {
    rest += 86'400'000;
    --days;
  }
  const Civil date = CivilFromDays(days);
  char text[48];
  std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03d+0000", static_cast<int>(date.year), date.month,
                date.day, static_cast<int>(rest / 3'600'000), static_cast<int>(rest / 60'000 % 60),
                static_cast<int>(rest / 1000 % 60), static_cast<int>(rest % 1000));
  return text;
}

base::Result<base::WallTime> ParseIso8601(std::string_view text) {
  const std::string copy(text.substr(0, 40));
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, millis = 0, used = 0;
  // Words of java.time.format.DateTimeFormatter; the index is where the text leaves the pattern.
  static constexpr std::string_view kPattern = "dddd-dd-ddTdd:dd:dd.ddd+dddd";
  size_t index = 0;
  while (index < kPattern.size() && index < copy.size() &&
         (kPattern[index] == 'd'   ? std::isdigit(static_cast<unsigned char>(copy[index])) != 0
          : kPattern[index] == '+' ? copy[index] == '+' || copy[index] == '-'
                                   : copy[index] == kPattern[index])) {
    ++index;
  }
  const base::Error error{"Text '" + copy + "' could not be parsed at index " + std::to_string(index)};
  if (std::sscanf(copy.c_str(), "%4d-%2d-%2dT%2d:%2d:%2d.%3d%n", &year, &month, &day, &hour, &minute, &second, &millis,
                  &used) != 7) {
    return error;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 24 || minute < 0 || minute > 59 ||
      second < 0 || second > 60 || millis < 0) {
    return error;
  }
  int64_t offset_minutes = 0;
  std::string zone = copy.substr(static_cast<size_t>(used));
  std::erase(zone, ':');
  if (zone.size() == 5 && (zone[0] == '+' || zone[0] == '-')) {
    int value = 0;
    const auto read = std::from_chars(zone.data() + 1, zone.data() + zone.size(), value);
    // java.time.ZoneOffset: at most 18 hours.
    if (read.ptr != zone.data() + zone.size() || value < 0 || value > 1800 || value % 100 > 59) return error;
    offset_minutes = (value / 100 * 60 + value % 100) * (zone[0] == '-' ? -1 : 1);
  } else if (!zone.empty() && zone != "Z") {
    return error;
  }
  const int64_t days = DaysFromCivil({year, month, day});
  return base::WallTime{((days * 24 + hour) * 60 + minute - offset_minutes) * 60'000 + second * 1000LL + millis};
}

}  // namespace fairlead::process::rm
