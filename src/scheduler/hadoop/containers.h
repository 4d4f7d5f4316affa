#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/state.h"
#include "model/ids.h"
#include "model/resources.h"
#include "scheduler/hadoop/asks.h"
#include "scheduler/hadoop/ids.h"
#include "scheduler/shared/pool.h"

namespace fairlead::scheduler::hadoop {

/// RMContainerImpl's states that a scheduler tells apart.
enum class ContainerState : uint8_t { kReserved, kAllocated, kAcquired, kRunning, kEnded };

/// What ended a container (RMContainerEventType).
enum class End : uint8_t { kFinished, kReleased, kKilled, kExpired };
/// Whether RMContainerImpl's state machine knows this end in this state (else: "Invalid event", nobody is told).
bool Announces(ContainerState state, End end);

struct Ending {
  End how;
  int32_t exit_status;
  const char* diagnostics;
};

struct Links {
  ContainerSlot next;
  ContainerSlot previous;
  FL_STATE(next, previous)
};

/// The containers of one attempt, or on one node, in the order they came. Belongs to the attempt or node; only
/// Containers changes it.
class Chain {
 public:
  ContainerSlot first() const { return first_; }
  uint32_t count() const { return count_; }
  FL_STATE(first_, last_, count_)

 private:
  friend class Containers;
  ContainerSlot first_;
  ContainerSlot last_;
  uint32_t count_ = 0;
};

/// RMContainer and its place in SchedulerNode.launchedContainers. There until both its attempt and its node are done
/// with it.
struct Container {
  bool in_use = false;
  ContainerState state = ContainerState::kReserved;
  bool live = false;              // in its attempt's chain
  bool on_node = false;           // in its node's chain
  bool launched_on_node = false;  // the node reported it: it holds the node until the node reports its end
  bool is_master = false;
  bool marked = false;     // to be preempted, as its attempt sees it
  bool set_apart = false;  // to be preempted, as its node sees it
  AttemptId attempt;
  AppIndex app;
  NodeIndex node;
  model::ContainerId id;
  RequestKey key;
  model::Resources resources;
  uint32_t taken = kNothing;  // what it took from the asks: until it is picked up that is given back with it
  int64_t created_ms = 0;     // of its reservation, if it had one
  Links of_attempt;
  Links of_node;

  static constexpr uint32_t kNothing = UINT32_MAX;
  int32_t JavaHash() const;
  FL_STATE(in_use, state, live, on_node, launched_on_node, is_master, marked, set_apart, attempt, app, node, id, key,
           resources, taken, created_ms, of_attempt, of_node)
};

/// ApplicationId.hashCode, ApplicationAttemptId.hashCode.
int32_t HashOf(const model::ApplicationId& id);
int32_t HashOf(const model::ApplicationAttemptId& id);

/// Containers by number, which of them belong to an attempt or a node, and what grants took from the asks. O(1) unless
/// stated.
class Containers {
 public:
  const Container& operator[](ContainerSlot slot) const { return pool_[slot]; }
  bool Has(ContainerSlot slot) const { return pool_.Has(slot); }
  /// A container that is in no chain yet, reserved.
  ContainerSlot Add(AttemptId attempt, AppIndex app, const model::ContainerId& id, NodeIndex node,
                    const RequestKey& key, const model::Resources& size);

  void SetState(ContainerSlot slot, ContainerState state) { pool_[slot].state = state; }
  void SetMaster(ContainerSlot slot) { pool_[slot].is_master = true; }
  void SetLaunched(ContainerSlot slot) { pool_[slot].launched_on_node = true; }
  void SetMarked(ContainerSlot slot, bool marked) { pool_[slot].marked = marked; }
  void SetApart(ContainerSlot slot) { pool_[slot].set_apart = true; }
  void SetCreated(ContainerSlot slot, int64_t now_ms) { pool_[slot].created_ms = now_ms; }
  /// A reservation goes to another node.
  void SetNode(ContainerSlot slot, NodeIndex node) { pool_[slot].node = node; }
  void SetSize(ContainerSlot slot, const model::Resources& size) { pool_[slot].resources = size; }

  void Join(ContainerSlot slot, Chain& of_attempt);
  void Leave(ContainerSlot slot, Chain& of_attempt);
  /// All of a chain go to another attempt, which has none. O(containers).
  void Move(Chain& from, Chain& to, AttemptId attempt);
  void Put(ContainerSlot slot, Chain& of_node, bool launched);
  /// FSSchedulerNode.releaseContainer: what the node reported launched stays until `by_node`, the node's own report of
  /// its end. False: it is not or stays there.
  bool TakeOff(ContainerSlot slot, Chain& of_node, bool by_node);

  /// Remembers what a grant took, until the container is picked up or gone.
  void KeepTaken(ContainerSlot slot, const Taken& taken, Names& names);
  void DropTaken(ContainerSlot slot, Names& names) {
    if (pool_[slot].taken != Container::kNothing) ForgetTaken(slot, names);
  }
  /// nullptr: nothing that could be given back.
  const Taken* TakenBy(ContainerSlot slot) const {
    return pool_[slot].taken != Container::kNothing ? &taken_[pool_[slot].taken] : nullptr;
  }
  /// Forgets a container that neither attempt, node nor reservation holds any more: whether it did.
  bool RemoveIfGone(ContainerSlot slot, Names& names);

  /// O(containers there).
  ContainerSlot FindOn(const Chain& of_node, const model::ContainerId& id) const;
  /// HashMap<ContainerId, ...>.values() of a node that never held more than `most`. O(n log n).
  std::vector<ContainerSlot> InHashOrder(const Chain& of_node, size_t most) const;
  std::vector<ContainerSlot> OfAttempt(const Chain& of_attempt) const;

  /// Recomputes a chain's count and sums its sizes; what is wrong is appended to `wrong`.
  model::Resources CheckAttempt(const Chain& chain, AttemptId attempt, std::string& wrong) const;
  model::Resources CheckNode(const Chain& chain, NodeIndex node, std::string& wrong) const;
  void Mix(base::StateHasher& hash) const;
  FL_STATE(pool_, taken_numbers_, taken_)

 private:
  void ForgetTaken(ContainerSlot slot, Names& names);
  void Append(ContainerSlot slot, Chain& chain, Links Container::*links);
  inline void Cut(ContainerSlot slot, Chain& chain, Links Container::*links);

  Pool<Container, ContainerTag> pool_;
  FreeList taken_numbers_;
  std::vector<Taken> taken_;
};

/// The containers of one attempt by their numbers, which are given in order from the epoch of the resource manager on.
/// Numbers of earlier attempts and of containers that were there before a restart are known, too. O(1), of those
/// O(log n).
class Numbers {
 public:
  Numbers() = default;
  explicit Numbers(int64_t base) : base_(base) {}

  /// The number of the next container, also for a reservation.
  int64_t Next() const { return base_ + next_; }
  void Add(ContainerSlot slot);
  void AddKnown(int64_t value, ContainerSlot slot) { known_[value] = slot; }
  /// This attempt gave the number before a restart: it gives it to no other.
  void Skip(int64_t value);
  /// `own`: a number of this attempt. Not valid: none, or forgotten.
  ContainerSlot Find(int64_t value, bool own) const {
    if (own && IndexOf(value) < slots_.size() && slots_[IndexOf(value)].valid()) return slots_[IndexOf(value)];
    return known_.empty() ? ContainerSlot{} : FindKnown(value);
  }
  /// The number leads nowhere any more.
  void Forget(int64_t value, ContainerSlot slot);
  void Mix(base::StateHasher& hash) const { hash.Mix(static_cast<uint64_t>(Next())); }
  FL_STATE(base_, next_, slots_, known_)

 private:
  ContainerSlot FindKnown(int64_t value) const;
  /// Huge for numbers of another epoch.
  size_t IndexOf(int64_t value) const { return static_cast<size_t>(value - base_ - 1); }

  int64_t base_ = 0;
  int64_t next_ = 1;
  std::vector<ContainerSlot> slots_;  // number - base - 1 -> container while it is live or reserved
  std::map<int64_t, ContainerSlot> known_;
};

}  // namespace fairlead::scheduler::hadoop
