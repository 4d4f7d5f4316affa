#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "base/hash.h"
#include "base/time.h"

namespace fairlead::nm {

/// When to speak to the resource manager (Hadoop: NodeStatusUpdaterImpl): register until it answers, then a heartbeat
/// every interval, and at once when there is news. At most one call is under way; a failed one is repeated with a
/// growing delay, a heartbeat with its old response id, so that the resource manager can tell a retry from news.
class RmLink {
 public:
  enum class State : uint8_t { kIdle, kRegister, kBeat, kStopped };

  RmLink(base::Duration interval, base::Duration retry_first, base::Duration retry_max)
      : interval_(interval), retry_first_(retry_first), retry_max_(retry_max), retry_(retry_first) {}

  /// Registration is due now (start, resync).
  void BeginRegistration(base::Instant now) {
    state_ = State::kRegister;
    due_ = now;
    response_id_ = 0;
    registered_ = false;
  }
  /// There is news: the next heartbeat is due now; while one is under way, right after it.
  void Nudge(base::Instant now) {
    news_ = true;
    if (state_ == State::kBeat && !under_way_ && failures_ == 0) due_ = now;
  }
  /// What to send now, if anything; the caller sends it.
  State Take(base::Instant now) {
    if (under_way_ || due_ > now || state_ == State::kIdle || state_ == State::kStopped) return State::kIdle;
    under_way_ = true;
    news_ = false;
    return state_;
  }
  /// `identifier`: of the resource manager that answered.
  void OnRegistered(base::Instant now, int64_t identifier) {
    under_way_ = false;
    failures_ = 0;
    retry_ = retry_first_;
    registered_ = ever_registered_ = true;
    rm_identifier_ = identifier;
    state_ = State::kBeat;
    response_id_ = 0;
    due_ = now;
  }
  void OnAnswered(base::Instant now, int32_t response_id, base::Duration interval) {
    under_way_ = false;
    failures_ = 0;
    retry_ = retry_first_;
    response_id_ = response_id;
    if (interval.ns > 0) interval_ = interval;
    due_ = news_ ? now : now + interval_;
  }
  void OnFailed(base::Instant now) {
    under_way_ = false;
    ++failures_;
    due_ = now + retry_;
    retry_ = std::min(retry_ * 2, retry_max_);
  }
  void Stop() { state_ = State::kStopped; }

  base::Instant NextDeadline() const {
    const bool quiet = under_way_ || state_ == State::kIdle || state_ == State::kStopped;
    return quiet ? base::Instant::Max() : due_;
  }
  State state() const { return state_; }
  bool registered() const { return registered_; }
  bool ever_registered() const { return ever_registered_; }
  int64_t rm_identifier() const { return rm_identifier_; }
  bool under_way() const { return under_way_; }
  int32_t response_id() const { return response_id_; }

  void HashInto(base::StateHasher& hasher) const {
    hasher.Mix(static_cast<uint64_t>(state_));
    hasher.Mix(static_cast<uint64_t>(due_.ns));
    hasher.Mix(static_cast<uint64_t>(response_id_));
    hasher.Mix(static_cast<uint64_t>(failures_) * 8 + under_way_ * 4u + news_ * 2u + registered_);
    hasher.Mix(static_cast<uint64_t>(interval_.ns));
    hasher.Mix(static_cast<uint64_t>(rm_identifier_));
  }

 private:
  base::Duration interval_;
  base::Duration retry_first_;
  base::Duration retry_max_;
  base::Duration retry_;
  State state_ = State::kIdle;
  base::Instant due_;
  int32_t response_id_ = 0;
  int64_t failures_ = 0;
  bool under_way_ = false;
  bool news_ = false;
  bool registered_ = false;
  bool ever_registered_ = false;
  int64_t rm_identifier_ = 0;
};

}  // namespace fairlead::nm
