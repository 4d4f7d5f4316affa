#include "process/spark_worker/log_files.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <functional>

namespace fairlead::process::spark_worker {

namespace {

constexpr size_t kFilesMax = 10'000;
constexpr int64_t kUnpackedMax = int64_t{64} << 20;

/// Hands out what a compressed file holds, piece by piece, until it ends, is damaged, or `take` says enough.
void Unpack(env::File& file, const std::function<bool(std::string_view)>& take) {
  constexpr int kGzip = 16 + MAX_WBITS;
  z_stream stream = {};
  if (::inflateInit2(&stream, kGzip) != Z_OK) return;
  std::array<char, 1 << 16> packed = {}, plain = {};
  uint64_t at = 0;
  int state = Z_OK;
  bool wanted = true;
  while (state == Z_OK && wanted) {
    const auto got = file.ReadAt(at, packed);
    if (!got.ok() || *got == 0) break;
    at += *got;
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(*got);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(plain.data());
      stream.avail_out = static_cast<uInt>(plain.size());
      state = ::inflate(&stream, Z_NO_FLUSH);
      wanted = take({plain.data(), plain.size() - stream.avail_out});
    } while (state == Z_OK && wanted && stream.avail_out == 0);
  }
  ::inflateEnd(&stream);
}

/// At most kUnpackedMax.
int64_t UnpackedSize(env::File& file) {
  constexpr int64_t most = kUnpackedMax;
  int64_t size = 0;
  Unpack(file, [&](std::string_view piece) {
    size += static_cast<int64_t>(piece.size());
    return size < most;
  });
  return std::min(size, most);
}

}  // namespace

int64_t LogFiles::Lengths::Of(const std::string& path, const env::FileInfo& file) const {
  const auto found = known_.find(path);
  const bool same =
      found != known_.end() && found->second.size == file.size && found->second.modified.ms == file.modified.ms;
  return same ? found->second.length : -1;
}

void LogFiles::Lengths::Note(const std::string& path, const env::FileInfo& file, int64_t length) {
  constexpr size_t kKnownMax = 1000;
  if (known_.size() >= kKnownMax) known_.clear();
  known_[path] = {file.size, file.modified, length};
}

base::Result<LogFiles> LogFiles::Find(env::Disk& disk, const std::string& root, const std::string& below,
                                      const std::string& name, Lengths& lengths) {
  const auto entries = disk.List(root + "/" + below);
  if (!entries.ok()) return entries.error();
  std::vector<env::FileInfo> files;
  for (const env::FileInfo& entry : *entries) {
    const bool rolled = entry.kind == env::FileInfo::Kind::kFile && entry.name.starts_with(name) && entry.name != name;
    if (rolled && files.size() < kFilesMax) files.push_back(entry);
  }
  std::ranges::sort(files, {}, &env::FileInfo::name);
  files.emplace_back().name = name;  // the active one is the youngest
  LogFiles log;
  int64_t left = kUnpackedMax;
  for (const env::FileInfo& each : files) {
    const std::string path = below + each.name;
    auto file = disk.OpenBeneath(root, path);
    if (!file.ok()) continue;
    Part part{std::move(*file), each.name.ends_with(".gz"), 0};
    if (!part.compressed) {
      const auto size = part.file->Size();
      if (size.ok()) part.size = static_cast<int64_t>(*size);
    } else if (left > 0) {
      int64_t length = lengths.Of(path, each);
      if (length < 0) {
        length = UnpackedSize(*part.file);
        lengths.Note(path, each, length);
      }
      part.size = std::min(length, left);
      left -= part.size;
    }
    log.size_ += part.size;
    log.parts_.push_back(std::move(part));
  }
  if (log.parts_.empty()) return base::Error{"there is no " + name};
  return log;
}

base::Result<std::string> LogFiles::Read(int64_t offset, int64_t length) const {
  std::string text;
  int64_t begin = 0;  // of the part, in the whole
  for (const Part& part : parts_) {
    const int64_t from = std::max<int64_t>(offset - begin, 0);
    const int64_t count = std::min(part.size, offset + length - begin) - from;
    begin += part.size;
    if (count <= 0) continue;
    std::string piece(static_cast<size_t>(count), '\0');
    if (part.compressed) {
      int64_t at = 0;
      Unpack(*part.file, [&](std::string_view plain) {
        const auto size = static_cast<int64_t>(plain.size());
        const int64_t skipped = std::clamp<int64_t>(from - at, 0, size);
        const int64_t into = std::max<int64_t>(at - from, 0);
        const int64_t taken = std::min(size - skipped, count - into);
        if (taken > 0) piece.replace(into, taken, plain.substr(skipped, taken));
        at += size;
        return at < from + count;
      });
    } else {
      const auto got = part.file->ReadAt(static_cast<uint64_t>(from), piece);
      if (!got.ok()) return got.error();
      piece.resize(*got);
    }
    text += piece;
  }
  return text;
}

}  // namespace fairlead::process::spark_worker
