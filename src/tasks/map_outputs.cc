#include "tasks/map_outputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/bytes.h"
#include "base/check.h"
#include "base/codec.h"

namespace fairlead::tasks {

namespace {

constexpr double kLogBase = 1.1;
constexpr uint8_t kVersion = 1;

// A packed block of 64 maps and R reduce partitions:
//   R bytes: the largest code of each column
//   R bytes: how many escapes the column has
//   R * 32 bytes: a nibble per map, low one first: 0..13 = largest - code, 14 = code 0, 15 = escape
//   the escaped codes, column by column
constexpr uint8_t kNibbleRange = 13;
constexpr uint8_t kNibbleZero = 14;
constexpr uint8_t kNibbleEscape = 15;
constexpr size_t kColumn = 64;

enum class BlockForm : uint8_t { kZero, kPlain, kPacked };

struct PackedColumn {
  uint8_t largest = 0;
  uint8_t escapes = 0;
  std::array<uint8_t, kColumn / 2> nibbles;
  std::array<uint8_t, kColumn> escaped;
};

#ifdef __SSE2__

/// Packs 16 codes to nibbles (one a byte) and gives a mask of the escapes.
__m128i Nibbles(__m128i codes, __m128i largest, uint64_t& escapes) {
  const __m128i below = _mm_sub_epi8(largest, codes);
  const __m128i fits = _mm_cmpeq_epi8(_mm_min_epu8(below, _mm_set1_epi8(kNibbleRange)), below);
  const __m128i zero = _mm_cmpeq_epi8(codes, _mm_setzero_si128());
  const __m128i ranged = _mm_or_si128(_mm_and_si128(fits, below), _mm_andnot_si128(fits, _mm_set1_epi8(kNibbleEscape)));
  escapes = static_cast<uint16_t>(_mm_movemask_epi8(_mm_or_si128(fits, zero)) ^ 0xffff);
  return _mm_or_si128(_mm_andnot_si128(zero, ranged), _mm_and_si128(zero, _mm_set1_epi8(kNibbleZero)));
}

/// Two nibbles to a byte, of 32 nibbles in two vectors.
__m128i Pairs(__m128i a, __m128i b) {
  const __m128i low = _mm_set1_epi16(0x00ff);
  const auto pair = [&](__m128i v) {
    return _mm_and_si128(_mm_or_si128(_mm_and_si128(v, low), _mm_srli_epi16(v, 4)), low);
  };
  return _mm_packus_epi16(pair(a), pair(b));
}

void PackColumn(const uint8_t* codes, PackedColumn& out) {
  __m128i v[4];
  for (int i = 0; i < 4; ++i) v[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes) + i);
  __m128i most = _mm_max_epu8(_mm_max_epu8(v[0], v[1]), _mm_max_epu8(v[2], v[3]));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 8));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 4));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 2));
  most = _mm_max_epu8(most, _mm_srli_si128(most, 1));
  out.largest = static_cast<uint8_t>(_mm_cvtsi128_si32(most));
  const __m128i largest = _mm_set1_epi8(static_cast<char>(out.largest));
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    uint64_t escapes = 0;
    v[i] = Nibbles(v[i], largest, escapes);
    mask |= escapes << (16 * i);
  }
  auto* nibbles = reinterpret_cast<__m128i*>(out.nibbles.data());
  _mm_storeu_si128(nibbles, Pairs(v[0], v[1]));
  _mm_storeu_si128(nibbles + 1, Pairs(v[2], v[3]));
  out.escapes = static_cast<uint8_t>(std::popcount(mask));
  for (size_t at = 0; mask != 0; mask &= mask - 1) out.escaped[at++] = codes[std::countr_zero(mask)];
}

#else

void PackColumn(const uint8_t* codes, PackedColumn& out) {
  out.largest = *std::max_element(codes, codes + kColumn);
  out.escapes = 0;
  out.nibbles.fill(0);
  for (size_t i = 0; i < kColumn; ++i) {
    const auto below = static_cast<uint8_t>(out.largest - codes[i]);
    uint8_t nibble = below <= kNibbleRange ? below : kNibbleEscape;
    if (codes[i] == 0) nibble = kNibbleZero;
    if (nibble == kNibbleEscape) out.escaped[out.escapes++] = codes[i];
    out.nibbles[i / 2] = static_cast<uint8_t>(out.nibbles[i / 2] | nibble << (i % 2 * 4));
  }
}

#endif

void Unpack(uint8_t largest, const uint8_t* nibbles, std::span<const uint8_t> escaped, uint8_t* out) {
  size_t next = 0;
  for (size_t i = 0; i < kColumn; ++i) {
    const auto nibble = static_cast<uint8_t>(i % 2 == 0 ? nibbles[i / 2] & 15 : nibbles[i / 2] >> 4);
    if (nibble <= kNibbleRange) {
      out[i] = static_cast<uint8_t>(largest - nibble);
    } else if (nibble == kNibbleZero) {
      out[i] = 0;
    } else {
      out[i] = next < escaped.size() ? escaped[next] : 0;  // hostile bytes may promise more than they hold
      ++next;
    }
  }
}

size_t PackedHeader(size_t reduces) { return reduces * (2 + kColumn / 2); }

/// One column of a packed block; `before`: escapes of the columns before it.
void UnpackColumn(std::string_view packed, size_t reduces, size_t reduce, size_t before, uint8_t* out) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(packed.data());
  const size_t begin = std::min(PackedHeader(reduces) + before, packed.size());
  const size_t end = std::min(begin + bytes[reduces + reduce], packed.size());
  Unpack(bytes[reduce], bytes + 2 * reduces + reduce * (kColumn / 2), {bytes + begin, end - begin}, out);
}

/// Gives the size; `packed` has room for PackedHeader(reduces) + reduces * kColumn bytes.
size_t PackBlock(const uint8_t* codes, size_t reduces, uint8_t* packed) {
  size_t escaped = PackedHeader(reduces);
  PackedColumn column;
  for (size_t reduce = 0; reduce < reduces; ++reduce) {
    PackColumn(codes + reduce * kColumn, column);
    packed[reduce] = column.largest;
    packed[reduces + reduce] = column.escapes;
    std::memcpy(&packed[2 * reduces + reduce * (kColumn / 2)], column.nibbles.data(), kColumn / 2);
    std::memcpy(&packed[escaped], column.escaped.data(), column.escapes);
    escaped += column.escapes;
  }
  return escaped;
}

}  // namespace

uint8_t EncodeSize(int64_t bytes) {
  if (bytes <= 0) return 0;
  if (bytes <= 1) return 1;
  return static_cast<uint8_t>(std::min(255.0, std::ceil(std::log(static_cast<double>(bytes)) / std::log(kLogBase))));
}

int64_t DecodeSize(uint8_t code) {
  static const std::array<int64_t, 256> kSizes = [] {
    std::array<int64_t, 256> sizes{};
    for (size_t i = 1; i < sizes.size(); ++i) {
      sizes[i] = static_cast<int64_t>(std::pow(kLogBase, static_cast<double>(i)));
    }
    return sizes;
  }();
  return kSizes[code];
}

MapOutputTable::MapOutputTable(int32_t maps, int32_t reduces)
    : reduces_(reduces),
      place_(static_cast<size_t>(maps), kMissing),
      task_(static_cast<size_t>(maps), -1),
      blocks_((static_cast<size_t>(maps) + kLanes - 1) / kLanes) {}

uint8_t* MapOutputTable::Plain(size_t block) {
  Codes& codes = blocks_[block];
  if (codes.plain) return codes.plain.get();
  const auto reduces = static_cast<size_t>(reduces_);
  auto plain = std::make_unique<uint8_t[]>(reduces * lanes());
  if (const std::string_view packed = Packed(codes); !packed.empty()) {
    size_t before = 0;
    for (size_t reduce = 0; reduce < reduces; ++reduce) {
      UnpackColumn(packed, reduces, reduce, before, &plain[reduce * kLanes]);
      before += static_cast<uint8_t>(packed[reduces + reduce]);
    }
    codes.packed.reset();
    codes.packed_at = 0;
  }
  codes.plain = std::move(plain);
  return codes.plain.get();
}

std::string_view MapOutputTable::Packed(const Codes& block) const {
  if (block.packed) return {reinterpret_cast<const char*>(block.packed.get()), block.packed_size};
  if (block.packed_at == 0) return {};
  return std::string_view(decoded_).substr(block.packed_at, block.packed_size);
}

void MapOutputTable::Column(const Codes& block, size_t reduce, uint8_t* out) const {
  const auto reduces = static_cast<size_t>(reduces_);
  if (block.plain) {
    std::memcpy(out, &block.plain[reduce * lanes()], lanes());
  } else if (const std::string_view packed = Packed(block); packed.empty()) {
    std::memset(out, 0, lanes());
  } else {
    const auto* escapes = reinterpret_cast<const uint8_t*>(packed.data()) + reduces;
    UnpackColumn(packed, reduces, reduce, std::accumulate(escapes, escapes + reduce, size_t{0}), out);
  }
}

void MapOutputTable::Set(int32_t map, uint32_t place, int64_t task, std::span<const uint8_t> codes) {
  FL_CHECK(static_cast<int32_t>(codes.size()) == reduces_, "an output has a size per reduce partition");
  const auto m = static_cast<size_t>(map);
  Codes& block = blocks_[m / kLanes];
  const bool is_new = place_[m] == kMissing;
  available_ += is_new ? 1 : 0;
  block.outputs += is_new ? 1 : 0;
  place_[m] = place;
  task_[m] = task;
  uint8_t* column = Plain(m / kLanes) + m % kLanes;
  for (const uint8_t code : codes) {
    *column = code;
    column += lanes();
  }
  const size_t maps = std::min(kLanes, place_.size() - m / kLanes * kLanes);
  if (is_new && lanes() == kLanes && block.outputs == static_cast<int32_t>(maps)) Pack(block);
}

void MapOutputTable::Pack(Codes& block) {
  static_assert(kLanes == kColumn);
  const auto reduces = static_cast<size_t>(reduces_);
  // Only bytes that packing has written are read.
  auto packed = std::make_unique_for_overwrite<uint8_t[]>(PackedHeader(reduces) + reduces * kColumn);
  const size_t size = PackBlock(block.plain.get(), reduces, packed.get());
  if (size >= reduces * kColumn) return;
  block.packed = std::make_unique_for_overwrite<uint8_t[]>(size);
  std::memcpy(block.packed.get(), packed.get(), size);
  block.packed_size = size;
  block.plain.reset();
}

bool MapOutputTable::Remove(int32_t map) {
  const auto m = static_cast<size_t>(map);
  if (place_[m] == kMissing) return false;
  place_[m] = kMissing;
  task_[m] = -1;
  --blocks_[m / kLanes].outputs;
  uint8_t* column = Plain(m / kLanes) + m % kLanes;
  for (int32_t reduce = 0; reduce < reduces_; ++reduce, column += lanes()) *column = 0;
  --available_;
  return true;
}

std::vector<uint8_t> MapOutputTable::Row(int32_t map) const {
  const auto m = static_cast<size_t>(map);
  std::vector<uint8_t> row(static_cast<size_t>(reduces_));
  std::array<uint8_t, kLanes> column;
  for (size_t reduce = 0; reduce < row.size(); ++reduce) {
    Column(blocks_[m / kLanes], reduce, column.data());
    row[reduce] = column[m % kLanes];
  }
  return row;
}

std::vector<MapOutputTable::Block> MapOutputTable::BlocksOf(int32_t reduce) const {
  std::vector<Block> list;
  list.reserve(static_cast<size_t>(available_));
  std::array<uint8_t, kLanes> column;
  for (size_t block = 0; block < blocks_.size(); ++block) {
    Column(blocks_[block], static_cast<size_t>(reduce), column.data());
    const size_t first = block * kLanes;
    const size_t count = std::min(kLanes, place_.size() - first);
    for (size_t lane = 0; lane < count; ++lane) {
      const size_t map = first + lane;
      if (column[lane] == 0 || place_[map] == kMissing) continue;
      list.push_back({.map = static_cast<int32_t>(map),
                      .place = place_[map],
                      .task = task_[map],
                      .bytes = DecodeSize(column[lane])});
    }
  }
  return list;
}

/// The wire form: version, maps, reduces, per map its place and task, then block by block its form and its bytes.
class MapOutputCodec {
 public:
  static void PutBlock(const MapOutputTable& table, const MapOutputTable::Codes& block, std::string& out) {
    const auto reduces = static_cast<size_t>(table.reduces_);
    if (block.plain) {
      PutBytes(BlockForm::kPlain, {reinterpret_cast<const char*>(block.plain.get()), reduces * table.lanes()}, out);
    } else if (const std::string_view packed = table.Packed(block); packed.empty()) {
      out.push_back(static_cast<char>(BlockForm::kZero));
    } else {
      PutBytes(BlockForm::kPacked, packed, out);
    }
  }

  static bool TakeBlock(base::ByteReader& in, const char* start, MapOutputTable& table, size_t number) {
    MapOutputTable::Codes& block = table.blocks_[number];
    const auto reduces = static_cast<size_t>(table.reduces_);
    const auto form = static_cast<BlockForm>(in.U8());
    if (in.failed()) return false;
    if (form == BlockForm::kZero) return true;
    const std::string_view bytes = in.Take(base::TakeVarint(in));
    if (in.failed()) return false;
    if (form == BlockForm::kPlain && bytes.size() == reduces * table.lanes()) {
      std::copy(bytes.begin(), bytes.end(), table.Plain(number));
      return true;
    }
    if (form != BlockForm::kPacked || table.lanes() != kColumn || bytes.size() < PackedHeader(reduces)) return false;
    block.packed_at = static_cast<size_t>(bytes.data() - start);
    block.packed_size = bytes.size();
    return true;
  }

 private:
  static void PutBytes(BlockForm form, std::string_view bytes, std::string& out) {
    out.push_back(static_cast<char>(form));
    base::PutVarint(out, bytes.size());
    out.append(bytes);
  }
};

void EncodeMapOutputs(const MapOutputTable& table, std::string& out) {
  size_t size = out.size() + 16 * table.place_.size() + 64;
  for (const MapOutputTable::Codes& block : table.blocks_) {
    size += 16 + (block.plain ? static_cast<size_t>(table.reduces_) * table.lanes() : table.Packed(block).size());
  }
  out.reserve(size);
  out.push_back(static_cast<char>(kVersion));
  base::PutVarint(out, table.place_.size());
  base::PutVarint(out, static_cast<uint64_t>(table.reduces_));
  int64_t last_task = 0;
  for (size_t map = 0; map < table.place_.size(); ++map) {
    const bool missing = table.place_[map] == MapOutputTable::kMissing;
    base::PutVarint(out, missing ? 0 : uint64_t{table.place_[map]} + 1);
    if (missing) continue;
    // Wraps around rather than overflows: a decoded table may hold any ids.
    base::PutVarint(out, base::ZigZag(static_cast<int64_t>(static_cast<uint64_t>(table.task_[map]) -
                                                           static_cast<uint64_t>(last_task))));
    last_task = table.task_[map];
  }
  for (const MapOutputTable::Codes& block : table.blocks_) MapOutputCodec::PutBlock(table, block, out);
}

namespace {
/// A table keeps its bytes; places are counted against them (Take), columns against kMaxReduces.
constexpr base::BudgetKind kTableKind = base::DecodedKind("map outputs", SIZE_MAX, 64);
}  // namespace

base::Result<MapOutputTable> DecodeMapOutputs(std::string bytes) {
  const base::Error malformed{"map outputs: malformed"};
  base::Budget budget(kTableKind, bytes.size());
  base::ByteReader in(bytes, budget);
  if (in.U8() != kVersion) return base::Error{"map outputs: unknown version"};
  const uint64_t maps = base::TakeVarint(in);
  const uint64_t reduces = base::TakeVarint(in);
  if (in.failed() || maps > in.remaining() || reduces > MapOutputTable::kMaxReduces) return malformed;
  MapOutputTable table(static_cast<int32_t>(maps), static_cast<int32_t>(reduces));
  int64_t last_task = 0;
  for (uint64_t map = 0; map < maps; ++map) {
    const uint64_t place = base::TakeVarint(in);
    if (in.failed() || place > MapOutputTable::kMissing) return malformed;
    if (place == 0) continue;
    last_task = static_cast<int64_t>(static_cast<uint64_t>(last_task) +
                                     static_cast<uint64_t>(base::UnZigZag(base::TakeVarint(in))));
    table.place_[map] = static_cast<uint32_t>(place - 1);
    table.task_[map] = last_task;
    ++table.available_;
    ++table.blocks_[map / MapOutputTable::kLanes].outputs;
  }
  for (size_t block = 0; block < table.blocks_.size(); ++block) {
    if (!MapOutputCodec::TakeBlock(in, bytes.data(), table, block)) return malformed;
  }
  if (in.failed() || in.remaining() != 0) return malformed;
  table.decoded_ = std::move(bytes);
  return table;
}

}  // namespace fairlead::tasks
