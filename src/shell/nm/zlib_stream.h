#pragma once

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace fairlead::shell {

/// Deflates bytes into one zlib stream, as Hadoop's DefaultCodec does for what it calls "gz".
class ZlibStream {
 public:
  ZlibStream();
  ~ZlibStream();
  ZlibStream(const ZlibStream&) = delete;
  ZlibStream& operator=(const ZlibStream&) = delete;

  /// What is ready of the stream after `bytes`.
  std::string Add(std::string_view bytes);
  /// The rest of the stream; the next byte begins another one.
  std::string End();

 private:
  std::string Turn(std::string_view bytes, int flush);
  std::unique_ptr<z_stream_s> state_;
};

}  // namespace fairlead::shell
