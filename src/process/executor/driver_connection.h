#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "wire/engine/channel.h"
#include "wire/engine/messages.h"

namespace fairlead::process::executor {

/// An executor's connection to its driver: each shows the other that it knows the application's secret, then sealed
/// messages go both ways (wire/engine/channel.h). Nothing that a driver says before is taken for an order. An
/// executor that lost its driver ends; one that never reached it tries for a while, in which its node ends it if its
/// application is over. On the loop's thread.
class DriverConnection : private env::StreamHandler {
 public:
  struct Callbacks {
    std::function<void(const wire::engine::Welcome&)> on_welcome;
    std::function<void(wire::engine::Message)> on_message;
    /// Once: refused, cut, or the driver said goodbye (`orderly`).
    std::function<void(const std::string& reason, bool orderly)> on_end;
  };
  DriverConnection(env::Loop& loop, env::Net& net, std::string secret, wire::engine::Hello hello, Callbacks callbacks);
  ~DriverConnection() override;

  void Connect(const env::Endpoint& driver);
  /// Messages of one turn of the loop leave in one write.
  void Send(const wire::engine::Message& message);

 private:
  void OnData(std::string_view bytes) override;
  void OnClosed(const std::string& reason) override;
  void OnMessage(wire::engine::Message& message);
  /// What comes before the driver is known.
  void OnStrangersMessage(const wire::engine::Message& message);
  void SayHello(const std::string& nonce);
  void OnKnown(const std::string& proof);
  void OnNotReached(const env::Endpoint& driver, const std::string& why);
  void End(const std::string& reason, bool orderly);
  void Flush();
  void PingLater();

  env::Loop& loop_;
  env::Net& net_;
  const std::string secret_;
  wire::engine::Hello hello_;
  std::string driver_nonce_;                    // empty until the challenge
  std::optional<wire::engine::Sealer> sealer_;  // both from when the driver is known
  std::optional<wire::engine::Opener> opener_;
  Callbacks callbacks_;
  wire::engine::FrameParser parser_{wire::engine::kFrameMaxUnknownPeer};
  std::unique_ptr<env::Stream> stream_;
  bool welcomed_ = false;
  bool ended_ = false;
  bool flush_posted_ = false;
  std::string out_;
  base::Instant last_heard_;
  std::optional<base::Instant> tried_since_;
  env::Timer ping_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::executor
