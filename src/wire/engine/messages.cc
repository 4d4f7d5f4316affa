#include "wire/engine/messages.h"

#include "base/codec.h"

namespace fairlead::wire::engine {
namespace {

/// Tables of map outputs and plans are bytes in a frame, one byte of memory each; lists of small numbers are eight.
constexpr base::BudgetKind kFrameKind = base::DecodedKind("a frame of the engine", UINT32_MAX, 64);

}  // namespace

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
  const auto length = base::BigEndian<uint32_t>(rest);
  if (length > frame_max_) return base::Error{"frame of " + std::to_string(length) + " bytes is too large"};
  if (rest.size() - 4 < length) {
    if (at_ > (64 << 10)) {
      buffer_.erase(0, at_);
      at_ = 0;
    }
    return false;
  }
  base::Budget budget(kFrameKind, length);
  base::ByteReader body(rest.substr(4, length), budget);
  base::Decode(body, message);
  if (!budget.ok()) return budget.error();
  if (!body.done()) return base::Error{"malformed message"};
  at_ += 4 + length;
  return true;
}

std::string FrameParser::TakeRest() {
  std::string rest = buffer_.substr(at_);
  buffer_.clear();
  at_ = 0;
  return rest;
}

}  // namespace fairlead::wire::engine
