#include "wire/spark_transport/frames.h"

#include <array>

#include "base/bytes.h"
#include "base/check.h"

namespace fairlead::wire::spark_transport {
namespace {

using base::ByteReader;
using base::ByteWriter;

constexpr std::array<std::string_view, 13> kNames = {
    "ChunkFetchRequest", "ChunkFetchSuccess",      "ChunkFetchFailure",     "RpcRequest",    "RpcResponse",
    "RpcFailure",        "StreamRequest",          "StreamResponse",        "StreamFailure", "OneWayMessage",
    "UploadStream",      "MergedBlockMetaRequest", "MergedBlockMetaSuccess"};

/// A frame's fields are views into it: nothing is made.
constexpr base::BudgetKind kFrameKind{"a frame of Spark's transport", SIZE_MAX, 1, {}, {}, {}};

/// int32 length and that many bytes. A negative length fails.
std::string_view TakeBlob(ByteReader& in) {
  const int32_t length = in.I32();
  if (length < 0) {
    in.Fail();
    return {};
  }
  return in.Take(static_cast<size_t>(length));
}

void PutBlob(ByteWriter& out, std::string_view bytes) {
  out.I32(static_cast<int32_t>(bytes.size()));
  out.Bytes(bytes);
}

/// Length and type; `rest` counts all bytes of the frame after the type.
ByteWriter Begin(std::string& out, FrameType type, int64_t rest) {
  ByteWriter writer(out);
  writer.I64(static_cast<int64_t>(kLengthBytes) + 1 + rest);
  writer.U8(static_cast<uint8_t>(type));
  return writer;
}

void ReadFields(ByteReader& in, Frame& frame) {
  switch (frame.type) {
    case FrameType::kChunkFetchRequest:
    case FrameType::kChunkFetchSuccess:
    case FrameType::kChunkFetchFailure:
      frame.id = in.I64();
      frame.chunk_index = in.I32();
      if (frame.type == FrameType::kChunkFetchSuccess) frame.body = in.Rest();
      if (frame.type == FrameType::kChunkFetchFailure) frame.text = TakeBlob(in);
      return;
    case FrameType::kRpcRequest:
    case FrameType::kRpcResponse:
      frame.id = in.I64();
      in.Skip(4);  // bodySize: redundant, and no reader looks at it
      frame.body = in.Rest();
      return;
    case FrameType::kRpcFailure:
      frame.id = in.I64();
      frame.text = TakeBlob(in);
      return;
    case FrameType::kStreamRequest:
      frame.text = TakeBlob(in);
      return;
    case FrameType::kStreamResponse:
      frame.text = TakeBlob(in);
      frame.following_bytes = in.I64();
      return;
    case FrameType::kStreamFailure:
      frame.text = TakeBlob(in);
      frame.error = TakeBlob(in);
      return;
    case FrameType::kOneWayMessage:
      in.Skip(4);
      frame.body = in.Rest();
      return;
    case FrameType::kUploadStream:
      frame.id = in.I64();
      frame.body = TakeBlob(in);
      frame.following_bytes = in.I64();
      return;
    case FrameType::kMergedBlockMetaRequest:
      frame.id = in.I64();
      frame.text = TakeBlob(in);
      frame.shuffle_id = in.I32();
      frame.shuffle_merge_id = in.I32();
      frame.reduce_id = in.I32();
      return;
    case FrameType::kMergedBlockMetaSuccess:
      frame.id = in.I64();
      frame.num_chunks = in.I32();
      frame.body = in.Rest();
      return;
  }
  in.Fail();
}

}  // namespace

std::string_view EnumName(FrameType type) {
  const auto index = static_cast<size_t>(static_cast<uint8_t>(type));
  return index < kNames.size() ? kNames[index] : "unknown";
}

base::Result<Frame> DecodeFrame(std::string_view payload) {
  base::Budget budget(kFrameKind, payload.size());
  ByteReader in(payload, budget);
  const uint8_t type = in.U8();
  if (in.failed()) return base::Error{"empty frame"};
  if (type >= kNames.size()) return base::Error{"Unknown message type: " + std::to_string(static_cast<int8_t>(type))};
  Frame frame;
  frame.type = static_cast<FrameType>(type);
  ReadFields(in, frame);
  if (in.failed()) return base::Error{std::string(EnumName(frame.type)) + " too short for its fields"};
  return frame;
}

void AppendChunkFetchRequest(std::string& out, int64_t stream_id, int32_t chunk_index) {
  ByteWriter writer = Begin(out, FrameType::kChunkFetchRequest, 12);
  writer.I64(stream_id);
  writer.I32(chunk_index);
}

void AppendChunkFetchSuccessHeader(std::string& out, int64_t stream_id, int32_t chunk_index, int64_t body_bytes) {
  ByteWriter writer = Begin(out, FrameType::kChunkFetchSuccess, 12 + body_bytes);
  writer.I64(stream_id);
  writer.I32(chunk_index);
}

void AppendChunkFetchFailure(std::string& out, int64_t stream_id, int32_t chunk_index, std::string_view error) {
  ByteWriter writer = Begin(out, FrameType::kChunkFetchFailure, static_cast<int64_t>(16 + error.size()));
  writer.I64(stream_id);
  writer.I32(chunk_index);
  PutBlob(writer, error);
}

void AppendRpcRequest(std::string& out, int64_t request_id, std::string_view body) {
  ByteWriter writer = Begin(out, FrameType::kRpcRequest, static_cast<int64_t>(12 + body.size()));
  writer.I64(request_id);
  PutBlob(writer, body);
}

void AppendRpcResponse(std::string& out, int64_t request_id, std::string_view body) {
  ByteWriter writer = Begin(out, FrameType::kRpcResponse, static_cast<int64_t>(12 + body.size()));
  writer.I64(request_id);
  PutBlob(writer, body);
}

void AppendRpcFailure(std::string& out, int64_t request_id, std::string_view error) {
  ByteWriter writer = Begin(out, FrameType::kRpcFailure, static_cast<int64_t>(12 + error.size()));
  writer.I64(request_id);
  PutBlob(writer, error);
}

void AppendStreamRequest(std::string& out, std::string_view stream_id) {
  ByteWriter writer = Begin(out, FrameType::kStreamRequest, static_cast<int64_t>(4 + stream_id.size()));
  PutBlob(writer, stream_id);
}

void AppendStreamResponse(std::string& out, std::string_view stream_id, int64_t byte_count) {
  ByteWriter writer = Begin(out, FrameType::kStreamResponse, static_cast<int64_t>(12 + stream_id.size()));
  PutBlob(writer, stream_id);
  writer.I64(byte_count);
}

void AppendStreamFailure(std::string& out, std::string_view stream_id, std::string_view error) {
  ByteWriter writer = Begin(out, FrameType::kStreamFailure, static_cast<int64_t>(8 + stream_id.size() + error.size()));
  PutBlob(writer, stream_id);
  PutBlob(writer, error);
}

void AppendOneWayMessage(std::string& out, std::string_view body) {
  ByteWriter writer = Begin(out, FrameType::kOneWayMessage, static_cast<int64_t>(4 + body.size()));
  PutBlob(writer, body);
}

void AppendUploadStream(std::string& out, int64_t request_id, std::string_view meta, int64_t byte_count) {
  ByteWriter writer = Begin(out, FrameType::kUploadStream, static_cast<int64_t>(20 + meta.size()));
  writer.I64(request_id);
  PutBlob(writer, meta);
  writer.I64(byte_count);
}

void AppendMergedBlockMetaRequest(std::string& out, int64_t request_id, std::string_view app_id, int32_t shuffle_id,
                                  int32_t shuffle_merge_id, int32_t reduce_id) {
  ByteWriter writer = Begin(out, FrameType::kMergedBlockMetaRequest, static_cast<int64_t>(24 + app_id.size()));
  writer.I64(request_id);
  PutBlob(writer, app_id);
  writer.I32(shuffle_id);
  writer.I32(shuffle_merge_id);
  writer.I32(reduce_id);
}

void AppendMergedBlockMetaSuccess(std::string& out, int64_t request_id, int32_t num_chunks, std::string_view bitmaps) {
  ByteWriter writer = Begin(out, FrameType::kMergedBlockMetaSuccess, static_cast<int64_t>(12 + bitmaps.size()));
  writer.I64(request_id);
  writer.I32(num_chunks);
  writer.Bytes(bitmaps);
}

void FrameReader::Feed(std::string_view bytes) {
  FL_CHECK(view_.empty(), "Feed() before Next() asked for more");
  from_pending_ = !pending_.empty();
  if (from_pending_) {
    pending_.append(bytes);
    view_ = pending_;
  } else {
    view_ = bytes;
  }
}

FrameReader::Outcome FrameReader::Next() {
  if (!error_.empty()) return Outcome::kError;
  if (raw_left_ > 0) {
    if (view_.empty()) return NeedMore();
    raw_ = view_.substr(0, static_cast<size_t>(raw_left_ < INT32_MAX ? raw_left_ : INT32_MAX));
    view_.remove_prefix(raw_.size());
    raw_left_ -= static_cast<int64_t>(raw_.size());
    return Outcome::kRaw;
  }
  if (view_.size() < kLengthBytes) return NeedMore();
  const int64_t payload = static_cast<int64_t>(static_cast<uint64_t>(base::BigEndian<int64_t>(view_)) -
                                               static_cast<uint64_t>(kLengthBytes));
  if (payload >= kPayloadLimit) return Fail("Too large frame: " + std::to_string(payload));
  if (payload <= 0) return Fail("Frame length should be positive: " + std::to_string(payload));
  if (static_cast<int64_t>(view_.size() - kLengthBytes) < payload) return NeedMore();
  const auto decoded = DecodeFrame(view_.substr(kLengthBytes, static_cast<size_t>(payload)));
  if (!decoded) return Fail(decoded.error().message);
  view_.remove_prefix(kLengthBytes + static_cast<size_t>(payload));
  frame_ = *decoded;
  raw_left_ = frame_.following_bytes > 0 ? frame_.following_bytes : 0;
  return Outcome::kFrame;
}

/// Keeps what is left for the next Feed().
FrameReader::Outcome FrameReader::NeedMore() {
  if (view_.size() > buffered_bytes_max_)
    return Fail("frame longer than the limit of " + std::to_string(buffered_bytes_max_));
  if (from_pending_) {
    pending_.erase(0, pending_.size() - view_.size());
  } else {
    pending_.assign(view_);
  }
  // Given back at once: whoever holds something is taken to be in the middle of a message.
  if (pending_.empty()) std::string().swap(pending_);
  view_ = {};
  return Outcome::kNeedMore;
}

void FrameReader::Hold() {
  if (from_pending_ || view_.empty()) return;
  pending_.assign(view_);
  view_ = pending_;
  from_pending_ = true;
}

FrameReader::Outcome FrameReader::Fail(std::string reason) {
  error_ = std::move(reason);
  view_ = {};
  return Outcome::kError;
}

}  // namespace fairlead::wire::spark_transport
