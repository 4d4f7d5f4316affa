#include "process/spark_worker/worker_page.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "process/http/json_text.h"
#include "process/http/metrics.h"
#include "process/http/spark_gauges.h"
#include "process/http/static_file.h"

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;
using nlohmann::ordered_json;

/// A file of web/; null when there is none of this name.
const http::StaticFile* FindWebFile(std::string_view name);

namespace {

ordered_json ResourcesJson(const es::Resources& resources) {
  ordered_json out = ordered_json::object();
  for (const auto& [name, addresses] : resources) out[name] = {{"name", name}, {"addresses", addresses}};
  return out;
}

ordered_json DescriptionJson(const es::ApplicationDescription& application) {
  const es::ResourceProfile& profile = application.profile;
  constexpr int64_t kDefaultHeapMib = 1024;
  const int64_t memory = profile.memory_mib > 0 ? profile.memory_mib : kDefaultHeapMib;
  ordered_json needs = ordered_json::array();
  for (size_t i = 0; i < profile.other_amounts.size(); ++i) {
    needs.push_back({{"name", profile.other[i]}, {"amount", profile.other_amounts[i]}});
  }
  return {{"name", application.name},
          {"cores", application.cores_max.value_or(0)},
          {"memoryperexecutor", memory},
          {"resourcesperexecutor", needs},
          {"memoryperslave", memory},
          {"resourcesperslave", needs},
          {"user", application.user},
          {"command", application.command.main_class}};  // without its arguments, which may hold secrets
}

ordered_json RunsJson(const std::map<std::string, ExecutorRun>& runs) {
  ordered_json out = ordered_json::array();
  for (const auto& [key, run] : runs) {
    out.push_back({{"id", run.launch.executor},
                   {"memory", run.launch.memory_mib},
                   {"resources", ResourcesJson(run.launch.resources)},
                   {"appid", run.launch.application},
                   {"appdesc", DescriptionJson(run.launch.description)}});
  }
  return out;
}

/// Of all that runs here.
es::Resources ResourcesUsed(const SparkWorker& worker) {
  std::map<std::string, std::vector<std::string>> used;
  const auto add = [&](const es::Resources& resources) {
    for (const auto& [name, addresses] : resources) {
      used[name].insert(used[name].end(), addresses.begin(), addresses.end());
    }
  };
  for (const auto& [key, run] : worker.executors()) add(run.launch.resources);
  for (const auto& [id, run] : worker.drivers()) add(run.launch.resources);
  es::Resources out;
  for (const auto& [name, addresses] : worker.settings().resources) out.emplace_back(name, used[name]);
  return out;
}

std::string Parameter(const http::Request& request, const char* name) {
  const auto found = request.query.find(name);
  return found != request.query.end() ? found->second : "";
}

std::optional<int64_t> Number(const std::string& text) {
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = !text.empty() && read.ec == std::errc() && read.ptr == text.data() + text.size();
  return whole ? std::optional(number) : std::nullopt;
}

/// Below the work directory, with a "/" at its end; nothing for what names no directory of an executor or driver.
std::optional<std::string> LogDirectory(const http::Request& request) {
  const std::string driver = Parameter(request, "driverId");
  const std::string application = Parameter(request, "appId");
  const std::string executor = Parameter(request, "executorId");
  if (IsDirectoryName(driver) && application.empty()) return driver + "/";
  if (driver.empty() && IsDirectoryName(application) && Number(executor)) return application + "/" + executor + "/";
  return std::nullopt;
}

}  // namespace

http::Response WorkerMetrics(const SparkWorker& worker, const http::WebRefusals& web) {
  http::MetricsText text("fairlead_spark_worker_");
  text.Gauge("registered", "1 where a master has registered this worker.", worker.link().registered() ? 1 : 0);
  text.Gauge("cores", "Cores that it offers.", worker.settings().cores);
  text.Gauge("cores_used", "Of these, in use.", worker.cores_used());
  text.Gauge("memory_mib", "Memory that it offers.", worker.settings().memory_mib);
  text.Gauge("memory_used_mib", "Of this, in use.", worker.memory_used());
  text.Gauge("executors", "Executors that run.", static_cast<int64_t>(worker.executors().size()));
  text.Gauge("drivers", "Drivers that run.", static_cast<int64_t>(worker.drivers().size()));
  text.Gauge("runs_unread", "Executors and drivers of an earlier worker that could not be read, and were ended.",
             static_cast<int64_t>(worker.unread().size()));
  text.Counters("refusals_total", spark_rpc::kRefusalsHelp, "kind", spark_rpc::ByName(worker.link().refusals()));
  text.Counter("web_refused_total", http::kWebRefusedHelp, web.requests);
  text.Counter("web_logins_refused_total", "HTTP requests without a token that the port's filter takes.", web.logins);
  return text.ToResponse();
}

namespace {
http::SparkGauges GaugesOf(const SparkWorker& worker) {
  return {{"worker.coresFree", worker.settings().cores - worker.cores_used()},
          {"worker.coresUsed", worker.cores_used()},
          {"worker.executors", static_cast<int64_t>(worker.executors().size())},
          {"worker.memFree_MB", worker.settings().memory_mib - worker.memory_used()},
          {"worker.memUsed_MB", worker.memory_used()}};
}
}  // namespace

std::string WorkerGauges(const SparkWorker& worker) { return http::GaugesJson(GaugesOf(worker)); }

std::string WorkerJson(const SparkWorker& worker) {
  const SparkWorkerSettings& settings = worker.settings();
  return http::JsonText(ordered_json({{"id", worker.link().id()},
                                      {"masterurl", worker.link().master_url()},
                                      {"masterwebuiurl", worker.link().master_web_url()},
                                      {"cores", settings.cores},
                                      {"coresused", worker.cores_used()},
                                      {"memory", settings.memory_mib},
                                      {"memoryused", worker.memory_used()},
                                      {"resources", ResourcesJson(settings.resources)},
                                      {"resourcesused", ResourcesJson(ResourcesUsed(worker))},
                                      {"executors", RunsJson(worker.executors())},
                                      {"finishedexecutors", RunsJson(worker.finished_executors())}}),
                        2);
}

namespace {

template <class Run>
ordered_json RunJson(const Run& run, std::string_view kind, const std::string& id, int32_t cores, int32_t memory_mib) {
  return {{"kind", kind},
          {"id", id},
          {"state", Name(run.state)},
          {"cores", cores},
          {"memory_mib", memory_mib},
          {"resources", ResourcesJson(run.launch.resources)},
          {"started_ms", run.facts.started.ms},
          {"ended_ms", run.facts.ended.ms},
          {"exit_code", run.facts.code ? ordered_json(*run.facts.code) : ordered_json()},
          {"message", run.facts.message}};
}

void AddRuns(const std::map<std::string, ExecutorRun>& executors, ordered_json& out) {
  for (const auto& [key, run] : executors) {
    const es::LaunchExecutor& launch = run.launch;
    ordered_json one = RunJson(run, "executor", key, launch.cores, launch.memory_mib);
    one["application"] = launch.application;
    one["executor"] = launch.executor;
    one["name"] = launch.description.name;
    one["user"] = launch.description.user;
    out.push_back(std::move(one));
  }
}

void AddRuns(const std::map<std::string, DriverRun>& drivers, ordered_json& out) {
  for (const auto& [id, run] : drivers) {
    const es::DriverDescription& driver = run.launch.description;
    ordered_json one = RunJson(run, "driver", id, driver.cores, driver.memory_mib);
    one["main_class"] = MainClassOf(driver);
    out.push_back(std::move(one));
  }
}

}  // namespace

std::string WorkerRunsJson(const SparkWorker& worker) {
  ordered_json out = ordered_json::array();
  AddRuns(worker.executors(), out);
  AddRuns(worker.finished_executors(), out);
  AddRuns(worker.drivers(), out);
  AddRuns(worker.finished_drivers(), out);
  return http::JsonText(out);
}

std::string WorkerNotices(const SparkWorker& worker) {
  ordered_json out = ordered_json::array();
  for (const std::string& run : worker.unread()) {
    out.push_back("the record of " + run + ", which an earlier worker started, cannot be read: it was ended");
  }
  return http::JsonText(out, 2);
}

void WorkerPages::Log(const SparkWorker& worker, const http::Request& request, const http::Server::Reply& reply) {
  constexpr int64_t kBytes = 100 << 10, kBytesMax = 1 << 20;
  constexpr size_t kOrdersMax = 32;
  const std::string type = Parameter(request, "logType");
  const auto directory = LogDirectory(request);
  if (!directory || (type != "stdout" && type != "stderr")) {
    return reply(http::TextResponse(400, "say appId and executorId, or driverId, and logType=stdout or stderr"));
  }
  if (orders_.size() >= kOrdersMax) return reply(http::TextResponse(503, "too many logs are being read; try again\n"));
  const int64_t wanted = std::clamp<int64_t>(Number(Parameter(request, "byteLength")).value_or(kBytes), 0, kBytesMax);
  orders_.push_back(
      {worker.settings().work_directory, *directory, type, Number(Parameter(request, "offset")), wanted, reply});
  if (orders_.size() == 1) ReadNext();
}

void WorkerPages::ReadNext() {
  const auto response = std::make_shared<http::Response>();
  LogOrder order = orders_.front();
  order.reply = nullptr;  // of the loop's thread
  loop_.Offload([response, order = std::move(order), disk = &disk_,
                 lengths = lengths_] { *response = Read(*disk, order, *lengths); },
                alive_([this, response] {
                  const http::Server::Reply reply = std::move(orders_.front().reply);
                  orders_.pop_front();
                  if (!orders_.empty()) ReadNext();
                  reply(std::move(*response));
                }));
}

http::Response WorkerPages::Read(env::Disk& disk, const LogOrder& order, LogFiles::Lengths& lengths) {
  const auto log = LogFiles::Find(disk, order.root, order.directory, order.name, lengths);
  if (!log.ok()) return http::TextResponse(404, "there is no log " + order.directory + order.name);
  const int64_t total = log->size();
  const int64_t begin = std::clamp<int64_t>(order.offset.value_or(total - order.wanted), 0, total);
  const auto text = log->Read(begin, std::min(order.wanted, total - begin));
  if (!text.ok()) return http::TextResponse(500, text.error().message);
  http::Response response;
  response.body = "==== Bytes " + std::to_string(begin) + "-" +
                  std::to_string(begin + static_cast<int64_t>(text->size())) + " of " + std::to_string(total) + " of " +
                  order.root + "/" + order.directory + order.name + " ====\n" + *text;
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return response;
}

namespace {

http::Response Page(const SparkWorker& worker, const http::Request& request);

}  // namespace

void WorkerPages::Handle(const SparkWorker& worker, const http::Request& request, const http::Server::Reply& reply) {
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const bool log = request.path == "/log" || request.path == "/log/";
  if (reads && log) return Log(worker, request, reply);
  if (reads && request.path == "/metrics") return reply(WorkerMetrics(worker, web_refusals_()));
  reply(Page(worker, request));
}

namespace {

http::Response Page(const SparkWorker& worker, const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return http::TextResponse(405, "only GET is taken here");
  std::string path = request.path;
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  if (path == "/json" || path == "/metrics/json") {
    http::Response response = http::JsonResponse(200, path == "/json" ? WorkerJson(worker) : WorkerGauges(worker));
    response.content_type = "text/json;charset=utf-8";  // JettyUtils' and MetricsServlet's
    response.headers.emplace_back("Cache-Control", "no-cache, no-store, must-revalidate");
    return response;
  }
  if (path == "/fairlead/runs") return http::JsonResponse(200, WorkerRunsJson(worker));
  if (path == "/fairlead/notices") return http::JsonResponse(200, WorkerNotices(worker));
  if (path == "/metrics/prometheus") return http::SparkPrometheus(GaugesOf(worker));
  if (path == "/healthz") return http::TextResponse(200, "ok\n");
  if (path == "/readyz") {  // executors may be started here
    if (!worker.link().registered()) return http::TextResponse(503, "not registered yet\n");
    return worker.decommissioned() ? http::TextResponse(503, "decommissioned\n") : http::TextResponse(200, "ok\n");
  }
  constexpr std::string_view kStatic = "/static/";
  std::string name;
  // Its links lead one level up.
  const bool log = path == "/logPage";
  if (log && !request.path.ends_with('/')) return http::Redirect("logPage/" + request.target.substr(path.size()));
  if (path == "/" || log) name = "page.html";
  if (path.starts_with(kStatic)) name = path.substr(kStatic.size());
  const http::StaticFile* file = FindWebFile(name);
  if (file == nullptr) return http::TextResponse(404, "there is no page " + path);
  // The master's proxy says that it is one; Spark's own shows this page without a final slash.
  const bool proxied =
      path == "/" && worker.settings().reverse_proxy && !http::FindHeader(request.headers, "Via").empty();
  return http::StaticResponse(request, *file, proxied ? worker.settings().launch.log_url : log ? ".." : "");
}

}  // namespace

}  // namespace fairlead::process::spark_worker
