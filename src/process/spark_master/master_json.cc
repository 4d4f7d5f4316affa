#include "process/spark_master/master_json.h"

#include <algorithm>
#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/text.h"
#include "process/http/json_text.h"
#include "process/http/metrics.h"
#include "process/http/spark_gauges.h"

namespace fairlead::process::spark_master {

namespace es = endpoints::spark;
namespace sa = model::standalone;
namespace ss = scheduler::standalone;
using nlohmann::ordered_json;

namespace {

/// As java.util.Date.toString.
std::string Date(base::WallTime time) {
  const std::time_t seconds = time.ms / 1000;
  std::tm local = {};
  ::localtime_r(&seconds, &local);
  char text[64] = {};
  std::strftime(text, sizeof text, "%a %b %d %H:%M:%S %Z %Y", &local);
  return text;
}

ordered_json Information(const std::string& name, const std::vector<std::string>& addresses) {
  return {{"name", name}, {"addresses", addresses}};
}

/// A worker's custom resources: all, those in use, or those that are free.
enum class Part { kAll, kUsed, kFree };
ordered_json ResourcesOf(const MasterView::Worker& worker, Part part) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, addresses] : worker.said.resources) {
    const auto free = std::ranges::find(worker.resources_free, name, &sa::Resource::name);
    std::vector<std::string> chosen;
    for (const std::string& address : addresses) {
      const bool is_free = free != worker.resources_free.end() && std::ranges::count(free->addresses, address) != 0;
      if (part == Part::kAll || is_free == (part == Part::kFree)) chosen.push_back(address);
    }
    out[name] = Information(name, chosen);
  }
  return out;
}

ordered_json WorkerJson(const MasterView::Worker& worker) {
  return {{"id", worker.said.id},
          {"host", worker.said.host},
          {"port", worker.said.port},
          {"webuiaddress", worker.said.web_url},
          {"cores", worker.cores},
          {"coresused", worker.cores_used},
          {"coresfree", worker.cores - worker.cores_used},
          {"memory", worker.memory},
          {"memoryused", worker.memory_used},
          {"memoryfree", worker.memory - worker.memory_used},
          {"resources", ResourcesOf(worker, Part::kAll)},
          {"resourcesused", ResourcesOf(worker, Part::kUsed)},
          {"resourcesfree", ResourcesOf(worker, Part::kFree)},
          {"state", EnumName(worker.state)},
          {"lastheartbeat", worker.heartbeat.ms}};
}

ordered_json ApplicationJson(const MasterView::Application& record, base::WallTime now) {
  constexpr int64_t kDefaultHeapMib = 1024;
  const es::ResourceProfile& profile = record.description.profile;
  const int64_t memory = profile.memory_mib > 0 ? profile.memory_mib : kDefaultHeapMib;
  ordered_json needs = ordered_json::array();
  for (size_t i = 0; i < profile.other_amounts.size(); ++i) {
    needs.push_back({{"name", profile.other[i]}, {"amount", profile.other_amounts[i]}});
  }
  const bool over = record.ended.ms != 0;
  return {{"id", record.id},
          {"starttime", record.started.ms},
          {"name", record.description.name},
          {"cores", record.cores_granted},
          {"user", record.description.user},
          {"memoryperexecutor", memory},
          {"memoryperslave", memory},
          {"resourcesperexecutor", needs},
          {"resourcesperslave", needs},
          {"submitdate", Date(record.started)},
          {"state", EnumName(record.state)},
          {"duration", (over ? record.ended.ms : now.ms) - record.started.ms}};
}

ordered_json DriverJson(const MasterView::Driver& record) {
  const es::DriverDescription& description = record.submission->description;
  ordered_json resources = ordered_json::object();
  for (const sa::Resource& one : record.resources) resources[one.name] = Information(one.name, one.addresses);
  const std::vector<std::string>& arguments = description.command.arguments;
  constexpr size_t kMainClass = 2;  // DriverWrapper WORKER_URL USER_JAR CLASS
  return {{"id", record.id},
          {"starttime", std::to_string(record.submitted.ms)},
          {"state", EnumName(record.state)},
          {"cores", description.cores},
          {"memory", description.memory_mib},
          {"resources", resources},
          {"submitdate", Date(record.submitted)},
          {"worker", record.worker},
          {"mainclass", arguments.size() > kMainClass ? arguments[kMainClass] : ""}};
}

struct Totals {
  int64_t alive = 0, cores = 0, cores_used = 0, memory = 0, memory_used = 0;
};

template <class Worker>
void Add(Totals& totals, const Worker& worker) {
  if (worker.state != sa::WorkerState::kAlive) return;
  ++totals.alive;
  totals.cores += worker.cores;
  totals.cores_used += worker.cores_used;
  totals.memory += worker.memory;
  totals.memory_used += worker.memory_used;
}

Totals TotalsOf(const StandaloneCluster& cluster) {
  Totals totals;
  for (const auto& [i, worker] : cluster.core().workers()) Add(totals, worker);
  return totals;
}

Totals TotalsOf(const MasterView& view) {
  Totals totals;
  for (const MasterView::Worker& worker : view.workers) Add(totals, worker);
  return totals;
}

MasterView::Application ViewOf(const ApplicationRecord& record, const ss::App& app) {
  return {record.id, record.description, record.started, record.ended, app.cores_granted, app.state};
}

ordered_json Whole(const MasterView& view) {
  const Totals totals = TotalsOf(view);
  ordered_json workers = ordered_json::array(), all = workers, used = workers;
  for (const MasterView::Worker& worker : view.workers) {
    workers.push_back(WorkerJson(worker));
    if (worker.state != sa::WorkerState::kAlive) continue;
    all.push_back(ResourcesOf(worker, Part::kAll));
    used.push_back(ResourcesOf(worker, Part::kUsed));
  }
  ordered_json apps[2] = {ordered_json::array(), ordered_json::array()};
  for (const MasterView::Application& one : view.applications) {
    apps[one.ended.ms != 0].push_back(ApplicationJson(one, view.now));
  }
  ordered_json drivers[2] = {ordered_json::array(), ordered_json::array()};
  for (const MasterView::Driver& one : view.drivers) drivers[one.ended].push_back(DriverJson(one));
  return {{"url", view.url},
          {"workers", workers},
          {"aliveworkers", totals.alive},
          {"cores", totals.cores},
          {"coresused", totals.cores_used},
          {"memory", totals.memory},
          {"memoryused", totals.memory_used},
          {"resources", all},
          {"resourcesused", used},
          {"activeapps", apps[0]},
          {"completedapps", apps[1]},
          {"activedrivers", drivers[0]},
          {"completeddrivers", drivers[1]},
          {"status", view.status}};
}

/// Names with texts that are JSON already. Built by hand: a JSON object that keeps its order looks through all its
/// names for each that is added.
std::string ObjectText(const std::map<std::string, std::string>& members) {
  std::string text = "{";
  for (const auto& [name, value] : members) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + http::JsonText(ordered_json(name)) + ": " + value;
  }
  return text + (members.empty() ? "}" : "\n}");
}

/// How many of those that wait are compared with the workers, so that a page costs some milliseconds.
size_t ExplainedMax(const StandaloneCluster& cluster) {
  constexpr size_t kComparisons = 2'000'000, kLeast = 200, kMost = 2000;
  return std::clamp(kComparisons / std::max<size_t>(cluster.core().workers().size(), 1), kLeast, kMost);
}

int64_t Percent(int64_t used, int64_t all) { return all == 0 ? 100 : 100 * used / all; }

ordered_json Utilization(const MasterView& view) {
  const Totals totals = TotalsOf(view);
  return {{"waitingDrivers", view.waiting_drivers},
          {"cores", totals.cores},
          {"coresused", totals.cores_used},
          {"coresutilization", Percent(totals.cores_used, totals.cores)},
          {"memory", totals.memory},
          {"memoryused", totals.memory_used},
          {"memoryutilization", Percent(totals.memory_used, totals.memory)}};
}

/// Whether a worker that is alive would take such an executor if it were empty.
bool FitsAnyWorker(const StandaloneCluster& cluster, int32_t cores, int64_t memory) {
  const auto& workers = cluster.core().workers();
  return std::any_of(workers.begin(), workers.end(), [&](const auto& one) {
    const auto& worker = one.second;
    return worker.state == sa::WorkerState::kAlive && worker.cores >= cores && worker.memory >= memory;
  });
}

/// Why an application has not all the executors that it may have: the first test that fails, in the order in which the
/// master makes them.
std::string WhyWaits(const StandaloneCluster& cluster, const ss::App& app, const ApplicationRecord& record,
                     size_t place) {
  const std::string ends = WhyExecutorsEnd(record, cluster.now());
  if (app.cores_left() <= 0) return ends;  // the one that has just been started has the last of them
  const auto needs = app.profiles.find(0);
  const auto target = app.targets.find(0);
  if (needs == app.profiles.end() || target == app.targets.end()) return "";
  if (static_cast<int64_t>(app.executors.size()) >= target->second) {
    return !ends.empty() ? ends : "it has the executors that it asked for (" + std::to_string(target->second) + ")";
  }
  const int32_t cores = needs->second.cores.value_or(1);
  if (app.cores_left() < cores) {
    return "what is left of its spark.cores.max (" + std::to_string(app.cores_left()) + ") is less than the " +
           std::to_string(cores) + " cores of an executor";
  }
  bool any = false, with_cores = false, fits = false;
  for (const auto& [i, worker] : cluster.core().workers()) {
    if (worker.state != sa::WorkerState::kAlive) continue;
    any = true;
    with_cores = with_cores || worker.cores_free() >= cores;
    fits = fits || (worker.cores_free() >= cores && worker.memory_free() >= needs->second.memory);
  }
  if (!any) return "no worker is alive";
  if (!FitsAnyWorker(cluster, cores, needs->second.memory)) {
    return "no worker has " + base::Counted(cores, "core") + " and " + std::to_string(needs->second.memory) +
           " MiB for one of its executors, not even an empty one; it must ask for less (spark.executor.cores, "
           "spark.executor.memory)";
  }
  if (!ends.empty()) return ends;
  if (!with_cores && app.cores_granted > 0 && !record.description.cores_max) {
    return "it has " + base::Counted(app.cores_granted, "core") +
           " and would take every one that comes free, as it sets no spark.cores.max";
  }
  if (!with_cores) return "no worker has " + base::Counted(cores, "free core");
  if (!fits) {
    return "no worker with free cores has " + std::to_string(needs->second.memory) + " MiB of free memory";
  }
  if (!needs->second.resources.empty()) return "no worker has the custom resources that it asks for";
  return place > 0 ? "applications that came before it are served first" : "";
}

}  // namespace

MasterView ViewOf(const StandaloneCluster& cluster) {
  const ss::Master& core = cluster.core();
  MasterView view;
  for (const auto& [i, worker] : core.workers()) {
    if (!cluster.workers().Shows(i)) continue;
    const WorkerRecord& record = cluster.workers().all()[i];
    view.workers.push_back({record.said, record.heartbeat, worker.cores, worker.cores_used, worker.memory,
                            worker.memory_used, worker.resources_free, worker.state});
  }
  for (const auto& [i, app] : core.apps()) {
    const ApplicationRecord& record = cluster.records().applications()[i];
    if (!record.cleared) view.applications.push_back(ViewOf(record, app));
  }
  for (const auto& [i, driver] : core.drivers()) {
    const DriverRecord& record = cluster.records().drivers()[i];
    if (record.cleared) continue;
    const std::string worker = driver.worker != UINT32_MAX ? cluster.workers().all()[driver.worker].said.id : "None";
    view.drivers.push_back(
        {record.id, record.submission, record.submitted, worker, driver.resources, driver.state, !driver.known});
  }
  view.url = cluster.url();
  view.status = cluster.status();
  view.now = cluster.now();
  view.waiting_drivers = core.waiting_drivers().size();
  return view;
}

std::string MasterJson(const StandaloneCluster& cluster, const std::string& field, bool spark4) {
  return MasterJson(ViewOf(cluster), field, spark4);
}

std::string MasterJson(const MasterView& view, const std::string& field, bool spark4) {
  if (!spark4 || field.empty()) return http::JsonText(Whole(view), 2);
  if (field == "clusterutilization") return http::JsonText(Utilization(view), 2);
  const ordered_json whole = Whole(view);
  const auto found = whole.find(field);
  return http::JsonText(ordered_json({{field, found != whole.end() ? *found : ordered_json("")}}), 2);
}

/// `/app/json/`, for our page: Spark's own answers nothing there.
std::string OneApplicationJson(const StandaloneCluster& cluster, const std::string& id) {
  const auto index = cluster.records().ShownApplication(id);
  if (!index || !cluster.core().apps().contains(*index)) return "null";
  const ss::App& app = cluster.core().apps()[*index];
  const ApplicationRecord& record = cluster.records().applications()[*index];
  ordered_json shown = ApplicationJson(ViewOf(record, app), cluster.now());
  const std::optional<int32_t> most = record.description.cores_max;
  shown["cores_max"] = most ? ordered_json(*most) : ordered_json();
  const auto target = app.targets.find(0);
  const bool limited = target != app.targets.end() && target->second != INT32_MAX;
  shown["executor_limit"] = limited ? ordered_json(target->second) : ordered_json();
  return http::JsonText(shown, 2);
}

std::string ExecutorsJson(const StandaloneCluster& cluster, const std::string& id) {
  ordered_json out = ordered_json::array();
  const auto index = cluster.records().ShownApplication(id);
  if (!index || !cluster.core().apps().contains(*index)) return http::JsonText(out);
  const ApplicationRecord& record = cluster.records().applications()[*index];
  std::map<int32_t, ShownExecutor> executors = record.executors;
  for (const auto& [number, one] : cluster.core().apps()[*index].executors) {
    // Those that an earlier life of the master started; what has ended may outlive what is kept of its worker.
    const bool kept = cluster.workers().all().contains(one.worker);
    const std::string worker = kept ? cluster.workers().all()[one.worker].said.id : "";
    executors.try_emplace(number, ShownExecutor{worker, one.cores, one.memory, {}, one.state, ""});
  }
  for (const auto& [number, one] : executors) {
    const bool over = one.state > sa::ExecutorState::kRunning;
    const bool with_it = record.ended.ms != 0 && !over;
    out.push_back({{"id", number},
                   {"worker", one.worker},
                   {"cores", one.cores},
                   {"memory_mib", one.memory_mib},
                   {"started_ms", one.started.ms},
                   {"state", EnumName(with_it ? sa::ExecutorState::kKilled : one.state)},
                   {"message", with_it ? "its application has ended"
                               : over  ? one.message
                                       : ""}});
  }
  return http::JsonText(out, 2);
}

namespace {

http::SparkGauges MasterGauges(const StandaloneCluster& cluster) {
  const auto& apps = cluster.core().apps();
  const auto waiting = [&](uint32_t app) { return apps[app].state == sa::AppState::kWaiting; };
  const auto shown = [&](const auto& one) { return cluster.workers().Shows(one.first); };
  return {{"master.aliveWorkers", static_cast<int64_t>(TotalsOf(cluster).alive)},
          {"master.apps", static_cast<int64_t>(cluster.core().waiting_apps().size())},
          {"master.waitingApps", std::ranges::count_if(cluster.core().waiting_apps(), waiting)},
          {"master.workers", std::ranges::count_if(cluster.core().workers(), shown)}};
}

/// Of applications that have not ended (ApplicationSource, without `status`, which is no number). As many as a page
/// shows.
http::SparkGauges ApplicationGauges(const StandaloneCluster& cluster) {
  constexpr size_t kMost = 1000;
  http::SparkGauges gauges;
  const std::vector<uint32_t>& apps = cluster.core().waiting_apps();
  for (size_t i = 0; i < std::min(apps.size(), kMost); ++i) {
    const ApplicationRecord& record = cluster.records().applications()[apps[i]];
    const std::string name = "application." + record.description.name + "." + std::to_string(record.started.ms) + ".";
    gauges.emplace_back(name + "cores", cluster.core().apps()[apps[i]].cores_granted);
    gauges.emplace_back(name + "runtime_ms", cluster.now().ms - record.started.ms);
  }
  std::ranges::sort(gauges);
  return gauges;
}

}  // namespace

http::Response MasterMetrics(const StandaloneCluster& cluster, const http::WebRefusals& web) {
  const Totals totals = TotalsOf(cluster);
  const ss::Master& core = cluster.core();
  http::MetricsText text("fairlead_spark_master_");
  text.Gauge("alive", "1 where this master leads and is not recovering.", cluster.alive() ? 1 : 0);
  text.Gauge("workers_alive", "Workers that are alive.", totals.alive);
  text.Gauge("cores", "Cores of the workers that are alive.", totals.cores);
  text.Gauge("cores_used", "Of these, in use.", totals.cores_used);
  text.Gauge("memory_mib", "Memory of the workers that are alive.", totals.memory);
  text.Gauge("memory_used_mib", "Of this, in use.", totals.memory_used);
  text.Gauge("applications", "Applications that have not ended.", static_cast<int64_t>(core.waiting_apps().size()));
  text.Gauge("drivers_waiting", "Drivers that wait for a worker.", static_cast<int64_t>(core.waiting_drivers().size()));
  text.Gauge("can_store", "0 while nothing can be stored, and so nothing is promised.", cluster.store_error().empty());
  text.Gauge("rows_set_aside", "Stored rows that cannot be read.", static_cast<int64_t>(cluster.set_aside().size()));
  text.Counters("refusals_total", spark_rpc::kRefusalsHelp, "kind", spark_rpc::ByName(cluster.refusals()));
  text.Counter("web_refused_total", http::kWebRefusedHelp, web.requests);
  text.Counter("web_logins_refused_total", "HTTP requests without a token that the port's filter takes.", web.logins);
  return text.ToResponse();
}

std::string WhyExecutorsEnd(const ApplicationRecord& record, base::WallTime now) {
  constexpr int kAFew = 3;
  constexpr int64_t kSettledMs = 60'000;
  int ended = 0;
  for (auto at = record.executors.rbegin(); at != record.executors.rend() && ended < kAFew; ++at) {
    const sa::ExecutorState state = at->second.state;
    if (ended == 0 && state <= sa::ExecutorState::kRunning) {
      if (now.ms - at->second.started.ms > kSettledMs) return "";
      continue;  // it has just been started
    }
    if (state != sa::ExecutorState::kExited && state != sa::ExecutorState::kFailed) return "";
    ++ended;
  }
  if (ended < kAFew) return "";
  const auto last = std::find_if(record.executors.rbegin(), record.executors.rend(),
                                 [](const auto& one) { return one.second.state > sa::ExecutorState::kRunning; });
  return "its executors end by themselves, the last one so: " + last->second.message + "; their logs say why";
}

std::string WaitingJson(const StandaloneCluster& cluster) {
  std::map<std::string, std::string> out;
  const size_t explained = ExplainedMax(cluster);
  const std::vector<uint32_t>& apps = cluster.core().waiting_apps();
  for (size_t place = 0; place < std::min(apps.size(), explained); ++place) {
    const uint32_t app = apps[place];
    const std::optional<std::string> said = cluster.WhyNotPlaced(app);
    const std::string why =
        said ? *said : WhyWaits(cluster, cluster.core().apps()[app], cluster.records().applications()[app], place);
    if (!why.empty()) out[cluster.records().applications()[apps[place]].id] = http::JsonText(ordered_json(why));
  }
  for (const uint32_t driver : cluster.core().waiting_drivers()) {
    const es::DriverDescription& needs = cluster.records().drivers()[driver].submission->description;
    out[cluster.records().drivers()[driver].id] = http::JsonText(ordered_json(
        "no worker has " + base::Counted(needs.cores, "free core") + " and " + std::to_string(needs.memory_mib) +
        " MiB of free memory for this driver, or spark.deploy.maxDrivers are running"));
  }
  return ObjectText(out);
}

std::string UseJson(const StandaloneCluster& cluster) {
  std::map<std::string, std::string> out;
  for (const auto& [i, worker] : cluster.core().workers()) {
    const std::optional<es::WorkerUse>& use = cluster.workers().all()[i].use;
    if (!use || !worker.usable()) continue;
    ordered_json one = {{"machine_cores", use->cores}, {"machine_memory_mib", use->mib}};
    const std::pair<const char*, int64_t> amounts[] = {{"milli_cores", use->use.milli_cores},
                                                       {"physical_bytes", use->use.physical_bytes},
                                                       {"disk_bytes_per_second", use->use.disk_bytes},
                                                       {"disk_busy_per_mille", use->use.disk_busy},
                                                       {"network_bytes_per_second", use->use.network_bytes}};
    for (const auto& [name, amount] : amounts) {
      if (amount != model::MeasuredUse::kUnknown) one[name] = amount;
    }
    out[cluster.workers().all()[i].said.id] = http::JsonText(one);
  }
  return ObjectText(out);
}

std::string PagesJson(const StandaloneCluster& cluster, const ReverseProxy& proxy) {
  std::map<std::string, std::string> out;
  const auto add = [&](const std::string& id, const std::string& url) {
    const std::string address = proxy.on ? proxy.front + "/proxy/" + id + "/" : url;
    if (!url.empty()) out[id] = http::JsonText(ordered_json(address));
  };
  for (const auto& [i, worker] : cluster.workers().all()) {
    if (cluster.workers().Shows(i)) add(worker.said.id, worker.said.web_url);
  }
  for (const auto& [i, application] : cluster.records().applications()) {
    if (application.ended.ms == 0) add(application.id, application.description.ui_url);
  }
  return ObjectText(out);
}

std::string AboutJson(const MasterAbout& about) {
  return http::JsonText(ordered_json({{"release", about.release},
                                      {"rest_url", about.rest_url},
                                      {"profile", about.profile},
                                      {"wishes", about.wishes}}),
                        2);
}

std::string NoticesJson(const StandaloneCluster& cluster) {
  ordered_json out = ordered_json::array();
  if (!cluster.store_error().empty()) {
    out.push_back("the state cannot be stored, and nothing is promised until it can: " + cluster.store_error());
  }
  for (const SetAsideRow& row : cluster.set_aside()) {
    out.push_back("a stored row cannot be read and is set aside as " + row.name + ": " + row.why);
  }
  return http::JsonText(out, 2);
}

namespace {

http::Response Json(std::string body) {
  http::Response response = http::JsonResponse(200, std::move(body));
  response.content_type = "text/json;charset=utf-8";
  response.headers.emplace_back("Cache-Control", "no-cache, no-store, must-revalidate");
  return response;
}

}  // namespace

void MasterPages::Handle(const http::Request& request, const http::Server::Reply& reply) {
  constexpr std::string_view kJson = "/json";
  const std::string& path = request.path;
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!reads || (path != kJson && !path.starts_with("/json/"))) return reply(Answer(request));
  MakeJson(about_.spark4 && path.size() > kJson.size() ? path.substr(kJson.size() + 1) : "", reply);
}

void MasterPages::MakeJson(const std::string& field, const http::Server::Reply& reply) {
  constexpr std::string_view kFields[] = {"",
                                          "url",
                                          "workers",
                                          "aliveworkers",
                                          "cores",
                                          "coresused",
                                          "memory",
                                          "memoryused",
                                          "resources",
                                          "resourcesused",
                                          "activeapps",
                                          "completedapps",
                                          "activedrivers",
                                          "completeddrivers",
                                          "status",
                                          "clusterutilization"};
  if (std::ranges::find(kFields, field) == std::end(kFields)) {  // says nothing of the cluster
    return reply(Json(http::JsonText(ordered_json({{field, ""}}), 2)));
  }
  const auto [asked, first] = asked_.try_emplace(field);
  asked->second.waiting.push_back(reply);
  if (first) BeginJson(field);
}

void MasterPages::BeginJson(const std::string& field) {
  Asked& asked = asked_.at(field);
  asked.served = std::exchange(asked.waiting, {});
  const auto text = std::make_shared<std::string>();
  loop_.Offload([text, view = ViewOf(master_.cluster()), field,
                 spark4 = about_.spark4] { *text = MasterJson(view, field, spark4); },
                alive_([this, text, field] {
                  for (const http::Server::Reply& reply : std::exchange(asked_.at(field).served, {}))
                    reply(Json(*text));
                  if (asked_.at(field).waiting.empty()) {
                    asked_.erase(field);
                  } else {
                    BeginJson(field);
                  }
                }));
}

std::optional<http::Response> SparkMetrics(const StandaloneCluster& cluster, std::string path) {
  if (path.ends_with('/')) path.pop_back();
  if (path == "/metrics/master/json") return Json(http::GaugesJson(MasterGauges(cluster)));
  if (path == "/metrics/applications/json") return Json(http::GaugesJson(ApplicationGauges(cluster)));
  if (path == "/metrics/master/prometheus") return http::SparkPrometheus(MasterGauges(cluster));
  if (path == "/metrics/applications/prometheus") return http::SparkPrometheus(ApplicationGauges(cluster));
  return std::nullopt;
}

http::Response MasterPages::Answer(const http::Request& request) const {
  const StandaloneCluster& cluster = master_.cluster();
  if (request.method != "GET" && request.method != "HEAD") return http::TextResponse(405, "only GET is taken here");
  const std::string& path = request.path;
  if (path.starts_with("/app/kill") || path.starts_with("/driver/kill") || path.starts_with("/workers/kill")) {
    return http::TextResponse(405, "orders are given by POST");
  }
  if (std::optional<http::Response> metrics = SparkMetrics(cluster, path)) return std::move(*metrics);
  if (path == "/app/json" || path == "/app/json/") {
    const auto id = request.query.find("appId");
    return Json(OneApplicationJson(cluster, id != request.query.end() ? id->second : ""));
  }
  if (path == "/fairlead/executors") {
    const auto id = request.query.find("appId");
    return Json(ExecutorsJson(cluster, id != request.query.end() ? id->second : ""));
  }
  if (path == "/fairlead/about") return Json(AboutJson(about_));
  if (path == "/fairlead/waiting") return Json(WaitingJson(cluster));
  if (path == "/fairlead/use") return Json(UseJson(cluster));
  if (path == "/fairlead/notices") return Json(NoticesJson(cluster));
  if (path == "/fairlead/pages") return Json(PagesJson(cluster, proxy_));
  if (path == "/metrics") return MasterMetrics(cluster, web_refusals_());
  if (path == "/healthz") return http::TextResponse(200, "ok\n");
  if (path == "/readyz") {  // applications and drivers are taken
    if (!cluster.store_error().empty()) {
      return http::TextResponse(503, "nothing can be stored: " + cluster.store_error() + "\n");
    }
    return cluster.alive() ? http::TextResponse(200, "ok\n")
                           : http::TextResponse(503, std::string(cluster.status()) + "\n");
  }
  constexpr std::string_view kStatic = "/static/";
  if (path == "/app") return http::Redirect("app/" + request.target.substr(path.size()));
  if (path == "/app/") return http::StaticResponse(request, *FindWebFile("page.html"), "..");
  if (path == "/" || path.starts_with(kStatic)) {
    const http::StaticFile* file = FindWebFile(path == "/" ? "page.html" : path.substr(kStatic.size()));
    if (file != nullptr) return http::StaticResponse(request, *file);
  }
  return http::TextResponse(404, "there is no page " + path);
}

}  // namespace fairlead::process::spark_master
