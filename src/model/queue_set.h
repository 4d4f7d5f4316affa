#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/access_list.h"
#include "model/queue_lifetimes.h"
#include "model/resources.h"

namespace fairlead::model {

struct QueueTree;

/// "root.a.b" of "a.b" and of "root.a.b".
std::string FullQueueName(std::string_view name);

/// What the manager, access lists, REST and pages know of the queues in use, whichever scheduler's file says it.
/// Computed once from the file when it comes into use; never changed after that, so that any thread may share it.
/// Names that are asked for may leave "root." out. Look-ups are O(depth log queues) where nothing else is said.
class QueueSet {
 public:
  struct Queue {
    std::string name;                      // full; the queue above: ParentOf
    std::optional<AccessList> submit;      // absent: those of the queues above alone
    std::optional<AccessList> administer;  // likewise
    std::optional<Resources> largest;      // container; INT64_MAX of a type that is not named
    std::vector<std::string> labels;       // of nodes that its applications may ask for; "*": all
    std::string default_label;             // that asks without one get
    // As the file has them, for pages alone.
    std::optional<int32_t> max_running_apps;
    std::optional<double> max_am_share;
    std::optional<int32_t> priority;
    std::optional<int64_t> start_time;  // milliseconds since 1970
    std::string priority_list = "*";    // acl_application_max_priority
  };

  /// O(queues log queues).
  explicit QueueSet(const QueueTree& file);

  /// In the order of the file.
  const std::vector<Queue>& all() const { return queues_; }
  /// The queue that is written under that name; nullptr: there is none. O(log queues).
  const Queue* Find(std::string_view name) const;
  /// The queue of that name, else the nearest above it that is written; nullptr: not even the root is.
  const Queue* Nearest(std::string_view name) const;
  /// By its full name or the last parts of it that no other queue has, else the nearest above. Cost: those with the
  /// same last part, too.
  const Queue* FindAbbreviated(const std::string& name) const;

  /// Is the user on the list of the queue or of one above it, to submit or to administer? Without a list the root is
  /// open to everybody and every other queue to nobody of its own (AllocationConfiguration.getQueueAcls). No
  /// administrator of the cluster is let in beyond these lists, as Hadoop's FairScheduler lets none in.
  bool Allows(std::string_view name, const std::string& user, const std::vector<std::string>& groups,
              bool administer) const;
  /// For each type the smaller of `maximum` and what the nearest queue that sets a largest container has
  /// (FairScheduler.getMaximumResourceCapability, FSQueue.getMaximumContainerAllocation). What a file says in per cent
  /// of the cluster is for the profile, which knows what that means. O(1) when no queue sets any.
  Resources Within(Resources maximum, std::string_view name) const;
  /// O(depth log paths) when the file says anything of lifetimes, else O(1).
  QueueLifetimes LifetimesOf(std::string_view name) const;

  /// The lists hold whatever yarn.acl.enable says (FairScheduler.addApplication); false: only with it
  /// (CapacityScheduler).
  bool lists_always_hold() const { return lists_always_hold_; }
  /// Applications may have a priority below 0 (CapacityScheduler).
  bool negative_priorities() const { return negative_priorities_; }

 private:
  std::vector<Queue> queues_;
  std::vector<uint32_t> by_name_;                               // places in queues_, sorted
  std::vector<uint32_t> by_last_part_;                          // of the name; likewise
  std::map<std::string, LifetimeKeys, std::less<>> lifetimes_;  // by path; empty: the file has no such key
  bool any_largest_ = false;
  bool lists_always_hold_ = true;
  bool negative_priorities_ = false;
};

}  // namespace fairlead::model
