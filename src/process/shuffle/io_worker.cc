#include "process/shuffle/io_worker.h"

#include <algorithm>
#include <array>
#include <bit>

#include "process/shuffle/block_work.h"
#include "process/shuffle/connection.h"

namespace fairlead::process::shuffle {
namespace {

constexpr base::Duration kTlsFailureLogInterval = base::Duration::Seconds(60);
constexpr size_t kQueueFloor = 16 * 1024;
/// Of an application in each round.
constexpr int64_t kTurnBytes = 256 * 1024;

std::string AddressOf(const env::Stream& stream) { return stream.peer().host; }
std::string AddressOf(const env::LocalStream&) { return Connection::kThisHost; }

/// Spark 4.3 begins at a random number of 63 bits, 3.5 at one of 31 bits times 1000.
int64_t FirstStreamId(env::Loop& loop, endpoints::shuffle::AnswerAs answer_as) {
  std::array<uint8_t, 8> bytes;
  loop.RandomBytes(bytes);
  const uint64_t random = std::bit_cast<uint64_t>(bytes);
  if (answer_as == endpoints::shuffle::AnswerAs::kSpark43) return static_cast<int64_t>(random >> 1);
  return static_cast<int64_t>(random >> 33) * 1000;
}

}  // namespace

IoWorker::IoWorker(env::Loop& loop, env::Net& net, env::Disk& disk, env::PageCache* page_cache, env::Log& log,
                   const Config& config, RegistryOwner& owner)
    : loop_(loop),
      net_(net),
      disk_(disk),
      log_(log),
      config_(config),
      owner_(owner),
      blocks_(disk, page_cache, log, config),
      read_ahead_(loop, config.core.local_roots.size(), config.disk_silence_max),
      streams_(FirstStreamId(loop, config.session.answer_as), config.stream_bytes_max),
      registry_(std::make_shared<const fairlead::shuffle::Registry>()),
      peers_(config.peers),
      turns_(kTurnBytes) {
  Tick();
}

IoWorker::~IoWorker() {
  loop_.Cancel(tick_);
  connections_.clear();
}

base::Status IoWorker::Listen(const env::Endpoint& endpoint, std::vector<IoWorker*> others) {
  others_ = std::move(others);
  auto listener = net_.Listen(
      endpoint, [this](std::unique_ptr<env::Stream> stream) { HandOut(std::move(stream)); },
      [this] {
        peers_.Thin();
        for (IoWorker* other : others_) other->loop_.Post([other] { other->peers_.Thin(); });
      });
  if (!listener.ok()) return listener.error();
  listener_ = std::move(*listener);
  return {};
}

/// To whoever has the fewest connections: the kernel would spread them by a hash (SO_REUSEPORT), and of four often put
/// three or all on one thread.
void IoWorker::HandOut(std::unique_ptr<env::Stream> stream) {
  IoWorker* taker = this;
  for (IoWorker* other : others_) {
    if (other->seats_taken() < taker->seats_taken()) taker = other;
  }
  if (taker == this) return Accept(std::move(stream));
  taker->net_.Adopt(std::move(stream), [taker, alive = taker->alive_.watch(), seat = taker->seats_](auto moved) {
    if (alive) taker->Accept(std::move(moved));
  });
}

base::Status IoWorker::ListenLocal(env::LocalNet& net, const std::string& name) {
  const auto& security = config_.session.security;
  if (config_.tls || security.crypto || security.always_encrypt) return {};
  auto listener = net.ListenLocal(name, [this](auto stream) { Accept(std::move(stream)); });
  if (!listener.ok()) return listener.error();
  local_listener_ = std::move(*listener);
  return {};
}

template <class Stream>
void IoWorker::Accept(std::unique_ptr<Stream> stream) {
  if (!peers_.MakeRoom(AddressOf(*stream))) {
    ++metrics_.connections_refused;
    return;
  }
  ++metrics_.connections_opened;
  const uint64_t id = ++last_connection_;
  auto connection = std::make_unique<Connection>(id, std::move(stream), *this);
  Connection& started = *connection;
  connections_.emplace(id, std::move(connection));
  started.Start();
}

void IoWorker::Drop(uint64_t id) {
  loop_.Post([this, alive = alive_.watch(), id] {
    if (!alive) return;
    connections_.erase(id);
    if (connections_.empty() && drained_) std::exchange(drained_, nullptr)();
  });
}

Connection* IoWorker::Find(uint64_t id) {
  const auto found = connections_.find(id);
  return found == connections_.end() ? nullptr : found->second.get();
}

void IoWorker::Drain(base::Duration limit, std::function<void()> done) {
  listener_.reset();
  local_listener_.reset();
  drain_until_ = loop_.Now() + limit;
  drained_ = std::move(done);
  if (connections_.empty() && drained_) std::exchange(drained_, nullptr)();
}

void IoWorker::SetRegistry(std::shared_ptr<const fairlead::shuffle::Registry> registry) {
  registry_ = std::move(registry);
  ++registry_version_;
}

std::shared_ptr<const fairlead::shuffle::MergedApp> IoWorker::FindMerged(std::string_view app) const {
  const auto found = merges_->find(app);
  return found == merges_->end() ? nullptr : found->second;
}

void IoWorker::Push(uint64_t connection, std::vector<endpoints::shuffle::PushPart> parts) {
  owner_.merges()->Push({reinterpret_cast<uintptr_t>(this), connection, std::move(parts), &loop_,
                         [this, alive = alive_.watch()](uint64_t id, std::vector<PushAnswered> answers) {
                           Connection* pusher = alive ? Find(id) : nullptr;
                           if (pusher != nullptr) pusher->FinishPushes(answers);
                         }});
}

void IoWorker::ResumePushers() {
  std::vector<uint64_t> ids;
  for (const auto& [id, connection] : connections_) {
    if (connection->session().CanResume()) ids.push_back(id);
  }
  std::sort(ids.begin(), ids.end());
  for (const uint64_t id : ids) {
    if (Connection* connection = Find(id)) connection->OnDrained();
  }
}

std::optional<std::string> IoWorker::SecretOf(std::string_view app) const {
  const auto* entry = registry_->FindApp(app);
  if (entry != nullptr && entry->secret) return entry->secret;
  return config_.cluster_secret;
}

size_t IoWorker::QueueLimit() const {
  const auto queued = static_cast<size_t>(std::max<int64_t>(queued_bytes_, 0));
  if (queued < config_.queued_bytes_max / 2) return config_.queued_bytes_per_connection;
  const size_t left = config_.queued_bytes_max - std::min(queued, config_.queued_bytes_max);
  return std::clamp(left / std::max<size_t>(connections_.size(), 1), kQueueFloor,
                    config_.queued_bytes_per_connection / 2);
}

void IoWorker::NoteApp(const std::string& app, int64_t connections, uint64_t bytes) {
  app_used_[app] = loop_.Now();
  metrics_.app_bytes[app] += bytes;
  if (connections == 0) return;
  int64_t& open = metrics_.app_connections[app];
  const bool before = open > 0;
  open += connections;
  if (open > 0 && !before) ++apps_connected_;
  if (open <= 0 && before) --apps_connected_;
}

void IoWorker::Warm(const fairlead::shuffle::Registry::ExecutorRef& executor, const endpoints::shuffle::BlockRef& block,
                    ReadAhead::Done done) {
  const bool nowhere = executor->dirs.empty() || executor->sub_dirs_per_local_dir == 0;
  const auto place = nowhere ? std::nullopt : Confine(*executor, DataFileName(block));
  if (!place || blocks_.page_cache() == nullptr) {  // no disk has to be asked
    if (done) loop_.Post([done = std::move(done)] { done(true); });
    return;
  }
  read_ahead_.Read(
      place->root, {place->below_root, block.start, 0},
      [&disk = disk_, &page_cache = *blocks_.page_cache(), &config = config_, executor, block] {
        WarmBlock(disk, page_cache, config.core.local_roots, *executor, block, config.index_cache_bytes / 2);
      },
      std::move(done));
}

endpoints::shuffle::BlockResult IoWorker::OpenWarmed(const model::shuffle::Executor& executor,
                                                     const endpoints::shuffle::BlockRef& block, bool answered) {
  if (answered) return blocks_.Open(executor, block, loop_.Now(), Access::kDisk);
  endpoints::shuffle::BlockResult out;
  out.error =
      "java.io.IOException: cannot read " + SparkPath(executor, DataFileName(block)) + ": no answer from its disk";
  return out;
}

void IoWorker::AskForTurn(const std::string& app, uint64_t connection) {
  turns_.Wait(app, connection);
  if (std::exchange(round_posted_, true)) return;
  loop_.Post([this, alive = alive_.watch()] {
    if (alive) RunRound();
  });
}

/// One round a turn of the loop: in between sockets are read and written.
void IoWorker::RunRound() {
  round_posted_ = true;  // who asks during the round is looked at behind it
  turns_.Round([this](uint64_t id, int64_t bytes) {
    Connection* connection = Find(id);
    return connection == nullptr ? 0 : connection->TakeTurn(bytes);
  });
  round_posted_ = turns_.waiting();
  if (!round_posted_) return;
  loop_.Post([this, alive = alive_.watch()] {
    if (alive) RunRound();
  });
}

void IoWorker::NoteTlsFailure(const env::Endpoint& peer, const base::Error& error) {
  const base::Instant now = loop_.Now();
  if (metrics_.tls_failures++ > 0 && now - tls_failure_logged_ < kTlsFailureLogInterval) return;
  tls_failure_logged_ = now;
  log_.Warn("A connection failed to speak TLS", {{"peer", peer.ToString()}, {"cause", error.message}});
}

void IoWorker::Tick() {
  const base::Instant now = loop_.Now();
  blocks_.CloseIdle(now);
  for (const uint32_t disk : read_ahead_.FindSilent()) {
    blocks_.NoteTrouble(disk,
                        {"no answer for " + std::to_string(config_.disk_silence_max.millis()) + " ms", ETIMEDOUT});
  }
  if (counters_.push_requests > 0 && owner_.merges() == nullptr) owner_.NotePushRefused();
  const bool drain_over = now >= drain_until_;
  std::vector<uint64_t> idle;
  for (const auto& [id, connection] : connections_) {
    if (drain_over || connection->Overdue(now)) idle.push_back(id);
  }
  peers_.Relieve(nullptr);
  std::sort(idle.begin(), idle.end());
  for (const uint64_t id : idle) {
    ++metrics_.connections_idle_closed;
    connections_.erase(id);
  }
  if (connections_.empty() && drained_) std::exchange(drained_, nullptr)();
  // What nobody is connected for and nobody is registered for is forgotten.
  for (auto entry = app_used_.begin(); entry != app_used_.end();) {
    const bool gone = metrics_.app_connections[entry->first] <= 0 && registry_->FindApp(entry->first) == nullptr;
    if (gone) {
      metrics_.app_connections.erase(entry->first);
      metrics_.app_bytes.erase(entry->first);
      entry = app_used_.erase(entry);
    } else {
      ++entry;
    }
  }
  tick_ = loop_.After(Connection::kTick, [this, alive = alive_.watch()] {
    if (alive) Tick();
  });
}

WorkerMetrics IoWorker::Metrics() const {
  WorkerMetrics out = metrics_;
  for (const auto& [app, used] : app_used_) out.app_idle[app] = loop_.Now() - used;
  out.connections = connections_.size();
  out.streams = streams_.size();
  out.stream_bytes = streams_.memory_bytes();
  out.queued_bytes = static_cast<size_t>(std::max<int64_t>(queued_bytes_, 0));
  out.index_cache_bytes = blocks_.cached_bytes();
  out.open_files = blocks_.open_files();
  out.sessions = counters_;
  out.blocks = blocks_.counters();
  out.read_ahead = read_ahead_.counters();
  out.disks = blocks_.troubles();
  return out;
}

}  // namespace fairlead::process::shuffle
