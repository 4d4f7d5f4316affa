#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "env/loop.h"
#include "wire/engine/messages.h"

namespace fairlead::engine {

/// Messages of an executor's threads on their way to the loop that sends them. A message that can wait is delivered
/// together with those that follow it within kWait, so that short tasks do not cost a turn of the loop each. That a
/// task has begun can wait longer: most are over before anybody could look.
class Outbox : public std::enable_shared_from_this<Outbox> {
 public:
  using Deliver = std::function<void(wire::engine::Message)>;
  static constexpr base::Duration kWait = base::Duration::Micros(200);
  static constexpr base::Duration kStartedWait = base::Duration::Millis(10);
  static constexpr size_t kMessagesMax = 64;

  Outbox(env::Loop& loop, Deliver deliver) : loop_(loop), deliver_(std::move(deliver)) {}

  /// From any thread. `more`: others will follow at once.
  void Send(wire::engine::Message message, bool more);
  /// On the loop's thread, before tasks go to the executor: their begin is told within kStartedWait, without waking
  /// the loop.
  void ExpectStarts();
  /// On the loop's thread: delivers what there is, and nothing afterwards.
  void Close();

 private:
  enum class Wake : uint8_t { kNone, kWaiting, kNow };
  void Flush();

  env::Loop& loop_;
  Deliver deliver_;
  std::mutex mutex_;
  std::vector<wire::engine::Message> messages_;
  Wake wake_ = Wake::kNone;
  bool starts_expected_ = false;  // a timer delivers them
};

}  // namespace fairlead::engine
