#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// What the frozen protocol cannot give: a block as an open file and a range of it, for a reader on the same host. It
// travels on a local socket of the service; everything on it is Spark's protocol, but the body of ChunkFetchSuccess.

namespace fairlead::wire::spark_shuffle {

/// Shorter blocks travel as bytes: taking a file, mapping it and letting it go costs more than copying so much.
inline constexpr int64_t kPassedFileMin = 128 << 10;

/// Body of a ChunkFetchSuccess on a local socket: 0 and the bytes; or 1, an offset and a length (big-endian i64), with
/// the file of the block sent along.
struct PassedBlock {
  bool in_file = false;
  std::string_view bytes;  // unless in_file; points into what was decoded
  int64_t offset = 0;
  int64_t length = 0;
};
inline constexpr char kPassedAsBytes = 0;
std::string EncodePassedFile(int64_t offset, int64_t length);
/// Error: neither of the two forms, or a range that is empty, negative or beyond 2^63.
base::Result<PassedBlock> DecodePassedBlock(std::string_view body);

/// The local name of a service that listens on this address; an empty host stands for every address.
std::string LocalServiceName(const std::string& host, uint16_t port);

}  // namespace fairlead::wire::spark_shuffle
