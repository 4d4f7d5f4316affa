#include "wire/spark_shuffle/map_bitmap.h"

#include <algorithm>
#include <bit>

namespace fairlead::wire::spark_shuffle {
namespace {

// Cookies and bounds of the portable format (RoaringFormatSpec); everything in it is little-endian.
constexpr uint32_t kPlainCookie = 12346;
constexpr uint32_t kRunCookie = 12347;
constexpr size_t kOffsetsFrom = 4;  // containers, in the form with runs
constexpr size_t kArrayMax = 4096;  // values; more are a bit set of 8 KiB
constexpr size_t kBitSetBytes = 8192;
constexpr size_t kContainersMax = 1 << 16;

void Put16(std::string& out, uint32_t value) {
  out.push_back(static_cast<char>(value & 0xff));
  out.push_back(static_cast<char>(value >> 8 & 0xff));
}
void Put32(std::string& out, uint32_t value) {
  Put16(out, value & 0xffff);
  Put16(out, value >> 16);
}

/// Little-endian numbers off the front.
class LittleEndianReader {
 public:
  explicit LittleEndianReader(std::string_view& bytes) : bytes_(bytes) {}
  std::string_view Take(size_t count) {
    if (failed_ || count > bytes_.size()) {
      failed_ = true;
      return {};
    }
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  uint32_t Number(size_t count) {
    uint32_t out = 0;
    const std::string_view taken = Take(count);
    for (size_t i = 0; i < taken.size(); ++i) out |= uint32_t{static_cast<uint8_t>(taken[i])} << (8 * i);
    return out;
  }
  bool failed() const { return failed_; }
  void Fail() { failed_ = true; }

 private:
  std::string_view& bytes_;
  bool failed_ = false;
};

/// Pairs of a first value and how many follow it without a gap.
std::vector<std::pair<uint16_t, uint16_t>> RunsOf(const std::vector<uint16_t>& values) {
  std::vector<std::pair<uint16_t, uint16_t>> out;
  for (const uint16_t value : values) {
    if (!out.empty() && out.back().first + out.back().second + 1 == value) {
      ++out.back().second;
    } else {
      out.emplace_back(value, 0);
    }
  }
  return out;
}

void PutValues(std::string& out, const std::vector<uint16_t>& values) {
  if (values.size() <= kArrayMax) {
    for (const uint16_t value : values) Put16(out, value);
    return;
  }
  std::string bits(kBitSetBytes, '\0');
  for (const uint16_t value : values) bits[value / 8] = static_cast<char>(bits[value / 8] | 1 << (value % 8));
  out.append(bits);
}

void PutRuns(std::string& out, const std::vector<std::pair<uint16_t, uint16_t>>& runs) {
  Put16(out, static_cast<uint32_t>(runs.size()));
  for (const auto& [first, more] : runs) {
    Put16(out, first);
    Put16(out, more);
  }
}

size_t PlainBytes(size_t values) { return values <= kArrayMax ? 2 * values : kBitSetBytes; }
size_t RunBytes(size_t runs) { return 2 + 4 * runs; }

/// One container as it will be written.
struct Part {
  uint16_t key;
  uint32_t count;
  bool runs;
  std::string bytes;
};

std::string Write(const std::vector<Part>& parts, bool any_runs) {
  std::string out;
  if (any_runs) {
    Put32(out, kRunCookie | static_cast<uint32_t>(parts.size() - 1) << 16);
    std::string flags((parts.size() + 7) / 8, '\0');
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].runs) flags[i / 8] = static_cast<char>(flags[i / 8] | 1 << (i % 8));
    }
    out.append(flags);
  } else {
    Put32(out, kPlainCookie);
    Put32(out, static_cast<uint32_t>(parts.size()));
  }
  for (const Part& part : parts) {
    Put16(out, part.key);
    Put16(out, part.count - 1);
  }
  if (!any_runs || parts.size() >= kOffsetsFrom) {
    size_t offset = out.size() + 4 * parts.size();
    for (const Part& part : parts) {
      Put32(out, static_cast<uint32_t>(offset));
      offset += part.bytes.size();
    }
  }
  for (const Part& part : parts) out.append(part.bytes);
  return out;
}

}  // namespace

bool MapBitmap::Container::Contains(uint16_t low) const {
  if (words.empty()) return std::binary_search(values.begin(), values.end(), low);
  return low / 64u < words.size() && (words[low / 64u] >> (low % 64u) & 1) != 0;
}

void MapBitmap::Container::UseWords() {
  words.assign(values.back() / 64u + 1, 0);
  for (const uint16_t value : values) words[value / 64u] |= uint64_t{1} << (value % 64u);
  values = {};
}

void MapBitmap::Container::Add(uint16_t low) {
  ++count;
  if (words.empty()) {
    values.insert(std::lower_bound(values.begin(), values.end(), low), low);
    if (values.size() > 8 && 2 * values.size() >= size_t{values.back() / 64u + 1} * 8) UseWords();
    return;
  }
  if (low / 64u >= words.size()) {
    words.reserve(low / 64u + 1);  // no more: many partitions have one, and what they keep counts
    words.resize(low / 64u + 1);
  }
  words[low / 64u] |= uint64_t{1} << (low % 64u);
}

std::vector<uint16_t> MapBitmap::Container::Values() const {
  if (words.empty()) return values;
  std::vector<uint16_t> out;
  out.reserve(count);
  for (size_t i = 0; i < words.size(); ++i) {
    for (uint64_t word = words[i]; word != 0; word &= word - 1) {
      out.push_back(static_cast<uint16_t>(i * 64 + static_cast<size_t>(std::countr_zero(word))));
    }
  }
  return out;
}

std::vector<MapBitmap::Container>::iterator MapBitmap::Place(uint16_t key) {
  return std::lower_bound(containers_.begin(), containers_.end(), key,
                          [](const Container& container, uint16_t wanted) { return container.key < wanted; });
}

bool MapBitmap::Add(int32_t map_index) {
  const auto index = static_cast<uint32_t>(map_index);
  const auto key = static_cast<uint16_t>(index >> 16);
  auto place = Place(key);
  if (place == containers_.end() || place->key != key) {
    place = containers_.insert(place, Container{});
    place->key = key;
  }
  const auto low = static_cast<uint16_t>(index & 0xffff);
  if (place->Contains(low)) return false;
  place->Add(low);
  return true;
}

bool MapBitmap::Contains(int32_t map_index) const {
  const auto index = static_cast<uint32_t>(map_index);
  const auto place = const_cast<MapBitmap*>(this)->Place(static_cast<uint16_t>(index >> 16));
  return place != containers_.end() && place->key == index >> 16 &&
         place->Contains(static_cast<uint16_t>(index & 0xffff));
}

size_t MapBitmap::size() const {
  size_t out = 0;
  for (const Container& container : containers_) out += container.count;
  return out;
}

std::vector<int32_t> MapBitmap::Indices() const {
  std::vector<int32_t> out;
  out.reserve(size());
  for (const Container& container : containers_) {
    for (const uint16_t low : container.Values()) {
      out.push_back(static_cast<int32_t>(uint32_t{container.key} << 16 | low));
    }
  }
  return out;
}

size_t MapBitmap::memory_bytes() const {
  size_t out = containers_.capacity() * sizeof(Container);
  for (const Container& container : containers_) {
    out += container.values.capacity() * 2 + container.words.capacity() * 8;
  }
  return out;
}

std::string MapBitmap::Serialize() const {
  std::vector<Part> parts;
  for (const Container& container : containers_) {
    parts.push_back({container.key, container.count, false, {}});
    PutValues(parts.back().bytes, container.Values());
  }
  return Write(parts, false);
}

std::string MapBitmap::SerializeWithRuns() const {
  std::vector<Part> parts;
  bool any_runs = false;
  for (const Container& container : containers_) {
    const std::vector<uint16_t> values = container.Values();
    const auto runs = RunsOf(values);
    const bool shorter = PlainBytes(values.size()) > RunBytes(runs.size());
    parts.push_back({container.key, container.count, shorter, {}});
    if (shorter) {
      PutRuns(parts.back().bytes, runs);
    } else {
      PutValues(parts.back().bytes, values);
    }
    any_runs = any_runs || shorter;
  }
  return Write(parts, any_runs);
}

base::Result<MapBitmap> MapBitmap::Read(std::string_view& bytes) {
  LittleEndianReader in(bytes);
  const uint32_t cookie = in.Number(4);
  const bool with_runs = (cookie & 0xffff) == kRunCookie;
  const size_t count = with_runs ? (cookie >> 16) + 1 : in.Number(4);
  const base::Error damaged{"a bitmap of map indices is damaged"};
  if (in.failed() || (!with_runs && cookie != kPlainCookie) || count > kContainersMax) return damaged;
  const std::string_view flags = with_runs ? in.Take((count + 7) / 8) : std::string_view{};
  const std::string_view heads = in.Take(4 * count);
  if (!with_runs || count >= kOffsetsFrom) in.Take(4 * count);
  MapBitmap out;
  for (size_t i = 0; i < count && !in.failed(); ++i) {
    std::string_view head = heads.substr(4 * i, 4);
    LittleEndianReader head_in(head);
    const auto key = static_cast<uint16_t>(head_in.Number(2));
    const size_t values = head_in.Number(2) + 1;
    if (!out.containers_.empty() && out.containers_.back().key >= key) return damaged;
    Container container;
    container.key = key;
    const bool runs = with_runs && (static_cast<uint8_t>(flags[i / 8]) >> (i % 8) & 1) != 0;
    int64_t last = -1;
    const auto add = [&](uint32_t value) {
      if (value > 0xffff || int64_t{value} <= last) return in.Fail();
      last = value;
      container.Add(static_cast<uint16_t>(value));
    };
    if (runs) {
      const size_t run_count = in.Number(2);
      for (size_t run = 0; run < run_count && !in.failed(); ++run) {
        const uint32_t first = in.Number(2);
        const uint32_t more = in.Number(2);
        for (uint32_t value = first; value <= first + more && !in.failed(); ++value) add(value);
      }
    } else if (values <= kArrayMax) {
      for (size_t n = 0; n < values && !in.failed(); ++n) add(in.Number(2));
    } else {
      const std::string_view bits = in.Take(kBitSetBytes);
      for (uint32_t value = 0; value < 8 * bits.size() && !in.failed(); ++value) {
        if ((static_cast<uint8_t>(bits[value / 8]) >> (value % 8) & 1) != 0) add(value);
      }
    }
    if (in.failed() || container.count != values) return damaged;
    out.containers_.push_back(std::move(container));
  }
  if (in.failed()) return damaged;
  return out;
}

}  // namespace fairlead::wire::spark_shuffle
