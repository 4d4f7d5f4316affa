#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "endpoints/shuffle/session.h"
#include "env/net.h"
#include "process/peers/peer_table.h"
#include "shuffle/core.h"
#include "shuffle/merge_book.h"
#include "wire/spark_transport/tls.h"

namespace fairlead::process::shuffle {

struct Config {
  env::Endpoint listen{"127.0.0.1", 7337};
  endpoints::shuffle::SessionConfig session;
  fairlead::shuffle::Config core;
  /// Of a separate service: one secret for every application (spark.authenticate.secret). On YARN each brings its own.
  std::optional<std::string> cluster_secret;
  /// spark.ssl.rpc.*; nullptr: frames go in the clear, or encrypted by what was authenticated.
  std::shared_ptr<const wire::spark_transport::TlsContext> tls;
  /// spark.shuffle.service.index.cache.size.
  size_t index_cache_bytes = 100 << 20;
  /// Data files kept open between requests, and for how long at most after the last one.
  size_t open_files_max = 512;
  base::Duration open_file_idle_max = base::Duration::Seconds(2);
  /// Blocks up to this are read into the output with their neighbours; longer ones are sent from their file.
  size_t copied_block_max = 32 * 1024;
  /// Bytes queued on one connection before its requests wait (far fewer until it has shown whose it is).
  size_t queued_bytes_per_connection = 512 * 1024;
  /// Bytes in memory, queued on all connections together (per I/O thread); near it a connection gets less.
  size_t queued_bytes_max = 96 << 20;
  /// spark.shuffle.push.server.mergedShuffleFileManagerImpl is Spark's resolver: pushed blocks are merged.
  bool merges = false;
  fairlead::shuffle::MergeLimits merge_limits;
  /// Requests opened and not yet read, all connections together (per I/O thread).
  size_t stream_bytes_max = 64 << 20;
  /// A disk that gives nothing for so long fails the blocks asked of it.
  base::Duration disk_silence_max = base::Duration::Seconds(60);
  /// Per I/O thread. Memory: requests that are not whole, and answers that nobody takes.
  peers::PeerLimits peers{.connections_max = 20'000, .per_address_max = 10'000, .bytes_max = size_t{24} << 20};
  /// Until a connection has shown whose it is (TLS, authentication, first request); of one request that has begun.
  base::Duration handshake = base::Duration::Seconds(10);
  base::Duration request = base::Duration::Seconds(30);
  /// spark.shuffle.io.connectionTimeout: a connection on which nothing moves is closed.
  base::Duration connection_idle_max = base::Duration::Seconds(120);
};

}  // namespace fairlead::process::shuffle
