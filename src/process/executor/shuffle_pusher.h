#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/time.h"
#include "env/alive.h"
#include "env/disk.h"
#include "env/loop.h"
#include "process/executor/shuffle_client.h"
#include "wire/engine/messages.h"

namespace fairlead::process::executor {

/// Pushes an executor's map outputs to the services that merge them (org.apache.spark.shuffle.ShuffleBlockPusher). It
/// reads the files of one output after the other off the loop, and never has more than a few MiB on their way. A push
/// is help, never a duty: what cannot be pushed is left out, and read from the executor's own files. All on the loop's
/// thread.
class ShufflePusher {
 public:
  struct Limits {
    int64_t block_bytes_max = 1 << 20;  // longer blocks gain nothing (spark.shuffle.push.maxBlockSizeToPush)
    int64_t read_bytes = 1 << 20;       // of an output at a time
    int64_t in_flight_max = 8 << 20;
    int tries = 4;  // of a block, after collisions and broken connections
    base::Duration retry_wait = base::Duration::Millis(100);
  };
  struct Hooks {
    /// Of this map output everything is pushed that will be.
    std::function<void(const wire::engine::MapPushed&)> done;
    /// A service has answered the push of a block with a code of BlockPushReturnCode; for audits, may be empty.
    std::function<void(const env::Endpoint& service, int32_t shuffle, const ShuffleClient::PushedBlock&, uint8_t code)>
        answered;
  };
  /// `client` should be used for nothing else: services end connections of pushes that they refuse. All references must
  /// outlive it.
  ShufflePusher(env::Loop& loop, env::Disk& disk, ShuffleClient& client, std::vector<std::string> local_directories,
                Limits limits, Hooks hooks);

  /// A task has written its output. It is remembered until the shuffle is forgotten: the order to push may come later.
  void Wrote(int32_t shuffle, int32_t map, int64_t task);
  void Begin(wire::engine::PushShuffle order);
  void Forget(int32_t shuffle);

 private:
  struct Shuffle {
    std::vector<std::pair<int32_t, int64_t>> unpushed;  // maps and tasks, until there is an order
    bool ordered = false;
    wire::engine::PushShuffle order;
    std::set<size_t> given_up;  // mergers that take no more of it
  };
  /// A map output on its way.
  struct Output {
    int32_t shuffle = -1;
    int32_t map = -1;
    int64_t task = -1;
    std::vector<int64_t> offsets;  // of the index file, once it is read
    int32_t walked = 0;            // reduce partitions, from one that differs from map to map
    bool read = false;             // all of it, or it cannot be read
    size_t open = 0;               // blocks without an end
  };
  using OutputRef = std::shared_ptr<Output>;
  struct Block {
    OutputRef output;
    int32_t reduce = 0;
    std::shared_ptr<const std::string> bytes;  // of the piece that it lies in
    size_t offset = 0;
    size_t length = 0;
    int tries = 0;
    std::string_view view() const { return std::string_view(*bytes).substr(offset, length); }
  };
  /// What reading needs, whoever is gone by then.
  struct Source {
    env::Disk& disk;
    std::vector<std::string> local_directories;
    Limits limits;
  };
  /// Neighbouring blocks, read at once.
  struct Piece {
    std::vector<Block> blocks;
    std::vector<int64_t> offsets;  // when they were read, too
    int32_t walked = 0;
    bool failed = false;
  };

  void Pump();
  void Enqueue(Shuffle& shuffle, int32_t map, int64_t task);
  static void ReadPiece(const Source& source, const OutputRef& output, Piece& piece);
  void OnPiece(const OutputRef& output, Piece& piece);
  void Push(std::vector<Block> blocks);
  void OnAnswer(const Block& block, size_t merger, const base::Result<uint8_t>& code);
  void End(const Block& block);
  void EndIfDone(const OutputRef& output);

  env::Loop& loop_;
  ShuffleClient& client_;
  const Limits limits_;
  const std::shared_ptr<const Source> source_;
  const Hooks hooks_;
  std::map<int32_t, Shuffle> shuffles_;
  std::deque<OutputRef> queue_;  // the first one is being read
  bool reading_ = false;
  int64_t in_flight_ = 0;
  env::Alive alive_;
};

}  // namespace fairlead::process::executor
