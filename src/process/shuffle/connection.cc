#include "process/shuffle/connection.h"

#include <algorithm>

#include "process/shuffle/block_work.h"

namespace fairlead::process::shuffle {
namespace {

using endpoints::shuffle::BlockRef;
using endpoints::shuffle::BlockResult;
using endpoints::shuffle::BlockStream;
using model::shuffle::Executor;

constexpr int64_t kPiece = 256 * 1024;
/// What a disk is asked for at once: of one long block, and blocks of one stream.
constexpr int64_t kBytesAhead = 4 << 20;
constexpr size_t kBlocksAhead = 16;
constexpr size_t kFilesOnTheirWayMax = 32;
/// Files that a thread removes before others have their turn.
constexpr size_t kRemovedAtOnce = 500;
/// A half request of more is counted at once, of less when it is looked at.
constexpr size_t kHalfRequestMax = 8 * 1024;
/// Bytes queued for a connection that has not shown whose it is.
constexpr size_t kStrangersQueue = 8 * 1024;
/// Pushes of a connection whose answers are to come; a client of Spark's has as many as blocks in a few MiB.
constexpr size_t kPushesMax = 50'000;
/// Answers that a peer has not taken for so long are counted as held.
constexpr base::Duration kStalled = base::Duration::Seconds(10);

}  // namespace

Connection::Connection(uint64_t id, std::unique_ptr<env::Stream> stream, IoWorker& worker)
    : id_(id),
      worker_(worker),
      stream_(std::move(stream)),
      used_(worker.loop().Now()),
      seat_in_table_(worker.peers(), *this, stream_->peer().host),
      session_(id, worker.config().session, worker.streams(), worker.counters(), *this) {
  if (worker.config().tls) tls_.emplace(*worker.config().tls);
}

Connection::Connection(uint64_t id, std::unique_ptr<env::LocalStream> stream, IoWorker& worker)
    : id_(id),
      worker_(worker),
      stream_(std::move(stream)),
      local_(static_cast<env::LocalStream*>(stream_.get())),
      used_(worker.loop().Now()),
      seat_in_table_(worker.peers(), *this, kThisHost),
      session_(id, worker.config().session, worker.streams(), worker.counters(), *this) {}

Connection::~Connection() {
  session_.Close();
  SendPushes();
  worker_.CountQueued(-static_cast<int64_t>(counted_));
  if (belongs_) worker_.NoteApp(session_.app(), -1, 0);
}

void Connection::Start() {
  FollowLimit();
  stream_->Start(this);
}

bool Connection::Overdue(base::Instant now) {
  const Config& config = worker_.config();
  const size_t unsent = stream_->unsent();
  if (std::exchange(unsent_at_last_look_, unsent) != unsent) used_ = now;
  const uint64_t requests = session_.frames_taken();
  const bool half = session_.WantsMore() && session_.buffered_bytes() > 0;
  if (std::exchange(requests_at_last_look_, requests) != requests || !half) request_since_ = now;
  if (now - used_ < kTick) seat_in_table_.Move();
  seat_in_table_.Count();
  return now - used_ > config.connection_idle_max || now - request_since_ > config.request ||
         (!belongs_ && now - opened_ > config.handshake);
}

size_t Connection::HeldBytes() const {
  const bool stalled = worker_.loop().Now() - used_ > kStalled;
  return session_.held_bytes() + (stalled ? counted_ : 0);
}

void Connection::Evict() {
  session_.Close();
  stream_->Close();
  worker_.Drop(id_);
}

/// What this connection may queue follows from what all of them have queued.
void Connection::FollowLimit() {
  const size_t limit = belongs_ ? worker_.QueueLimit() : kStrangersQueue;
  if (limit == high_water_) return;
  high_water_ = limit;
  stream_->SetHighWater(limit);
}

void Connection::OnData(std::string_view bytes) {
  used_ = worker_.loop().Now();
  FollowLimit();
  if (tls_) {
    ReceiveTls(bytes);
  } else {
    session_.OnBytes(bytes);
  }
  Settle();
}

void Connection::ReceiveTls(std::string_view bytes) {
  std::string plain;
  std::string answer;
  const base::Status status = tls_->Receive(bytes, plain, answer);
  if (!answer.empty()) WriteNow(std::move(answer));
  if (!plain.empty()) session_.OnBytes(plain);
  if (!status.ok()) worker_.NoteTlsFailure(stream_->peer(), status.error());
  if (status.ok() && !tls_->peer_ended()) return;
  session_.Close();
  queue_.clear();
  closing_ = true;
}

void Connection::OnClosed(const std::string&) {
  session_.Close();
  worker_.Drop(id_);
}

void Connection::OnDrained() {
  used_ = worker_.loop().Now();
  FollowLimit();
  SendQueued();
  session_.Resume();
  Settle();
}

void Connection::Settle() {
  SendPushes();
  FlushOutput();
  SendQueued();
  // What went out at once has made room without a word from the stream.
  while (session_.CanResume() && !Full()) {
    session_.Resume();
    SendPushes();
    FlushOutput();
    SendQueued();
  }
  CountQueued();
  if (session_.buffered_bytes() > kHalfRequestMax) {
    seat_in_table_.Count();
    worker_.peers().Relieve(&seat_in_table_);
  }
  AskForTurn();
  if (closing_ && queue_.empty()) {
    closing_ = false;
    if (tls_) {
      std::string end;
      tls_->End(end);
      stream_->Write(std::move(end));
    }
    stream_->CloseAfterFlush();
    worker_.Drop(id_);
    return;
  }
  const bool want = session_.WantsMore() && !session_.closed();
  if (want == reading_) return;
  reading_ = want;
  if (want) {
    stream_->ResumeReading();
  } else {
    stream_->PauseReading();
  }
}

/// Something is to be sent, there is room for it, and only other applications are in the way.
void Connection::AskForTurn() {
  const bool wants = !queue_.empty() || session_.CanResume();
  if (!wants || asked_ || waits_for_disk_ || MaySend() || stream_->unsent() > high_water_) return;
  asked_ = true;
  worker_.AskForTurn(session_.app(), id_);
}

int64_t Connection::TakeTurn(int64_t bytes) {
  asked_ = false;
  allowance_ = bytes;
  SendQueued();
  Settle();
  return bytes - std::exchange(allowance_, 0);
}

bool Connection::MaySend() const { return allowance_ > 0 || !worker_.contended(); }

void Connection::CountQueued() {
  memory_queued_ = std::min(memory_queued_, stream_->unsent());
  size_t now = memory_queued_;
  for (const Item& item : queue_) now += item.bytes.size();
  worker_.CountQueued(static_cast<int64_t>(now) - static_cast<int64_t>(counted_));
  counted_ = now;
  if (noted_bytes_ > 0) worker_.NoteApp(session_.app(), 0, std::exchange(noted_bytes_, 0));
}

// ---- towards the client --------------------------------------------------------------------------------------------

void Connection::FlushOutput() {
  if (output_.empty()) return;
  last_output_ = output_.size();
  if (Encrypts() || !queue_.empty()) {
    queue_.push_back({std::move(output_), nullptr, 0, 0, 0, nullptr});
  } else {
    WriteNow(std::move(output_));
  }
  output_ = {};
}

void Connection::WriteNow(std::string bytes) {
  memory_queued_ += bytes.size();
  stream_->Write(std::move(bytes));
}

/// Reads the block behind its header; false when the file gives less than it had when it was opened.
bool Connection::CopyBlock(OpenFile& file, int64_t offset, int64_t length) {
  const size_t at = output_.size();
  // Room as for the last time: a connection asks for one block at a time, or again and again for many.
  if (output_.capacity() < at + static_cast<size_t>(length)) {
    output_.reserve(std::max({at + static_cast<size_t>(length) + 64, output_.capacity() * 2, last_output_}));
  }
  output_.resize(at + static_cast<size_t>(length));
  const auto read =
      file.file()->ReadAt(static_cast<uint64_t>(offset), {output_.data() + at, static_cast<size_t>(length)});
  if (read.ok() && *read == static_cast<size_t>(length)) return true;
  output_.resize(at + (read.ok() ? *read : 0));
  return false;
}

void Connection::SendFile(std::shared_ptr<endpoints::shuffle::BlockFile> file, int64_t offset, int64_t length) {
  auto open = std::static_pointer_cast<OpenFile>(std::move(file));
  noted_bytes_ += static_cast<uint64_t>(length);
  const bool tight = high_water_ < worker_.config().queued_bytes_per_connection;
  if (!Encrypts() && !tight && length <= static_cast<int64_t>(worker_.config().copied_block_max)) {
    allowance_ -= length;
    if (CopyBlock(*open, offset, length)) return;
    session_.Close();  // the length was promised: nothing but the end can follow
    return CloseAfterFlush();
  }
  FlushOutput();
  const bool cold = length > kPiece && !worker_.blocks().InMemory(*open, offset, length);
  if (Encrypts() || worker_.contended() || cold || !queue_.empty()) {
    queue_.push_back({{}, std::move(open), offset, length, 0, nullptr});
  } else {
    stream_->SendFile(open->file(), static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
  }
}

/// A client that does not read holds this many files open at most.
bool Connection::MayPassFile() const {
  return local_->unsent_files() +
             static_cast<size_t>(
                 std::count_if(queue_.begin(), queue_.end(), [](const Item& item) { return item.passed != nullptr; })) <
         kFilesOnTheirWayMax;
}

void Connection::PassFile(std::shared_ptr<endpoints::shuffle::BlockFile> file) {
  queue_.push_back({std::move(output_), nullptr, 0, 0, 0, std::static_pointer_cast<OpenFile>(std::move(file))});
  output_ = {};
}

void Connection::EncryptFromHere(wire::spark_transport::ChannelCipher* cipher) {
  FlushOutput();
  while (!queue_.empty()) SendNext();  // below TLS: the handshake's last answer, which this cipher must not see
  cipher_ = cipher;
}

/// Sends until enough is unsent or others have their turn; OnDrained or TakeTurn goes on.
void Connection::SendQueued() {
  while (!queue_.empty() && stream_->unsent() <= high_water_ && MaySend() && HasFirst()) SendNext();
}

/// The first piece can be sent without waiting for a disk; else the disk is asked, and its answer goes on.
bool Connection::HasFirst() {
  if (waits_for_disk_) return false;
  Item& item = queue_.front();
  const int64_t piece = std::min(item.length, kPiece);
  if (!item.file || item.offset + piece <= item.warm_until) return true;
  if (worker_.blocks().InMemory(*item.file, item.offset, piece)) return true;
  waits_for_disk_ = true;
  const int64_t ahead = std::min(item.length, kBytesAhead);
  worker_.read_ahead().Read(
      item.file->root(), {item.file->path(), -1, item.offset},
      [file = item.file, &page_cache = *worker_.blocks().page_cache(), offset = item.offset, ahead] {
        ReadThrough(*file->file(), page_cache, offset, ahead);
      },
      [&worker = worker_, id = id_, until = item.offset + ahead](bool answered) {
        Connection* connection = worker.Find(id);
        if (connection != nullptr) connection->ContinueFile(until, answered);
      });
  return false;
}

void Connection::ContinueFile(int64_t warm_until, bool answered) {
  waits_for_disk_ = false;
  if (queue_.empty()) return;
  used_ = worker_.loop().Now();
  queue_.front().warm_until = warm_until;
  if (!answered) {  // the length was promised: nothing but the end can follow
    queue_.clear();
    session_.Close();
    closing_ = true;
  }
  SendQueued();
  Settle();
}

/// Sends the first item, or the next piece of its file.
void Connection::SendNext() {
  Item& item = queue_.front();
  const int64_t wanted = item.file ? std::min(item.length, kPiece) : static_cast<int64_t>(item.bytes.size());
  allowance_ -= wanted;
  if (item.file && !Encrypts()) {
    stream_->SendFile(item.file->file(), static_cast<uint64_t>(item.offset), static_cast<uint64_t>(wanted));
    item.offset += wanted;
    item.length -= wanted;
    if (item.length == 0) queue_.pop_front();
    return;
  }
  std::string piece = std::move(item.bytes);
  bool done = true;
  if (item.file) {
    piece.resize(static_cast<size_t>(wanted));
    const auto read = item.file->file()->ReadAt(static_cast<uint64_t>(item.offset), {piece.data(), piece.size()});
    if (!read.ok() || *read < piece.size()) {
      queue_.clear();
      session_.Close();
      closing_ = true;
      return;
    }
    item.offset += wanted;
    item.length -= wanted;
    done = item.length == 0;
  }
  if (item.passed) {
    local_->WriteWithFile(Sealed(std::move(piece)), item.passed->file());
  } else {
    WriteNow(Sealed(std::move(piece)));
  }
  if (done) queue_.pop_front();
}

std::string Connection::Sealed(std::string bytes) {
  std::string out;
  if (cipher_ != nullptr) {
    cipher_->Encrypt(bytes, out);
    bytes = std::exchange(out, {});
  }
  if (!tls_) return bytes;
  tls_->Send(bytes, out);
  return out;
}

void Connection::CloseAfterFlush() { closing_ = true; }

bool Connection::Full() const {
  const bool waits = session_.pusher() && (session_.pushes() > kPushesMax || worker_.owner().merges()->crowded());
  if (waits) return true;
  return stream_->unsent() + output_.size() > high_water_ || !queue_.empty() || !MaySend();
}

// ---- questions -----------------------------------------------------------------------------------------------------

BlockResult Connection::OpenBlock(BlockStream& stream, const BlockRef& block) {
  if (block.kind == BlockRef::Kind::kMerged) return OpenMerged(stream, block);
  if (stream.registry_version != worker_.registry_version()) {
    stream.registry_version = worker_.registry_version();
    stream.registration = worker_.registry()->FindShared(stream.app(), stream.executor());
  }
  if (stream.registration == nullptr) {
    BlockResult out;
    out.error = "java.lang.RuntimeException: Executor is not registered (appId=" + stream.app() +
                ", execId=" + stream.executor() + ")";
    return out;
  }
  BlockResult result = worker_.blocks().Open(*stream.registration, block, worker_.loop().Now(), Access::kInMemory);
  if (result.kind == BlockResult::Kind::kLater) WarmThenFinish(stream, block);
  return result;
}

/// Asks the disk for this block, and for those that the stream will be asked for next, so that it can take them in its
/// own order.
void Connection::WarmThenFinish(BlockStream& stream, const BlockRef& block) {
  worker_.Warm(stream.registration, block,
               [&worker = worker_, id = id_, executor = stream.registration, block](bool answered) {
                 Connection* connection = worker.Find(id);
                 if (connection != nullptr) connection->FinishBlock(*executor, block, answered);
               });
  for (const BlockRef& next : stream.Upcoming(kBlocksAhead)) worker_.Warm(stream.registration, next, nullptr);
}

void Connection::FinishBlock(const Executor& executor, const BlockRef& block, bool answered) {
  if (session_.closed()) return;
  used_ = worker_.loop().Now();
  session_.FinishBlock(worker_.OpenWarmed(executor, block, answered));
  Settle();
}

void Connection::FindStream(int64_t stream_id) {
  worker_.owner().FindStream(
      stream_id, worker_.loop(),
      [&worker = worker_, alive = worker_.alive_.watch(), id = id_](const std::optional<std::string>& app) {
        Connection* connection = alive ? worker.Find(id) : nullptr;
        if (connection == nullptr) return;
        connection->session_.FinishStream(app);
        connection->Settle();
      });
}

const Executor* Connection::FindExecutor(std::string_view app, std::string_view executor) {
  pinned_ = worker_.registry()->FindShared(app, executor);
  return pinned_.get();
}

void Connection::RegisterExecutor(wire::spark_shuffle::RegisterExecutor request) {
  model::shuffle::RegisterExecutor event;
  event.app = std::move(request.app_id);
  event.executor = std::move(request.exec_id);
  event.local_dirs = std::move(request.local_dirs);
  event.sub_dirs_per_local_dir = request.sub_dirs_per_local_dir;
  event.shuffle_manager = std::move(request.shuffle_manager);
  worker_.owner().Register(std::move(event), worker_.loop(),
                           [&worker = worker_, alive = worker_.alive_.watch(), id = id_](const std::string& error) {
                             Connection* connection = alive ? worker.Find(id) : nullptr;
                             if (connection == nullptr) return;
                             connection->session_.FinishRpc(error.empty()
                                                                ? base::Result<std::string>(std::string())
                                                                : base::Result<std::string>(base::Error{error}));
                             connection->Settle();
                           });
}

/// Files that are being removed.
struct Connection::Removing {
  std::shared_ptr<const Executor> executor;
  std::vector<std::string> left;
  Removal removed;
};

void Connection::RemoveBlocks(const Executor&, std::vector<std::string> files) {
  RemoveSome(worker_, id_, std::make_shared<Removing>(Removing{pinned_, std::move(files), {}}));
}

/// A part of them: others wait for the same threads.
void Connection::RemoveSome(IoWorker& worker, uint64_t id, const std::shared_ptr<Removing>& removing) {
  worker.loop().Offload(
      [&worker, removing] {
        std::vector<std::string>& left = removing->left;
        const auto begin = left.end() - static_cast<ptrdiff_t>(std::min(left.size(), kRemovedAtOnce));
        const std::vector<std::string> some(std::make_move_iterator(begin), std::make_move_iterator(left.end()));
        left.erase(begin, left.end());
        const Removal removed = RemoveFiles(worker.disk(), worker.config().core.local_roots, *removing->executor, some);
        removing->removed.count += removed.count;
        if (removed.error && !removing->removed.error) {
          removing->removed.root = removed.root;
          removing->removed.error = removed.error;
        }
      },
      [&worker, alive = worker.alive_.watch(), id, removing] {
        if (!alive) return;
        if (!removing->left.empty()) return RemoveSome(worker, id, removing);
        const uint64_t generation = removing->executor->generation;
        const Removal& removed = removing->removed;
        worker.Forget(generation);  // before the answer; the other threads a little later
        worker.owner().FilesRemoved(generation);
        if (removed.error) worker.blocks().NoteTrouble(removed.root, *removed.error);
        Connection* connection = worker.Find(id);
        if (connection == nullptr) return;
        connection->session_.FinishRpc(
            wire::spark_shuffle::EncodeMessage(wire::spark_shuffle::BlocksRemoved{removed.count}));
        connection->Settle();
      });
}

void Connection::Diagnose(const Executor&, const wire::spark_shuffle::DiagnoseCorruption& request) {
  BlockRef block;
  block.shuffle_id = request.shuffle_id;
  block.map_id = request.map_id;
  block.start = request.reduce_id;
  block.end = static_cast<int32_t>(static_cast<uint32_t>(request.reduce_id) + 1);
  worker_.Warm(pinned_, block, [&worker = worker_, id = id_, pinned = pinned_, request, block](bool answered) {
    Connection* connection = worker.Find(id);
    if (connection != nullptr) connection->FinishDiagnose(pinned, request, block, answered);
  });
}

void Connection::FinishDiagnose(const fairlead::shuffle::Registry::ExecutorRef& executor,
                                const wire::spark_shuffle::DiagnoseCorruption& request, const BlockRef& block,
                                bool answered) {
  const BlockResult data = worker_.OpenWarmed(*executor, block, answered);
  auto cause = std::make_shared<base::Result<std::string>>(base::Error{data.error});
  const bool readable = data.kind == BlockResult::Kind::kBytes;
  const bool knows_crc32c = worker_.config().session.answer_as == endpoints::shuffle::AnswerAs::kSpark43;
  worker_.loop().Offload(
      [&worker = worker_, executor, request, data, cause, readable, knows_crc32c] {
        if (!readable) return;
        *cause = wire::spark_shuffle::EncodeMessage(wire::spark_shuffle::CorruptionCause{
            DiagnoseBlock(worker.disk(), worker.config().core.local_roots, *executor, request, data, knows_crc32c)});
      },
      [&worker = worker_, alive = worker_.alive_.watch(), id = id_, cause] {
        Connection* connection = alive ? worker.Find(id) : nullptr;
        if (connection == nullptr) return;
        connection->session_.FinishRpc(*cause);
        connection->Settle();
      });
}

// ---- merges ---------------------------------------------------------------------------------------------------------

void Connection::Push(endpoints::shuffle::PushPart part) { pushed_.push_back(std::move(part)); }

void Connection::SendPushes() {
  if (!pushed_.empty()) worker_.Push(id_, std::exchange(pushed_, {}));
}

void Connection::FinishPushes(const std::vector<PushAnswered>& answers) {
  used_ = worker_.loop().Now();
  for (const PushAnswered& answer : answers) session_.FinishPush(answer.request, answer.reply);
  session_.Resume();
  Settle();
}

const Executor* Connection::FindMergeDirs(std::string_view app) {
  pinned_merges_ = worker_.FindMerged(app);
  return pinned_merges_ == nullptr ? nullptr : pinned_merges_->dirs.get();
}

namespace {

/// Why nothing merged of this shuffle can be read; empty: it may be.
std::string Unreadable(const fairlead::shuffle::MergedApp* merges, const std::string& app, const char* what,
                       const char* file, int32_t shuffle_id, int32_t merge_id, int64_t reduce_id) {
  if (merges == nullptr) {
    return "java.lang.IllegalArgumentException: application " + app + " is not registered or NM was restarted.";
  }
  if (merges->dirs->dirs.empty() || merges->dirs->sub_dirs_per_local_dir == 0) {
    return "java.lang.ArithmeticException: / by zero";
  }
  const auto* latest = merges->latest.Find(shuffle_id);
  if (latest == nullptr || latest->merge_id < merge_id) return "";
  if (latest->merge_id == merge_id) {
    if (!latest->removed) return "";
    const std::string name =
        fairlead::shuffle::MergedFileName(app, shuffle_id, merge_id, static_cast<int32_t>(reduce_id)) + "." + file;
    return std::string("java.lang.RuntimeException: Merged shuffle ") + file + " file " +
           SparkPath(*merges->dirs, name) + " not found";
  }
  return std::string("java.lang.RuntimeException: ") + what + " fetch for shuffle " + std::to_string(shuffle_id) +
         " with shuffleMergeId " + std::to_string(merge_id) + " reduceId " + std::to_string(reduce_id) +
         " is stale shuffle block fetch request as shuffle blocks of a higher shuffleMergeId for the shuffle is "
         "available";
}

}  // namespace

BlockResult Connection::OpenMerged(BlockStream& stream, const BlockRef& block) {
  const auto merges = worker_.FindMerged(stream.app());
  BlockResult out;
  out.error =
      Unreadable(merges.get(), stream.app(), "MergedBlockData", "data", block.shuffle_id, block.merge_id, block.map_id);
  if (!out.error.empty()) return out;
  stream.registration = merges->dirs;
  out = worker_.blocks().Open(*merges->dirs, block, worker_.loop().Now(), Access::kInMemory);
  if (out.kind == BlockResult::Kind::kLater) WarmThenFinish(stream, block);
  return out;
}

void Connection::FindMergedMeta(const std::string& app, int32_t shuffle_id, int32_t merge_id, int32_t reduce_id) {
  using Meta = base::Result<endpoints::shuffle::MergedMeta>;
  const auto merges = worker_.FindMerged(app);
  auto meta = std::make_shared<Meta>(
      base::Error{Unreadable(merges.get(), app, "MergedBlockMeta", "index", shuffle_id, merge_id, reduce_id)});
  worker_.loop().Offload(
      [&worker = worker_, merges, meta,
       name = fairlead::shuffle::MergedFileName(app, shuffle_id, merge_id, reduce_id)] {
        if (!meta->error().message.empty()) return;
        *meta = ReadMergedMeta(worker.disk(), worker.config().core.local_roots, *merges->dirs, name);
      },
      [&worker = worker_, alive = worker_.alive_.watch(), id = id_, meta] {
        Connection* connection = alive ? worker.Find(id) : nullptr;
        if (connection == nullptr) return;
        connection->session_.FinishMergedMeta(std::move(*meta));
        connection->Settle();
      });
}

void Connection::FinalizeMerge(wire::spark_shuffle::FinalizeShuffleMerge request) {
  SendPushes();  // what came before
  worker_.owner().merges()->Finalize(
      std::move(request), worker_.loop(),
      [&worker = worker_, alive = worker_.alive_.watch(), id = id_](base::Result<std::string> body) {
        Connection* connection = alive ? worker.Find(id) : nullptr;
        if (connection == nullptr) return;
        connection->session_.FinishRpc(std::move(body));
        connection->Settle();
      });
}

void Connection::RemoveMerge(wire::spark_shuffle::RemoveShuffleMerge request) {
  SendPushes();
  worker_.owner().merges()->Remove(
      std::move(request), worker_.loop(),
      [&worker = worker_, alive = worker_.alive_.watch(), id = id_](const base::Status& status) {
        Connection* connection = alive ? worker.Find(id) : nullptr;
        if (connection == nullptr) return;
        connection->session_.FinishQuietly(status);
        connection->Settle();
      });
}

void Connection::BelongsTo(const std::string& app) {
  belongs_ = true;
  seat_in_table_.Become(peers::Standing::kIdle);
  worker_.NoteApp(app, 1, 0);
}

}  // namespace fairlead::process::shuffle
