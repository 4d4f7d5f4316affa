#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "model/ids.h"

// What passes over nodes did, written down where somebody asked for it: Hadoop's scheduler activities
// (ActivitiesManager, NodeAllocation, AllocationActivity). It changes no decision, and is no part of any state.

namespace fairlead::scheduler {

enum class ActivityState : uint8_t { kAccepted, kSkipped, kRejected, kAllocated, kReserved, kReReserved };
enum class ActivityLevel : uint8_t { kQueue, kApp, kRequest, kNode };
enum class AttemptOutcome : uint8_t { kDefault, kSkipped, kAllocated, kAllocatedFromReserved, kReserved };
std::string_view EnumName(ActivityState state);
std::string_view EnumName(AttemptOutcome outcome);

/// One thing that was looked at, and what came of it.
struct Activity {
  ActivityLevel level = ActivityLevel::kQueue;
  std::string parent;  // the name of the thing above it
  std::string name;    // empty: none, as a node's
  ActivityState state = ActivityState::kSkipped;
  std::string diagnostic;
  int32_t priority = 0;    // of an application or a request
  int64_t request_id = 0;  // of a request
};

/// One attempt to give something of the node away.
struct PassAttempt {
  AttemptOutcome outcome = AttemptOutcome::kDefault;
  std::string container;             // that was granted or reserved
  std::vector<Activity> activities;  // what is below another comes before it
};

struct NodePass {
  uint64_t number = 0;  // of the passes that gave something to write, this one included
  model::NodeIndex node;
  base::Instant when;
  std::string partition;
  std::vector<PassAttempt> attempts;
};

/// Bounded in nodes that wait for their pass, in passes that are kept, and in what is written of one and of all: some 6
/// MiB. O(log nodes) for a pass that nobody asked for.
class PassRecords {
 public:
  static constexpr size_t kMostWatched = 10'000;
  static constexpr size_t kMostKept = 500;
  static constexpr size_t kMostActivities = 10'000;  // of a pass
  static constexpr size_t kMostInAll = 20'000;       // activities of the passes that are kept
  /// yarn.resourcemanager.activities-manager.scheduler-activities.ttl-ms
  static constexpr base::Duration kKeptFor = base::Duration::Seconds(600);

  // ---- For readers ----

  /// The node's next pass is written down; the next ones of any nodes that give something to write, up to kMostKept.
  void Watch(model::NodeIndex node);
  void WatchAny(size_t passes = 1) { any_ = std::max(any_, std::min(passes, kMostKept)); }
  /// The node's last pass that was written down, or that of any node; null: there is none.
  const NodePass* Find(model::NodeIndex node, base::Instant now) const;
  const NodePass* FindAny() const { return last_ ? &*last_ : nullptr; }
  /// How many passes gave something to write so far, and the later ones than `number` that are kept.
  uint64_t written() const { return written_; }
  std::vector<const NodePass*> After(uint64_t number) const;

  // ---- For the scheduler ----

  /// A pass over the node begins: whether it is written down.
  bool Begin(model::NodeIndex node);
  bool open() const { return open_.has_value(); }
  void Add(Activity activity);
  /// The attempt is over; what comes belongs to another.
  void Finish(AttemptOutcome outcome, std::string container);
  void End(base::Instant now, std::string partition);

 private:
  PassAttempt& Current();

  std::set<model::NodeIndex> watched_;
  size_t any_ = 0;  // passes over any nodes that are still to be written down
  uint64_t written_ = 0;
  std::optional<NodePass> open_;
  size_t activities_ = 0;  // of the open one
  std::optional<NodePass> last_;
  std::deque<NodePass> kept_;  // the latest last
  size_t kept_activities_ = 0;
};

}  // namespace fairlead::scheduler
