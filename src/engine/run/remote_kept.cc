#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "engine/io/files.h"
#include "engine/records/buffer.h"
#include "engine/records/checksum.h"
#include "engine/records/errors.h"
#include "engine/run/remote_blocks.h"
#include "wire/spark_shuffle/layout.h"

// A partition of a cached dataset, from the shuffle service of the executor that keeps it.

namespace fairlead::engine {

namespace {

namespace pe = process::executor;

/// One fetch: the loop's thread fills it, the task's thread waits.
struct KeptFetch {
  explicit KeptFetch(int64_t length) : wanted(static_cast<size_t>(length)) {}
  const size_t wanted;
  std::unique_ptr<pe::ShuffleClient::Stream> stream;  // the loop's
  // Under the mutex.
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Buffer> bytes = std::make_shared<Buffer>();
  std::shared_ptr<env::File> file;
  int64_t offset = 0;
  bool wrong = false;  // not as long as it should be
  std::optional<base::Status> ended;
};

pe::ShuffleClient::StreamCallbacks CallbacksOf(const std::shared_ptr<KeptFetch>& fetch) {
  pe::ShuffleClient::StreamCallbacks callbacks;
  callbacks.on_size = [fetch](int64_t length) {
    const std::lock_guard lock(fetch->mutex);
    fetch->wrong = static_cast<size_t>(length) != fetch->wanted;
    if (!fetch->wrong) fetch->bytes->Reserve(fetch->wanted);
  };
  callbacks.on_bytes = [fetch](std::string_view bytes) {
    const std::lock_guard lock(fetch->mutex);
    if (!fetch->wrong) fetch->bytes->Append(bytes);
  };
  callbacks.on_file = [fetch](std::shared_ptr<env::File> file, int64_t offset, int64_t length) {
    const std::lock_guard lock(fetch->mutex);
    fetch->wrong = static_cast<size_t>(length) != fetch->wanted;
    fetch->file = std::move(file);
    fetch->offset = offset;
  };
  callbacks.on_end = [fetch](base::Status status) {
    const std::lock_guard lock(fetch->mutex);
    fetch->ended = std::move(status);
    fetch->changed.notify_one();
  };
  return callbacks;
}

/// False: a file that is shorter than the service said.
bool ReadPassedFile(KeptFetch& fetch) {
  fetch.bytes->Resize(fetch.wanted);
  try {
    return ReadAt(fetch.file->descriptor(), "an open file from the shuffle service",
                  static_cast<uint64_t>(fetch.offset), fetch.bytes->data(), fetch.wanted) == fetch.wanted;
  } catch (const TaskError&) {
    return false;
  }
}

}  // namespace

std::shared_ptr<const Buffer> RemoteBlocksOverNet::FetchKept(const KeptBlock& block, TaskContext& task) {
  const auto fetch = std::make_shared<KeptFetch>(block.bytes);
  const env::Endpoint service{block.place.host, static_cast<uint16_t>(block.place.port)};
  loop_.Post([&client = client_, fetch, service, block] {
    fetch->stream =
        client.OpenStream(service, block.place.executor_id,
                          wire::spark_shuffle::RddBlockName(block.dataset, block.partition), CallbacksOf(fetch));
  });
  const auto begin = std::chrono::steady_clock::now();
  {
    std::unique_lock lock(fetch->mutex);
    // The timeout is for kills, which wake nobody here.
    while (!fetch->ended && !task.killed) fetch->changed.wait_for(lock, std::chrono::milliseconds(100));
  }
  loop_.Post([fetch] { fetch->stream.reset(); });
  task.metrics.fetch_wait_ns +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  task.CheckKilled();
  const std::lock_guard lock(fetch->mutex);
  if (!fetch->ended->ok() || fetch->wrong) return nullptr;
  if (fetch->file && !ReadPassedFile(*fetch)) return nullptr;
  const Buffer& got = *fetch->bytes;
  if (got.size() != fetch->wanted || XXH3_64bits(got.data(), got.size()) != block.checksum) return nullptr;
  return fetch->bytes;
}

}  // namespace fairlead::engine
