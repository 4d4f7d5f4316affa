#include "process/shuffle/block_store.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shuffle/merge_book.h"

namespace fairlead::process::shuffle {
namespace {

namespace layout = wire::spark_shuffle;
using endpoints::shuffle::BlockRef;
using endpoints::shuffle::BlockResult;
using model::shuffle::Executor;
using model::shuffle::LocalDir;

/// A cache entry besides its index.
constexpr size_t kEntryBytes = 192;
/// What was in memory counts as still there for this time: to ask for every small block is a tenth of serving it.
constexpr base::Duration kLately = base::Duration::Millis(100);
/// Looked at together where a file is asked for more than one block.
constexpr int64_t kNeighbours = 1 << 20;

BlockResult Failed(std::string error) {
  BlockResult out;
  out.error = std::move(error);
  return out;
}

BlockResult Later() {
  BlockResult out;
  out.kind = BlockResult::Kind::kLater;
  return out;
}

bool WantsDisk(const base::Error& error) { return error.code == EAGAIN; }

}  // namespace

bool IsAbsence(int error) {
  return error == ENOENT || error == ENOTDIR || error == ELOOP || error == EXDEV || error == ENAMETOOLONG;
}

namespace {

std::string MergedName(const BlockRef& block) {
  return fairlead::shuffle::MergedFileName(block.app, block.shuffle_id, block.merge_id,
                                           static_cast<int32_t>(block.map_id));
}

}  // namespace

std::string DataFileName(const BlockRef& block) {
  if (block.kind == BlockRef::Kind::kShuffle) return layout::ShuffleDataName(block.shuffle_id, block.map_id);
  if (block.kind == BlockRef::Kind::kMerged) return MergedName(block) + ".data";
  return layout::RddBlockName(block.shuffle_id, static_cast<int32_t>(block.map_id));
}

std::string IndexFileName(const BlockRef& block) {
  if (block.kind == BlockRef::Kind::kShuffle) return layout::ShuffleIndexName(block.shuffle_id, block.map_id);
  return block.kind == BlockRef::Kind::kMerged ? MergedName(block) + ".index" : "";
}

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

BlockStore::BlockStore(env::Disk& disk, env::PageCache* page_cache, env::Log& log, const Config& config)
    : disk_(disk), page_cache_(page_cache), log_(log), config_(config), troubles_(config.core.local_roots.size()) {}

size_t BlockStore::HashKey::operator()(const Key& key) const {
  uint64_t hash = key.generation * 0x9e3779b97f4a7c15;
  hash = (hash ^ static_cast<uint64_t>(key.map_id)) * 0x9fb21c651e98df25;
  hash = (hash ^ (hash >> 29) ^ static_cast<uint32_t>(key.shuffle_id)) * 0x9fb21c651e98df25 +
         static_cast<uint32_t>(key.merge_id) * 0x9e3779b97f4a7c15;
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

BlockResult BlockStore::Open(const Executor& executor, const BlockRef& block, base::Instant now, Access access) {
  // Java divides by both.
  if (executor.dirs.empty() || executor.sub_dirs_per_local_dir == 0) {
    return Failed("java.lang.ArithmeticException: / by zero");
  }
  if (block.kind == BlockRef::Kind::kRdd) return OpenRdd(executor, block, now, access);
  if (block.kind == BlockRef::Kind::kMerged) return OpenMerged(executor, block, now, access);
  return OpenShuffle(executor, block, now, access);
}

bool BlockStore::InMemory(const OpenFile& file, int64_t offset, int64_t length) {
  return page_cache_ == nullptr ||
         page_cache_->Holds(*file.file(), static_cast<uint64_t>(offset), static_cast<uint64_t>(length));
}

bool BlockStore::InMemoryLately(OpenFile& file, int64_t offset, int64_t length, base::Instant now) {
  OpenFile::Look& look = file.last_look;
  if (now - look.at >= kLately) {
    look = {now, 0, 0};
    return InMemory(file, offset, length);
  }
  if (offset >= look.begin && offset + length <= look.end) return true;
  const int64_t begin = offset - offset % kNeighbours;
  const int64_t end = std::min(std::max(begin + kNeighbours, offset + length), static_cast<int64_t>(file.bytes()));
  const bool none = look.begin == look.end;
  const bool touches = begin <= look.end && look.begin <= end;
  if ((!none && !touches) || !InMemory(file, begin, end - begin)) return InMemory(file, offset, length);
  look.begin = none ? begin : std::min(look.begin, begin);
  look.end = none ? end : std::max(look.end, end);
  return true;
}

BlockResult BlockStore::OpenShuffle(const Executor& executor, const BlockRef& block, base::Instant now, Access access) {
  Entry& entry = Touch({executor.generation, block.map_id, block.shuffle_id, 0, false}, now);
  const auto range = FindRange(executor, block, entry, access);
  BlockResult out;
  if (!range.ok()) {
    out = WantsDisk(range.error()) ? Later() : Failed(range.error().message);
  } else if (!*range) {
    out = Failed("java.lang.IndexOutOfBoundsException");
  } else {
    out.kind = BlockResult::Kind::kBytes;
    out.offset = (*range)->offset;
    out.length = (*range)->length;
    if (out.offset >= 0 && out.length > 0) {
      const base::Result<std::shared_ptr<OpenFile>> data =
          entry.data ? entry.data : OpenData(executor, DataFileName(block), entry, access);
      if (data.ok()) {
        SetRange(out, *data, access, now);
      } else if (WantsDisk(data.error())) {
        out = Later();
      }
    }
  }
  Shrink();
  return out;
}

/// RemoteBlockPushResolver.getMergedBlockData: that the data file is missing is said before that its index is. But a
/// merge may be going on: only once the index is there is the data file whole, and kept open.
BlockResult BlockStore::OpenMerged(const Executor& dirs, const BlockRef& block, base::Instant now, Access access) {
  Entry& entry = Touch({dirs.generation, block.map_id, block.shuffle_id, block.merge_id, false}, now);
  const std::string data_name = DataFileName(block);
  const std::string index_name = IndexFileName(block);
  ++(entry.has_index ? counters_.index_hits : counters_.index_misses);
  const base::Status index = entry.has_index ? base::Status{} : LoadIndex(dirs, index_name, entry, access);
  const base::Result<std::shared_ptr<OpenFile>> data = entry.data   ? entry.data
                                                       : index.ok() ? OpenData(dirs, data_name, entry, access)
                                                                    : OpenBelow(dirs, data_name, access);
  BlockResult out;
  if (!data.ok()) {
    out = WantsDisk(data.error()) ? Later()
                                  : Failed("java.lang.RuntimeException: Merged shuffle data file " +
                                           SparkPath(dirs, data_name) + " not found");
    Shrink();
    return out;
  }
  const auto range = index.ok() ? entry.index.Range(block.start, block.end) : std::nullopt;
  if (!index.ok()) {
    out = WantsDisk(index.error()) ? Later()
                                   : Failed("java.lang.RuntimeException: Failed to open merged shuffle index file " +
                                            SparkPath(dirs, index_name));
  } else if (!range) {
    out = Failed("java.lang.IndexOutOfBoundsException");
  } else {
    out.kind = BlockResult::Kind::kBytes;
    out.offset = range->offset;
    out.length = range->length;
    if (out.offset >= 0 && out.length > 0) SetRange(out, *data, access, now);
  }
  Shrink();
  return out;
}

/// What the file holds of the block; kLater when its beginning is not in memory.
void BlockStore::SetRange(BlockResult& result, std::shared_ptr<OpenFile> file, Access access, base::Instant now) {
  const auto size = static_cast<int64_t>(file->bytes());
  result.available = result.offset >= size ? 0 : std::min(result.length, size - result.offset);
  const int64_t first = std::min(result.available, kFirstBytes);
  if (access == Access::kInMemory && !InMemoryLately(*file, result.offset, first, now)) {
    result = Later();
    return;
  }
  result.file = std::move(file);
}

BlockResult BlockStore::OpenRdd(const Executor& executor, const BlockRef& block, base::Instant now, Access access) {
  // RDD blocks may be written again, so nothing of them is kept.
  Entry entry;
  const std::string name = DataFileName(block);
  const auto data = OpenData(executor, name, entry, access);
  BlockResult out;
  if (!data.ok()) {
    if (WantsDisk(data.error())) return Later();
    if (!IsAbsence(data.error().code)) {
      return Failed("java.io.IOException: cannot read " + SparkPath(executor, name) + ": " + data.error().message);
    }
    out.kind = BlockResult::Kind::kMissing;
    return out;
  }
  --open_files_;
  out.kind = BlockResult::Kind::kBytes;
  out.length = static_cast<int64_t>((*data)->bytes());
  SetRange(out, *data, access, now);
  return out;
}

base::Result<std::optional<layout::FileRange>> BlockStore::FindRange(const Executor& executor, const BlockRef& block,
                                                                     Entry& entry, Access access) {
  if (entry.has_index) {
    ++counters_.index_hits;
    return entry.index.Range(block.start, block.end);
  }
  const std::string name = layout::ShuffleIndexName(block.shuffle_id, block.map_id);
  const base::Status loaded = LoadIndex(executor, name, entry, access);
  if (!loaded.ok()) {
    if (WantsDisk(loaded.error())) return loaded.error();
    const std::string path = SparkPath(executor, name);
    return base::Error{"java.lang.RuntimeException: Failed to open file: " + path +
                       "\nCaused by: java.io.FileNotFoundException: " + path + " (" +
                       (loaded.error().code == 0 ? loaded.error().message : std::strerror(loaded.error().code)) + ")"};
  }
  ++counters_.index_misses;
  return entry.index.Range(block.start, block.end);
}

base::Status BlockStore::LoadIndex(const Executor& executor, const std::string& name, Entry& entry, Access access) {
  const auto file = OpenBelow(executor, name, access);
  if (!file.ok()) return file.error();
  const uint64_t size = (*file)->bytes();
  if (size > config_.index_cache_bytes / 2) {
    return base::Error{"its " + std::to_string(size) + " bytes do not fit into the index cache"};
  }
  if (access == Access::kInMemory && !InMemory(**file, 0, static_cast<int64_t>(size))) return base::Error{"", EAGAIN};
  std::string bytes(size, '\0');
  const auto read = (*file)->file()->ReadAt(0, {bytes.data(), bytes.size()});
  if (!read.ok()) {
    NoteTrouble((*file)->root(), read.error());
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
                                                             Entry& entry, Access access) {
  const auto file = OpenBelow(executor, name, access);
  if (!file.ok()) return file.error();
  entry.data = *file;
  ++open_files_;
  return entry.data;
}

base::Result<std::shared_ptr<OpenFile>> BlockStore::OpenBelow(const Executor& executor, const std::string& name,
                                                              Access access) {
  auto path = Confine(executor, name);
  if (!path) return base::Error{"outside of the service's local directories", EXDEV};
  ++counters_.file_opens;
  const std::string& root = config_.core.local_roots[path->root];
  const bool in_memory = access == Access::kInMemory && page_cache_ != nullptr;
  const auto file =
      in_memory ? page_cache_->OpenBeneath(root, path->below_root) : disk_.OpenBeneath(root, path->below_root);
  if (!file.ok()) {
    if (!IsAbsence(file.error().code) && !WantsDisk(file.error())) NoteTrouble(path->root, file.error());
    return file.error();
  }
  const auto size = (*file)->Size();
  if (!size.ok()) return size.error();
  return std::make_shared<OpenFile>(*file, *size, path->root, std::move(path->below_root));
}

/// One line of log for each new cause on a root; the rest is counted.
void BlockStore::NoteTrouble(uint32_t root, const base::Error& error) {
  DiskTrouble& trouble = troubles_[root];
  ++trouble.errors;
  if (trouble.last_errno == error.code && trouble.errors > 1) return;
  trouble.last_errno = error.code;
  trouble.last = error.message;
  log_.Error("A local root does not do its work", {{"root", config_.core.local_roots[root]}, {"cause", error.message}});
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
