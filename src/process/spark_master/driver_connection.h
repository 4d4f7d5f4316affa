#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "endpoints/spark/driver_messages.h"
#include "env/net.h"
#include "wire/spark_transport/frames.h"

namespace fairlead::process::spark_master {

/// One connection of a driver (or of whoever calls): bytes to messages and back. Whatever does not belong to Spark's
/// RPC ends it.
class DriverConnection final : private env::StreamHandler {
 public:
  /// A longer frame is refused; a registration is some kilobytes and its class path and options.
  static constexpr size_t kFrameBytesMax = 1 << 20;
  /// A peer that takes no answers is cut off.
  static constexpr size_t kUnsentBytesMax = 1 << 20;

  struct Callbacks {
    /// `request`: of an ask, to be answered by Reply or Refuse.
    std::function<void(endpoints::spark::DriverMessage message, std::optional<int64_t> request)> on_message;
    /// After bytes came, of which part may be held.
    std::function<void()> on_bytes;
    /// Called once, at last; `reason` is empty when the peer ended it in order.
    std::function<void(const std::string& reason)> on_closed;
  };

  explicit DriverConnection(std::unique_ptr<env::Stream> stream) : stream_(std::move(stream)) {}

  void Start(Callbacks callbacks);
  /// A one-way message for an endpoint of the peer.
  void Send(const endpoints::spark::RpcMessage& message);
  void Reply(int64_t request, const std::string& content);
  void Refuse(int64_t request, const std::string& why);
  /// Sends what is queued and ends the connection; on_closed is called later.
  void Close(const std::string& reason);

  std::string peer() const { return stream_->peer().ToString(); }
  std::string address() const { return stream_->peer().host; }
  /// Bytes in memory: of a message that is not whole, and of answers that are not taken.
  size_t held_bytes() const { return reader_.buffered_bytes() + stream_->unsent(); }
  /// Messages that were whole.
  uint64_t messages() const { return messages_; }

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnFrame(const wire::spark_transport::Frame& frame);
  void Write(std::string bytes);

  std::unique_ptr<env::Stream> stream_;
  Callbacks callbacks_;
  wire::spark_transport::FrameReader reader_{kFrameBytesMax};
  uint64_t messages_ = 0;
  bool closed_ = false;
};

}  // namespace fairlead::process::spark_master
