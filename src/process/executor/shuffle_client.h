#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "env/local_net.h"
#include "env/loop.h"
#include "env/net.h"
#include "wire/spark_shuffle/map_bitmap.h"
#include "wire/spark_shuffle/merge_statuses.h"
#include "wire/spark_transport/security.h"

namespace fairlead::process::executor {

/// Error::code of a failed fetch.
enum class FetchError : int {
  kConnection = 1,  // no connection, or it broke: worth another try
  kRefused = 2,     // the service answered that it has no such block
};

/// A client of Spark shuffle services (org.apache.spark.network.shuffle.ExternalBlockStoreClient): one connection per
/// service, shared by all requests, closed when idle. A service on this host (its end of the connection has the address
/// of ours) can be asked over its local socket, and then gives long blocks as open files. All on the loop's
/// thread; callbacks never come from inside a call.
class ShuffleClient {
 public:
  struct Limits {
    base::Duration connect = base::Duration::Seconds(5);
    /// A request without any progress for this long fails (spark.network.timeout).
    base::Duration silence = base::Duration::Seconds(120);
    base::Duration idle = base::Duration::Seconds(60);
    size_t frame_max = size_t{1} << 30;
  };
  ShuffleClient(env::Loop& loop, env::Net& net, std::string app_id, Limits limits);
  ~ShuffleClient();
  ShuffleClient(const ShuffleClient&) = delete;
  ShuffleClient& operator=(const ShuffleClient&) = delete;

  /// From now on services of this host are asked over their local sockets. Anybody on the host may have taken such a
  /// name: one whose owner runs neither as root nor as `own_user` is not believed.
  void UseLocalSockets(env::LocalNet& net, uint32_t own_user);

  /// From now on connections begin with a handshake, and are encrypted as it says; those that are use no local socket.
  /// A service that refuses, or asks for no handshake, is a FetchError::kRefused.
  void Authenticate(wire::spark_transport::Security security) { security_ = std::move(security); }

  /// From now on executors that register say that what is merged of this attempt of the application lies in directories
  /// of this name, one beside each of their own.
  void KeepMergedIn(std::string directory_name, int32_t app_attempt) {
    merged_directory_ = std::move(directory_name);
    app_attempt_ = app_attempt;
  }

  /// Tells the service where the executor's files are; done once.
  void Register(const env::Endpoint& service, const std::string& executor_id,
                const std::vector<std::string>& local_directories, std::function<void(base::Status)> done);

  struct Block {
    int64_t map_task = 0;
    int32_t reduce = 0;
  };
  struct FetchCallbacks {
    /// Block `i` of the request; the bytes live during the call.
    std::function<void(size_t i, std::string_view bytes)> on_block;
    /// Block `i` is this range of an open file, which may be shorter than it should.
    std::function<void(size_t i, std::shared_ptr<env::File> file, int64_t offset, int64_t length)> on_file;
    /// Once, after which nothing comes: success, or why the blocks not yet given are not coming.
    std::function<void(base::Status)> on_end;
  };
  /// Fetches blocks that `executor_id` wrote. Blocks arrive in the order of the request, grouped by map task.
  void Fetch(const env::Endpoint& service, const std::string& executor_id, int32_t shuffle, std::vector<Block> blocks,
             FetchCallbacks callbacks);

  struct StreamCallbacks {
    /// The block's length, before its first byte.
    std::function<void(int64_t length)> on_size;
    std::function<void(std::string_view bytes)> on_bytes;
    /// Instead of both: the block is this range of an open file.
    std::function<void(std::shared_ptr<env::File> file, int64_t offset, int64_t length)> on_file;
    /// Once, at the end; the only one of them that may destroy the Stream.
    std::function<void(base::Status)> on_end;
  };
  /// One block on a connection of its own, so that its reader can slow it down. Destroying it ends it without a call.
  class Stream {
   public:
    virtual ~Stream() = default;
    /// After Pause at most what one read of the connection brought still comes.
    virtual void Pause() = 0;
    virtual void Resume() = 0;
  };
  /// Fetches a block by its name ("shuffle_S_M_R", "rdd_D_P") in pieces as they arrive, however long it is
  /// (StreamRequest of Spark's protocol, as OneForOneBlockFetcher does with blocks for files); from a service of this
  /// host as an open file.
  std::unique_ptr<Stream> OpenStream(const env::Endpoint& service, const std::string& executor_id,
                                     const std::string& block, StreamCallbacks callbacks);

  // ---- merges (Spark: push-based shuffle); shuffle merge ids are always 0: what may differ when made again is not
  // pushed

  /// Whether the service merges blocks of this application. Without an answer: no.
  void AskWhetherItMerges(const env::Endpoint& service, std::function<void(bool)> done);

  struct PushedBlock {
    int32_t map = 0;  // its index
    int32_t reduce = 0;
    std::string_view bytes;
  };
  /// Pushes blocks; `answered` for each of them, with the code of BlockPushReturnCode.
  void Push(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle, const std::vector<PushedBlock>& blocks,
            std::function<void(size_t i, base::Result<uint8_t> code)> answered);
  /// Ends the shuffle's merge at this service; `done` gets what it has merged.
  void FinalizeMerge(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle,
                     std::function<void(base::Result<std::vector<wire::spark_shuffle::MergeStatus>>)> done);
  /// Nobody needs what the service has merged of the shuffle. Not answered.
  void RemoveMerge(const env::Endpoint& service, int32_t app_attempt, int32_t shuffle);
  /// Which maps' blocks each chunk of a merged partition has.
  void AskMergedChunks(const env::Endpoint& service, int32_t shuffle, int32_t reduce,
                       std::function<void(base::Result<std::vector<wire::spark_shuffle::MapBitmap>>)> done);
  /// Fetches chunks of a merged partition, as Fetch does blocks.
  void FetchChunks(const env::Endpoint& service, int32_t shuffle, int32_t reduce, const std::vector<int32_t>& chunks,
                   FetchCallbacks callbacks);

 private:
  class Connection;
  Connection& To(const env::Endpoint& service);

  env::Loop& loop_;
  env::Net& net_;
  env::LocalNet* local_net_ = nullptr;
  uint32_t own_user_ = 0;
  wire::spark_transport::Security security_;
  const std::string app_id_;
  const Limits limits_;
  std::string merged_directory_;  // empty: nothing is merged
  int32_t app_attempt_ = -1;
  std::map<env::Endpoint, std::unique_ptr<Connection>> connections_;
  int64_t next_request_ = 1;
};

}  // namespace fairlead::process::executor
