#include "engine/io/sources.h"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

#include "engine/io/byte_stream.h"
#include "engine/io/file_system.h"
#include "engine/io/files.h"
#include "engine/records/errors.h"

namespace fairlead::engine {

namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 1 << 20;
constexpr uint64_t kSplitMax = 64 << 20;
constexpr uint64_t kSplitMin = 1 << 20;
constexpr int kSampleSpots = 8;

/// Names that Hadoop's and Spark's jobs do not take for data.
bool IsHidden(const std::string& name) { return name.empty() || name[0] == '_' || name[0] == '.'; }

[[noreturn]] void RefuseDirectory(const std::string& inner, const std::string& outer) {
  throw JobError("cannot read " + outer + ": " + inner + " is a directory; name it, or a pattern such as " + outer +
                 "/*");
}

/// The files of a directory, by name.
void AddFilesOf(const std::string& directory, std::vector<std::string>& found) {
  std::error_code error;
  const size_t first = found.size();
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    const std::string name = entry.path().filename().string();
    if (IsHidden(name)) continue;
    if (entry.is_directory()) RefuseDirectory(entry.path().string(), directory);
    found.push_back(entry.path().string());
  }
  if (error) throw JobError("cannot read directory " + directory + ": " + error.message());
  std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end());
}

std::vector<std::string> ExpandPath(const std::string& path) {
  std::error_code error;
  std::vector<std::string> found;
  const auto add = [&](const std::string& name) {
    if (fs::is_directory(name, error)) return AddFilesOf(name, found);
    if (::access(name.c_str(), R_OK) != 0) throw JobError("cannot read " + name + ": " + std::strerror(errno));
    found.push_back(name);
  };
  if (fs::exists(path, error)) {
    add(path);
    return found;
  }
  if (path.find_first_of("*?[") == std::string::npos) {
    throw JobError("cannot read " + path + ": " + (error ? error.message() : "no such file or directory"));
  }
  glob_t matches{};
  if (::glob(path.c_str(), 0, nullptr, &matches) != 0) {
    ::globfree(&matches);
    throw JobError("no file matches " + path);
  }
  const std::unique_ptr<glob_t, void (*)(glob_t*)> owner(&matches, ::globfree);
  for (size_t i = 0; i < matches.gl_pathc; ++i) add(matches.gl_pathv[i]);
  return found;
}

std::vector<FileStatus> LocalInputs(const std::string& path) {
  std::vector<FileStatus> files;
  for (const std::string& name : ExpandPath(path)) {
    std::error_code error;
    files.push_back({name, false, fs::file_size(name, error)});
    if (error) throw JobError("cannot read " + name + ": " + error.message());
  }
  return files;
}

/// A file, or a directory's files; there are no patterns.
std::vector<FileStatus> RemoteInputs(const std::string& path) {
  try {
    FileSystem& files = FileSystemOf(path);
    const std::optional<FileStatus> status = files.Status(path);
    if (!status) throw JobError("cannot read " + path + ": no such file or directory");
    if (!status->directory) return {*status};
    std::vector<FileStatus> found = files.List(path);
    std::erase_if(found, [](const FileStatus& file) { return IsHidden(file.path.substr(file.path.rfind('/') + 1)); });
    for (const FileStatus& file : found) {
      if (file.directory) RefuseDirectory(file.path, path);
    }
    return found;
  } catch (const TaskError& error) {
    throw JobError(error.what());
  }
}

/// Turns chunks of bytes into lines; a line over several chunks is put together in `carry_`.
class LineCutter {
 public:
  explicit LineCutter(size_t line_max) : line_max_(line_max) {}

  /// Feeds bytes; use(line) returns false to stop. False when stopped.
  template <class Use>
  bool Feed(std::string_view bytes, const std::string& path, Use&& use) {
    while (!bytes.empty()) {
      const void* const hit = std::memchr(bytes.data(), '\n', bytes.size());
      if (hit == nullptr) {
        if (carry_.size() + bytes.size() > line_max_) {
          throw TaskError("a line of " + path + " is longer than the task's memory (" + std::to_string(line_max_) +
                          " bytes)");
        }
        carry_.append(bytes);
        return true;
      }
      const size_t n = static_cast<size_t>(static_cast<const char*>(hit) - bytes.data());
      bool go_on;
      if (carry_.empty()) {
        go_on = use(bytes.substr(0, n), n + 1);
      } else {
        carry_.append(bytes.substr(0, n));
        go_on = use(std::string_view(carry_), carry_.size() + 1);
        carry_.clear();
      }
      if (!go_on) return false;
      bytes.remove_prefix(n + 1);
    }
    return true;
  }
  template <class Use>
  void End(Use&& use) {
    if (!carry_.empty()) use(std::string_view(carry_), carry_.size());
    carry_.clear();
  }

 private:
  const size_t line_max_;
  std::string carry_;
};

/// Lines that begin in [begin, end) of the file; at most `limit`.
template <class Use>
void LinesOfRange(TaskContext& task, const FileSplit& split, uint64_t begin, uint64_t end, int64_t limit, Use&& use) {
  // A line that begins at `begin` is found by looking at the byte before it.
  const bool skip_first = begin > 0 && !split.whole;
  const std::unique_ptr<ByteStream> stream = OpenStream(split.path, skip_first ? begin - 1 : begin);
  LineCutter cutter(static_cast<size_t>(std::min<int64_t>(task.memory_bytes, INT64_C(1) << 30)));
  uint64_t at = skip_first ? begin - 1 : begin;  // where the next line begins
  bool skipping = skip_first;
  const auto take = [&](std::string_view line, size_t with_end) {
    if (skipping) {
      skipping = false;
      at += with_end;
      return at < end;
    }
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    ++task.metrics.records_read;
    use(line);
    at += with_end;
    return at < end && --limit != 0;
  };
  Buffer chunk(kChunk);
  uint64_t read = skip_first ? begin - 1 : begin;
  for (;;) {
    task.CheckKilled();
    // Read no further than the split needs, then in small pieces to the end of its last line.
    const size_t want = read < end ? static_cast<size_t>(std::min<uint64_t>(kChunk, end - read)) : (4 << 10);
    const size_t got = stream->Read(chunk.data(), want);
    if (got == 0) break;
    read += got;
    task.metrics.bytes_read += static_cast<int64_t>(got);
    if (!cutter.Feed({chunk.data(), got}, split.path, take)) return;
  }
  if (!split.whole && read < std::min(end, split.file_size)) {
    throw TaskError(split.path + " became shorter while it was read (" + std::to_string(read) + " bytes instead of " +
                    std::to_string(split.file_size) + ")");
  }
  cutter.End([&](std::string_view line, size_t n) {
    if (!skipping) take(line, n);
  });
}

/// Calls run(begin, end, limit): the whole split, or in a sampling job some spots of it.
template <class Run>
void ForEachRange(const TaskContext& task, const FileSplit& split, uint64_t unit, Run&& run) {
  const uint64_t end = split.offset + split.length;
  const uint64_t step = split.length / kSampleSpots / unit * unit;
  if (task.sample_records <= 0 || split.whole || step < (16 << 10)) {
    run(split.offset, split.whole ? UINT64_MAX : end, INT64_MAX);
    return;
  }
  const int64_t limit = std::max<int64_t>(1, task.sample_records / kSampleSpots);
  for (uint64_t i = 0; i < kSampleSpots; ++i) {
    run(split.offset + i * step, i + 1 == kSampleSpots ? end : split.offset + (i + 1) * step, limit);
  }
}

}  // namespace

std::vector<FileSplit> PlanSplits(const std::string& path, int32_t pieces, uint64_t multiple_of) {
  std::vector<FileSplit> files;
  uint64_t total = 0;
  const std::string whole = ResolveUserPath(path);
  for (const auto& [name, directory, size] : IsRemotePath(whole) ? RemoteInputs(whole) : LocalInputs(whole)) {
    if (size % multiple_of != 0) {
      throw JobError(name + " has " + std::to_string(size) + " bytes, which is no multiple of the record size " +
                     std::to_string(multiple_of));
    }
    files.push_back({name, 0, size, size, IsCompressedName(name)});
    total += size;
  }
  // Whole rounds of tasks, so that none works while the others have nothing left.
  const auto at_once = static_cast<uint64_t>(std::max(1, pieces));
  const uint64_t rounds = std::max<uint64_t>(1, (total + kSplitMax * at_once - 1) / (kSplitMax * at_once));
  const uint64_t goal = std::max(total / (rounds * at_once), kSplitMin);
  std::vector<FileSplit> splits;
  for (const FileSplit& file : files) {
    if (file.file_size == 0) continue;
    if (file.whole) {
      splits.push_back(file);
      continue;
    }
    const uint64_t count = std::max<uint64_t>(1, (file.file_size + goal / 2) / goal);
    const uint64_t step = (file.file_size / count + multiple_of) / multiple_of * multiple_of;
    for (uint64_t at = 0; at < file.file_size; at += step) {
      FileSplit split = file;
      split.offset = at;
      split.length = std::min(step, file.file_size - at);
      splits.push_back(split);
    }
  }
  return splits;
}

DataPlaces PlacesOf(const std::vector<FileSplit>& splits) {
  constexpr size_t kHostsMax = 3;
  DataPlaces places;
  places.of_partition.resize(splits.size());
  std::vector<FileBlock> blocks;
  for (size_t i = 0; i < splits.size(); ++i) {
    const FileSplit& split = splits[i];
    if (i == 0 || split.path != splits[i - 1].path) {
      blocks = FileSystemOf(split.path).Blocks(split.path, split.file_size);
    }
    struct Amount {
      uint64_t cached = 0;
      uint64_t bytes = 0;
    };
    std::map<std::string, Amount> amounts;
    for (const FileBlock& block : blocks) {
      const uint64_t begin = std::max(block.offset, split.offset);
      const uint64_t end = std::min(block.offset + block.length, split.offset + split.length);
      if (begin >= end) continue;
      for (size_t h = 0; h < block.hosts.size(); ++h) {
        amounts[block.hosts[h]].bytes += end - begin;
        if (!block.racks.empty()) places.racks[block.hosts[h]] = block.racks[h];
      }
      for (const std::string& host : block.cached_hosts) amounts[host].cached += end - begin;
    }
    amounts.erase("localhost");
    std::vector<std::pair<std::string, Amount>> hosts(amounts.begin(), amounts.end());
    std::stable_sort(hosts.begin(), hosts.end(), [](const auto& a, const auto& b) {
      return std::pair(b.second.cached, b.second.bytes) < std::pair(a.second.cached, a.second.bytes);
    });
    hosts.resize(std::min(hosts.size(), kHostsMax));
    for (const auto& [host, amount] : hosts) places.of_partition[i].push_back({host, amount.cached > 0});
  }
  return places;
}

void ReadLines(TaskContext& task, const FileSplit& split, const std::function<void(std::string_view line)>& use) {
  ForEachRange(task, split, 1,
               [&](uint64_t begin, uint64_t end, int64_t limit) { LinesOfRange(task, split, begin, end, limit, use); });
}

void ReadRecords(TaskContext& task, const FileSplit& split, uint64_t size,
                 const std::function<void(std::string_view record)>& use) {
  ForEachRange(task, split, size, [&](uint64_t begin, uint64_t end, int64_t limit) {
    const std::unique_ptr<ByteStream> stream = OpenStream(split.path, begin);
    const size_t piece = std::max<size_t>(1, kChunk / size) * size;
    Buffer chunk(piece);
    for (uint64_t at = begin; at < end && limit > 0;) {
      task.CheckKilled();
      const size_t want = static_cast<size_t>(std::min<uint64_t>(piece, end - at));
      size_t got = 0;
      while (got < want) {
        const size_t n = stream->Read(chunk.data() + got, want - got);
        if (n == 0) break;
        got += n;
      }
      if (split.whole && got == 0) return;
      if (got < want && !split.whole) throw TaskError(split.path + " became shorter while it was read");
      if (got % size != 0) throw TaskError(split.path + " ends inside a record");
      task.metrics.bytes_read += static_cast<int64_t>(got);
      for (size_t i = 0; i < got && limit > 0; i += size, --limit) {
        ++task.metrics.records_read;
        use({chunk.data() + i, size});
      }
      at += got;
    }
  });
}

}  // namespace fairlead::engine
