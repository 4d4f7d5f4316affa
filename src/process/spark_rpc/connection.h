#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "endpoints/spark/rpc_message.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/spark_rpc/security.h"
#include "wire/java_stream/graph.h"
#include "wire/spark_transport/cipher.h"
#include "wire/spark_transport/frames.h"
#include "wire/spark_transport/handshake.h"

namespace fairlead::process::spark_rpc {

/// A message that came: the object, and what its envelope says.
struct Incoming {
  std::string endpoint;
  std::optional<endpoints::spark::RpcAddress> sender;
  wire::java_stream::Graph content;
  std::optional<int64_t> request;  // of an ask, to be answered by Reply or Refuse
  size_t bytes = 0;                // of the content, as it came
};

/// One connection of Spark's RPC (org.apache.spark.rpc.netty.NettyRpcEnv): bytes to messages and back, both ways.
/// Whatever does not belong to it ends it.
class Connection final : private env::StreamHandler {
 public:
  /// A longer frame is refused; a registration is some kilobytes and its class path and options.
  static constexpr size_t kFrameBytesMax = 1 << 20;
  /// A peer that takes no answers is cut off.
  static constexpr size_t kUnsentBytesMax = 1 << 20;

  struct Callbacks {
    std::function<void(Incoming message)> on_message;
    /// After bytes came; part of them may be held.
    std::function<void()> on_bytes;
    /// Called once, at last; `reason` is empty when the peer ended it in order.
    std::function<void(const std::string& reason)> on_closed;
  };
  using Answer = std::function<void(base::Result<wire::java_stream::Graph>)>;

  enum class Side : uint8_t { kDialled, kDials };
  /// `security` and `loop`, whose randomness is for keys, outlive it. What is sent before both sides have shown that
  /// they have the secret waits for that.
  Connection(std::unique_ptr<env::Stream> stream, env::Loop& loop, const Security& security, Side side);

  void Start(Callbacks callbacks);
  /// A one-way message for an endpoint of the peer.
  void Send(const endpoints::spark::RpcMessage& message);
  /// `done` gets the peer's answer, or an error where it refuses; it is not called when the connection ends first.
  void Ask(const endpoints::spark::RpcMessage& message, Answer done);
  void Reply(int64_t request, const std::string& content);
  void Refuse(int64_t request, const std::string& why);
  /// Sends what is queued and ends the connection; on_closed is called before this returns.
  void Close(const std::string& reason);

  std::string peer() const { return stream_->peer().ToString(); }
  std::string address() const { return stream_->peer().host; }
  /// Bytes in memory: of a message that is not whole, and of answers that are not taken.
  size_t held_bytes() const { return reader_.held_bytes() + held_.size() + stream_->unsent(); }
  /// Messages that were whole.
  uint64_t messages() const { return messages_; }
  /// Whether it was this side that ended it, with a reason: the peer is not served.
  bool refused() const { return refused_; }
  /// Whether the peer has tried to show that it has the secret, and has not. It may be the peer that ended it then.
  bool login_refused() const { return server_ != nullptr && !refusal_.empty(); }

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnFrame(const wire::spark_transport::Frame& frame);
  void OnAnswer(const wire::spark_transport::Frame& frame);
  void OnHandshakeRequest(const wire::spark_transport::Frame& frame);
  void OnHandshakeAnswer(const wire::spark_transport::Frame& frame);
  void AskHandshake(std::string_view body);
  void OnAuthenticated(std::unique_ptr<wire::spark_transport::ChannelCipher> cipher);
  bool handshaking() const { return server_ != nullptr || client_ != nullptr; }
  void Write(std::string bytes);
  void WriteNow(std::string bytes);

  std::unique_ptr<env::Stream> stream_;
  Callbacks callbacks_;
  wire::spark_transport::FrameReader reader_{kFrameBytesMax};
  std::unique_ptr<wire::spark_transport::ServerHandshake> server_;  // until the secret is shown
  std::unique_ptr<wire::spark_transport::ClientHandshake> client_;  // likewise
  std::string held_;                                                // to be sent then
  std::string refusal_;                                             // why a handshake failed
  std::unique_ptr<wire::spark_transport::ChannelCipher> cipher_;
  std::string decrypted_;
  std::map<int64_t, Answer> asked_;
  int64_t last_request_ = 0;
  int64_t handshake_request_ = 0;
  uint64_t messages_ = 0;
  bool closed_ = false;
  bool refused_ = false;
};

}  // namespace fairlead::process::spark_rpc
