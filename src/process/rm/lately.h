#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/ids.h"
#include "model/resources.h"
#include "model/rm.h"
#include "model/scheduler.h"
#include "process/rm/queue_counters.h"
#include "rm/core.h"

namespace fairlead::process::rm {

/// What happened, for people: one thing the scheduler, a node, an application or an operator did.
enum class HappeningKind : uint8_t {
  kGranted,    // a container was granted
  kHeld,       // room on a node is held for a container that does not fit yet
  kReleased,   // such room is given up
  kEnded,      // a container's part in the books is over; `exit_status` says how
  kPreempted,  // a container was taken back
  kNotice,     // its application was told that it will be
  kRefused,    // a call to the scheduler was refused
  kState,      // an application, attempt or node is in another state
  kAction,     // an operator did something
};
inline constexpr size_t kHappeningKinds = 9;
/// "granted", "held", ...
std::string_view EnumName(HappeningKind kind);

struct Happening {
  uint64_t number = 0;  // grows by one with each
  base::WallTime at;
  HappeningKind kind = HappeningKind::kGranted;
  model::ApplicationId app;  // number 0: of none
  std::string queue;         // full name; empty: of none
  std::string node;          // HOST:PORT; empty: of none
  std::string http_address;  // of that node
  model::ContainerId container;
  model::Resources size;
  int32_t exit_status = 0;
  std::string detail;
};

/// The last happenings of each kind, for REST: a bounded ring a kind, so that a flood of grants leaves the preemptions
/// of yesterday. Nothing is decided by it and nothing of it is stored.
class Lately {
 public:
  static constexpr size_t kMostOfAKind = 4096;

  void Add(Happening happening);
  /// What the scheduler decided in one step, before the rm core has worked on it.
  void Record(base::WallTime at, const fairlead::rm::Core& core, std::span<const model::scheduler::Effect> effects);
  void Record(base::WallTime at, const fairlead::rm::Core& core, const model::rm::StateChanged& change);

  struct Filter {
    model::ApplicationId app;  // number 0: all
    std::string_view queue;    // with all below it; empty: all
    std::string_view node;
    std::string_view kind;
    uint64_t after = 0;  // only later ones
  };
  /// The newest first, at most `most` of those that `told` lets pass (empty: all). Cost: a filter that passes all,
  /// `most` of each kind; else all that is kept.
  using Told = std::function<bool(const Happening&)>;
  std::vector<const Happening*> Find(const Filter& filter, size_t most, const Told& told = nullptr) const;
  /// How many of a kind there have been since the start.
  uint64_t Count(HappeningKind kind) const { return counts_[static_cast<size_t>(kind)]; }
  const QueueCounters& queues() const { return queues_; }

 private:
  std::array<std::deque<Happening>, kHappeningKinds> kept_;
  std::array<uint64_t, kHappeningKinds> counts_{};
  uint64_t last_ = 0;
  QueueCounters queues_;
};

}  // namespace fairlead::process::rm
