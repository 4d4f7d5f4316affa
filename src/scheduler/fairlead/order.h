#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "scheduler/books/books.h"
#include "scheduler/fairlead/past_use.h"
#include "scheduler/fairlead/small_jobs.h"
#include "scheduler/shared/tournament.h"

namespace fairlead::scheduler::native {

/// Who is next: at each queue the child that comes first (docs/scheduler.md, "Who is next"), with the classes of shapes
/// that are wanted below each child. What a queue or its masters cannot take now is left out until it can. O(log
/// children) a level for a change and for a search.
class FairOrder {
 public:
  FairOrder(base::Duration bound, const FairnessConfig& fairness) : small_jobs_(bound), past_use_(fairness) {}

  // The books change.
  void Came(AppSlot slot, bool restartable) { small_jobs_.Came(slot, restartable); }
  void TreeChanged(const Books& books, const TreeChange& change);
  void Enter(const Books& books, AppSlot slot);
  void Leave(const Books& books, AppSlot slot);
  /// Brings the application's place in its leaf up to date (not the queues above).
  void Refresh(const Books& books, AppSlot slot);
  /// The same for the queue and those above it, as far as something changes.
  void RefreshPath(const Books& books, QueueId queue);
  void UsageChanged(const Books& books, QueueId leaf, bool less);
  void DemandChanged(const Books& books, QueueId leaf);
  /// What queues used in the past is counted up to now, where it counts and time has passed. O(queues), once a second.
  void CountPast(const Books& books);
  /// Small jobs first: who waits and has an equal part of what its queue uses gets no older. O(applications).
  void RestartAges(const Books& books);
  /// Every place of every queue and application. O(all).
  void Rebuild(const Books& books);

  // What cannot be served now.
  /// Asks of these classes do not fit under the queue's maximum, until it uses less.
  void Block(const Books& books, QueueId queue, uint64_t classes);
  /// The classes mean other shapes now: what queues could not take of the old ones says nothing.
  void ForgetBlocked(const Books& books, uint64_t classes);
  /// What was blocked in queues is tried again: their budgets are new. O(queues).
  void Reopen(const Books& books);
  /// The queue comes after its siblings, or where it belongs again.
  void SetLast(const Books& books, QueueId queue, bool last);
  /// The leaf's starting applications wait for a master to end, or for a larger cluster.
  void CloseMasters(const Books& books, QueueId leaf);
  void OpenMasters(const Books& books);
  bool MastersClosed(QueueId leaf) const { return branches_[leaf.value].masters_closed; }

  // Search.
  /// Classes that somebody waits for whom nothing but room can keep waiting.
  uint64_t Classes(const Books& books) const { return OpenClasses(books.queues[kRoot], kRoot); }
  /// The first application that waits for one of `servable`, some of Classes; which of them are open at its leaf is
  /// left in `servable`.
  AppSlot First(const Books& books, uint64_t& servable) const;
  /// The same in one leaf; not valid when there is none. Without its queues' limits.
  AppSlot FirstIn(QueueId leaf, uint64_t servable) const;
  /// Where the application stands among those of its leaf.
  const OrderKey& KeyIn(QueueId leaf, AppSlot slot) const {
    const Seat& seat = seats_[slot.value];
    return (seat.starting ? branches_[leaf.value].starting : branches_[leaf.value].order).key(seat.slot);
  }
  /// Both in one leaf.
  bool Before(QueueId leaf, AppSlot a, AppSlot b) const { return KeyIn(leaf, a) < KeyIn(leaf, b); }
  uint64_t Blocked(QueueId queue) const { return branches_[queue.value].blocked; }

  const PastUse& past_use() const { return past_use_; }
  const SmallJobs& small_jobs() const { return small_jobs_; }
  void MasterParked(AppSlot slot) { small_jobs_.MasterParked(slot); }
  /// What the application waits for runs so long, in milliseconds; 0: nobody knows. Refresh follows.
  void SetRun(AppSlot slot, int64_t run_ms) { small_jobs_.SetRun(slot, run_ms); }
  void KeepMaster(AppSlot slot) { small_jobs_.KeepMaster(slot); }

  void Prefetch(const Books& books, AppSlot slot) const;
  std::string Check(const Books& books) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(branches_, seats_, closed_leaves_, small_jobs_, past_use_, blocked_classes_)

 private:
  struct Branch {
    uint32_t slot = UINT32_MAX;   // in the parent's order
    int32_t tier = 0;             // there, by its priority
    bool last = false;            // comes after its siblings
    bool masters_closed = false;  // leaf: its starting applications wait
    uint64_t blocked = 0;         // classes that do not fit under the maximum
    Tournament order;             // children, or applications that have their master
    Tournament starting;          // leaf: applications that wait for their master
    FL_STATE(slot, tier, last, masters_closed, blocked, order, starting)
  };
  struct Seat {
    uint32_t slot = UINT32_MAX;  // in its leaf's order
    bool starting = false;       // which of the two
    FL_STATE(slot, starting)
  };

  OrderKey KeyOf(const Books& books, AppSlot slot) const;
  OrderKey KeyOf(const Books& books, const Queue& queue, QueueId id) const;
  /// The classes that a queue offers to its parent's order.
  uint64_t OpenClasses(const Queue& queue, QueueId id) const {
    const Branch& branch = branches_[id.value];
    uint64_t classes = branch.order.classes();
    if (queue.leaf && !branch.masters_closed) classes |= branch.starting.classes();
    return classes & ~branch.blocked;
  }
  /// Brings the queue's place in its parent's order up to date; false when nothing changed.
  bool RefreshQueue(const Books& books, QueueId queue);
  void RebuildBelow(const Books& books, QueueId queue);
  Tournament& OrderOf(QueueId leaf, bool starting) {
    return starting ? branches_[leaf.value].starting : branches_[leaf.value].order;
  }

  std::vector<Branch> branches_;  // by QueueId
  std::vector<Seat> seats_;       // by AppSlot
  std::vector<QueueId> closed_leaves_;
  SmallJobs small_jobs_;
  PastUse past_use_;
  uint64_t blocked_classes_ = 0;  // in `blocked` of some queue, perhaps
};

}  // namespace fairlead::scheduler::native
