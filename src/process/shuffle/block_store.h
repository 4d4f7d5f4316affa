#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "endpoints/shuffle/session.h"
#include "env/disk.h"
#include "env/log.h"
#include "env/page_cache.h"
#include "process/shuffle/config.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::process::shuffle {

/// A block's data file, open.
class OpenFile final : public endpoints::shuffle::BlockFile {
 public:
  OpenFile(std::shared_ptr<env::File> file, uint64_t bytes, uint32_t root, std::string path)
      : file_(std::move(file)), bytes_(bytes), root_(root), path_(std::move(path)) {}
  const std::shared_ptr<env::File>& file() const { return file_; }
  /// When it was opened.
  uint64_t bytes() const { return bytes_; }
  /// Index into Config::core.local_roots, and the path below it.
  uint32_t root() const { return root_; }
  const std::string& path() const { return path_; }

  /// When the system was asked what it has of the file in memory, and a range that it had then or later.
  struct Look {
    base::Instant at = base::Instant{INT64_MIN / 2};
    int64_t begin = 0;
    int64_t end = 0;
  };
  Look last_look;

 private:
  std::shared_ptr<env::File> file_;
  uint64_t bytes_;
  uint32_t root_;
  std::string path_;
};

/// How much of a block has to be in memory before its first byte goes out.
inline constexpr int64_t kFirstBytes = 1 << 20;

/// How a block may be looked for.
enum class Access : uint8_t {
  kInMemory,  // kLater when a disk would have to be asked
  kDisk,      // however long that takes
};

/// What went wrong on one local root, for metrics and for one line of log per new cause.
struct DiskTrouble {
  uint64_t errors = 0;
  int last_errno = 0;
  std::string last;
};

/// An errno that says nothing about the disk: what was asked for is not there.
bool IsAbsence(int error);

/// Finds blocks on disk for one I/O thread: a cache of index files bounded in bytes, a cache of open data files bounded
/// in number and in time. Everything is opened below the executor's root, no component may be a link. An index file is
/// immutable once an executor has reported it, so a cached one stays good until its registration goes.
/// Cost of a cached lookup: one hash look-up; else one or two opens and a read of the index.
class BlockStore {
 public:
  /// `page_cache` nullptr: everything counts as in memory.
  BlockStore(env::Disk& disk, env::PageCache* page_cache, env::Log& log, const Config& config);

  endpoints::shuffle::BlockResult Open(const model::shuffle::Executor& executor,
                                       const endpoints::shuffle::BlockRef& block, base::Instant now, Access access);
  /// True when the range can be sent without asking a disk.
  bool InMemory(const OpenFile& file, int64_t offset, int64_t length);
  env::PageCache* page_cache() const { return page_cache_; }
  void NoteTrouble(uint32_t root, const base::Error& error);
  /// Files of this registration were removed.
  void Forget(uint64_t generation);
  /// Closes files that nobody read for a while.
  void CloseIdle(base::Instant now);

  struct Counters {
    uint64_t index_hits = 0;
    uint64_t index_misses = 0;
    uint64_t file_opens = 0;
  };
  const Counters& counters() const { return counters_; }
  size_t cached_bytes() const { return bytes_; }
  size_t open_files() const { return open_files_; }
  const std::vector<DiskTrouble>& troubles() const { return troubles_; }

 private:
  struct Key {
    uint64_t generation = 0;
    int64_t map_id = 0;
    int32_t shuffle_id = 0;
    int32_t merge_id = 0;
    bool rdd = false;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct HashKey {
    size_t operator()(const Key& key) const;
  };
  struct Entry {
    Key key;
    bool has_index = false;
    wire::spark_shuffle::IndexFile index;
    std::shared_ptr<OpenFile> data;
    base::Instant used;
    size_t bytes = 0;
  };
  using Entries = std::list<Entry>;

  Entry& Touch(const Key& key, base::Instant now);
  endpoints::shuffle::BlockResult OpenShuffle(const model::shuffle::Executor& executor,
                                              const endpoints::shuffle::BlockRef& block, base::Instant now,
                                              Access access);
  endpoints::shuffle::BlockResult OpenRdd(const model::shuffle::Executor& executor,
                                          const endpoints::shuffle::BlockRef& block, base::Instant now, Access access);
  /// A chunk of a merged partition.
  endpoints::shuffle::BlockResult OpenMerged(const model::shuffle::Executor& dirs,
                                             const endpoints::shuffle::BlockRef& block, base::Instant now,
                                             Access access);
  void SetRange(endpoints::shuffle::BlockResult& result, std::shared_ptr<OpenFile> file, Access access,
                base::Instant now);
  bool InMemoryLately(OpenFile& file, int64_t offset, int64_t length, base::Instant now);
  /// The range, from the cache or the index file; an Error is the text for the client.
  base::Result<std::optional<wire::spark_shuffle::FileRange>> FindRange(const model::shuffle::Executor& executor,
                                                                        const endpoints::shuffle::BlockRef& block,
                                                                        Entry& entry, Access access);
  base::Status LoadIndex(const model::shuffle::Executor& executor, const std::string& name, Entry& entry,
                         Access access);
  base::Result<std::shared_ptr<OpenFile>> OpenData(const model::shuffle::Executor& executor, const std::string& name,
                                                   Entry& entry, Access access);
  base::Result<std::shared_ptr<OpenFile>> OpenBelow(const model::shuffle::Executor& executor, const std::string& name,
                                                    Access access);
  void Shrink();
  void CloseData(Entry& entry);

  env::Disk& disk_;
  env::PageCache* const page_cache_;
  env::Log& log_;
  const Config& config_;
  Entries entries_;  // most recently used first
  std::unordered_map<Key, Entries::iterator, HashKey> by_key_;
  size_t bytes_ = 0;
  size_t open_files_ = 0;
  Counters counters_;
  std::vector<DiskTrouble> troubles_;
};

/// Name of the file that holds the block's bytes.
std::string DataFileName(const endpoints::shuffle::BlockRef& block);
/// And of the file with its offsets; empty: it needs none.
std::string IndexFileName(const endpoints::shuffle::BlockRef& block);
/// The path of a block's file as Spark names it in its errors.
std::string SparkPath(const model::shuffle::Executor& executor, const std::string& name);
/// Root and path below it of a file of the executor; nullopt: outside of every root.
struct ConfinedPath {
  uint32_t root = 0;
  std::string below_root;
};
std::optional<ConfinedPath> Confine(const model::shuffle::Executor& executor, std::string_view name);

}  // namespace fairlead::process::shuffle
