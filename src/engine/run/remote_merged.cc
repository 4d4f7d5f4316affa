#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>

#include "engine/records/errors.h"
#include "engine/run/remote_blocks.h"

// What is merged of a reducer's input, from the shuffle service that merged it.

namespace fairlead::engine {

namespace {

using ChunkMaps = std::vector<wire::spark_shuffle::MapBitmap>;

/// One question: the loop's thread answers, the task's thread waits.
struct Question {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<ChunkMaps> answer;
};

}  // namespace

process::executor::MergedInput RemoteBlocksOverNet::FindMerged(int32_t shuffle, int32_t reduce,
                                                               std::vector<tasks::MapOutputTable::Block> wanted,
                                                               const wire::engine::Merger& by, TaskContext& task) {
  const auto question = std::make_shared<Question>();
  loop_.Post(
      [&client = client_, question, service = env::Endpoint{by.host, static_cast<uint16_t>(by.port)}, shuffle, reduce] {
        client.AskMergedChunks(service, shuffle, reduce, [question](base::Result<ChunkMaps> chunks) {
          const std::lock_guard lock(question->mutex);
          question->answer = chunks.ok() ? *std::move(chunks) : ChunkMaps();
          question->changed.notify_one();
        });
      });
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(question->mutex);
  // The timeout is for kills, which wake nobody here.
  while (!question->answer && !task.killed) question->changed.wait_for(lock, std::chrono::milliseconds(100));
  task.metrics.fetch_wait_ns +=
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin).count();
  task.CheckKilled();
  auto input = process::executor::DealToChunks(wanted, *question->answer, OptionsFor(task).in_flight_max);
  // It was said to have some.
  if (input.chunks.empty()) task.metrics.merged_fallbacks += static_cast<int64_t>(input.rest.size());
  return input;
}

}  // namespace fairlead::engine
