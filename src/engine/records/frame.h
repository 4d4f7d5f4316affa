#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/records/buffer.h"

// A shuffle block is a sequence of frames; a frame holds whole records and is the unit of compression and checking:
//   u32 magic | u8 codec | u8[3] zero | u32 raw length | u32 stored length | u64 XXH3 of the stored bytes | stored
//   bytes
// in memory order. Blocks of one partition from several spills are put one after the other.

namespace fairlead::engine {

enum class Compression : uint8_t { kNone, kLz4, kZstd };

inline constexpr size_t kFrameHeader = 24;
/// A raw frame may not be larger: a bound for what a reader allocates.
inline constexpr uint32_t kFrameMax = 1u << 30;

/// Writes the header of an uncompressed frame in place: `frame` begins with kFrameHeader free bytes.
void SealFrame(char* frame, size_t raw_size);
/// Seals `frame` (kFrameHeader free bytes, then records), compressed if that makes it at least an eighth smaller;
/// `scratch` holds the compressed frame then. Gives the bytes to store.
std::string_view SealFrame(Buffer& frame, Compression compression, Buffer& scratch);

/// How many bytes of `bytes`, which begin with a frame, are whole frames by what their headers say. 0: the first frame
/// is longer, or damaged.
size_t WholeFrames(std::string_view bytes);

/// Takes frames off `block`; checks lengths and the checksum.
class FrameReader {
 public:
  explicit FrameReader(std::string_view block) : rest_(block) {}
  /// False at the end. `records` points into the block (uncompressed) or into `scratch`, replaced by the next call. A
  /// damaged frame gives false and sets error().
  bool Next(std::string_view& records, Buffer& scratch);
  const std::string& error() const { return error_; }

 private:
  bool Bad(const char* why);
  std::string_view rest_;
  std::string error_;
};

}  // namespace fairlead::engine
