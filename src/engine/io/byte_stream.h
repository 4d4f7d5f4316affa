#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace fairlead::engine {

/// Bytes of a file in order, decompressed by its name (.gz: gzip members, .zst: zstd frames). Throws TaskError.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// Fills up to `n` bytes; 0 only at the end.
  virtual size_t Read(char* out, size_t n) = 0;
};

bool IsCompressedName(const std::string& path);
/// Opens `path` at `offset` (0 for compressed files).
std::unique_ptr<ByteStream> OpenStream(const std::string& path, uint64_t offset);

}  // namespace fairlead::engine
