#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "model/nm.h"
#include "nm/config.h"
#include "nm/links.h"

namespace fairlead::nm {

/// What the resource manager is to hear once: it waits, is in the call under way, or was heard. A call that fails is
/// repeated, so that what was in it is sent again.
class News {
 public:
  void Arise() { state_ = State::kWaits; }
  /// Whether it belongs into the call that is sent now; it does not go where `may_go` is false.
  bool Send(bool may_go = true) {
    if (state_ == State::kNone || state_ == State::kHeard) return false;
    state_ = may_go ? State::kUnderWay : State::kWaits;
    return may_go;
  }
  /// The call under way was answered; whether this was in it.
  bool Answered() {
    if (state_ != State::kUnderWay) return false;
    state_ = State::kHeard;
    return true;
  }
  /// It need not be said any more.
  void Drop() { state_ = State::kNone; }
  bool heard() const { return state_ == State::kHeard; }
  uint64_t Hash() const { return static_cast<uint64_t>(state_); }

 private:
  enum class State : uint8_t { kNone, kWaits, kUnderWay, kHeard };
  State state_ = State::kNone;
};

/// A container on this node (Hadoop: ContainerImpl).
struct Container {
  model::nm::ContainerRecord record;
  model::nm::ContainerState state = model::nm::ContainerState::kNew;
  Links links;
  bool attaching = false;  // what an earlier run of the agent left of it is looked for
  bool services_told = false;
  News end;                       // for the resource manager
  News increase;                  // of its size by its master
  bool forget_when_told = false;  // of its end
  int64_t pid = 0;
  base::Instant kill_at = base::Instant::Max();
  base::Instant relaunch_at = base::Instant::Max();
  std::vector<base::WallTime> relaunch_times;
  model::nm::ContainerUsage usage;
  bool measured_anew = false;  // since the last heartbeat

  model::nm::ContainerReport Report() const;
  /// Appends to its diagnostics; their last `bytes_max` stay.
  void Say(const std::string& text, base::WallTime wall, size_t bytes_max);
  /// Says how its process ended, in the pieces that ContainerLaunch adds one after the other, each with its time.
  void SayExit(const model::nm::ContainerExited& event, base::WallTime wall, size_t bytes_max);
  /// Whether its retry policy starts it again after this exit code; then that counts.
  bool TakeRelaunch(int32_t exit_code, base::WallTime wall);
  int64_t PhysicalLimit() const { return record.spec.resources.memory_mib() << 20; }
  int64_t VirtualLimit(double ratio) const {
    return static_cast<int64_t>(static_cast<double>(PhysicalLimit()) * ratio);
  }
  /// The exit status with which it is to be killed when it uses more memory than it may.
  std::optional<int32_t> OverLimit(const Config& config) const;
};

// Hadoop's words for diagnostics.

/// "signal 11 (SIGSEGV)", of an exit code as shells and supervisors give it; "" for others. Numbers are Linux's.
std::string SignalOf(int32_t exit_code);
/// ProcfsBasedProcessTree's words. Where the kernel held the limit nothing was ever beyond it, and a container that
/// ended before it was measured has no known virtual size: what is not known is not said.
std::string OverLimitText(const Container& container, int64_t pid, bool is_virtual, int64_t physical,
                          double virtual_ratio);
/// What ResourceLocalizationService makes of a failure: its localizer of PUBLIC resources puts words around it.
std::string FailureText(const ResourceCache::Entry* entry, const model::nm::ResourceFetched& event, base::Instant now);

}  // namespace fairlead::nm
