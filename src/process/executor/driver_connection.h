#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "wire/engine/messages.h"

namespace fairlead::process::executor {

/// An executor's connection to its driver: proves that it knows the application's secret, says hello, then carries
/// messages both ways. There is no second try: an executor that lost its driver ends. On the loop's thread.
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
  void End(const std::string& reason, bool orderly);
  void Flush();
  void PingLater();

  env::Loop& loop_;
  env::Net& net_;
  const std::string secret_;
  wire::engine::Hello hello_;
  Callbacks callbacks_;
  wire::engine::FrameParser parser_{wire::engine::kFrameMax};
  std::unique_ptr<env::Stream> stream_;
  bool welcomed_ = false;
  bool ended_ = false;
  bool flush_posted_ = false;
  std::string out_;
  base::Instant last_heard_;
  env::Timer ping_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::executor
