#include "shell/shuffle/page.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "env_posix/host_names.h"
#include "process/http/static_file.h"
#include "wire/spark_transport/cipher.h"

namespace fairlead::shell {

namespace http = process::http;

/// A file of web/; null when there is none of this name.
const http::StaticFile* FindShuffleFile(std::string_view name);

namespace {

using nlohmann::json;
using process::shuffle::WorkerMetrics;

template <class Get>
uint64_t Sum(const std::vector<WorkerMetrics>& workers, Get&& get) {
  uint64_t out = 0;
  for (const WorkerMetrics& worker : workers) out += static_cast<uint64_t>(get(worker));
  return out;
}

/// RemoteBlockPushResolver.PushMergeMetrics by its names, then ours; all 0 where nothing is merged.
void AddMerges(const ShuffleRuntime::Status& status, json& out) {
  const auto merges = status.merges.value_or(ShuffleRuntime::Status::Merges{});
  const auto& counters = merges.counters;
  out["blockAppendCollisions"] = counters.block_append_collisions;
  out["lateBlockPushes"] = counters.late_block_pushes;
  out["blockBytesWritten"] = counters.block_bytes_written;
  out["deferredBlockBytes"] = merges.deferred_bytes;
  out["deferredBlocks"] = merges.deferred_blocks;
  out["staleBlockPushes"] = counters.stale_block_pushes;
  out["ignoredBlockBytes"] = counters.ignored_block_bytes;
  out["blocksMerged"] = counters.blocks_merged;
  out["partitionsMerged"] = counters.partitions_finished;
  out["openMergedPartitions"] = merges.open_partitions;
  out["mergeMemoryBytes"] = merges.memory_bytes;
  out["pushesCut"] = counters.pushes_cut;
  out["pushesLimited"] = counters.pushes_limited;
  out["pushesLate"] = counters.pushes_late;
  out["pushesStale"] = counters.pushes_stale;
  out["pushesTwice"] = counters.pushes_twice;
  out["pushesOfOtherAttempts"] = counters.pushes_of_other_attempts;
  out["pushesToLostPartitions"] = counters.pushes_to_lost;
  out["mergeWriteFailures"] = counters.write_failures;
  out["mergedPartitionsLost"] = counters.partitions_lost;
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
  out["registeredBytes"] = status.registry->bytes();
  out["registrationsRefused"] = status.registrations_refused;
  out["rowsUnread"] = status.rows_unread;
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
  session("filesPassed", &S::files_passed);
  out["openStreams"] = Sum(workers, [](const WorkerMetrics& w) { return w.streams; });
  out["openStreamBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.stream_bytes; });
  out["queuedBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.queued_bytes; });
  out["indexCacheBytes"] = Sum(workers, [](const WorkerMetrics& w) { return w.index_cache_bytes; });
  out["indexCacheHits"] = Sum(workers, [](const WorkerMetrics& w) { return w.blocks.index_hits; });
  out["indexCacheMisses"] = Sum(workers, [](const WorkerMetrics& w) { return w.blocks.index_misses; });
  out["diskReads"] = Sum(workers, [](const WorkerMetrics& w) { return w.read_ahead.reads; });
  out["diskReadsWaiting"] = Sum(workers, [](const WorkerMetrics& w) { return w.read_ahead.waiting; });
  out["diskReadsUnanswered"] = Sum(workers, [](const WorkerMetrics& w) { return w.read_ahead.unanswered; });
  out["openFiles"] = Sum(workers, [](const WorkerMetrics& w) { return w.open_files; });
  out["connectionsOpened"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_opened; });
  out["connectionsRefused"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_refused; });
  out["tlsFailures"] = Sum(workers, [](const WorkerMetrics& w) { return w.tls_failures; });
  out["connectionsClosedIdle"] = Sum(workers, [](const WorkerMetrics& w) { return w.connections_idle_closed; });
  session("pushRequests", &S::push_requests);
  session("finalizeShuffleMergeRequests", &S::finalize_requests);
  session("mergedBlocksMetaRequests", &S::merged_meta_requests);
  session("mergedChunkTransfers", &S::merged_chunks);
  AddMerges(status, out);
  return out;
}

void AddMerges(const ShuffleRuntime::Status& status, const std::string& app, json& out) {
  fairlead::shuffle::MergeBook::AppUse use;
  if (status.merges) {
    const auto found = status.merges->apps.find(app);
    if (found != status.merges->apps.end()) use = found->second;
  }
  out["blocksMerged"] = use.blocks;
  out["bytesMerged"] = use.bytes;
  out["pushesRefused"] = use.refused;
  out["openMergedPartitions"] = use.open_partitions;
}

json StatusJson(const ShuffleRuntime::Status& status) {
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
    AddMerges(status, name, entry);
    apps.push_back(std::move(entry));
  }
  json disks = json::array();
  for (size_t i = 0; i < status.local_roots.size(); ++i) {
    json disk{{"root", status.local_roots[i]}};
    disk["errors"] = Sum(status.workers, [&](const WorkerMetrics& w) { return w.disks[i].errors; });
    for (const WorkerMetrics& worker : status.workers) {
      if (worker.disks[i].errors > 0) disk["lastError"] = worker.disks[i].last;
    }
    disks.push_back(std::move(disk));
  }
  json out{{"pid", ::getpid()},
           {"merges", status.merges.has_value()},
           {"counters", Counters(status)},
           {"apps", apps},
           {"disks", disks}};
  if (status.merges && !status.merges->last_failure.empty()) out["lastMergeError"] = status.merges->last_failure;
  return out;
}

/// What each of Counters is, for /metrics, which has them by the same names.
struct About {
  const char* name;
  bool counts;  // it only grows
  const char* help;
};
constexpr About kAbout[] = {
    {"registeredExecutorsSize", false, "Executors whose files are served"},
    {"registeredBytes", false, "Memory of registrations in bytes"},
    {"registrationsRefused", true, "Registrations refused, as others take the room"},
    {"rowsUnread", false, "Rows of the state store that cannot be read and are left out"},
    {"numActiveConnections", false, "Open connections"},
    {"openBlockRequests", true, "Requests to open or fetch blocks"},
    {"registerExecutorRequests", true, "Registrations of executors"},
    {"removeBlocksRequests", true, "Requests to remove blocks"},
    {"localDirsRequests", true, "Requests for executors' local directories"},
    {"diagnoseRequests", true, "Requests to diagnose a corrupt block"},
    {"blockTransfers", true, "Blocks sent"},
    {"blockTransferBytes", true, "Bytes of blocks sent"},
    {"blockFailures", true, "Blocks that could not be read"},
    {"rpcFailures", true, "Requests that were answered with an error"},
    {"refusedFrames", true, "Frames that break the protocol or its bounds"},
    {"authSuccesses", true, "Connections that proved their secret"},
    {"authFailures", true, "Connections that did not"},
    {"filesPassed", true, "Files handed to a reader of this machine"},
    {"openStreams", false, "Streams that are being read"},
    {"openStreamBytes", false, "Memory of these streams' lists in bytes"},
    {"queuedBytes", false, "Bytes that wait to be sent"},
    {"indexCacheBytes", false, "Memory of cached index files in bytes"},
    {"indexCacheHits", true, "Index files found in the cache"},
    {"indexCacheMisses", true, "Index files read"},
    {"diskReads", true, "Reads of files ahead of sending"},
    {"diskReadsWaiting", false, "Reads that wait for a disk"},
    {"diskReadsUnanswered", true, "Reads given up, as their disk was silent"},
    {"openFiles", false, "Open files of blocks"},
    {"connectionsOpened", true, "Connections accepted"},
    {"connectionsRefused", true, "Connections refused, as there are too many"},
    {"tlsFailures", true, "Connections that failed to agree on TLS"},
    {"connectionsClosedIdle", true, "Connections closed, as nothing came"},
    {"pushRequests", true, "Blocks that were pushed to be merged"},
    {"finalizeShuffleMergeRequests", true, "Requests to end a shuffle's merge"},
    {"mergedBlocksMetaRequests", true, "Requests for what merged partitions hold"},
    {"mergedChunkTransfers", true, "Chunks of merged partitions asked for"},
    {"blockAppendCollisions", true, "Pushed blocks refused, as another was being appended"},
    {"lateBlockPushes", true, "Pushed blocks that were thrown away from their begin, or whose merge ended before them"},
    {"blockBytesWritten", true, "Bytes of merged blocks"},
    {"deferredBlockBytes", false, "Bytes of blocks that wait for another's end"},
    {"deferredBlocks", false, "Blocks that wait for another's end"},
    {"staleBlockPushes", true, "Pushed blocks on whose way a later merge took the place of theirs"},
    {"ignoredBlockBytes", true, "Bytes of pushed blocks that were not merged"},
    {"blocksMerged", true, "Blocks merged"},
    {"partitionsMerged", true, "Merged partitions whose files were written to the end"},
    {"openMergedPartitions", false, "Partitions that take blocks"},
    {"mergeMemoryBytes", false, "Memory of merges in bytes"},
    {"pushesCut", true, "Pushed blocks whose connection ended before them"},
    {"pushesLimited", true, "Pushed blocks refused, as there is no room for another partition"},
    {"pushesLate", true, "Pushed blocks that came after the end of the merge"},
    {"pushesStale", true, "Pushed blocks of a merge that a later one has replaced"},
    {"pushesTwice", true, "Pushed blocks that were merged already"},
    {"pushesOfOtherAttempts", true, "Pushed blocks of another attempt of the application than the one that merges"},
    {"pushesToLostPartitions", true, "Pushed blocks of partitions that were given up"},
    {"mergeWriteFailures", true, "Writes of merged data that failed"},
    {"mergedPartitionsLost", true, "Partitions given up after too many failed writes, or after one at the end"},
};

}  // namespace

http::MetricsText ShuffleMetrics(const ShuffleRuntime::Status& status) {
  const json counters = Counters(status);
  http::MetricsText out("fairlead_shuffle_");
  for (const About& about : kAbout) {
    const auto value = counters.at(about.name).get<uint64_t>();
    if (about.counts) {
      out.Counter(about.name, about.help, value);
    } else {
      out.Gauge(about.name, about.help, static_cast<int64_t>(value));
    }
  }
  return out;
}

namespace {

std::string RandomToken(env::Loop& loop) {
  std::array<uint8_t, 16> bytes{};
  loop.RandomBytes(bytes);
  std::string out;
  for (const uint8_t byte : bytes) {
    out.push_back("0123456789abcdef"[byte >> 4]);
    out.push_back("0123456789abcdef"[byte & 15]);
  }
  return out;
}

/// Whole seconds of a query parameter; nullopt: not a number up to ten years.
std::optional<base::Duration> SecondsOf(const http::Request& request, const std::string& name) {
  const auto found = request.query.find(name);
  int64_t seconds = 0;
  if (found == request.query.end()) return std::nullopt;
  const std::string& text = found->second;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || seconds < 0 || seconds > 315'360'000) {
    return std::nullopt;
  }
  return base::Duration::Seconds(seconds);
}

}  // namespace

bool TellShufflePage(ShuffleRuntime& runtime, const http::Request& request, std::string_view path,
                     std::function<void(http::Response)> done) {
  if (path == "status") {
    runtime.CollectStatus([done = std::move(done)](const ShuffleRuntime::Status& status) {
      done(http::JsonResponse(200, StatusJson(status).dump(-1, ' ', true, json::error_handler_t::replace)));
    });
    return true;
  }
  constexpr std::string_view kStatic = "static/";
  const std::string_view name = path.empty()                ? "page.html"
                                : path.starts_with(kStatic) ? path.substr(kStatic.size())
                                                            : "";
  const http::StaticFile* file = FindShuffleFile(name);
  if (file == nullptr) return false;
  done(http::StaticResponse(request, *file));
  return true;
}

ShufflePage::ShufflePage(env_posix::PosixLoop& loop, env::Net* tls, ShuffleRuntime& runtime, DrainHandler on_drain)
    : loop_(loop), tls_(tls), runtime_(runtime), on_drain_(std::move(on_drain)), token_(RandomToken(loop)) {}

base::Status ShufflePage::Listen(const env::Endpoint& endpoint, http::KnownHosts hosts, const std::string& state) {
  auto server = http::Server::Listen(loop_, tls_ ? *tls_ : loop_, endpoint, std::move(hosts),
                                     [this](const http::Request& request, const auto& reply) {
                                       Answer(request, [this, reply](http::Response response) {
                                         loop_.Post([reply, response = std::move(response)] { reply(response); });
                                       });
                                     });
  if (!server.ok()) return server.error();
  server_ = *std::move(server);
  if (state.empty()) return {};
  return env_posix::MakePosixDisk()->WriteFileAtomically(state + kShufflePageFile, address() + "\n" + token_ + "\n",
                                                         0600);
}

std::string ShufflePage::address() const {
  if (!server_) return "";
  env::Endpoint at = server_->local();
  const std::vector<std::string> names =
      at.host == "0.0.0.0" || at.host == "::" ? env_posix::OwnHostNames() : std::vector<std::string>();
  if (!names.empty()) at.host = names.front();
  return (tls_ ? "https://" : "") + at.ToString();
}

void ShufflePage::Answer(const http::Request& request, const http::Server::Reply& reply) {
  if (request.path == "/metrics") {
    runtime_.CollectStatus([reply, refused = server_->refused()](const ShuffleRuntime::Status& status) {
      http::MetricsText text = ShuffleMetrics(status);
      text.Counter("webRefused", http::kWebRefusedHelp, refused);
      reply(text.ToResponse());
    });
  } else if (request.path == "/healthz") {
    reply(http::TextResponse(200, "ok\n"));
  } else if (request.path == "/readyz") {  // executors may register
    runtime_.CollectStatus([reply](const ShuffleRuntime::Status& status) {
      const std::string& why = status.store_error;
      reply(why.empty() ? http::TextResponse(200, "ok\n")
                        : http::TextResponse(503, "nothing can be stored: " + why + "\n"));
    });
  } else if (request.path == "/drain") {
    Drain(request, reply);
  } else if (!request.path.starts_with('/') ||
             !TellShufflePage(runtime_, request, std::string_view(request.path).substr(1), reply)) {
    reply(http::TextResponse(404, "try /, /status, /metrics, /healthz or /readyz\n"));
  }
}

// The answer goes first: what drains at once ends this process.
void ShufflePage::Drain(const http::Request& request, const http::Server::Reply& reply) {
  if (request.method != "POST" || !wire::spark_transport::EqualInConstantTime(request.body, token_)) {
    return reply(http::TextResponse(403, "only who can read the state directory may drain\n"));
  }
  const auto idle = SecondsOf(request, "idle");
  const auto limit = SecondsOf(request, "limit");
  if (!idle || !limit) return reply(http::TextResponse(400, "idle and limit: write seconds\n"));
  reply(http::TextResponse(200, "draining\n"));
  loop_.Post([this, idle, limit] { on_drain_(*idle, *limit); });
}

}  // namespace fairlead::shell
