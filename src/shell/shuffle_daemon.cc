#include "shell/shuffle_daemon.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "shell/logging.h"
#include "shell/shuffle_page.h"
#include "shell/shuffle_runtime.h"

namespace fairlead::shell {
namespace {

namespace http = process::http;
using nlohmann::json;

/// What connections have to end once the service stops.
constexpr base::Duration kStopLimit = base::Duration::Seconds(10);

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

struct PageAddress {
  std::string address;
  std::string token;
};

PageAddress ReadPageAddress(const std::string& state) {
  PageAddress out;
  std::ifstream file(state + kShufflePageFile);
  std::getline(file, out.address);
  std::getline(file, out.token);
  return out;
}

/// One request to a running service.
base::Result<http::Response> Ask(const PageAddress& page, const std::string& target, const std::string& method) {
  const auto endpoint = env::ParseEndpoint(page.address);
  if (!endpoint.ok()) return base::Error{"no service has its state there"};
  const auto loop = env_posix::MakePosixLoop();
  base::Result<http::Response> out = base::Error{"no answer"};
  http::ClientRequest request;
  request.endpoint = *endpoint;
  request.method = method;
  request.target = target;
  request.body = method == "POST" ? page.token : "";
  request.timeout = base::Duration::Seconds(5);
  http::Fetch(*loop, *loop, std::move(request), [&](base::Result<http::Response> response) {
    out = std::move(response);
    loop->Stop();
  });
  loop->Run();
  if (!out.ok()) return base::Error{page.address + " does not answer: " + out.error().message};
  return out;
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
  ShufflePage page(*loop, runtime, settings->config, [&](base::Duration idle, base::Duration limit) {
    log->Info("Draining: no more executors", {{"limit_s", std::to_string(limit.millis() / 1000)}});
    runtime.Drain(idle, limit, [&](const std::string& reason) {
      log->Info("Drained", {{"because", reason}});
      loop->Post([&loop] { loop->Stop(); });
    });
  });
  const base::Status listening = page.Listen(settings->web, settings->state);
  if (!listening.ok()) log->Warn("No status page", {{"cause", listening.error().message}});
  log->Info("Serving shuffle blocks", {{"address", runtime.local().ToString()},
                                       {"executors", std::to_string(*recovered)},
                                       {"threads", std::to_string(settings->io_threads)},
                                       {"status", page.address()}});
  for (const int signal : {SIGTERM, SIGINT}) {
    loop->OnSignal(signal, [&, first = true]() mutable {
      if (!std::exchange(first, false)) ::_exit(1);
      loop->Stop();
    });
  }
  loop->Run();
  log->Info("Stopping: open connections may end");
  runtime.Stop(kStopLimit);
  log->Info("Stopped");
  return 0;
}

int RunShuffleStatus(const std::string& state, const std::string& web, bool as_json) {
  const PageAddress page = web.empty() ? ReadPageAddress(state) : PageAddress{web, ""};
  const auto answer = Ask(page, "/status", "GET");
  const json status = answer.ok() ? json::parse(answer->body, nullptr, false) : json();
  if (!status.is_object()) {
    std::fprintf(stderr, "fairlead shuffle status: %s\n",
                 answer.ok() ? "an answer of another program" : answer.error().message.c_str());
    return 3;
  }
  if (as_json) {
    std::printf("%s\n", status.dump(2).c_str());
  } else {
    PrintStatus(status);
  }
  return 0;
}

int RunShuffleDrain(const std::string& state, int64_t idle_seconds, int64_t limit_seconds) {
  const std::string target = "/drain?idle=" + std::to_string(idle_seconds) + "&limit=" + std::to_string(limit_seconds);
  const auto answer = Ask(ReadPageAddress(state), target, "POST");
  if (answer.ok() && answer->status == 200) return 0;
  std::fprintf(stderr, "fairlead shuffle drain: %s\n",
               answer.ok() ? answer->body.c_str() : answer.error().message.c_str());
  return 3;
}

}  // namespace fairlead::shell
