#include "shell/shuffle_daemon.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/http/server.h"
#include "shell/logging.h"
#include "shell/shuffle_runtime.h"

namespace fairlead::shell {
namespace {

namespace http = process::http;
using nlohmann::json;
using process::shuffle::WorkerMetrics;

constexpr base::Duration kDrainLimit = base::Duration::Seconds(10);
constexpr const char* kWebFile = "/shuffle.web";

template <class Get>
uint64_t Sum(const std::vector<WorkerMetrics>& workers, Get&& get) {
  uint64_t out = 0;
  for (const WorkerMetrics& worker : workers) out += static_cast<uint64_t>(get(worker));
  return out;
}

/// Counters by the names Spark's service has for them where it has some (ExternalBlockHandler.ShuffleMetrics).
json Counters(const ShuffleRuntime::Status& status) {
  const auto& workers = status.workers;
  json out;
  const auto session = [&](const char* name, auto field) {
    out[name] = Sum(workers, [&](const WorkerMetrics& w) { return w.sessions.*field; });
  };
  using S = endpoints::shuffle::SessionCounters;
  out["registeredExecutorsSize"] = status.registry->executors();
  out["numActiveConnections"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections; });
  session("openBlockRequests", &S::open_block_requests);
  session("registerExecutorRequests", &S::register_requests);
  session("removeBlocksRequests", &S::remove_requests);
  session("localDirsRequests", &S::local_dirs_requests);
  session("diagnoseRequests", &S::diagnose_requests);
  session("blockTransfers", &S::blocks);
  session("blockTransferBytes", &S::block_bytes);
  session("blockFailures", &S::block_failures);
  session("rpcFailures", &S::rpc_failures);
  session("refusedFrames", &S::refused_frames);
  session("authSuccesses", &S::auth_successes);
  session("authFailures", &S::auth_failures);
  out["openStreams"] = Sum(workers, [](const WorkerMetrics& w) { return w.streams; });
  out["openStreamBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.stream_bytes; });
  out["queuedBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.queued_bytes; });
  out["indexCacheBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.index_cache_bytes; });
  out["indexCacheHits"] = Sum(workers, [](const WorkerMetrics& w) { return w.blocks.index_hits; });
  out["indexCacheMisses"] = Sum(workers, [](const WorkerMetrics& w) { return w.blocks.index_misses; });
  out["openFiles"] = Sum(workers, [](const WorkerMetrics& w) { return w.open_files; });
  out["connectionsOpened"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_opened; });
  out["connectionsRefused"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_refused; });
  out["connectionsClosedIdle"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_idle_closed; });
  return out;
}

json StatusJson(const ShuffleRuntime::Status& status, const process::shuffle::Config& config) {
  json apps = json::array();
  for (const auto& [name, app] : status.registry->apps()) {
    json entry{{"id", name}, {"executors", app->executors.size()}, {"hasSecret", app->secret.has_value()}};
    entry["bytes"] = Sum(status.workers, [&](const WorkerMetrics& w) {
      const auto found = w.app_bytes.find(name);
      return found == w.app_bytes.end() ? 0 : found->second;
    });
    entry["connections"] = Sum(status.workers, [&](const WorkerMetrics& w) {
      const auto found = w.app_connections.find(name);
      return found == w.app_connections.end() ? 0 : found->second;
    });
    apps.push_back(std::move(entry));
  }
  json disks = json::array();
  for (size_t i = 0; i < config.core.local_roots.size(); ++i) {
    json disk{{"root", config.core.local_roots[i]}};
    disk["errors"] = Sum(status.workers, [&](const WorkerMetrics& w) { return w.disks[i].errors; });
    for (const WorkerMetrics& worker : status.workers) {
      if (worker.disks[i].errors > 0) disk["lastError"] = worker.disks[i].last;
    }
    disks.push_back(std::move(disk));
  }
  return {{"pid", ::getpid()}, {"counters", Counters(status)}, {"apps", apps}, {"disks", disks}};
}

/// Prometheus text: one line a counter.
std::string MetricsText(const ShuffleRuntime::Status& status) {
  std::string out;
  for (const auto& [name, value] : Counters(status).items()) {
    out += "fairlead_shuffle_" + name + " " + value.dump() + "\n";
  }
  return out;
}

void AnswerWeb(ShuffleRuntime& runtime, const process::shuffle::Config& config, const http::Request& request,
               const http::Server::Reply& reply) {
  if (request.path == "/status") {
    runtime.CollectStatus([&config, reply](const ShuffleRuntime::Status& status) {
      reply(http::JsonResponse(200, StatusJson(status, config).dump()));
    });
  } else if (request.path == "/metrics") {
    runtime.CollectStatus(
        [reply](const ShuffleRuntime::Status& status) { reply(http::TextResponse(200, MetricsText(status))); });
  } else {
    reply(http::TextResponse(404, "try /status or /metrics\n"));
  }
}

void PrintStatus(const json& status) {
  const json& counters = status["counters"];
  std::printf("executors %lld, connections %lld, blocks %lld, bytes %lld, failures %lld\n",
              counters["registeredExecutorsSize"].get<long long>(), counters["numActiveConnections"].get<long long>(),
              counters["blockTransfers"].get<long long>(), counters["blockTransferBytes"].get<long long>(),
              counters["blockFailures"].get<long long>());
  std::printf("%-40s %10s %12s %16s\n", "application", "executors", "connections", "bytes");
  for (const json& app : status["apps"]) {
    std::printf("%-40s %10lld %12lld %16lld\n", app["id"].get<std::string>().c_str(), app["executors"].get<long long>(),
                app["connections"].get<long long>(), app["bytes"].get<long long>());
  }
  for (const json& disk : status["disks"]) {
    std::printf("disk %s: %lld errors%s\n", disk["root"].get<std::string>().c_str(), disk["errors"].get<long long>(),
                disk.contains("lastError") ? (", last: " + disk["lastError"].get<std::string>()).c_str() : "");
  }
}

}  // namespace

int RunShuffle(const ShuffleOptions& options) {
  const auto settings = ReadShuffleSettings(options);
  if (!settings.ok()) {
    std::fprintf(stderr, "fairlead shuffle: %s\n", settings.error().message.c_str());
    return 2;
  }
  const auto log = MakeLog("shuffle", options.log_file, options.log_level);
  for (const std::string& warning : settings->warnings) log->Warn(warning);
  ShuffleRuntime runtime(settings->config, settings->io_threads, settings->state, *log);
  const auto recovered = runtime.Start();
  if (!recovered.ok()) {
    std::fprintf(stderr, "fairlead shuffle: %s\n", recovered.error().message.c_str());
    return 1;
  }
  // Signals and the status page live on this thread's loop.
  const auto loop = env_posix::MakePosixLoop();
  auto web = http::Server::Listen(*loop, *loop, settings->web, [&](const http::Request& request, const auto& reply) {
    AnswerWeb(runtime, settings->config, request, [&loop, reply](http::Response response) {
      loop->Post([reply, response = std::move(response)] { reply(response); });
    });
  });
  const std::string web_address = web.ok() ? (*web)->local().ToString() : "";
  if (!web.ok()) log->Warn("No status page", {{"cause", web.error().message}});
  if (!settings->state.empty()) std::ofstream(settings->state + kWebFile) << web_address << "\n";
  log->Info("Serving shuffle blocks", {{"address", runtime.local().ToString()},
                                       {"executors", std::to_string(*recovered)},
                                       {"threads", std::to_string(settings->io_threads)},
                                       {"status", web_address}});
  for (const int signal : {SIGTERM, SIGINT}) {
    loop->OnSignal(signal, [&, first = true]() mutable {
      if (!std::exchange(first, false)) ::_exit(1);
      loop->Stop();
    });
  }
  loop->Run();
  log->Info("Stopping: open connections may end");
  runtime.Stop(kDrainLimit);
  log->Info("Stopped");
  return 0;
}

int RunShuffleStatus(const std::string& state, const std::string& web, bool as_json) {
  std::string address = web;
  if (address.empty()) std::getline(std::ifstream(state + kWebFile) >> std::ws, address);
  const auto endpoint = env::ParseEndpoint(address);
  if (!endpoint.ok()) {
    std::fprintf(stderr, "fairlead shuffle status: no service has its state in %s\n", state.c_str());
    return 3;
  }
  const auto loop = env_posix::MakePosixLoop();
  int result = 3;
  http::ClientRequest request;
  request.endpoint = *endpoint;
  request.target = "/status";
  request.timeout = base::Duration::Seconds(5);
  http::Fetch(*loop, *loop, std::move(request), [&](base::Result<http::Response> response) {
    const json status = response.ok() ? json::parse(response->body, nullptr, false) : json();
    if (!status.is_object()) {
      std::fprintf(stderr, "fairlead shuffle status: %s does not answer\n", address.c_str());
    } else {
      result = 0;
      if (as_json) {
        std::printf("%s\n", status.dump(2).c_str());
      } else {
        PrintStatus(status);
      }
    }
    loop->Stop();
  });
  loop->Run();
  return result;
}

}  // namespace fairlead::shell
