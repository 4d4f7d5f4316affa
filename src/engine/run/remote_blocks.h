#pragma once

#include <cstdint>
#include <memory>

#include "engine/run/executor.h"
#include "env/loop.h"
#include "process/executor/shuffle_client.h"

namespace fairlead::engine {

struct RemoteBlocksOptions {
  /// Bytes on their way or waiting for one task (spark.reducer.maxSizeInFlight), at most an eighth of its memory.
  int64_t in_flight_max = 48 << 20;
  /// A broken connection is tried again so often, after waits that double from `first_wait` up to `wait_max`: together
  /// about 20 s, enough for a node agent to restart.
  int retries = 8;
  base::Duration first_wait = base::Duration::Millis(200);
  base::Duration wait_max = base::Duration::Seconds(5);
  /// And a chunk of a merged partition: its blocks can be had elsewhere.
  int chunk_retries = 2;
};

/// RemoteBlocks over a ShuffleClient: the task's thread waits, the loop's thread fetches. Requests are cut into fifths
/// of the bytes in flight and spread over the services, as Spark's ShuffleBlockFetcherIterator does. A block above the
/// bytes in flight comes in pieces on a connection of its own, no faster than the task reads it. A block that the
/// service says it does not have, and one that cannot be had after all tries, is a FetchFailed.
class RemoteBlocksOverNet : public RemoteBlocks {
 public:
  RemoteBlocksOverNet(env::Loop& loop, process::executor::ShuffleClient& client, RemoteBlocksOptions options = {})
      : loop_(loop), client_(client), options_(options) {}
  std::unique_ptr<ShuffleInput> Fetch(std::vector<BlockRequest> blocks, std::vector<ChunkRequest> chunks,
                                      const std::map<uint32_t, wire::engine::Place>& places,
                                      TaskContext& task) override;
  /// Tried once. In remote_merged.cc.
  process::executor::MergedInput FindMerged(int32_t shuffle, int32_t reduce,
                                            std::vector<tasks::MapOutputTable::Block> wanted,
                                            const wire::engine::Merger& by, TaskContext& task) override;
  /// Tried once: computing is the second try. In remote_kept.cc.
  std::shared_ptr<const Buffer> FetchKept(const KeptBlock& block, TaskContext& task) override;

 private:
  RemoteBlocksOptions OptionsFor(const TaskContext& task) const;

  env::Loop& loop_;
  process::executor::ShuffleClient& client_;
  const RemoteBlocksOptions options_;
};

}  // namespace fairlead::engine
