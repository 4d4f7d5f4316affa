#include "process/shuffle/block_work.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "process/shuffle/block_store.h"

namespace fairlead::process::shuffle {
namespace {

using model::shuffle::Executor;
using wire::spark_shuffle::Cause;

enum class Algorithm : uint8_t { kAdler32, kCrc32, kCrc32c };

std::optional<Algorithm> AlgorithmOf(std::string_view name, bool knows_crc32c) {
  if (name == "ADLER32") return Algorithm::kAdler32;
  if (name == "CRC32") return Algorithm::kCrc32;
  if (name == "CRC32C" && knows_crc32c) return Algorithm::kCrc32c;
  return std::nullopt;
}

/// A file of the executor's; nullptr: it cannot be opened, or not without leaving its root.
std::shared_ptr<env::File> OpenOf(env::Disk& disk, const std::vector<std::string>& roots, const Executor& executor,
                                  const std::string& name) {
  const auto path = Confine(executor, name);
  auto file = path ? disk.OpenBeneath(roots[path->root], path->below_root) : base::Error{"", EXDEV};
  return file.ok() ? *std::move(file) : nullptr;
}

/// Of what the file has of the range, as Java's FileInputStream reads it: nothing from beyond the end, and from the
/// first byte where the range begins before it. nullopt: it cannot be read.
std::optional<int64_t> ChecksumOf(Algorithm algorithm, env::File& file, int64_t offset, int64_t length) {
  uint64_t sum = algorithm == Algorithm::kAdler32 ? 1 : 0;
  std::string buffer(256 * 1024, '\0');
  const auto size = file.Size();
  if (!size.ok() || length < 0) return std::nullopt;
  const int64_t begin = std::clamp(offset, int64_t{0}, static_cast<int64_t>(*size));
  const int64_t end = begin + std::min(length, static_cast<int64_t>(*size) - begin);
  if (begin == end && !file.ReadAt(0, {buffer.data(), 1}).ok()) return std::nullopt;  // a directory opens, too
  for (int64_t at = begin; at < end;) {
    const auto wanted = static_cast<size_t>(std::min(end - at, static_cast<int64_t>(buffer.size())));
    const auto read = file.ReadAt(static_cast<uint64_t>(at), {buffer.data(), wanted});
    if (!read.ok() || *read != wanted) return std::nullopt;
    const auto* bytes = reinterpret_cast<const Bytef*>(buffer.data());
    switch (algorithm) {
      case Algorithm::kAdler32:
        sum = adler32(sum, bytes, static_cast<uInt>(wanted));
        break;
      case Algorithm::kCrc32:
        sum = crc32(sum, bytes, static_cast<uInt>(wanted));
        break;
      case Algorithm::kCrc32c:
        sum = base::Crc32c({buffer.data(), wanted}, static_cast<uint32_t>(sum));
        break;
    }
    at += static_cast<int64_t>(wanted);
  }
  return static_cast<int64_t>(sum);
}

bool IsOneComponent(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

std::string Below(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

/// Calls `visit` for every file and, after its content, every directory below; links are files. Walks by path, and
/// removal is confined by RemoveBeneath, so a link planted on the way leads nowhere.
template <class Visit>
void Walk(env::Disk& disk, const std::string& root, const std::string& below_root, int depth, Visit&& visit) {
  constexpr int kDepthMax = 64;
  const auto entries = disk.List(root + "/" + below_root);
  if (!entries.ok() || depth > kDepthMax) return;
  for (const env::FileInfo& entry : *entries) {
    const std::string path = Below(below_root, entry.name);
    const bool directory = entry.kind == env::FileInfo::Kind::kDirectory;
    if (directory) Walk(disk, root, path, depth + 1, visit);
    visit(path, entry.name, directory);
  }
}

}  // namespace

Removal RemoveFiles(env::Disk& disk, const std::vector<std::string>& roots, const Executor& executor,
                    const std::vector<std::string>& names) {
  Removal out;
  if (executor.dirs.empty() || executor.sub_dirs_per_local_dir == 0) return out;
  for (const std::string& name : names) {
    const auto path = IsOneComponent(name) ? Confine(executor, name) : std::nullopt;
    if (!path) continue;
    const auto gone = disk.RemoveBeneath(roots[path->root], path->below_root);
    if (gone.ok() && *gone) ++out.count;
    if (gone.ok() || out.error || IsAbsence(gone.error().code)) continue;
    out.root = path->root;
    out.error = gone.error();
  }
  return out;
}

void ReadThrough(env::File& file, env::PageCache& page_cache, int64_t offset, int64_t length) {
  std::string scratch(256 * 1024, '\0');
  for (int64_t done = 0; done < length;) {
    const size_t wanted = std::min(static_cast<size_t>(length - done), scratch.size());
    const auto at = static_cast<uint64_t>(offset + done);
    done += static_cast<int64_t>(wanted);
    if (page_cache.Holds(file, at, wanted)) continue;
    const auto read = file.ReadAt(at, {scratch.data(), wanted});
    if (!read.ok() || *read < wanted) return;  // whoever serves it will see the same
  }
}

void WarmBlock(env::Disk& disk, env::PageCache& page_cache, const std::vector<std::string>& roots,
               const Executor& executor, const endpoints::shuffle::BlockRef& block, size_t index_bytes_max) {
  int64_t offset = 0;
  int64_t length = kFirstBytes;
  if (block.kind != endpoints::shuffle::BlockRef::Kind::kRdd) {
    const auto index = OpenOf(disk, roots, executor, IndexFileName(block));
    const auto size = index ? index->Size() : base::Error{""};
    if (!size.ok() || *size > index_bytes_max) return;
    std::string bytes(*size, '\0');
    const auto read = index->ReadAt(0, {bytes.data(), bytes.size()});
    if (!read.ok() || *read != bytes.size()) return;
    const auto range = wire::spark_shuffle::IndexFile(std::move(bytes)).Range(block.start, block.end);
    if (!range || range->offset < 0) return;
    offset = range->offset;
    length = std::min(range->length, kFirstBytes);
  }
  if (const auto data = OpenOf(disk, roots, executor, DataFileName(block)))
    ReadThrough(*data, page_cache, offset, length);
}

Cause DiagnoseBlock(env::Disk& disk, const std::vector<std::string>& roots, const Executor& executor,
                    const wire::spark_shuffle::DiagnoseCorruption& request, const endpoints::shuffle::BlockResult& data,
                    bool knows_crc32c) {
  const auto algorithm = AlgorithmOf(request.algorithm, knows_crc32c);
  if (!algorithm) return Cause::kUnsupportedChecksumAlgorithm;
  const auto sums =
      OpenOf(disk, roots, executor,
             wire::spark_shuffle::ShuffleChecksumName(request.shuffle_id, request.map_id, request.algorithm));
  if (!sums || request.reduce_id < 0) return Cause::kUnknownIssue;
  std::string stored(8, '\0');
  const auto read = sums->ReadAt(static_cast<uint64_t>(request.reduce_id) * 8, {stored.data(), stored.size()});
  if (!read.ok() || *read != stored.size()) return Cause::kUnknownIssue;
  const int64_t by_writer = base::BigEndian<int64_t>(stored);
  const auto file =
      OpenOf(disk, roots, executor, wire::spark_shuffle::ShuffleDataName(request.shuffle_id, request.map_id));
  const auto again = file ? ChecksumOf(*algorithm, *file, data.offset, data.length) : std::nullopt;
  if (!again) return Cause::kUnknownIssue;
  if (by_writer != *again) return Cause::kDiskIssue;
  return by_writer != request.checksum ? Cause::kNetworkIssue : Cause::kChecksumVerifyPass;
}

base::Result<endpoints::shuffle::MergedMeta> ReadMergedMeta(env::Disk& disk, const std::vector<std::string>& roots,
                                                            const Executor& dirs, const std::string& name) {
  constexpr uint64_t kMetaBytesMax = 64 << 20;  // of one answer
  const auto index = OpenOf(disk, roots, dirs, name + ".index");
  const auto size = index ? index->Size() : base::Error{""};
  const auto missing = [&](const std::string& file, const char* what) {
    return base::Error{"java.lang.RuntimeException: Merged shuffle " + file + " file " +
                       SparkPath(dirs, name + "." + file) + what};
  };
  if (!size.ok()) return missing("index", " not found");
  const int64_t chunks = static_cast<int64_t>(*size / 8) - 1;
  if (chunks <= 0) return missing("index", " is empty");
  const auto meta = OpenOf(disk, roots, dirs, name + ".meta");
  const auto meta_size = meta ? meta->Size() : base::Error{""};
  if (!meta_size.ok()) return missing("meta", " not found");
  if (*meta_size > kMetaBytesMax || chunks > INT32_MAX) return missing("meta", " is too long");
  endpoints::shuffle::MergedMeta out{static_cast<int32_t>(chunks), std::string(*meta_size, '\0')};
  const auto read = meta->ReadAt(0, {out.bitmaps.data(), out.bitmaps.size()});
  if (!read.ok() || *read != out.bitmaps.size()) return missing("meta", " cannot be read");
  return out;
}

base::Status RemoveDirectory(env::Disk& disk, const std::string& root, const std::string& below_root) {
  if (below_root.empty()) return base::Error{"a root itself is never removed: " + root};
  base::Status first;
  const auto remove = [&](const std::string& path) {
    const auto gone = disk.RemoveBeneath(root, path);
    if (!gone.ok() && first.ok()) first = gone.error();
  };
  Walk(disk, root, below_root, 0, [&](const std::string& path, const std::string&, bool) { remove(path); });
  remove(below_root);
  return first;
}

int64_t RemoveUnserved(env::Disk& disk, const std::string& root, const std::string& below_root, bool keep_rdd_blocks) {
  int64_t removed = 0;
  Walk(disk, root, below_root, 0, [&](const std::string& path, const std::string& name, bool directory) {
    const bool served =
        name.ends_with(".index") || name.ends_with(".data") || (keep_rdd_blocks && name.starts_with("rdd_"));
    if (directory || served) return;
    const auto gone = disk.RemoveBeneath(root, path);
    if (gone.ok() && *gone) ++removed;
  });
  return removed;
}

}  // namespace fairlead::process::shuffle
