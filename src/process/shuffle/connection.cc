#include "process/shuffle/connection.h"

#include <algorithm>

#include "process/shuffle/block_work.h"

namespace fairlead::process::shuffle {
namespace {

using endpoints::shuffle::BlockRef;
using endpoints::shuffle::BlockResult;
using endpoints::shuffle::BlockStream;
using model::shuffle::Executor;

constexpr int64_t kEncryptPiece = 256 * 1024;

}  // namespace

Connection::Connection(uint64_t id, std::unique_ptr<env::Stream> stream, IoWorker& worker)
    : id_(id),
      worker_(worker),
      stream_(std::move(stream)),
      used_(worker.loop().Now()),
      session_(id, worker.config().session, worker.streams(), worker.counters(), *this) {}

Connection::~Connection() {
  worker_.CountQueued(-static_cast<int64_t>(counted_));
  if (belongs_) worker_.NoteApp(session_.app(), -1, 0);
}

void Connection::Start() {
  FollowLimit();
  stream_->Start(this);
}

bool Connection::IdleSince(base::Instant limit) {
  const size_t unsent = stream_->unsent();
  if (std::exchange(unsent_at_last_look_, unsent) != unsent) used_ = worker_.loop().Now();
  return used_ < limit;
}

/// What this connection may queue follows from what all of them have queued.
void Connection::FollowLimit() {
  const size_t limit = worker_.QueueLimit();
  if (limit == high_water_) return;
  high_water_ = limit;
  stream_->SetHighWater(limit);
}

void Connection::OnData(std::string_view bytes) {
  used_ = worker_.loop().Now();
  FollowLimit();
  session_.OnBytes(bytes);
  Settle();
}

void Connection::OnClosed(const std::string&) {
  session_.Close();
  worker_.Drop(id_);
}

void Connection::OnDrained() {
  used_ = worker_.loop().Now();
  FollowLimit();
  EncryptQueued();
  session_.Resume();
  Settle();
}

void Connection::Settle() {
  FlushOutput();
  EncryptQueued();
  // What was encrypted at once has made room without a word from the stream.
  while (session_.CanResume() && !Full()) {
    session_.Resume();
    FlushOutput();
    EncryptQueued();
  }
  CountQueued();
  if (closing_ && to_encrypt_.empty()) {
    closing_ = false;
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

void Connection::CountQueued() {
  memory_queued_ = std::min(memory_queued_, stream_->unsent());
  size_t now = memory_queued_;
  for (const Item& item : to_encrypt_) now += item.bytes.size();
  worker_.CountQueued(static_cast<int64_t>(now) - static_cast<int64_t>(counted_));
  counted_ = now;
  if (noted_bytes_ > 0) worker_.NoteApp(session_.app(), 0, std::exchange(noted_bytes_, 0));
}

// ---- towards the client --------------------------------------------------------------------------------------------

void Connection::FlushOutput() {
  if (output_.empty()) return;
  if (cipher_ != nullptr) {
    to_encrypt_.push_back({std::move(output_), nullptr, 0, 0});
  } else {
    memory_queued_ += output_.size();
    stream_->Write(std::move(output_));
  }
  output_ = {};
}

/// Reads the block behind its header; false when the file gives less than it had when it was opened.
bool Connection::CopyBlock(OpenFile& file, int64_t offset, int64_t length) {
  const size_t at = output_.size();
  // Doubling from a few blocks on: most connections ask for one block at a time.
  if (output_.capacity() < at + static_cast<size_t>(length)) {
    output_.reserve(std::max(at + static_cast<size_t>(length) + 64, output_.capacity() * 2));
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
  if (cipher_ == nullptr && !tight && length <= static_cast<int64_t>(worker_.config().copied_block_max)) {
    if (CopyBlock(*open, offset, length)) return;
    session_.Close();  // the length was promised: nothing but the end can follow
    return CloseAfterFlush();
  }
  FlushOutput();
  if (cipher_ != nullptr) {
    to_encrypt_.push_back({{}, std::move(open), offset, length});
  } else {
    stream_->SendFile(open->file(), static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
  }
}

void Connection::EncryptFromHere(wire::spark_transport::ChannelCipher* cipher) {
  FlushOutput();
  cipher_ = cipher;
}

/// Encrypts until enough is queued; OnDrained goes on.
void Connection::EncryptQueued() {
  while (!to_encrypt_.empty() && stream_->unsent() <= high_water_) {
    Item& item = to_encrypt_.front();
    std::string piece = std::move(item.bytes);
    bool done = true;
    if (item.file) {
      const int64_t wanted = std::min(item.length, kEncryptPiece);
      piece.resize(static_cast<size_t>(wanted));
      const auto read = item.file->file()->ReadAt(static_cast<uint64_t>(item.offset), {piece.data(), piece.size()});
      piece.resize(read.ok() ? *read : 0);
      if (piece.size() < static_cast<size_t>(wanted)) {
        to_encrypt_.clear();
        session_.Close();
        closing_ = true;
        break;
      }
      item.offset += wanted;
      item.length -= wanted;
      done = item.length == 0;
    }
    std::string sealed;
    cipher_->Encrypt(piece, sealed);
    memory_queued_ += sealed.size();
    stream_->Write(std::move(sealed));
    if (done) to_encrypt_.pop_front();
  }
}

void Connection::CloseAfterFlush() { closing_ = true; }

bool Connection::Full() const { return stream_->unsent() + output_.size() > high_water_ || !to_encrypt_.empty(); }

// ---- questions -----------------------------------------------------------------------------------------------------

BlockResult Connection::OpenBlock(BlockStream& stream, const BlockRef& block) {
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
  return worker_.blocks().Open(*stream.registration, block, worker_.loop().Now());
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
  worker_.owner().Register(
      std::move(event), worker_.loop(),
      [&worker = worker_, alive = std::weak_ptr(worker_.alive_), id = id_](const std::string& error) {
        Connection* connection = alive.expired() ? nullptr : worker.Find(id);
        if (connection == nullptr) return;
        connection->session_.FinishRpc(error.empty() ? base::Result<std::string>(std::string())
                                                     : base::Result<std::string>(base::Error{error}));
        connection->Settle();
      });
}

void Connection::RemoveBlocks(const Executor& executor, std::vector<std::string> files) {
  auto removed = std::make_shared<int32_t>(0);
  worker_.loop().Offload(
      [&worker = worker_, executor = pinned_, files = std::move(files), removed] {
        *removed = RemoveFiles(worker.disk(), worker.config().core.local_roots, *executor, files);
      },
      [&worker = worker_, alive = std::weak_ptr(worker_.alive_), id = id_, generation = executor.generation, removed] {
        if (alive.expired()) return;
        worker.owner().FilesRemoved(generation);
        Connection* connection = worker.Find(id);
        if (connection == nullptr) return;
        connection->session_.FinishRpc(
            wire::spark_shuffle::EncodeMessage(wire::spark_shuffle::BlocksRemoved{*removed}));
        connection->Settle();
      });
}

void Connection::Diagnose(const Executor& executor, const wire::spark_shuffle::DiagnoseCorruption& request) {
  BlockRef block;
  block.shuffle_id = request.shuffle_id;
  block.map_id = request.map_id;
  block.start = request.reduce_id;
  block.end = static_cast<int32_t>(static_cast<uint32_t>(request.reduce_id) + 1);
  const BlockResult data = worker_.blocks().Open(executor, block, worker_.loop().Now());
  auto cause = std::make_shared<base::Result<std::string>>(base::Error{data.error});
  const bool readable = data.kind == BlockResult::Kind::kBytes;
  const bool knows_crc32c = worker_.config().session.answer_as == endpoints::shuffle::AnswerAs::kSpark43;
  worker_.loop().Offload(
      [&worker = worker_, pinned = pinned_, request, data, cause, readable, knows_crc32c] {
        if (!readable) return;
        *cause = wire::spark_shuffle::EncodeMessage(wire::spark_shuffle::CorruptionCause{
            DiagnoseBlock(worker.disk(), worker.config().core.local_roots, *pinned, request, data, knows_crc32c)});
      },
      [&worker = worker_, alive = std::weak_ptr(worker_.alive_), id = id_, cause] {
        Connection* connection = alive.expired() ? nullptr : worker.Find(id);
        if (connection == nullptr) return;
        connection->session_.FinishRpc(*cause);
        connection->Settle();
      });
}

void Connection::BelongsTo(const std::string& app) {
  belongs_ = true;
  worker_.NoteApp(app, 1, 0);
}

}  // namespace fairlead::process::shuffle
