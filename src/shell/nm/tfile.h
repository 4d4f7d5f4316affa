#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "shell/nm/zlib_stream.h"

namespace fairlead::shell {

/// Writes a TFile (Hadoop's org.apache.hadoop.io.file.tfile: a BCFile with key-value data blocks, a block index and
/// meta blocks), unsorted, as YARN's log aggregation does; data blocks are zlib streams ("gz") where `compress` says
/// so. Keys and values go in one after the other; a value's length need not be known: it is written in chunks.
class TFileWriter {
 public:
  using Sink = std::function<base::Status(std::string_view)>;
  static constexpr size_t kChunkBytes = 1 << 20;
  static constexpr int64_t kBlockBytesMin = 256 * 1024;

  explicit TFileWriter(Sink sink, bool compress = false) : sink_(std::move(sink)), compress_(compress) {}

  base::Status Begin();
  /// A key and a short value.
  base::Status Append(std::string_view key, std::string_view value);
  base::Status BeginValue(std::string_view key);
  base::Status ValueBytes(std::string_view bytes);
  base::Status EndValue();
  base::Status Finish();

  /// TFile's own variable-length integers (org.apache.hadoop.io.file.tfile.Utils.writeVLong).
  static void PutVLong(std::string& out, int64_t value);
  /// DataOutputStream.writeUTF for text without NUL and characters above U+FFFF; cut at 65535 bytes.
  static void PutUtf(std::string& out, std::string_view text);

 private:
  struct Region {
    int64_t offset = 0;
    int64_t bytes = 0;
    int64_t raw_bytes = 0;
  };
  base::Status Put(std::string_view bytes);
  base::Status PutInBlock(std::string_view bytes);
  base::Status EndBlock();

  const Sink sink_;
  const bool compress_;
  ZlibStream zlib_;
  int64_t position_ = 0;
  std::string chunk_;
  std::string first_key_, last_key_;
  int64_t block_begin_ = -1;  // -1: no block is open
  int64_t block_entries_ = 0;
  int64_t block_raw_bytes_ = 0;
  int64_t entries_ = 0;
  std::vector<Region> blocks_;
  std::string index_entries_;
};

}  // namespace fairlead::shell
