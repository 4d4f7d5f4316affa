#include <algorithm>
#include <map>
#include <utility>

#include "base/text.h"
#include "base/version.h"
#include "endpoints/yarn/rm_convert.h"
#include "process/rm/scheme.h"
#include "process/rm/web.h"
#include "process/rm/web_activities.h"
#include "process/rm/web_resources.h"

// /ws/v1/cluster: what RMWebServices answers, key by key (dao/ClusterInfo, ClusterMetricsInfo, AppInfo, NodeInfo,
// AppAttemptInfo, ContainerInfo).

namespace fairlead::process::rm {

namespace m = model::rm;
using endpoints::rest::Document;
using model::rm::AppState;
using model::rm::NodeState;

Document ResourceDocument(const model::Resources& resources, const std::optional<Bounds>& bounds) {
  Document::List informations;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    informations.push_back(Document::Object()
                               .Add("attributes", Document())
                               .Add("maximumAllocation", bounds ? bounds->maximum[type] : INT64_MAX)
                               .Add("minimumAllocation", bounds ? bounds->minimum[type] : int64_t{0})
                               .Add("name", model::ResourceTypes::Name(type))
                               .Add("resourceType", "COUNTABLE")
                               .Add("units", type == 0 ? "Mi" : "")
                               .Add("value", resources[type]));
  }
  return Document::Object()
      .Add("memory", resources.memory_mib())
      .Add("vCores", resources.vcores())
      .Add("resourceInformations", Document::Object().Add("resourceInformation", Document(std::move(informations))));
}

namespace {

constexpr const char* kStates[] = {"NEW",     "NEW_SAVING", "SUBMITTED", "ACCEPTED",
                                   "RUNNING", "FINISHED",   "FAILED",    "KILLED"};
constexpr const char* kFinalStates[] = {"UNDEFINED", "SUCCEEDED", "FAILED", "KILLED", "ENDED"};

std::string StateName(AppState state) {
  switch (state) {
    case AppState::kFinishing:
      return "FINISHED";
    case AppState::kFinalSaving:
      return "RUNNING";
    default:
      return std::string(EnumName(state));
  }
}

/// A map of resource type -> value as Jersey writes a JAXB map.
Document SecondsMap(int64_t memory, int64_t vcores, bool empty) {
  if (empty) return Document();
  Document map = Document::Object();
  map.Add("entry", Document::Object().Add("key", "memory-mb").Add("value", std::to_string(memory)));
  map.Add("entry", Document::Object().Add("key", "vcores").Add("value", std::to_string(vcores)));
  return map;
}

/// "[A, B]" of the names that may be written.
template <size_t N>
std::string Bracketed(const char* const (&names)[N]) {
  std::string text = "[";
  for (size_t i = 0; i < N; ++i) text += (i ? ", " : "") + std::string(names[i]);
  return text + "]";
}

/// The filters of GET /apps, from the query (ApplicationsRequestBuilder).
struct AppFilter {
  std::vector<std::string> states;
  std::string final_status;
  std::string user;
  std::string queue;
  std::string name;
  std::vector<std::string> types;
  std::vector<std::string> tags;
  int64_t limit = INT64_MAX;
  int64_t started_from = 0;
  int64_t started_to = INT64_MAX;
  int64_t finished_from = 0;
  int64_t finished_to = INT64_MAX;
  std::string error;  // not empty: the request is bad
  std::string exception = "BadRequestException";

  explicit AppFilter(const http::Request& request) {
    for (const char* key : {"state", "states"}) {
      if (const std::string* text = Find(request, key)) {
        for (const std::string& state : base::SplitTrimmed(*text)) {
          states.push_back(base::Uppered(state));
          if (std::find(std::begin(kStates), std::end(kStates), states.back()) == std::end(kStates)) {
            error = "java.lang.Exception: Invalid application-state " + state + " specified. It should be one of " +
                    Bracketed(kStates);
          }
        }
      }
    }
    if (const std::string* text = Find(request, "finalStatus")) final_status = *text;
    if (!final_status.empty() &&
        std::find(std::begin(kFinalStates), std::end(kFinalStates), final_status) == std::end(kFinalStates)) {
      error = "No enum constant org.apache.hadoop.yarn.api.records.FinalApplicationStatus." + final_status;
      exception = "IllegalArgumentException";
    }
    if (const std::string* text = Find(request, "user")) user = *text;
    if (const std::string* text = Find(request, "queue")) queue = *text;
    if (const std::string* text = Find(request, "name")) name = *text;
    if (const std::string* text = Find(request, "applicationTypes")) types = base::SplitTrimmed(*text);
    if (const std::string* text = Find(request, "applicationTags")) tags = base::SplitTrimmed(*text);
    if (Number(request, "limit", &limit) && error.empty() && limit <= 0)
      error = "java.lang.Exception: limit value must be greater then 0";
    NotNegative(request, "startedTimeBegin", &started_from);
    NotNegative(request, "startedTimeEnd", &started_to);
    NotNegative(request, "finishedTimeBegin", &finished_from);
    NotNegative(request, "finishedTimeEnd", &finished_to);
    if (started_from > started_to) {
      error = "java.lang.Exception: startedTimeEnd must be greater than startTimeBegin";
    }
    if (finished_from > finished_to) {
      error = "java.lang.Exception: finishTimeEnd must be greater than finishTimeBegin";
    }
  }

  bool Passes(const App& app) const {
    if (app.state == AppState::kNew) return false;
    const auto any = [](const auto& list, auto&& test) {
      return list.empty() || std::any_of(list.begin(), list.end(), test);
    };
    if (!any(states, [&](const std::string& state) { return state == StateName(Core::VisibleState(app)); })) {
      return false;
    }
    if (!final_status.empty() && final_status != EnumName(Core::VisibleFinalStatus(app))) return false;
    if (!user.empty() && user != app.submission.user) return false;
    if (!name.empty() && name != app.submission.name) return false;
    if (!queue.empty() && queue != app.submission.queue) return false;
    if (!any(types, [&](const std::string& type) { return base::Lowered(type) == base::Lowered(app.submission.type); }))
      return false;
    if (!any(tags, [&](const std::string& tag) {
          return std::any_of(app.submission.tags.begin(), app.submission.tags.end(),
                             [&](const std::string& own) { return base::Lowered(own) == base::Lowered(tag); });
        })) {
      return false;
    }
    if (app.started.ms < started_from || app.started.ms > started_to) return false;
    const int64_t finished = Core::IsCompleted(app) ? app.finished.ms : 0;
    return finished >= finished_from && finished <= finished_to;
  }

 private:
  static const std::string* Find(const http::Request& request, const char* key) {
    const auto it = request.query.find(key);
    return it == request.query.end() || it->second.empty() ? nullptr : &it->second;
  }
  bool Number(const http::Request& request, const char* key, int64_t* value) {
    const std::string* text = Find(request, key);
    if (!text) return false;
    char* end = nullptr;
    *value = std::strtoll(text->c_str(), &end, 10);
    if (*end != '\0') error = "java.lang.Exception: " + std::string(key) + " value must be a number!";
    return true;
  }
  void NotNegative(const http::Request& request, const char* key, int64_t* value) {
    if (Number(request, key, value) && *value < 0) {
      error = "java.lang.Exception: " + std::string(key) + " must be greater than 0";
    }
  }
};

/// dao/ApplicationStatisticsInfo.
Document Statistics(const Query& query, const AppRows& rows) {
  std::vector<std::string> states;
  std::string type = "*";
  if (const auto it = query.find("states"); it != query.end()) {
    for (const std::string& state : base::SplitTrimmed(it->second)) states.push_back(base::Uppered(state));
  }
  if (const auto it = query.find("applicationTypes"); it != query.end()) type = base::Lowered(it->second);
  if (states.empty()) states.assign(std::begin(kStates), std::end(kStates));
  std::map<std::string, int64_t> counts;
  rows.ForEach([&](const AppRow& row) {
    if (row.app.state == AppState::kNew) return;
    if (type == "*" || base::Lowered(type) == base::Lowered(row.app.submission.type))
      ++counts[StateName(Core::VisibleState(row.app))];
  });
  Document::List items;
  for (const std::string& state : states) {
    items.push_back(Document::Object().Add("state", state).Add("type", type).Add("count", counts[state]));
  }
  return Document::Object().Add("statItem", Document(std::move(items)));
}

/// What web_labels.cc answers.
bool NamesLabels(const std::vector<std::string>& path) {
  static constexpr std::string_view kNames[] = {"get-node-to-labels", "get-node-labels",    "label-mappings",
                                                "add-node-labels",    "remove-node-labels", "replace-node-to-labels"};
  if (path.size() == 3) return path[0] == "nodes" && (path[2] == "get-labels" || path[2] == "replace-labels");
  return path.size() == 1 && std::ranges::find(kNames, path[0]) != std::end(kNames);
}

}  // namespace

void Web::Cluster(const http::Request& request, const Segments& path, const Reply& reply) {
  const std::string what = path.empty() ? "info" : path[0];
  const bool get = request.method == "GET" || request.method == "HEAD";
  if (what == "apps" && path.size() == 2 && path[1] == "new-application" && request.method == "POST") {
    return NewApplication(request, reply);
  }
  if (what == "apps" && path.size() == 1 && request.method == "POST") return Submit(request, reply);
  if (what == "apps" && path.size() >= 2) return ClusterApp(request, Segments(path.begin() + 1, path.end()), reply);
  if (what == "delegation-token") return DelegationToken(request, path, reply);
  if (what == "scheduler-conf") return ClusterConf(request, Segments(path.begin() + 1, path.end()), reply);
  if (NamesLabels(path)) return ClusterLabels(request, path, reply);
  if (!get) return reply(Error(request, 405, "WebApplicationException", "The method is not allowed here."));
  if (what == "info" && path.size() <= 1) return reply(http::Rendered(request, ClusterInfo(), "clusterInfo"));
  if (what == "queues" && path.size() == 3 && path[2] == "access") return QueueAccess(request, {path[1]}, reply);
  if (what == "reservation" && path.size() == 2 && path[1] == "list") {
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.Exception: Reservation is not enabled. Please enable & try again"));
  }
  if (what == "scheduler" && path.size() == 2 && path[1] == "activities") {
    return reply(SchedulerActivities(request, manager_));
  }
  if (what == "scheduler" && path.size() == 2 && path[1] == "bulk-activities") {
    const auto asked = AskForPasses(request, manager_);
    if (asked.ok()) return AwaitPasses(*asked, manager_, loop_, alive_, reply);
    return reply(Error(request, 400, "BadRequestException", "java.lang.Exception: " + asked.error().message));
  }
  if (what == "scheduler" && path.size() == 3 && path[1] == "app-activities") {
    return reply(AppActivities(request, path[2], manager_));
  }
  if (path.size() > (what == "nodes" ? 2U : 1U)) return reply(NotFound());
  if (what == "userinfo") {
    return reply(http::Rendered(request,
                                Document::Object()
                                    .Add("rmLoginUser", manager_.options().login_user)
                                    .Add("requestedUser", http::CallerOf(request)),
                                BareRoot(request, "clusterUserInfo")));
  }
  if (what == "metrics") return ClusterMetrics(request, reply);
  if (what == "scheduler") return ClusterScheduler(request, reply);
  if (what == "apps") return Apps(request, reply);
  if (what == "nodes") return Nodes(request, Segments(path.begin() + 1, path.end()), reply);
  if (what == "appstatistics") {
    const AppFilter filter(request);
    if (!filter.error.empty()) return reply(Error(request, 400, filter.exception, filter.error));
    if (filter.types.size() > 1) {
      return reply(Error(request, 400, "BadRequestException",
                         "java.lang.Exception: # of applicationTypes = " + std::to_string(filter.types.size()) +
                             ", we temporarily support at most one applicationType"));
    }
    return RenderAside(request, "appStatInfo", reply,
                       [query = request.query, rows = manager_.Fresh().Rows()] { return Statistics(query, rows); });
  }
  reply(NotFound());
}

Document ClusterDocument(const ClusterFacts& facts) {
  const std::string version(facts.version);
  const char* zookeeper = facts.sees_zookeeper ? "CONNECTED" : "CONNECTING";
  if (facts.alone) zookeeper = "Could not find leader elector. Verify both HA and automatic failover are enabled.";
  return Document::Object()
      .Add("id", facts.started)
      .Add("startedOn", facts.started)
      .Add("state", "STARTED")
      .Add("haState", facts.active ? "ACTIVE" : "STANDBY")
      .Add("rmStateStoreName", facts.alone ? "fairlead.SqliteStateStore" : "fairlead.ZooKeeperStateStore")
      .Add("resourceManagerVersion", version)
      .Add("resourceManagerBuildVersion", version + " (fairlead " + base::Version() + ")")
      .Add("resourceManagerVersionBuiltOn", "see fairlead --version")
      .Add("hadoopVersion", version)
      .Add("hadoopBuildVersion", version + " (fairlead " + base::Version() + ")")
      .Add("hadoopVersionBuiltOn", "see fairlead --version")
      .Add("haZooKeeperConnectionState", zookeeper);
}

Document Web::ClusterInfo() const {
  ClusterFacts facts;
  facts.started = manager_.core().cluster_timestamp();
  facts.version = manager_.options().version;
  facts.alone = !manager_.options().may_act;
  return ClusterDocument(facts);
}

namespace {

/// `demand`: what the root asks for and does not have.
Document MetricsDocument(const ClusterSums& sums, int32_t submitted, const model::Resources& demand) {
  const auto nodes = [&](NodeState state) { return sums.nodes[static_cast<size_t>(state)]; };
  int64_t all_nodes = -nodes(NodeState::kNew);
  for (const int64_t count : sums.nodes) all_nodes += count;
  const model::Resources& total = sums.capacity;
  const model::Resources& used = sums.used;
  const model::Resources& reserved = sums.all.reserved;
  const auto percent = [](double part, double whole) {
    return whole <= 0 ? int64_t{0} : static_cast<int64_t>(100 * part / whole);
  };
  return Document::Object()
      .Add("appsSubmitted", submitted)
      .Add("appsCompleted", sums.all.Completed())
      .Add("appsPending", sums.all.without_master)
      .Add("appsRunning",
           sums.all.Live() - sums.all.without_master)  // QueueMetrics.runAppAttempt: from its first container on
      .Add("appsFailed", sums.all.In(AppState::kFailed))
      .Add("appsKilled", sums.all.In(AppState::kKilled))
      .Add("reservedMB", reserved.memory_mib())
      .Add("availableMB", total.memory_mib() - used.memory_mib() - reserved.memory_mib())
      .Add("allocatedMB", used.memory_mib())
      .Add("pendingMB", demand.memory_mib())
      .Add("reservedVirtualCores", reserved.vcores())
      .Add("availableVirtualCores", total.vcores() - used.vcores() - reserved.vcores())
      .Add("allocatedVirtualCores", used.vcores())
      .Add("pendingVirtualCores", demand.vcores())
      .Add("containersAllocated", sums.all.containers)
      .Add("containersReserved", sums.all.reservations)
      .Add("containersPending", sums.all.pending)
      .Add("totalMB", total.memory_mib())
      .Add("totalVirtualCores", total.vcores())
      .Add("utilizedMBPercent",
           percent(static_cast<double>(MiB(sums.physical_bytes)), static_cast<double>(total.memory_mib())))
      .Add("utilizedVirtualCoresPercent", percent(Cores(sums.milli_cores), static_cast<double>(total.vcores())))
      .Add("rmSchedulerBusyPercent", int64_t{0})
      .Add("totalNodes", all_nodes)
      .Add("lostNodes", nodes(NodeState::kLost))
      .Add("unhealthyNodes", nodes(NodeState::kUnhealthy))
      .Add("decommissioningNodes", nodes(NodeState::kDecommissioning))
      .Add("decommissionedNodes", nodes(NodeState::kDecommissioned))
      .Add("rebootedNodes", nodes(NodeState::kRebooted))
      .Add("activeNodes", nodes(NodeState::kRunning))
      .Add("shutdownNodes", nodes(NodeState::kShutdown))
      .Add("totalAllocatedContainersAcrossPartition", int64_t{0})
      .Add("crossPartitionMetricsAvailable", false);
}

}  // namespace

void Web::ClusterMetrics(const http::Request& request, const Reply& reply) {
  model::Resources demand;
  for (const scheduler::QueueView& queue : manager_.scheduler().GetQueues().queues) {
    if (queue.name == "root") demand = queue.demand - queue.used;
  }
  for (size_t type = 0; type < 2; ++type) demand[type] = std::max<int64_t>(0, demand[type]);
  RenderAside(request, "clusterMetrics", reply,
              [sums = manager_.Fresh().cluster(), submitted = manager_.core().apps_submitted(), demand] {
                return MetricsDocument(sums, submitted, demand);
              });
}

namespace {

/// What an application's answer tells of others.
struct AppFacts {
  base::WallTime now;
  int64_t cluster_timestamp = 0;
  double cluster_memory = 0;
  std::map<std::string, double> queue_maximum;
  std::string scheme;  // of nodes' pages
};

AppFacts FactsOf(const ResourceManager& manager) {
  AppFacts facts{
      manager.now_wall(), manager.core().cluster_timestamp(), 0, {}, SchemeOf(manager.core().config().web_base)};
  const scheduler::View view = manager.scheduler().GetQueues();
  facts.cluster_memory = static_cast<double>(view.cluster.memory_mib());
  for (const scheduler::QueueView& queue : view.queues) {
    facts.queue_maximum[queue.name] = static_cast<double>(queue.max_share.memory_mib());
  }
  return facts;
}

/// What it holds and has used.
void AddUsage(const AppRow& row, const AppFacts& facts, Document& document) {
  const App& app = row.app;
  const AppUsage usage = UsageAt(row.usage, facts.now);
  const bool live = !Core::IsCompleted(app) || usage.containers > 0;
  const double cluster = facts.cluster_memory;
  double queue_share = 0;
  if (const auto it = facts.queue_maximum.find(FullQueueName(app.submission.queue)); it != facts.queue_maximum.end()) {
    queue_share = it->second;
  }
  if (queue_share <= 0 || queue_share > cluster) queue_share = cluster;
  const auto percent = [&](double whole) {
    return whole > 0 && live ? static_cast<float>(static_cast<double>(usage.used.memory_mib()) * 100.0 / whole) : 0.0F;
  };
  document.Add("allocatedMB", live ? usage.used.memory_mib() : -1)
      .Add("allocatedVCores", live ? usage.used.vcores() : -1)
      .Add("reservedMB", live ? usage.reserved.memory_mib() : -1)
      .Add("reservedVCores", live ? usage.reserved.vcores() : -1)
      .Add("runningContainers", live ? usage.containers : -1)
      .Add("memorySeconds", usage.memory_seconds)
      .Add("vcoreSeconds", usage.vcore_seconds)
      .Add("queueUsagePercentage", Document::Float(percent(queue_share)))
      .Add("clusterUsagePercentage", Document::Float(percent(cluster)))
      .Add("resourceSecondsMap", SecondsMap(usage.memory_seconds, usage.vcore_seconds, false))
      .Add("preemptedResourceMB", int64_t{0})
      .Add("preemptedResourceVCores", int64_t{0})
      .Add("numNonAMContainerPreempted", app.current() ? app.current()->containers_preempted : 0)
      .Add("numAMContainerPreempted", int64_t{0})
      .Add("preemptedMemorySeconds", usage.preempted_memory_seconds)
      .Add("preemptedVcoreSeconds", usage.preempted_vcore_seconds)
      .Add("preemptedResourceSecondsMap", SecondsMap(usage.preempted_memory_seconds, usage.preempted_vcore_seconds,
                                                     usage.preempted_memory_seconds == 0));
}

// dao/AppInfo: what the caller may not see is left out.
Document AppDocument(const AppRow& row, bool full, const AppFacts& facts, std::string diagnostics) {
  const App& app = row.app;
  const base::WallTime now = facts.now;
  const Attempt* attempt = app.current();
  const int64_t finished = Core::IsCompleted(app) ? app.finished.ms : 0;
  Document document = Document::Object();
  document.Add("id", ToString(app.submission.id))
      .Add("user", app.submission.user)
      .Add("name", app.submission.name)
      .Add("queue", app.submission.queue)
      .Add("state", StateName(Core::VisibleState(app)))
      .Add("finalStatus", EnumName(Core::VisibleFinalStatus(app)))
      .Add("progress", Document::Float(attempt ? attempt->progress * 100 : 0.0F));
  const AppState visible = Core::VisibleState(app);
  const bool master_known = attempt && visible != AppState::kNew && visible != AppState::kNewSaving &&
                            visible != AppState::kSubmitted && visible != AppState::kAccepted;
  document.Add("trackingUI", !master_known ? "UNASSIGNED" : finished > 0 ? "History" : "ApplicationMaster");
  if (full && master_known) document.Add("trackingUrl", TrackingUrl(app, *attempt));
  if (full) document.Add("diagnostics", std::move(diagnostics));
  document.Add("clusterId", facts.cluster_timestamp)
      .Add("applicationType", app.submission.type)
      .Add("applicationTags", base::Joined(app.submission.tags, ","))
      .Add("priority", app.submission.priority)
      .Add("startedTime", app.started.ms)
      .Add("launchTime", app.launched.ms)
      .Add("finishedTime", finished)
      .Add("elapsedTime", std::max<int64_t>(0, (finished > 0 ? finished : now.ms) - app.started.ms));
  if (!full) return document;
  if (attempt && attempt->master.id.value != 0) {
    document
        .Add("amContainerLogs", facts.scheme + attempt->master.http_address + "/node/containerlogs/" +
                                    ToString(attempt->master.id) + "/" + app.submission.user)
        .Add("amHostHttpAddress", attempt->master.http_address);
    if (attempt->rpc_port >= 0 && attempt->host != "N/A") {
      document.Add("amRPCAddress", attempt->host + ":" + std::to_string(attempt->rpc_port));
    }
    document.Add("masterNodeId", ToString(attempt->master.address));
  }
  AddUsage(row, facts, document);
  document.Add("logAggregationStatus", std::string(Name(row.logs.At(app, now))))
      .Add("unmanagedApplication", app.submission.unmanaged);
  if (!app.submission.label.empty()) document.Add("appNodeLabelExpression", app.submission.label);
  if (!app.submission.unmanaged) document.Add("amNodeLabelExpression", MasterLabelOf(app));
  document.Add("timeouts", Document::Object().Add("timeout", Document(Document::List{TimeoutDocument(app, now)})));
  return document;
}

}  // namespace

Document TimeoutDocument(const App& app, base::WallTime now) {
  Document timeout = Document::Object().Add("type", "LIFETIME");
  if (app.expires.ms <= 0) {
    timeout.Add("expiryTime", "UNLIMITED").Add("remainingTimeInSeconds", int64_t{-1});
  } else {
    const int64_t rest = Core::IsCompleted(app) ? 0 : std::max<int64_t>(0, (app.expires.ms - now.ms) / 1000);
    timeout.Add("expiryTime", Iso8601(app.expires)).Add("remainingTimeInSeconds", rest);
  }
  return timeout;
}

void Web::Apps(const http::Request& request, const Reply& reply) {
  const AppFilter filter(request);
  if (!filter.error.empty()) return reply(Error(request, 400, filter.exception, filter.error));
  RenderInTurn(request, "apps", reply, [this, filter, user = http::CallerOf(request)]() -> std::function<Document()> {
    return [filter, rows = manager_.Fresh().Rows(), viewer = manager_.access().Of(user), facts = FactsOf(manager_)] {
      Document::List list;
      int64_t passed = 0;  // RMWebServices.getApps: of so many those that the caller may see
      rows.ForEach([&](const AppRow& row) {
        if (passed >= filter.limit || !filter.Passes(row.app)) return;
        ++passed;
        if (viewer.Lists(row.app))
          list.push_back(AppDocument(row, viewer.May(row.app, false), facts, Core::VisibleDiagnostics(row.app)));
      });
      Document apps = Document::Object();
      if (!list.empty()) apps.Add("app", Document(std::move(list)));
      return apps;
    };
  });
}

void Web::ClusterApp(const http::Request& request, const Segments& path, const Reply& reply) {
  const base::Result<model::ApplicationId> id = model::ParseApplicationId(path[0]);
  if (!id.ok()) {
    return reply(Error(request, 400, "BadRequestException",
                       path[0].starts_with("application")
                           ? "java.lang.IllegalArgumentException: Invalid ApplicationId: " + path[0]
                           : "java.lang.IllegalArgumentException: Invalid ApplicationId prefix: " + path[0] +
                                 ". The valid ApplicationId should start with prefix application"));
  }
  const App* app = manager_.core().FindApp(*id);
  if (!app) {
    return reply(
        Error(request, 404, "NotFoundException", "java.lang.Exception: app with id: " + path[0] + " not found"));
  }
  const bool get = request.method == "GET" || request.method == "HEAD";
  const std::string part = path.size() > 1 ? path[1] : "";
  if (part.empty() && get) {
    AppRow row = RowOf(*app, manager_.scheduler(), manager_.now_wall());
    row.logs = manager_.log_aggregation().Of(*app);
    const bool full = manager_.access().Of(http::CallerOf(request)).May(*app, false);
    return reply(
        http::Rendered(request, AppDocument(row, full, FactsOf(manager_), manager_.DiagnosticsOf(*app)), "app"));
  }
  if (part == "state" && get) {
    return reply(http::Rendered(request, Document::Object().Add("state", StateName(Core::VisibleState(*app))),
                                BareRoot(request, "appstate")));
  }
  if (part == "state" && request.method == "PUT") return SetState(request, *app, reply);
  if (part == "queue" && get) {
    return reply(
        http::Rendered(request, Document::Object().Add("queue", app->submission.queue), BareRoot(request, "appqueue")));
  }
  if (part == "queue" && request.method == "PUT") return Move(request, *app, reply);
  if (part == "priority" && get) {
    return reply(http::Rendered(request, Document::Object().Add("priority", app->submission.priority),
                                BareRoot(request, "applicationpriority")));
  }
  if (part == "priority" && request.method == "PUT") return SetPriority(request, *app, reply);
  if (part == "timeouts" && get) {
    if (path.size() > 2 && base::Uppered(path[2]) != "LIFETIME") {
      return reply(Error(
          request, 400, "BadRequestException",
          "java.lang.Exception: Invalid application-state " + path[2] + " specified. It should be one of [LIFETIME]"));
    }
    const Document timeout = TimeoutDocument(*app, manager_.now_wall());
    if (path.size() > 2) return reply(http::Rendered(request, timeout, "timeout"));
    return reply(
        http::Rendered(request, Document::Object().Add("timeout", Document(Document::List{timeout})), "timeouts"));
  }
  if (part == "timeout" && request.method == "PUT") return SetTimeout(request, *app, reply);
  if (part == "appattempts" && get) return Attempts(request, *app, path, reply);
  reply(NotFound());
}

Document Web::AttemptDocument(const App& app, const Attempt& attempt) const {
  const bool has_master = attempt.master.id.value != 0;
  Document document = Document::Object();
  document.Add("id", attempt.id.attempt)
      .Add("startTime", attempt.started.ms)
      .Add("finishedTime", attempt.finished.ms)
      .Add("containerId", has_master ? ToString(attempt.master.id) : "");
  if (has_master) {
    document.Add("nodeHttpAddress", attempt.master.http_address)
        .Add("nodeId", ToString(attempt.master.address))
        .Add("logsLink", SchemeOf(manager_.core().config().web_base) + attempt.master.http_address +
                             "/node/containerlogs/" + ToString(attempt.master.id) + "/" + app.submission.user);
  } else {
    document.Add("nodeHttpAddress", "").Add("nodeId", "").Add("logsLink", "");
  }
  return std::move(document.Add("blacklistedNodes", "")
                       .Add("nodesBlacklistedBySystem", "")
                       .Add("appAttemptId", ToString(attempt.id))
                       .Add("exportPorts", "null"));
}

Document Web::ContainerDocument(const App& app, const Container& container) const {
  const int64_t now = manager_.now_wall().ms;
  Document::List resources;
  for (size_t type = 0; type < model::ResourceTypes::Count(); ++type) {
    resources.push_back(Document::Object()
                            .Add("key", model::ResourceTypes::Name(type))
                            .Add("value", std::to_string(container.resources[type])));
  }
  const model::rm::ContainerInfo info = manager_.core().InfoOf(container);
  const std::string node = SchemeOf(manager_.core().config().web_base) + info.http_address;
  return Document::Object()
      .Add("containerId", ToString(container.id))
      .Add("allocatedMB", std::to_string(container.resources.memory_mib()))
      .Add("allocatedVCores", std::to_string(container.resources.vcores()))
      .Add("assignedNodeId", ToString(info.address))
      .Add("priority", std::to_string(container.priority))
      .Add("startedTime", std::to_string(container.created.ms))
      .Add("finishedTime", "0")
      .Add("elapsedTime", std::to_string(std::max<int64_t>(0, now - container.created.ms)))
      .Add("logUrl", node + "/node/containerlogs/" + ToString(container.id) + "/" + app.submission.user)
      .Add("containerExitStatus", "0")
      .Add("containerState", "RUNNING")
      .Add("nodeHttpAddress", node)
      .Add("nodeId", ToString(info.address))
      .Add("allocatedResources", Document::Object().Add("entry", Document(std::move(resources))))
      .Add("exposedPorts", "");
}

namespace {
/// One attempt alone (server.webapp.dao.AppAttemptInfo): other keys than in the list, and all of them texts.
Document AttemptReportDocument(const Attempt& attempt) {
  Document document = Document::Object();
  document.Add("appAttemptId", ToString(attempt.id))
      .Add("host", attempt.host)
      .Add("rpcPort", std::to_string(attempt.rpc_port))
      .Add("trackingUrl", attempt.proxied_url)
      .Add("originalTrackingUrl", attempt.original_url)
      .Add("diagnosticsInfo", Core::VisibleDiagnostics(attempt))
      .Add("appAttemptState", std::string(EnumName(Core::VisibleState(attempt))));
  if (attempt.master.id.value != 0) document.Add("amContainerId", ToString(attempt.master.id));
  document.Add("startedTime", std::to_string(attempt.started.ms))
      .Add("finishedTime", std::to_string(attempt.finished.ms));
  return document;
}
}  // namespace

void Web::Attempts(const http::Request& request, const App& app, const Segments& path, const Reply& reply) {
  if (const std::string user = http::CallerOf(request); !manager_.access().Of(user).May(app, false)) {
    return reply(Error(request, 403, "ForbiddenException",
                       "java.lang.Exception: User " + user + " does not have privilege to see this application " +
                           ToString(app.submission.id)));
  }
  if (path.size() == 2) {
    Document::List list;
    for (const auto& [number, attempt] : app.attempts) list.push_back(AttemptDocument(app, attempt));
    Document document = Document::Object();
    if (!list.empty()) document.Add("appAttempt", Document(std::move(list)));
    return reply(http::Rendered(request, document, "appAttempts"));
  }
  const base::Result<model::ApplicationAttemptId> id = model::ParseApplicationAttemptId(path[2]);
  if (!id.ok()) {
    return reply(Error(request, 400, "BadRequestException",
                       "java.lang.IllegalArgumentException: Invalid AppAttemptId prefix: " + path[2]));
  }
  const auto attempt = app.attempts.find(id->attempt);
  if (attempt == app.attempts.end() || id->app != app.submission.id) {
    return reply(Error(request, 404, "NotFoundException",
                       "org.apache.hadoop.yarn.exceptions.ApplicationAttemptNotFoundException: ApplicationAttempt with "
                       "id '" +
                           path[2] + "' doesn't exist in RM."));
  }
  if (path.size() == 3) {
    return reply(http::Rendered(request, AttemptReportDocument(attempt->second), BareRoot(request, "appAttempt")));
  }
  Document::List list;
  const bool current = app.current()->id == *id;
  for (const fairlead::rm::Container* container : InOrder(app.containers)) {
    if (current || container->id.attempt == *id) list.push_back(ContainerDocument(app, *container));
  }
  if (path.size() == 4 && path[3] == "containers") {
    // A single container is written bare here, as Hadoop's own answer has it.
    Document document = Document::Object();
    if (list.size() == 1) {
      document.Add("container", std::move(list[0]));
    } else if (!list.empty()) {
      document.Add("container", Document(std::move(list)));
    }
    return reply(http::Rendered(request, document, BareRoot(request, "containers")));
  }
  const base::Result<model::ContainerId> container_id = model::ParseContainerId(path.size() > 4 ? path[4] : "");
  const Container* container = container_id.ok() ? manager_.core().FindContainer(*container_id) : nullptr;
  if (!container || container->id.attempt.app != app.submission.id) {
    return reply(Error(request, 404, "NotFoundException",
                       "org.apache.hadoop.yarn.exceptions.ContainerNotFoundException: Container with id '" +
                           (path.size() > 4 ? path[4] : "") + "' doesn't exist in RM."));
  }
  reply(http::Rendered(request, ContainerDocument(app, *container), BareRoot(request, "container")));
}

Document Web::NodeDocument(const NodeRow& node) {
  const model::Resources available = node.in_scheduler ? node.capacity - node.used : model::Resources{};
  const auto percent = [](double part, int64_t whole) {
    return Document::Float(whole <= 0 ? 0.0F : static_cast<float>(100.0 * part / static_cast<double>(whole)));
  };
  Document document = Document::Object();
  document.Add("rack", node.rack)
      .Add("state", EnumName(node.state))
      .Add("id", ToString(node.address))
      .Add("nodeHostName", node.address.host)
      .Add("nodeHTTPAddress", node.in_scheduler || node.state == NodeState::kUnhealthy ? node.http_address : "")
      .Add("lastHealthUpdate", node.health_time.ms)
      .Add("version", node.version)
      .Add("healthReport", node.health_report)
      .Add("numContainers", node.containers)
      .Add("usedMemoryMB", node.used.memory_mib())
      .Add("availMemoryMB", available.memory_mib())
      .Add("usedVirtualCores", node.used.vcores())
      .Add("availableVirtualCores", available.vcores())
      .Add("memUtilization", percent(static_cast<double>(MiB(node.use.physical_bytes)), node.capacity.memory_mib()))
      .Add("cpuUtilization", percent(Cores(node.use.milli_cores), node.capacity.vcores()))
      .Add("numRunningOpportContainers", int64_t{0})
      .Add("usedMemoryOpportGB", int64_t{0})
      .Add("usedVirtualCoresOpport", int64_t{0})
      .Add("numQueuedContainers", int64_t{0});
  if (!node.labels.empty()) {
    Document::List labels;
    for (const std::string& label : node.labels) labels.emplace_back(label);
    document.Add("nodeLabels", Document(std::move(labels)));
  }
  document.Add("allocationTags", Document());
  document.Add("resourceUtilization",
               Document::Object()
                   .Add("nodePhysicalMemoryMB", MiB(node.use.physical_bytes))
                   .Add("nodeVirtualMemoryMB", MiB(node.use.virtual_bytes))
                   .Add("nodeCPUUsage", Document::Double(Cores(node.use.milli_cores)))
                   .Add("aggregatedContainersPhysicalMemoryMB", MiB(node.containers_use.physical_bytes))
                   .Add("aggregatedContainersVirtualMemoryMB", MiB(node.containers_use.virtual_bytes))
                   .Add("containersCPUUsage", Document::Double(Cores(node.containers_use.milli_cores))));
  document.Add("usedResource", ResourceDocument(node.used))
      .Add("availableResource", ResourceDocument(available))
      .Add("nodeAttributesInfo", Document())
      .Add("totalResource", ResourceDocument(node.capacity));
  return document;
}

void Web::Nodes(const http::Request& request, const Segments& path, const Reply& reply) {
  if (!path.empty()) {
    const size_t colon = path[0].rfind(':');
    if (colon == std::string::npos || colon + 1 == path[0].size()) {
      return reply(
          Error(request, 400, "IllegalArgumentException", "Invalid NodeId [" + path[0] + "]. Expected host:port"));
    }
    const Node* node = manager_.core().FindNode({path[0].substr(0, colon), std::atoi(path[0].c_str() + colon + 1)});
    if (!node) {
      return reply(
          Error(request, 404, "NotFoundException", "java.lang.Exception: nodeId, " + path[0] + ", is not found"));
    }
    return reply(http::Rendered(request, NodeDocument(NodeRows(manager_.core(), node).front()), "node"));
  }
  std::vector<std::string> states;
  if (const auto it = request.query.find("states"); it != request.query.end()) {
    for (const std::string& state : base::SplitTrimmed(it->second)) states.push_back(base::Uppered(state));
  }
  for (const std::string& state : states) {
    static constexpr const char* kListed[] = {"NEW",  "RUNNING",  "UNHEALTHY",       "DECOMMISSIONED",
                                              "LOST", "REBOOTED", "DECOMMISSIONING", "SHUTDOWN"};
    if (std::find(std::begin(kListed), std::end(kListed), state) == std::end(kListed)) {
      return reply(Error(request, 400, "IllegalArgumentException",
                         "No enum constant org.apache.hadoop.yarn.api.records.NodeState." + state));
    }
  }
  RenderAside(request, "nodes", reply, [states, rows = NodeRows(manager_.core())] {
    Document::List list;
    for (const NodeRow& node : rows) {
      const bool wanted = states.empty()
                              ? fairlead::rm::IsActive(node.state)
                              : std::find(states.begin(), states.end(), EnumName(node.state)) != states.end();
      if (wanted) list.push_back(NodeDocument(node));
    }
    Document nodes = Document::Object();
    if (!list.empty()) nodes.Add("node", Document(std::move(list)));
    return nodes;
  });
}

}  // namespace fairlead::process::rm
