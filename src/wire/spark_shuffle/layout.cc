#include "wire/spark_shuffle/layout.h"

#include <charconv>
#include <climits>
#include <cstdio>

#include "base/bytes.h"
#include "base/check.h"

namespace fairlead::wire::spark_shuffle {
namespace {

/// Next code point of UTF-8; U+FFFD for a malformed sequence, one byte long.
uint32_t NextCodePoint(std::string_view& text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : (lead & 0xF0) == 0xE0       ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (length > 0 && length <= text.size()) {
    uint32_t code = length == 1 ? lead : lead & (0x7Fu >> length);
    bool good = true;
    for (size_t i = 1; i < length; ++i) {
      const auto next = static_cast<uint8_t>(text[i]);
      good = good && (next & 0xC0) == 0x80;
      code = (code << 6) | (next & 0x3Fu);
    }
    if (good && code >= kLeast[length] && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF)) {
      text.remove_prefix(length);
      return code;
    }
  }
  text.remove_prefix(1);
  return 0xFFFD;
}

template <class Int>
bool ParseNumber(std::string_view text, Int& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

/// Splits at '_' into at most N parts; the count, or N + 1 when there are more.
template <size_t N>
size_t Split(std::string_view text, std::string_view (&parts)[N]) {
  size_t count = 0;
  while (true) {
    const size_t end = text.find('_');
    if (count == N) return N + 1;
    parts[count++] = text.substr(0, end);
    if (end == std::string_view::npos) return count;
    text.remove_prefix(end + 1);
  }
}

}  // namespace

int32_t JavaHash(std::string_view utf8) {
  uint32_t hash = 0;
  while (!utf8.empty()) {
    const uint32_t code = NextCodePoint(utf8);
    if (code < 0x10000) {
      hash = hash * 31 + code;
    } else {
      hash = hash * 31 + (0xD800 + ((code - 0x10000) >> 10));
      hash = hash * 31 + (0xDC00 + ((code - 0x10000) & 0x3FF));
    }
  }
  return static_cast<int32_t>(hash);
}

int32_t NonNegativeHash(std::string_view utf8) {
  const int32_t value = JavaHash(utf8);
  if (value == INT_MIN) return 0;
  return value < 0 ? -value : value;
}

FilePlace PlaceOf(size_t dirs, int32_t sub_dirs_per_local_dir, std::string_view file_name) {
  FL_CHECK(dirs > 0 && dirs <= INT_MAX && sub_dirs_per_local_dir != 0, "no directory to place a file in");
  const int32_t hash = NonNegativeHash(file_name);
  FilePlace place;
  place.dir = static_cast<size_t>(hash) % dirs;
  const int64_t sub = (hash / static_cast<int32_t>(dirs)) % int64_t{sub_dirs_per_local_dir};
  char name[12];
  const int length = std::snprintf(name, sizeof name, "%02x", static_cast<unsigned>(sub));
  place.relative.reserve(static_cast<size_t>(length) + 1 + file_name.size());
  place.relative.append(name, static_cast<size_t>(length)).append("/").append(file_name);
  return place;
}

std::string NormalizedPath(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (const char c : path) {
    if (c == '/' && !out.empty() && out.back() == '/') continue;
    out.push_back(c);
  }
  if (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

std::string FilePath(const std::vector<std::string>& local_dirs, int32_t sub_dirs_per_local_dir,
                     std::string_view file_name) {
  const FilePlace place = PlaceOf(local_dirs.size(), sub_dirs_per_local_dir, file_name);
  return NormalizedPath(local_dirs[place.dir] + "/" + place.relative);
}

std::string BlockPath(const std::vector<std::string>& local_dirs, std::string_view file_name) {
  return FilePath(local_dirs, kSubDirsPerLocalDir, file_name);
}

std::string ShuffleDataName(int32_t shuffle_id, int64_t map_id) {
  return "shuffle_" + std::to_string(shuffle_id) + "_" + std::to_string(map_id) + "_0.data";
}
std::string ShuffleIndexName(int32_t shuffle_id, int64_t map_id) {
  return "shuffle_" + std::to_string(shuffle_id) + "_" + std::to_string(map_id) + "_0.index";
}
std::string ShuffleChecksumName(int32_t shuffle_id, int64_t map_id, std::string_view algorithm) {
  return "shuffle_" + std::to_string(shuffle_id) + "_" + std::to_string(map_id) + "_0.checksum." +
         std::string(algorithm);
}
std::string RddBlockName(int32_t rdd_id, int32_t split) {
  return "rdd_" + std::to_string(rdd_id) + "_" + std::to_string(split);
}

std::optional<ShuffleBlockId> ParseShuffleBlockId(std::string_view text) {
  std::string_view parts[5];
  const size_t count = Split(text, parts);
  if ((count != 4 && count != 5) || parts[0] != "shuffle") return std::nullopt;
  ShuffleBlockId id;
  if (!ParseNumber(parts[1], id.shuffle_id) || !ParseNumber(parts[2], id.map_id) || !ParseNumber(parts[3], id.start)) {
    return std::nullopt;
  }
  if (count == 5) {
    if (!ParseNumber(parts[4], id.end)) return std::nullopt;
  } else {
    if (id.start == INT_MAX) return std::nullopt;
    id.end = id.start + 1;
  }
  return id;
}

std::optional<RddBlockId> ParseRddBlockId(std::string_view text) {
  std::string_view parts[3];
  RddBlockId id;
  if (Split(text, parts) != 3 || parts[0] != "rdd") return std::nullopt;
  if (!ParseNumber(parts[1], id.rdd_id) || !ParseNumber(parts[2], id.split)) return std::nullopt;
  return id;
}

std::optional<FileRange> IndexFile::Range(int32_t start, int32_t end) const {
  const auto count = static_cast<int64_t>(offsets());
  if (start < 0 || end < 0 || start >= count || end >= count) return std::nullopt;
  const std::string_view bytes = bytes_;
  const uint64_t from = base::BigEndian<uint64_t>(bytes.substr(static_cast<size_t>(start) * 8));
  const uint64_t to = base::BigEndian<uint64_t>(bytes.substr(static_cast<size_t>(end) * 8));
  return FileRange{static_cast<int64_t>(from), static_cast<int64_t>(to - from)};
}

base::Status ValidateIndex(std::string_view index_bytes, std::optional<int64_t> data_bytes) {
  if (index_bytes.size() < 8 || index_bytes.size() % 8 != 0) {
    return base::Error{"index file of " + std::to_string(index_bytes.size()) + " bytes is not a list of offsets"};
  }
  auto last = base::BigEndian<int64_t>(index_bytes);
  if (last != 0) return base::Error{"index file begins at offset " + std::to_string(last)};
  for (size_t i = 1; i < index_bytes.size() / 8; ++i) {
    const auto next = base::BigEndian<int64_t>(index_bytes.substr(8 * i));
    if (next < last) return base::Error{"offset " + std::to_string(i) + " of the index file falls"};
    last = next;
  }
  if (data_bytes && *data_bytes != last) {
    return base::Error{"data file has " + std::to_string(*data_bytes) + " bytes, its index says " +
                       std::to_string(last)};
  }
  return {};
}

}  // namespace fairlead::wire::spark_shuffle
