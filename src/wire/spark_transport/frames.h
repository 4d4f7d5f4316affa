#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

// Spark's transport frames (org.apache.spark.network.protocol, equal in Spark 3.5 and 4.x):
//   int64 length, counting itself | int8 type | header of that type | [body in the frame]
// StreamResponse and UploadStream announce bytes that follow outside of any frame. All numbers are big-endian.

namespace fairlead::wire::spark_transport {

enum class FrameType : int8_t {
  kChunkFetchRequest = 0,
  kChunkFetchSuccess = 1,
  kChunkFetchFailure = 2,
  kRpcRequest = 3,
  kRpcResponse = 4,
  kRpcFailure = 5,
  kStreamRequest = 6,
  kStreamResponse = 7,
  kStreamFailure = 8,
  kOneWayMessage = 9,
  kUploadStream = 10,
  kMergedBlockMetaRequest = 11,
  kMergedBlockMetaSuccess = 12,
};
/// Spark's class name, "RpcRequest".
std::string_view EnumName(FrameType type);

/// Bytes of the length field that begins a frame; it counts itself.
inline constexpr size_t kLengthBytes = 8;
/// TransportFrameDecoder takes payloads (type byte, header, body) below this.
inline constexpr int64_t kPayloadLimit = INT32_MAX;

/// One decoded frame. Views point into the reader's input and live until the next call of it. Fields that the type
/// does not have are zero.
struct Frame {
  FrameType type = FrameType::kRpcRequest;
  int64_t id = 0;                // streamId of chunk frames, requestId otherwise
  int32_t chunk_index = 0;       // of chunk frames
  std::string_view text;         // error of a failure; streamId of stream frames; appId of MergedBlockMetaRequest
  std::string_view error;        // of StreamFailure
  std::string_view body;         // in-frame body; meta of UploadStream
  int64_t following_bytes = 0;   // of StreamResponse and UploadStream: raw bytes after the frame; not checked
  int32_t shuffle_id = 0;        // of MergedBlockMetaRequest
  int32_t shuffle_merge_id = 0;  // of MergedBlockMetaRequest
  int32_t reduce_id = 0;         // of MergedBlockMetaRequest
  int32_t num_chunks = 0;        // of MergedBlockMetaSuccess
};

/// Decodes a payload (from the type byte on). Fails for an unknown type and for one too short for its fields; the
/// receiver must then close the connection.
base::Result<Frame> DecodeFrame(std::string_view payload);

// ---- encoders: append one frame (or what precedes its body) to `out`
// -------------------------------------------------

void AppendChunkFetchRequest(std::string& out, int64_t stream_id, int32_t chunk_index);
/// The frame up to its body; exactly `body_bytes` (below kPayloadLimit - 13) must follow.
void AppendChunkFetchSuccessHeader(std::string& out, int64_t stream_id, int32_t chunk_index, int64_t body_bytes);
/// Bytes that AppendChunkFetchSuccessHeader appends.
inline constexpr size_t kChunkFetchSuccessHeaderBytes = 21;
void AppendChunkFetchFailure(std::string& out, int64_t stream_id, int32_t chunk_index, std::string_view error);
void AppendRpcRequest(std::string& out, int64_t request_id, std::string_view body);
void AppendRpcResponse(std::string& out, int64_t request_id, std::string_view body);
void AppendRpcFailure(std::string& out, int64_t request_id, std::string_view error);
void AppendStreamRequest(std::string& out, std::string_view stream_id);
/// The frame; exactly `byte_count` raw bytes must follow it.
void AppendStreamResponse(std::string& out, std::string_view stream_id, int64_t byte_count);
void AppendStreamFailure(std::string& out, std::string_view stream_id, std::string_view error);
void AppendOneWayMessage(std::string& out, std::string_view body);
/// The frame; exactly `byte_count` raw bytes must follow it.
void AppendUploadStream(std::string& out, int64_t request_id, std::string_view meta, int64_t byte_count);
void AppendMergedBlockMetaRequest(std::string& out, int64_t request_id, std::string_view app_id, int32_t shuffle_id,
                                  int32_t shuffle_merge_id, int32_t reduce_id);
void AppendMergedBlockMetaSuccess(std::string& out, int64_t request_id, int32_t num_chunks, std::string_view bitmaps);

// ---- reader --------------------------------------------------------------------------------------------------------

/// Cuts a byte stream into frames and the raw bytes between them (TransportFrameDecoder). Memory: what is left of one
/// incomplete frame, at most `buffered_bytes_max`; an announced length alone reserves nothing.
class FrameReader {
 public:
  /// `buffered_bytes_max`: a frame longer than this fails once that much of it has arrived.
  explicit FrameReader(size_t buffered_bytes_max) : buffered_bytes_max_(buffered_bytes_max) {}

  /// Gives the next bytes of the stream; they must stay valid until Next() has returned kNeedMore or kError.
  void Feed(std::string_view bytes);

  enum class Outcome : uint8_t {
    kNeedMore,  // Feed() more
    kFrame,     // `frame` is set
    kRaw,       // `raw` is set: the next of the following_bytes of the last frame that announced some
    kError,     // not a stream of frames; close the connection
  };
  Outcome Next();

  /// Keeps what Feed() was given and Next() has not read, so that the bytes may go; Next() goes on where it was.
  void Hold();
  /// The bytes that the last frame announced are not coming: what follows is read as frames.
  void IgnoreFollowing() { raw_left_ = 0; }

  const Frame& frame() const { return frame_; }
  std::string_view raw() const { return raw_; }
  /// Raw bytes still to come after the last kRaw (or kFrame).
  int64_t raw_left() const { return raw_left_; }
  const std::string& error() const { return error_; }
  /// Nothing has come behind what Next() gave last. Leaves alone what frame() points to.
  bool at_end() const { return view_.empty(); }
  /// Bytes held because their frame is not complete.
  size_t buffered_bytes() const { return pending_.size(); }
  /// Memory taken for them.
  size_t held_bytes() const { return pending_.empty() ? 0 : pending_.capacity(); }

 private:
  Outcome NeedMore();
  Outcome Fail(std::string reason);

  const size_t buffered_bytes_max_;
  std::string pending_;        // begin of an incomplete frame
  bool from_pending_ = false;  // view_ points into pending_
  std::string_view view_;      // not yet read
  int64_t raw_left_ = 0;
  Frame frame_;
  std::string_view raw_;
  std::string error_;
};

}  // namespace fairlead::wire::spark_transport
