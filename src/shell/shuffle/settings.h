#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/hadoop_conf.h"
#include "process/http/known_hosts.h"
#include "process/shuffle/config.h"
#include "shell/base/logging.h"
#include "shell/base/spark_keys.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// What `fairlead shuffle` was told on its command line.
struct ShuffleOptions {
  std::optional<uint16_t> port;
  std::string bind;                      // default 127.0.0.1
  std::string state;                     // directory; empty: registrations do not survive a restart
  std::vector<std::string> local_roots;  // over spark.local.dir
  std::string properties_file;           // spark-defaults.conf
  std::vector<std::string> conf;         // spark.key=value, over the file
  std::string answer_as;                 // "3.5" or "4.3"
  int io_threads = 0;    // 0: spark.shuffle.io.serverThreads, else one a core up to 8 (answering as 3.5: one)
  std::string web_bind;  // of the status page; default 127.0.0.1
  std::optional<uint16_t> web_port;  // default: one the system gives
  LogOptions log;
};

struct ShuffleSettings {
  process::shuffle::Config config;
  int io_threads = 1;
  std::string state;
  env::Endpoint web{"127.0.0.1", 0};
  std::optional<TlsFiles> page_tls;  // nothing: the page is HTTP
  process::http::KnownHosts hosts;   // under which names the status page is served
  std::vector<std::string> callers;  // fairlead.callers.uids
  std::vector<std::string> warnings;
};

/// Applies the properties that Spark's service reads to `config`; used for the separate service and inside the node
/// agent. An Error names the key and what to write.
base::Status ApplySparkProperties(const SparkProperties& properties, process::shuffle::Config& config,
                                  std::vector<std::string>& warnings);

/// Lays the spark.* keys of DIRECTORY/spark-shuffle-site.xml, where that is, over those of yarn-site.xml, as Spark's
/// YarnShuffleService does (3.5 and later). What was given on the command line, or is final before, stays.
base::Status AddSparkShuffleSite(const std::string& directory, config::HadoopConf& conf);

/// Takes these directories as roots; each must exist. Both its name and what the file system calls it are taken, for
/// executors may use either.
base::Status UseLocalRoots(const std::vector<std::string>& roots, process::shuffle::Config& config);

/// Spark's own service keeps its registrations in one of these directories (LevelDB in 3.5, RocksDB in 4.x); they are
/// not read here.
void WarnOfSparksStore(const std::vector<std::string>& directories, std::vector<std::string>& warnings);

/// The bounds in `config` are for the process; afterwards they are those of one of `io_threads` threads.
void ShareAmongThreads(int io_threads, process::shuffle::Config& config);

/// The whole configuration of the separate service; `keys` in the place of its files and --conf.
base::Result<ShuffleSettings> ReadShuffleSettings(const ShuffleOptions& options);
base::Result<ShuffleSettings> ReadShuffleSettings(const ShuffleOptions& options, SparkKeys& keys);

}  // namespace fairlead::shell
