#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

// Framing of Hadoop IPC version 9 (org.apache.hadoop.ipc.Server and Client): preamble, frames of a 32-bit big-endian
// length, varint-delimited messages inside.

namespace fairlead::wire::hadoop_rpc {

inline constexpr uint8_t kIpcVersion = 9;
inline constexpr size_t kPreambleBytes = 7;
inline constexpr uint8_t kAuthNone = 0x00;
inline constexpr uint8_t kAuthSasl = 0xDF;  // -33

/// Call ids that are no calls.
inline constexpr int32_t kCallIdAuthFailed = -1;
inline constexpr int32_t kCallIdInvalid = -2;
inline constexpr int32_t kCallIdContext = -3;
inline constexpr int32_t kCallIdPing = -4;
inline constexpr int32_t kCallIdSasl = -33;

/// The seven bytes a client begins with.
std::string EncodePreamble(uint8_t auth);

/// The answer to "GET " on an IPC port, as Hadoop gives it.
extern const std::string_view kHttpAnswer;

/// Cuts a byte stream into frames. A frame longer than the limit is refused by its length alone, before a byte of it is
/// kept; memory never exceeds what has really arrived.
class FrameReader {
 public:
  explicit FrameReader(size_t frame_bytes_max) : max_(frame_bytes_max) {}

  void set_max(size_t frame_bytes_max) { max_ = frame_bytes_max; }
  /// Takes bytes; `views` into them are given by Next() until the next Push. Whole frames are not copied.
  void Push(std::string_view bytes);
  /// The next whole frame (without its length), or nothing yet.
  std::optional<std::string_view> Next();
  /// To be called when Next() has given nothing: keeps the rest for the next Push.
  void Keep();
  /// The announced length is negative or above the limit; reading cannot go on.
  bool failed() const { return failed_; }
  /// The length that was refused.
  int32_t refused_length() const { return refused_length_; }
  /// A frame of which only a part has come: its whole length, and that part.
  struct Begun {
    size_t length = 0;
    std::string_view part;
  };
  /// After Next() has given nothing; nothing when not even the length is there.
  std::optional<Begun> begun() const;
  /// Drops the frame that has begun, with all that is still to come of it.
  void SkipBegun();
  /// Part of a frame waits for its rest.
  bool partial() const { return !kept_.empty(); }
  /// What waits begins with a whole frame, or with a length that will be refused.
  bool ready() const;
  /// Memory kept for it.
  size_t kept_bytes() const { return kept_.capacity(); }

 private:
  size_t max_;
  std::string kept_;        // an incomplete frame
  std::string_view input_;  // not yet cut
  size_t skipped_ = 0;      // bytes that are still to come of a frame that is dropped
  bool from_kept_ = false;
  bool failed_ = false;
  int32_t refused_length_ = 0;
};

/// Takes one varint-delimited message off the front of `bytes`; nothing when it is cut short.
std::optional<std::string_view> TakeDelimited(std::string_view& bytes);

void AppendDelimited(std::string& out, std::string_view bytes);

/// A frame being written: reserves the length, Finish() fills it in.
class FrameWriter {
 public:
  explicit FrameWriter(std::string& out) : out_(out), start_(out.size()) { out_.append(4, '\0'); }
  /// Appends a message after its own length as a varint.
  template <class Message>
  void Delimited(const Message& message) {
    scratch_.clear();
    message.AppendTo(scratch_);
    AppendDelimited(out_, scratch_);
  }
  void DelimitedBytes(std::string_view bytes) { AppendDelimited(out_, bytes); }
  void Finish();

 private:
  std::string& out_;
  size_t start_;
  std::string scratch_;
};

}  // namespace fairlead::wire::hadoop_rpc
