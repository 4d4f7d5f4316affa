#include "engine/records/frame.h"

#include <lz4.h>
#include <zstd.h>

#include <cstring>

#include "engine/records/checksum.h"

namespace fairlead::engine {

namespace {

constexpr uint32_t kMagic = 0x314b4c46;  // "FLK1"

struct Header {
  uint32_t magic = kMagic;
  uint8_t codec = 0;
  uint8_t zero[3] = {0, 0, 0};
  uint32_t raw = 0;
  uint32_t stored = 0;
  uint64_t checksum = 0;
};
static_assert(sizeof(Header) == kFrameHeader);

void WriteHeader(char* at, Compression codec, size_t raw, size_t stored) {
  Header header;
  header.codec = static_cast<uint8_t>(codec);
  header.raw = static_cast<uint32_t>(raw);
  header.stored = static_cast<uint32_t>(stored);
  header.checksum = XXH3_64bits(at + kFrameHeader, stored);
  std::memcpy(at, &header, sizeof header);
}

size_t Compress(Compression codec, std::string_view raw, Buffer& scratch) {
  if (codec == Compression::kLz4) {
    const int bound = LZ4_compressBound(static_cast<int>(raw.size()));
    scratch.Resize(kFrameHeader + static_cast<size_t>(bound));
    return static_cast<size_t>(
        LZ4_compress_default(raw.data(), scratch.data() + kFrameHeader, static_cast<int>(raw.size()), bound));
  }
  scratch.Resize(kFrameHeader + ZSTD_compressBound(raw.size()));
  const size_t n =
      ZSTD_compress(scratch.data() + kFrameHeader, scratch.size() - kFrameHeader, raw.data(), raw.size(), 1);
  return ZSTD_isError(n) ? 0 : n;
}

bool Decompress(Compression codec, std::string_view stored, char* out, size_t raw) {
  if (codec == Compression::kLz4) {
    return LZ4_decompress_safe(stored.data(), out, static_cast<int>(stored.size()), static_cast<int>(raw)) ==
           static_cast<int>(raw);
  }
  return ZSTD_decompress(out, raw, stored.data(), stored.size()) == raw;
}

}  // namespace

void SealFrame(char* frame, size_t raw_size) { WriteHeader(frame, Compression::kNone, raw_size, raw_size); }

std::string_view SealFrame(Buffer& frame, Compression compression, Buffer& scratch) {
  const size_t raw = frame.size() - kFrameHeader;
  if (compression != Compression::kNone && raw > 64) {
    const size_t n = Compress(compression, frame.view().substr(kFrameHeader), scratch);
    if (n != 0 && n < raw - raw / 8) {
      WriteHeader(scratch.data(), compression, raw, n);
      return {scratch.data(), kFrameHeader + n};
    }
  }
  SealFrame(frame.data(), raw);
  return frame.view();
}

size_t WholeFrames(std::string_view bytes) {
  size_t whole = 0;
  while (bytes.size() - whole >= kFrameHeader) {
    Header header;
    std::memcpy(&header, bytes.data() + whole, sizeof header);
    if (header.magic != kMagic || header.stored > bytes.size() - whole - kFrameHeader) break;
    whole += kFrameHeader + header.stored;
  }
  return whole;
}

bool FrameReader::Bad(const char* why) {
  error_ = why;
  rest_ = {};
  return false;
}

bool FrameReader::Next(std::string_view& records, Buffer& scratch) {
  if (rest_.empty()) return false;
  if (rest_.size() < kFrameHeader) return Bad("block ends inside a frame header");
  Header header;
  std::memcpy(&header, rest_.data(), sizeof header);
  if (header.magic != kMagic || header.codec > static_cast<uint8_t>(Compression::kZstd)) {
    return Bad("not a frame of this engine");
  }
  if (header.stored > rest_.size() - kFrameHeader) return Bad("block ends inside a frame");
  if (header.raw > kFrameMax) return Bad("frame is too large");
  const std::string_view stored = rest_.substr(kFrameHeader, header.stored);
  if (XXH3_64bits(stored.data(), stored.size()) != header.checksum) return Bad("checksum of a frame differs");
  const Compression codec = static_cast<Compression>(header.codec);
  if (codec == Compression::kNone) {
    if (header.raw != header.stored) return Bad("frame lengths differ");
    records = stored;
  } else {
    scratch.Resize(header.raw);
    if (!Decompress(codec, stored, scratch.data(), header.raw)) return Bad("frame does not decompress");
    records = {scratch.data(), header.raw};
  }
  rest_.remove_prefix(kFrameHeader + header.stored);
  return true;
}

}  // namespace fairlead::engine
