#include "shell/nm/zlib_stream.h"

#include <zlib.h>

#include <algorithm>

#include "base/check.h"

namespace fairlead::shell {

ZlibStream::ZlibStream() : state_(std::make_unique<z_stream_s>()) {
  FL_CHECK(::deflateInit(state_.get(), Z_DEFAULT_COMPRESSION) == Z_OK, "zlib has no memory");
}

ZlibStream::~ZlibStream() { ::deflateEnd(state_.get()); }

std::string ZlibStream::Turn(std::string_view bytes, int flush) {
  std::string out;
  char buffer[1 << 14];
  state_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  state_->avail_in = static_cast<uInt>(bytes.size());
  do {
    state_->next_out = reinterpret_cast<Bytef*>(buffer);
    state_->avail_out = sizeof buffer;
    ::deflate(state_.get(), flush);
    out.append(buffer, sizeof buffer - state_->avail_out);
  } while (state_->avail_out == 0);
  return out;
}

std::string ZlibStream::Add(std::string_view bytes) {
  constexpr size_t kMost = size_t{1} << 30;  // zlib counts in 32 bits
  std::string out;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kMost)))
    out += Turn(bytes.substr(0, kMost), Z_NO_FLUSH);
  return out;
}

std::string ZlibStream::End() {
  std::string out = Turn({}, Z_FINISH);
  ::deflateReset(state_.get());
  return out;
}

}  // namespace fairlead::shell
