#include "engine/run/remote_blocks.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "engine/io/file_pieces.h"
#include "engine/io/files.h"
#include "engine/records/buffer.h"
#include "engine/records/errors.h"
#include "engine/records/frame.h"
#include "engine/run/sound_chunk.h"

namespace fairlead::engine {

namespace {

namespace pe = process::executor;

/// A block larger than what may be on its way, which comes in pieces, as fast as they are read.
struct Streamed {
  explicit Streamed(int64_t unread_max) : window(unread_max) {}
  const int64_t window;  // unread bytes above this stop it
  // The loop's.
  std::unique_ptr<pe::ShuffleClient::Stream> stream;
  int64_t size = -1;
  int64_t taken = 0;   // bytes given to the task, over all tries
  int64_t skip = 0;    // of those, what this try brings again
  bool whole = false;  // it came as a file
  // Under the fetch's mutex.
  int64_t unread = 0;
  // The task's.
  Buffer tail;  // the begin of a frame
};

/// Blocks of one place that travel in one request.
struct Request {
  env::Endpoint service;
  std::string executor_id;
  std::vector<BlockRequest> blocks;
  int64_t bytes = 0;
  int tries = 0;
  std::shared_ptr<Streamed> streamed;         // of a request for one large block
  std::shared_ptr<const ChunkRequest> chunk;  // of a request for a chunk, which has these blocks
};

using Places = std::map<uint32_t, wire::engine::Place>;

/// One request for each part of the blocks that may be on its way together.
std::deque<Request> RequestsFor(const std::vector<BlockRequest>& blocks, const Places& places, int64_t in_flight_max) {
  std::map<uint32_t, std::vector<BlockRequest>> by_place;
  for (const BlockRequest& block : blocks) by_place[block.place].push_back(block);
  std::deque<Request> requests;
  for (auto& [place, wanted] : by_place) {
    const auto known = places.find(place);
    if (known == places.end() || known->second.port <= 0) {
      throw FetchFailed(wanted.front().shuffle, wanted.front().map_index, place,
                        "nobody serves the files of its executor");
    }
    const env::Endpoint service{known->second.host, static_cast<uint16_t>(known->second.port)};
    Request request{service, known->second.executor_id, {}, 0, 0, nullptr, nullptr};
    for (const BlockRequest& block : wanted) {
      if (block.bytes > in_flight_max) {
        const int64_t window = in_flight_max / 5;
        requests.push_back(
            {service, request.executor_id, {block}, window, 0, std::make_shared<Streamed>(window), nullptr});
        continue;
      }
      if (!request.blocks.empty() && request.bytes + block.bytes > in_flight_max / 5) {
        requests.push_back(request);
        request.blocks.clear();
        request.bytes = 0;
      }
      request.blocks.push_back(block);
      request.bytes += block.bytes;
    }
    if (!request.blocks.empty()) requests.push_back(std::move(request));
  }
  return requests;
}

/// A block or a piece of one that has come: bytes, or a range of an open file that the task reads itself.
struct Arrival {
  BlockRequest request;
  int64_t bytes = 0;
  std::shared_ptr<Buffer> copy;
  std::shared_ptr<env::File> file;
  int64_t offset = 0;
  std::shared_ptr<Streamed> streamed;                   // a piece of such a block
  bool last = true;                                     // of the block's pieces; this one is empty
  std::shared_ptr<const ChunkRequest> chunk = nullptr;  // it is this chunk
};

/// One task's fetch. The members above the line belong to the loop's thread, those below to both, under the mutex.
class FetchState : public std::enable_shared_from_this<FetchState> {
 public:
  FetchState(env::Loop& loop, pe::ShuffleClient& client, const RemoteBlocksOptions& options, Places places,
             std::deque<Request> requests, size_t missing)
      : loop_(loop),
        client_(client),
        options_(options),
        places_(std::move(places)),
        requests_(std::move(requests)),
        missing_(missing) {}

  /// Loop: sends requests while there is room. Always at least one, however large.
  void Pump() {
    while (!requests_.empty() && !Stopped()) {
      const int64_t bytes = requests_.front().bytes;
      if (in_flight_ > 0 && in_flight_ + Held() + bytes > options_.in_flight_max) return;
      in_flight_ += bytes;
      auto request = std::make_shared<Request>(std::move(requests_.front()));
      requests_.pop_front();
      Send(request);
    }
  }

  /// Task: the next block, whose bytes count as held until the next call; nullopt at the end.
  std::optional<Arrival> Next(TaskContext& task) {
    std::unique_lock lock(mutex_);
    if (last_bytes_ > 0) {
      held_ -= last_bytes_;
      const std::shared_ptr<Streamed> streamed = std::exchange(last_streamed_, nullptr);
      if (streamed) streamed->unread -= last_bytes_;
      last_bytes_ = 0;
      lock.unlock();
      loop_.Post([self = shared_from_this(), streamed] {
        if (streamed) self->GoOn(*streamed);
        self->Pump();
      });
      lock.lock();
    }
    while (ready_.empty() && missing_ > 0 && !failure_) {
      const auto begin = std::chrono::steady_clock::now();
      // The timeout is for kills, which wake nobody here.
      changed_.wait_for(lock, std::chrono::milliseconds(100));
      task.metrics.fetch_wait_ns +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
      if (task.killed) {
        stopped_ = true;
        throw TaskKilled();
      }
    }
    const int64_t fallen_back = std::exchange(fallen_back_, 0);
    task.metrics.merged_fallbacks += fallen_back;
    task.metrics.blocks_read_single += fallen_back;
    if (ready_.empty()) {
      if (failure_) {
        stopped_ = true;
        throw FetchFailed(*failure_);
      }
      return std::nullopt;
    }
    Arrival arrival = std::move(ready_.front());
    ready_.pop_front();
    if (arrival.last) --missing_;
    last_bytes_ = arrival.bytes;
    last_streamed_ = arrival.streamed;
    return arrival;
  }

  /// Task: the chunk that was given out last is damaged; its blocks come instead.
  void Replace(const std::shared_ptr<const ChunkRequest>& chunk) {
    {
      const std::lock_guard lock(mutex_);
      ++missing_;
    }
    loop_.Post([self = shared_from_this(), chunk] {
      self->FallBack(*chunk);
      self->Pump();
    });
  }

  void Stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
      ready_.clear();
    }
    // A stream that is slowed down would never end.
    loop_.Post([self = shared_from_this()] {
      for (const std::shared_ptr<Streamed>& streamed : self->streams_) streamed->stream.reset();
    });
  }

 private:
  bool Stopped() {
    const std::lock_guard lock(mutex_);
    return stopped_ || failure_.has_value();
  }
  int64_t Held() {
    const std::lock_guard lock(mutex_);
    return held_;
  }

  void GoOn(Streamed& streamed) {
    const std::lock_guard lock(mutex_);
    if (streamed.stream && streamed.unread <= streamed.window / 2) streamed.stream->Resume();
  }

  void SendStreamed(const std::shared_ptr<Request>& request) {
    const std::shared_ptr<Streamed>& streamed = request->streamed;
    const BlockRequest& block = request->blocks.front();
    streamed->skip = streamed->taken;
    pe::ShuffleClient::StreamCallbacks callbacks;
    callbacks.on_size = [self = shared_from_this(), request](int64_t length) {
      const int64_t before = std::exchange(request->streamed->size, length);
      if (before >= 0 && before != length) self->Fail(request->blocks.front(), "its length changed");
    };
    callbacks.on_bytes = [self = shared_from_this(), request](std::string_view bytes) {
      self->Piece(*request, request->streamed, bytes);
    };
    callbacks.on_file = [self = shared_from_this(), request](std::shared_ptr<env::File> file, int64_t offset,
                                                             int64_t length) {
      if (request->streamed->taken > 0) return self->Fail(request->blocks.front(), "it came in two ways");
      request->streamed->whole = true;
      self->Arrived({request->blocks.front(), length, nullptr, std::move(file), offset, nullptr, true});
    };
    callbacks.on_end = [self = shared_from_this(), request](base::Status status) {
      Streamed& ended = *request->streamed;
      ended.stream.reset();
      self->in_flight_ -= request->bytes;
      if (!status.ok() && !ended.whole) {
        self->Broken(*request, {false}, status.error());
      } else if (!ended.whole) {
        self->Arrived({request->blocks.front(), 0, nullptr, nullptr, 0, request->streamed, true});
      }
      self->Pump();
    };
    if (std::find(streams_.begin(), streams_.end(), streamed) == streams_.end()) streams_.push_back(streamed);
    streamed->stream = client_.OpenStream(request->service, request->executor_id,
                                          "shuffle_" + std::to_string(block.shuffle) + "_" +
                                              std::to_string(block.map_task) + "_" + std::to_string(block.reduce),
                                          std::move(callbacks));
  }

  void Piece(const Request& request, const std::shared_ptr<Streamed>& streamed, std::string_view bytes) {
    const auto again = static_cast<size_t>(std::min<int64_t>(streamed->skip, static_cast<int64_t>(bytes.size())));
    streamed->skip -= static_cast<int64_t>(again);
    bytes.remove_prefix(again);
    if (bytes.empty()) return;
    const auto size = static_cast<int64_t>(bytes.size());
    streamed->taken += size;
    auto copy = std::make_shared<Buffer>(bytes.size());
    copy->Append(bytes);
    Arrived({request.blocks.front(), size, std::move(copy), nullptr, 0, streamed, false});
    const std::lock_guard lock(mutex_);
    streamed->unread += size;
    if (streamed->unread > streamed->window) streamed->stream->Pause();
  }

  void SendChunk(const std::shared_ptr<Request>& request) {
    const auto arrived = std::make_shared<bool>(false);
    pe::ShuffleClient::FetchCallbacks callbacks;
    callbacks.on_block = [self = shared_from_this(), request, arrived](size_t, std::string_view bytes) {
      *arrived = true;
      auto copy = std::make_shared<Buffer>(bytes.size());
      copy->Append(bytes);
      self->Arrived({request->blocks.front(), static_cast<int64_t>(bytes.size()), std::move(copy), nullptr, 0, nullptr,
                     true, request->chunk});
    };
    callbacks.on_file = [self = shared_from_this(), request, arrived](size_t, std::shared_ptr<env::File> file,
                                                                      int64_t offset, int64_t length) {
      *arrived = true;
      self->Arrived({request->blocks.front(), length, nullptr, std::move(file), offset, nullptr, true, request->chunk});
    };
    callbacks.on_end = [self = shared_from_this(), request, arrived](const base::Status& status) {
      self->in_flight_ -= request->bytes;
      if (!*arrived) self->ChunkBroken(*request, status);
      self->Pump();
    };
    const BlockRequest& block = request->blocks.front();
    client_.FetchChunks(request->service, block.shuffle, block.reduce, {request->chunk->chunk}, std::move(callbacks));
  }

  void ChunkBroken(const Request& request, const base::Status& status) {
    const bool worth_it = !status.ok() && status.error().code == static_cast<int>(pe::FetchError::kConnection);
    if (worth_it && request.tries < options_.chunk_retries) return TryAgain(request);
    FallBack(*request.chunk);
  }

  /// The blocks of the chunk, which counts as one that is missing, are fetched by themselves.
  void FallBack(const ChunkRequest& chunk) {
    std::deque<Request> requests;
    try {
      requests = RequestsFor(chunk.blocks, places_, options_.in_flight_max);
    } catch (const FetchFailed& failed) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_.emplace(failed);
      return changed_.notify_one();
    }
    requests_.insert(requests_.begin(), requests.begin(), requests.end());
    const std::lock_guard lock(mutex_);
    missing_ += chunk.blocks.size() - 1;
    fallen_back_ += static_cast<int64_t>(chunk.blocks.size());
  }

  void TryAgain(Request request) {
    const base::Duration wait = std::min(options_.first_wait * (int64_t{1} << request.tries), options_.wait_max);
    ++request.tries;
    loop_.After(wait, [self = shared_from_this(), request = std::move(request)]() mutable {
      self->requests_.push_front(std::move(request));
      self->Pump();
    });
  }

  void Send(const std::shared_ptr<Request>& request) {
    if (request->streamed) return SendStreamed(request);
    if (request->chunk) return SendChunk(request);
    std::vector<pe::ShuffleClient::Block> blocks;
    for (const BlockRequest& block : request->blocks) blocks.push_back({block.map_task, block.reduce});
    auto arrived = std::make_shared<std::vector<bool>>(blocks.size(), false);
    pe::ShuffleClient::FetchCallbacks callbacks;
    callbacks.on_block = [self = shared_from_this(), request, arrived](size_t i, std::string_view bytes) {
      (*arrived)[i] = true;
      auto copy = std::make_shared<Buffer>(bytes.size());
      copy->Append(bytes);
      self->Arrived(
          {request->blocks[i], static_cast<int64_t>(bytes.size()), std::move(copy), nullptr, 0, nullptr, true});
    };
    callbacks.on_file = [self = shared_from_this(), request, arrived](size_t i, std::shared_ptr<env::File> file,
                                                                      int64_t offset, int64_t length) {
      (*arrived)[i] = true;
      self->Arrived({request->blocks[i], length, nullptr, std::move(file), offset, nullptr, true});
    };
    callbacks.on_end = [self = shared_from_this(), request, arrived](base::Status status) {
      self->in_flight_ -= request->bytes;
      if (!status.ok()) self->Broken(*request, *arrived, status.error());
      self->Pump();
    };
    client_.Fetch(request->service, request->executor_id, request->blocks.front().shuffle, std::move(blocks),
                  std::move(callbacks));
  }

  void Arrived(Arrival arrival) {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    held_ += arrival.bytes;
    ready_.push_back(std::move(arrival));
    changed_.notify_one();
  }

  void Fail(const BlockRequest& block, const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_.emplace(block.shuffle, block.map_index, block.place, why);
    changed_.notify_one();
  }

  void Broken(const Request& request, const std::vector<bool>& arrived, const base::Error& error) {
    Request rest = request;
    rest.blocks.clear();
    if (!rest.streamed) rest.bytes = 0;
    for (size_t i = 0; i < arrived.size(); ++i) {
      if (arrived[i]) continue;
      rest.blocks.push_back(request.blocks[i]);
      if (!rest.streamed) rest.bytes += request.blocks[i].bytes;
    }
    if (rest.blocks.empty()) return;
    const bool worth_it = error.code == static_cast<int>(pe::FetchError::kConnection);
    if (!worth_it || rest.tries >= options_.retries) return Fail(rest.blocks.front(), error.message);
    TryAgain(std::move(rest));
  }

  env::Loop& loop_;
  pe::ShuffleClient& client_;
  const RemoteBlocksOptions options_;
  const Places places_;
  std::deque<Request> requests_;
  int64_t in_flight_ = 0;
  std::vector<std::shared_ptr<Streamed>> streams_;
  // -----
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Arrival> ready_;
  size_t missing_ = 0;       // blocks and chunks
  int64_t fallen_back_ = 0;  // blocks of chunks that could not be had, since the task was told
  int64_t held_ = 0;         // bytes of blocks that wait or are being read
  int64_t last_bytes_ = 0;   // of the bytes that were given out last
  std::shared_ptr<Streamed> last_streamed_;
  bool stopped_ = false;
  std::optional<FetchFailed> failure_;
};

class RemoteInput : public ShuffleInput {
 public:
  RemoteInput(std::shared_ptr<FetchState> state, TaskContext& task) : state_(std::move(state)), task_(task) {}
  ~RemoteInput() override { state_->Stop(); }

  bool Next(ShuffleBlock& block) override {
    while (pieces_.done()) {
      auto arrival = state_->Next(task_);
      if (!arrival) return false;
      arrival_ = *std::move(arrival);
      if (arrival_.chunk) {
        if (TakeChunk(block)) return true;
        continue;
      }
      if (arrival_.file) {
        task_.metrics.shuffle_bytes_local += arrival_.bytes;
        break;
      }
      task_.metrics.shuffle_bytes_remote += arrival_.bytes;
      if (arrival_.streamed) {
        if (NextFrames(block)) return true;
        continue;
      }
      block = {arrival_.request.map_index, arrival_.request.place, arrival_.copy->view(), arrival_.copy};
      return true;
    }
    return NextPiece(block);
  }

 private:
  /// False: it is damaged.
  bool TakeChunk(ShuffleBlock& block) {
    std::shared_ptr<Buffer> bytes = arrival_.copy;
    if (arrival_.file) bytes = ReadWhole(*arrival_.file, arrival_.offset, arrival_.bytes);
    const std::shared_ptr<const ChunkRequest> chunk = arrival_.chunk;
    if (!bytes || !IsSound(bytes->view(), chunk->blocks)) {
      state_->Replace(chunk);
      return false;
    }
    (arrival_.file ? task_.metrics.shuffle_bytes_local : task_.metrics.shuffle_bytes_remote) += arrival_.bytes;
    task_.metrics.blocks_read_merged += static_cast<int64_t>(chunk->blocks.size());
    block = {arrival_.request.map_index, arrival_.request.place, bytes->view(), bytes};
    arrival_ = {};
    return true;
  }

  /// Null: the file is shorter than the service said.
  static std::shared_ptr<Buffer> ReadWhole(const env::File& file, int64_t offset, int64_t length) {
    auto bytes = std::make_shared<Buffer>();
    bytes->Resize(static_cast<size_t>(length));
    try {
      const size_t read = ReadAt(file.descriptor(), "an open file from the shuffle service",
                                 static_cast<uint64_t>(offset), bytes->data(), bytes->size());
      return read == bytes->size() ? bytes : nullptr;
    } catch (const TaskError&) {
      return nullptr;
    }
  }

  /// Puts a piece behind what is left of those before it and gives the frames that are whole; false: none is.
  bool NextFrames(ShuffleBlock& block) {
    Buffer& tail = arrival_.streamed->tail;
    if (arrival_.copy) tail.Append(arrival_.copy->view());
    arrival_.copy.reset();
    const size_t whole = arrival_.last ? tail.size() : WholeFrames(tail.view());
    const BlockRequest& request = arrival_.request;
    if (whole == 0) {
      if (tail.size() > kFrameHeader + size_t{kFrameMax}) {
        throw FetchFailed(request.shuffle, request.map_index, request.place, "a frame of the block is damaged");
      }
      return false;
    }
    auto frames = std::make_shared<Buffer>(std::move(tail));
    tail = Buffer();
    tail.Append(frames->view().substr(whole));
    frames->Truncate(whole);
    block = {request.map_index, request.place, frames->view(), frames};
    return true;
  }

  bool NextPiece(ShuffleBlock& block) {
    const BlockRequest& request = arrival_.request;
    try {
      if (pieces_.done()) {
        const auto begin = static_cast<uint64_t>(arrival_.offset);
        pieces_ = FilePieces(arrival_.file->descriptor(), "an open file from the shuffle service", begin,
                             begin + static_cast<uint64_t>(arrival_.bytes), task_);
      }
      block = {request.map_index, request.place, {}, nullptr};
      pieces_.Next(block);
      return true;
    } catch (const TaskError& error) {
      throw FetchFailed(request.shuffle, request.map_index, request.place, error.what());
    }
  }

  std::shared_ptr<FetchState> state_;
  TaskContext& task_;
  Arrival arrival_;  // the block at hand
  FilePieces pieces_;
};

}  // namespace

RemoteBlocksOptions RemoteBlocksOverNet::OptionsFor(const TaskContext& task) const {
  RemoteBlocksOptions options = options_;
  options.in_flight_max = std::min(options.in_flight_max, std::max<int64_t>(1 << 20, task.memory_bytes / 8));
  return options;
}

std::unique_ptr<ShuffleInput> RemoteBlocksOverNet::Fetch(std::vector<BlockRequest> blocks,
                                                         std::vector<ChunkRequest> chunks, const Places& places,
                                                         TaskContext& task) {
  const RemoteBlocksOptions options = OptionsFor(task);
  std::deque<Request> requests = RequestsFor(blocks, places, options.in_flight_max);
  const size_t missing = blocks.size() + chunks.size();
  for (ChunkRequest& chunk : chunks) {
    const env::Endpoint service{chunk.by.host, static_cast<uint16_t>(chunk.by.port)};
    auto shared = std::make_shared<const ChunkRequest>(std::move(chunk));
    requests.push_back({service, {}, shared->blocks, shared->bytes, 0, nullptr, shared});
  }
  // Not every reducer shall begin with the same service.
  if (!requests.empty()) {
    std::rotate(requests.begin(), requests.begin() + task.partition % static_cast<int32_t>(requests.size()),
                requests.end());
  }
  auto state = std::make_shared<FetchState>(loop_, client_, options, places, std::move(requests), missing);
  loop_.Post([state] { state->Pump(); });
  return std::make_unique<RemoteInput>(state, task);
}

}  // namespace fairlead::engine
