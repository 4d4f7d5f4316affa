#include "wire/engine/messages.h"

#include "base/codec.h"

namespace fairlead::wire::engine {

void AppendFrame(std::string& out, const Message& message) {
  const size_t at = out.size();
  out.append(4, '\0');
  base::Encode(out, message);
  const uint32_t length = static_cast<uint32_t>(out.size() - at - 4);
  for (size_t i = 0; i < 4; ++i) out[at + i] = static_cast<char>(length >> (24 - 8 * i));
}

base::Result<bool> FrameParser::Next(Message& message) {
  const std::string_view rest = std::string_view(buffer_).substr(at_);
  if (rest.size() < 4) {
    buffer_.erase(0, at_);
    at_ = 0;
    return false;
  }
  base::ByteReader header(rest);
  const uint32_t length = header.U32();
  if (length > frame_max_) return base::Error{"frame of " + std::to_string(length) + " bytes is too large"};
  if (rest.size() - 4 < length) {
    if (at_ > (64 << 10)) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    return false;
  }
  base::ByteReader body(rest.substr(4, length));
  base::Decode(body, message);
  if (!body.done()) return base::Error{"malformed message"};
  at_ += 4 + length;
  return true;
}

}  // namespace fairlead::wire::engine
