#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/page_cache.h"
#include "env_posix/posix_loop.h"
#include "process/shuffle/io_worker.h"
#include "process/shuffle/service.h"
#include "wire/spark_transport/security.h"

namespace fairlead::engine {

/// The shuffle service inside an executor, for nodes that have none: the node agent's own (process/shuffle), on the
/// executor's loop, with nothing on disk. What it serves goes with the executor. All on the loop's thread.
class OwnShuffleService {
 public:
  /// Serves only files below `roots`, absolute directories, to those who show the secret of `security`.
  OwnShuffleService(env_posix::PosixLoop& loop, std::vector<std::string> roots,
                    const wire::spark_transport::Security& security);
  /// On a free port of `host`; gives the address.
  base::Result<env::Endpoint> Listen(const std::string& host);

 private:
  env_posix::PosixLoop& loop_;
  const process::shuffle::Config config_;
  env::NullLog log_;
  std::unique_ptr<env::Disk> disk_;
  std::unique_ptr<env::PageCache> page_cache_;
  process::shuffle::Service service_;
  process::shuffle::IoWorker worker_;
};

}  // namespace fairlead::engine
