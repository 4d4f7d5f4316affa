#include "process/shuffle/block_store.h"

#include <cerrno>
#include <cstring>

namespace fairlead::process::shuffle {
namespace {

namespace layout = wire::spark_shuffle;
using endpoints::shuffle::BlockRef;
using endpoints::shuffle::BlockResult;
using model::shuffle::Executor;
using model::shuffle::LocalDir;

/// A cache entry besides its index.
constexpr size_t kEntryBytes = 192;

BlockResult Failed(std::string error) {
  BlockResult out;
  out.error = std::move(error);
  return out;
}

/// Causes that say nothing about the disk: what was asked for is not there.
bool IsAbsence(int error) { return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV; }

}  // namespace

std::string SparkPath(const Executor& executor, const std::string& name) {
  const auto place = layout::PlaceOf(executor.dirs.size(), executor.sub_dirs_per_local_dir, name);
  return layout::NormalizedPath(executor.dirs[place.dir].path + "/" + place.relative);
}

std::optional<ConfinedPath> Confine(const Executor& executor, std::string_view name) {
  const auto place = layout::PlaceOf(executor.dirs.size(), executor.sub_dirs_per_local_dir, name);
  const LocalDir& dir = executor.dirs[place.dir];
  if (dir.root == LocalDir::kNoRoot) return std::nullopt;
  ConfinedPath out{dir.root, {}};
  out.below_root.reserve(dir.below_root.size() + 1 + place.relative.size());
  out.below_root.append(dir.below_root);
  if (!out.below_root.empty()) out.below_root.push_back('/');
  out.below_root.append(place.relative);
  return out;
}

BlockStore::BlockStore(env::Disk& disk, env::Log& log, const Config& config)
    : disk_(disk), log_(log), config_(config), troubles_(config.core.local_roots.size()) {}

size_t BlockStore::HashKey::operator()(const Key& key) const {
  uint64_t hash = key.generation * 0x9e3779b97f4a7c15;
  hash = (hash ^ static_cast<uint64_t>(key.map_id)) * 0x9fb21c651e98df25;
  hash = (hash ^ (hash >> 29) ^ static_cast<uint32_t>(key.shuffle_id)) * 0x9fb21c651e98df25;
  return static_cast<size_t>(hash ^ (hash >> 32)) + (key.rdd ? 1 : 0);
}

BlockStore::Entry& BlockStore::Touch(const Key& key, base::Instant now) {
  if (!entries_.empty() && entries_.front().key == key) {
    entries_.front().used = now;
    return entries_.front();
  }
  const auto [found, added] = by_key_.try_emplace(key);
  if (added) {
    entries_.emplace_front().key = key;
    entries_.front().bytes = kEntryBytes;
    bytes_ += kEntryBytes;
    found->second = entries_.begin();
  } else {
    entries_.splice(entries_.begin(), entries_, found->second);
  }
  entries_.front().used = now;
  return entries_.front();
}

BlockResult BlockStore::Open(const Executor& executor, const BlockRef& block, base::Instant now) {
  // Java divides by both.
  if (executor.dirs.empty() || executor.sub_dirs_per_local_dir == 0) {
    return Failed("java.lang.ArithmeticException: / by zero");
  }
  return block.kind == BlockRef::Kind::kRdd ? OpenRdd(executor, block, now) : OpenShuffle(executor, block, now);
}

BlockResult BlockStore::OpenShuffle(const Executor& executor, const BlockRef& block, base::Instant now) {
  Entry& entry = Touch({executor.generation, block.map_id, block.shuffle_id, false}, now);
  const auto range = FindRange(executor, block, entry);
  BlockResult out;
  if (!range.ok()) {
    out = Failed(range.error().message);
  } else if (!*range) {
    out = Failed("java.lang.IndexOutOfBoundsException");
  } else {
    out.kind = BlockResult::Kind::kBytes;
    out.offset = (*range)->offset;
    out.length = (*range)->length;
    if (out.offset >= 0 && out.length > 0) {
      const auto data = OpenData(executor, layout::ShuffleDataName(block.shuffle_id, block.map_id), entry);
      if (data.ok()) {
        const auto size = static_cast<int64_t>((*data)->bytes());
        out.file = *data;
        out.available = out.offset >= size ? 0 : std::min(out.length, size - out.offset);
      }
    }
  }
  Shrink();
  return out;
}

BlockResult BlockStore::OpenRdd(const Executor& executor, const BlockRef& block, base::Instant now) {
  // RDD blocks may be written again, so nothing of them is kept.
  static_cast<void>(now);
  Entry entry;
  const std::string name = layout::RddBlockName(block.shuffle_id, static_cast<int32_t>(block.map_id));
  const auto data = OpenData(executor, name, entry);
  BlockResult out;
  if (!data.ok()) {
    if (!IsAbsence(data.error().code)) {
      return Failed("java.io.IOException: cannot read " + SparkPath(executor, name) + ": " + data.error().message);
    }
    out.kind = BlockResult::Kind::kMissing;
    return out;
  }
  --open_files_;
  out.kind = BlockResult::Kind::kBytes;
  out.file = *data;
  out.length = out.available = static_cast<int64_t>((*data)->bytes());
  return out;
}

base::Result<std::optional<layout::FileRange>> BlockStore::FindRange(const Executor& executor, const BlockRef& block,
                                                                     Entry& entry) {
  if (entry.has_index) {
    ++counters_.index_hits;
    return entry.index.Range(block.start, block.end);
  }
  ++counters_.index_misses;
  const std::string name = layout::ShuffleIndexName(block.shuffle_id, block.map_id);
  const base::Status loaded = LoadIndex(executor, name, entry);
  if (!loaded.ok()) {
    const std::string path = SparkPath(executor, name);
    return base::Error{"java.lang.RuntimeException: Failed to open file: " + path +
                       "\nCaused by: java.io.FileNotFoundException: " + path + " (" +
                       (loaded.error().code == 0 ? loaded.error().message : std::strerror(loaded.error().code)) + ")"};
  }
  return entry.index.Range(block.start, block.end);
}

base::Status BlockStore::LoadIndex(const Executor& executor, const std::string& name, Entry& entry) {
  const auto file = OpenBelow(executor, name);
  if (!file.ok()) return file.error();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.error();
  if (*size > config_.index_cache_bytes / 2) {
    return base::Error{"its " + std::to_string(*size) + " bytes do not fit into the index cache"};
  }
  std::string bytes(*size, '\0');
  const auto read = (*file)->ReadAt(0, {bytes.data(), bytes.size()});
  if (!read.ok()) {
    NoteTrouble(executor.dirs[layout::PlaceOf(executor.dirs.size(), executor.sub_dirs_per_local_dir, name).dir],
                read.error());
    return read.error();
  }
  if (*read != bytes.size()) return base::Error{"it became shorter while it was read"};
  entry.index = layout::IndexFile(std::move(bytes));
  entry.has_index = true;
  entry.bytes += entry.index.memory_bytes();
  bytes_ += entry.index.memory_bytes();
  return {};
}

base::Result<std::shared_ptr<OpenFile>> BlockStore::OpenData(const Executor& executor, const std::string& name,
                                                             Entry& entry) {
  if (entry.data) return entry.data;
  const auto file = OpenBelow(executor, name);
  if (!file.ok()) return file.error();
  const auto size = (*file)->Size();
  if (!size.ok()) return size.error();
  entry.data = std::make_shared<OpenFile>(*file, *size);
  ++open_files_;
  return entry.data;
}

base::Result<std::shared_ptr<env::File>> BlockStore::OpenBelow(const Executor& executor, const std::string& name) {
  const auto path = Confine(executor, name);
  if (!path) return base::Error{"outside of the service's local directories", EXDEV};
  ++counters_.file_opens;
  auto file = disk_.OpenBeneath(config_.core.local_roots[path->root], path->below_root);
  if (!file.ok() && !IsAbsence(file.error().code)) {
    NoteTrouble(executor.dirs[layout::PlaceOf(executor.dirs.size(), executor.sub_dirs_per_local_dir, name).dir],
                file.error());
  }
  return file;
}

/// One line of log for each new cause on a root; the rest is counted.
void BlockStore::NoteTrouble(const LocalDir& dir, const base::Error& error) {
  if (dir.root >= troubles_.size()) return;
  DiskTrouble& trouble = troubles_[dir.root];
  ++trouble.errors;
  if (trouble.last_errno == error.code && trouble.errors > 1) return;
  trouble.last_errno = error.code;
  trouble.last = error.message;
  log_.Error("Blocks below a local root cannot be read",
             {{"root", config_.core.local_roots[dir.root]}, {"cause", error.message}});
}

/// Keeps the bounds; the entry in use is the first and stays.
void BlockStore::Shrink() {
  while (bytes_ > config_.index_cache_bytes && entries_.size() > 1) {
    Entry& last = entries_.back();
    CloseData(last);
    bytes_ -= last.bytes;
    by_key_.erase(last.key);
    entries_.pop_back();
  }
  if (open_files_ <= config_.open_files_max) return;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && open_files_ > config_.open_files_max * 3 / 4;
       ++entry) {
    if (&*entry != &entries_.front()) CloseData(*entry);
  }
}

void BlockStore::CloseData(Entry& entry) {
  if (!entry.data) return;
  entry.data.reset();
  --open_files_;
}

void BlockStore::Forget(uint64_t generation) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->key.generation != generation) {
      ++entry;
      continue;
    }
    CloseData(*entry);
    bytes_ -= entry->bytes;
    by_key_.erase(entry->key);
    entry = entries_.erase(entry);
  }
}

void BlockStore::CloseIdle(base::Instant now) {
  if (open_files_ == 0) return;
  for (auto entry = entries_.rbegin(); entry != entries_.rend() && open_files_ > 0; ++entry) {
    if (now - entry->used < config_.open_file_idle_max) break;
    CloseData(*entry);
  }
}

}  // namespace fairlead::process::shuffle
