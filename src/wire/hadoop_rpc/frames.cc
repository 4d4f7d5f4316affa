#include "wire/hadoop_rpc/frames.h"

#include <algorithm>

#include "base/bytes.h"
#include "wire/hadoop_rpc/proto_runtime.h"

namespace fairlead::wire::hadoop_rpc {
namespace {

/// A buffer that has been larger than this is given back when it is empty.
constexpr size_t kKeepCapacity = 4 << 10;
constexpr size_t kLengthBytes = 4;

}  // namespace

const std::string_view kHttpAnswer =
    "HTTP/1.1 404 Not Found\r\n"
    "Content-type: text/plain\r\n\r\n"
    "It looks like you are making an HTTP request to a Hadoop IPC port. "
    "This is not the correct port for the web interface on this daemon.\r\n";

std::string EncodePreamble(uint8_t auth) {
  return {'h', 'r', 'p', 'c', static_cast<char>(kIpcVersion), '\0', static_cast<char>(auth)};
}

void FrameReader::Push(std::string_view bytes) {
  const size_t dropped = std::min(skipped_, bytes.size());
  skipped_ -= dropped;
  bytes.remove_prefix(dropped);
  from_kept_ = !kept_.empty();
  if (from_kept_) {
    // The rest of a frame comes into memory of its size once a quarter is there: by doubling it would take twice as
    // much.
    const size_t length = base::BigEndian<uint32_t>(kept_);
    if (length <= max_ && length <= 4 * kept_.size()) kept_.reserve(kLengthBytes + length);
    kept_.append(bytes);
  }
  input_ = from_kept_ ? std::string_view(kept_) : bytes;
}

std::optional<std::string_view> FrameReader::Next() {
  if (failed_ || input_.size() < 4) return std::nullopt;
  const int32_t length = base::BigEndian<int32_t>(input_);
  if (length < 0 || static_cast<size_t>(length) > max_) {
    failed_ = true;
    refused_length_ = length;
    return std::nullopt;
  }
  const size_t size = static_cast<size_t>(length);
  if (input_.size() - 4 < size) return std::nullopt;
  const std::string_view frame = input_.substr(4, size);
  input_.remove_prefix(4 + size);
  return frame;
}

std::optional<FrameReader::Begun> FrameReader::begun() const {
  if (failed_ || input_.size() < kLengthBytes) return std::nullopt;
  const auto length = static_cast<size_t>(base::BigEndian<uint32_t>(input_));
  const std::string_view part = input_.substr(kLengthBytes);
  return part.size() < length ? std::optional(Begun{length, part}) : std::nullopt;
}

void FrameReader::SkipBegun() {
  const auto frame = begun();
  if (!frame) return;
  skipped_ = frame->length - frame->part.size();
  input_ = {};
  kept_.clear();
}

bool FrameReader::ready() const {
  if (failed_ || kept_.size() < 4) return failed_;
  const int32_t length = base::BigEndian<int32_t>(kept_);
  return length < 0 || static_cast<size_t>(length) > max_ || kept_.size() - 4 >= static_cast<size_t>(length);
}

void FrameReader::Keep() {
  if (!from_kept_) {
    kept_.assign(input_);
  } else {
    kept_.erase(0, kept_.size() - input_.size());
  }
  if (kept_.empty() && kept_.capacity() > kKeepCapacity) std::string().swap(kept_);
  input_ = {};
  from_kept_ = false;
}

std::optional<std::string_view> TakeDelimited(std::string_view& bytes) {
  uint64_t length = 0;
  for (int i = 0; i < 5; ++i) {
    if (static_cast<size_t>(i) >= bytes.size()) return std::nullopt;
    const uint8_t byte = static_cast<uint8_t>(bytes[static_cast<size_t>(i)]);
    length |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    bytes.remove_prefix(static_cast<size_t>(i) + 1);
    if (length > bytes.size()) return std::nullopt;
    const std::string_view message = bytes.substr(0, length);
    bytes.remove_prefix(length);
    return message;
  }
  return std::nullopt;
}

void AppendDelimited(std::string& out, std::string_view bytes) {
  proto::PutVarint(out, bytes.size());
  out.append(bytes);
}

void FrameWriter::Finish() {
  const uint32_t length = static_cast<uint32_t>(out_.size() - start_ - 4);
  for (size_t i = 0; i < 4; ++i) out_[start_ + i] = static_cast<char>(length >> (24 - 8 * i));
}

}  // namespace fairlead::wire::hadoop_rpc
