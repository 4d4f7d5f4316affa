#include "shell/shuffle/daemon.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/text.h"
#include "env_posix/posix_loop.h"
#include "process/http/client.h"
#include "process/tls/tls_net.h"
#include "shell/base/logging.h"
#include "shell/base/open_ports.h"
#include "shell/shuffle/page.h"
#include "shell/shuffle/runtime.h"
#include "shell/tls/tls.h"
#include "shell/tls/web_tls.h"
#include "wire/json/json.h"

namespace fairlead::shell {
namespace {

namespace http = process::http;
using nlohmann::json;

/// What connections have to end once the service stops.
constexpr base::Duration kStopLimit = base::Duration::Seconds(10);
/// What the rates of `fairlead shuffle status` are of.
constexpr std::chrono::seconds kRateInterval{1};

long long Number(const json& object, const char* name) { return object.value(name, 0LL); }

/// `before`: the same some `seconds` earlier, for the rates.
void PrintStatus(const json& before, const json& status, double seconds) {
  const json& counters = status["counters"];
  const auto rate = [&](const char* name) {
    return static_cast<double>(Number(counters, name) - Number(before["counters"], name)) / seconds;
  };
  std::printf("executors %lld, connections %lld, blocks %lld, bytes %lld, failures %lld\n",
              Number(counters, "registeredExecutorsSize"), Number(counters, "numActiveConnections"),
              Number(counters, "blockTransfers"), Number(counters, "blockTransferBytes"),
              Number(counters, "blockFailures"));
  std::printf("now: %.0f blocks/s, %.1f MB/s, %.0f reads/s of disks\n", rate("blockTransfers"),
              rate("blockTransferBytes") / 1e6, rate("diskReads"));
  if (status.value("merges", false)) {
    std::printf("merged: blocks %lld, bytes %lld, partitions %lld; open %lld, memory %lld\n",
                Number(counters, "blocksMerged"), Number(counters, "blockBytesWritten"),
                Number(counters, "partitionsMerged"), Number(counters, "openMergedPartitions"),
                Number(counters, "mergeMemoryBytes"));
    std::printf(
        "pushes not merged: late %lld, stale %lld, twice %lld, other attempt %lld, collided %lld, cut %lld, "
        "no room %lld, of lost partitions %lld; partitions lost %lld\n",
        Number(counters, "pushesLate"), Number(counters, "pushesStale"), Number(counters, "pushesTwice"),
        Number(counters, "pushesOfOtherAttempts"), Number(counters, "blockAppendCollisions"),
        Number(counters, "pushesCut"), Number(counters, "pushesLimited"), Number(counters, "pushesToLostPartitions"),
        Number(counters, "mergedPartitionsLost"));
    const std::string failure = base::VisibleText(status.value("lastMergeError", ""));
    if (!failure.empty()) std::printf("the last write of a merge that failed: %s\n", failure.c_str());
  } else if (Number(counters, "pushRequests") > 0) {
    std::printf(
        "merged: nothing, %lld pushed blocks refused; set "
        "spark.shuffle.push.server.mergedShuffleFileManagerImpl\n",
        Number(counters, "pushRequests"));
  }
  std::map<std::string, long long> bytes_before;
  for (const json& app : before["apps"]) bytes_before[base::VisibleText(app.value("id", ""))] = Number(app, "bytes");
  std::printf("%-40s %10s %12s %16s %10s %12s %10s\n", "application", "executors", "connections", "bytes", "MB/s",
              "merged", "refused");
  for (const json& app : status["apps"]) {
    const std::string id = base::VisibleText(app.value("id", ""));
    const auto found = bytes_before.find(id);
    const long long served = found == bytes_before.end() ? 0 : Number(app, "bytes") - found->second;
    std::printf("%-40s %10lld %12lld %16lld %10.1f %12lld %10lld\n", id.c_str(), Number(app, "executors"),
                Number(app, "connections"), Number(app, "bytes"), static_cast<double>(served) / seconds / 1e6,
                Number(app, "blocksMerged"), Number(app, "pushesRefused"));
  }
  for (const json& disk : status["disks"]) {
    std::printf("disk %s: %lld errors%s\n", disk.value("root", "").c_str(), Number(disk, "errors"),
                disk.contains("lastError") ? (", last: " + disk.value("lastError", "")).c_str() : "");
  }
}

struct PageAddress {
  std::string address;  // HOST:PORT, with a path where the page is not at the port's root; maybe with a scheme
  std::string token;
  config::HadoopConf trust;  // of HTTPS
};

/// `web`: in the place of the address in the state directory.
PageAddress FindPage(const std::string& state, const std::string& web, const std::string& ca) {
  PageAddress out;
  if (!ca.empty()) out.trust.Set("fairlead.tls.ca", ca);
  out.address = web;
  if (!web.empty()) return out;
  std::ifstream file(state + kShufflePageFile);
  std::getline(file, out.address);
  std::getline(file, out.token);
  return out;
}

/// One request to a running service.
base::Result<http::Response> Ask(const PageAddress& page, const std::string& target, const std::string& method) {
  if (page.address.empty()) return base::Error{"no service has its state there"};
  const bool https = page.address.starts_with("https://");
  auto request = http::ParseUrl(page.address.find("://") == std::string::npos ? "http://" + page.address : page.address,
                                https ? "https://" : "http://", https ? 443 : 80);
  if (!request.ok()) return request.error();
  if (request->target.ends_with('/')) request->target.pop_back();
  request->target += target;
  request->method = method;
  request->body = method == "POST" ? page.token : "";
  request->timeout = base::Duration::Seconds(5);
  const auto loop = env_posix::MakePosixLoop();
  std::shared_ptr<env::Tls> trusted;
  std::optional<process::tls::TlsConnecting> secure;
  if (https) {
    auto opened = OpenClientTls(page.trust, *env_posix::MakePosixDisk());
    if (!opened.ok()) return opened.error();
    trusted = std::move(*opened);
    secure.emplace(*loop, *loop, *trusted);
  }
  base::Result<http::Response> out = base::Error{"no answer"};
  http::Fetch(*loop, secure ? static_cast<env::Net&>(*secure) : *loop, std::move(*request),
              [&](base::Result<http::Response> response) {
                out = std::move(response);
                loop->Stop();
              });
  loop->Run();
  if (secure && !secure->failure().empty()) {
    return base::Error{"no TLS with " + page.address + ": " + secure->failure() +
                       "; --ca FILE names the certificates that are trusted"};
  }
  if (!out.ok()) return base::Error{page.address + " does not answer: " + out.error().message};
  return out;
}

base::Result<json> AskStatus(const PageAddress& page) {
  const auto answer = Ask(page, "/status", "GET");
  if (!answer.ok()) return answer.error();
  auto status = wire::json::Parse(answer->body, wire::json::kAnswer);
  const bool ours = status && status->is_object() && status->contains("counters") && status->contains("apps") &&
                    status->contains("disks");
  if (!ours) return base::Error{page.address + ": an answer of another program"};
  return std::move(*status);
}

}  // namespace

int RunShuffle(const ShuffleOptions& options) {
  const auto settings = ReadShuffleSettings(options);
  if (!settings.ok()) {
    std::fprintf(stderr, "fairlead shuffle: %s\n", settings.error().message.c_str());
    return 2;
  }
  if (const base::Status kept = KeepStrangersOut(settings->callers); !kept.ok()) {
    std::fprintf(stderr, "fairlead shuffle: %s\n", kept.error().message.c_str());
    return 2;
  }
  const auto log = MakeLog("shuffle", options.log);
  LogStrangers(*log);
  for (const std::string& warning : settings->warnings) log->Warn(warning);
  // Signals and the status page live on this thread's loop.
  const auto loop = env_posix::MakePosixLoop();
  const auto disk = env_posix::MakePosixDisk();
  std::unique_ptr<WebTls> tls;
  if (settings->page_tls) {
    auto opened = WebTls::Open(*loop, *loop, *disk, *log, *settings->page_tls);
    if (!opened.ok()) {
      std::fprintf(stderr, "fairlead shuffle: %s\n", opened.error().message.c_str());
      return 1;
    }
    tls = std::move(*opened);
  }
  ShuffleRuntime runtime(settings->config, settings->io_threads, settings->state, *log);
  const auto recovered = runtime.Start();
  if (!recovered.ok()) {
    std::fprintf(stderr, "fairlead shuffle: %s\n", recovered.error().message.c_str());
    return 1;
  }
  ShufflePage page(*loop, tls ? &tls->net() : nullptr, runtime, [&](base::Duration idle, base::Duration limit) {
    log->Info("Draining: no more executors", {{"limit_s", std::to_string(limit.millis() / 1000)}});
    runtime.Drain(idle, limit, [&](const std::string& reason) {
      log->Info("Drained", {{"because", reason}});
      loop->Post([&loop] { loop->Stop(); });
    });
  });
  const base::Status listening = page.Listen(settings->web, settings->hosts, settings->state);
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

int RunShuffleStatus(const std::string& state, const std::string& web, const std::string& ca, bool as_json) {
  const PageAddress page = FindPage(state, web, ca);
  const auto first = AskStatus(page);
  const auto begin = std::chrono::steady_clock::now();
  if (first.ok() && !as_json) std::this_thread::sleep_for(kRateInterval);
  const auto second = first.ok() && !as_json ? AskStatus(page) : first;
  if (!second.ok()) {
    std::fprintf(stderr, "fairlead shuffle status: %s\n", second.error().message.c_str());
    return 3;
  }
  if (as_json) {
    std::printf("%s\n", second->dump(2).c_str());
  } else {
    PrintStatus(*first, *second, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return 0;
}

int RunShuffleDrain(const std::string& state, const std::string& ca, int64_t idle_seconds, int64_t limit_seconds) {
  const std::string target = "/drain?idle=" + std::to_string(idle_seconds) + "&limit=" + std::to_string(limit_seconds);
  const auto answer = Ask(FindPage(state, "", ca), target, "POST");
  if (answer.ok() && answer->status == 200) return 0;
  std::fprintf(stderr, "fairlead shuffle drain: %s\n",
               answer.ok() ? answer->body.c_str() : answer.error().message.c_str());
  return 3;
}

}  // namespace fairlead::shell
