#include "scheduler/yarn_capacity/commit.h"

#include <algorithm>

#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/resize.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using hadoop::End;
using model::Locality;

namespace {

/// One proposal being decided on.
class Decision {
 public:
  Decision(Books& books, const Proposal& proposal)
      : books_(books),
        calc_(books.calc),
        proposal_(proposal),
        attempt_(books.attempts[proposal.attempt]),
        partition_(books.partitions.OfNode(proposal.node)) {
    released_ = proposal.kills;
    if (proposal.unreserves.valid()) released_.push_back(proposal.unreserves);
    for (const ContainerRef& one : released_) {
      if (one.StillThere(books.containers)) released_size_ += books.containers[one.slot].resources;
    }
  }

  /// FiCaSchedulerApp.accept.
  bool Holds() {
    if (!StillThere()) return false;
    if (!Gives()) return true;
    const Node& node = books_.nodes[proposal_.node];
    if (!node.alive || !node.schedulable) return false;
    if (again()) return node.reserved == proposal_.reserved.slot && Asked();
    if (proposal_.reserves && node.reserved.valid()) return false;
    if (!proposal_.reserves && (!AskStillThere(node) || !NodeAsExpected(node))) return false;
    if (proposal_.key.IsGrowth() && !GrowingContainer(books_, attempt_, proposal_.key).valid()) return false;
    return QueuesAccept() && Asked();
  }

  /// FiCaSchedulerApp.apply, AbstractLeafQueue.apply.
  void Apply() {
    if (!Gives()) return Release();
    if (proposal_.key.IsGrowth() && !proposal_.reserves) return MakeLarger();
    ContainerSlot slot;
    if (proposal_.reserves) {
      if (again()) {
        ++attempt_.counts[proposal_.key].re_reservations;
        return;
      }
      slot = Reserve();
    } else {
      slot = Grant();
    }
    Release();
    if (!from_reservation()) {
      Charge(books_, attempt_.queue, slot, proposal_.size, partition_, 1);
      books_.queues[attempt_.queue].own.active.Touch(proposal_.attempt, false);
    }
    if (proposal_.reserves) {
      books_.queues.ForEachUp(attempt_.queue,
                              [&](Queue& queue) { queue.usage.AddReserved(partition_, proposal_.size); });
    }
    if (!from_reservation()) ChargeAbove(books_, attempt_.queue, proposal_.size, partition_, 1);
  }

 private:
  bool Gives() const { return calc_.Greater(books_.cluster(), proposal_.size, {}); }
  bool again() const { return proposal_.reserves && proposal_.reserved.valid(); }
  bool from_reservation() const { return !proposal_.reserves && proposal_.reserved.valid(); }

  /// No container that takes part has ended.
  bool StillThere() const {
    const auto there = [&](const ContainerRef& one) { return one.StillThere(books_.containers); };
    return std::all_of(released_.begin(), released_.end(), there) &&
           (!proposal_.reserved.valid() || there(proposal_.reserved));
  }

  bool Asked() const {
    const KeyLines* lines = attempt_.asks.Find(proposal_.key);
    return lines != nullptr && lines->AnyCount() > 0;
  }

  /// LocalityAppPlacementAllocator.canAllocate.
  bool AskStillThere(const Node& node) const {
    if (!Asked()) return false;
    const KeyLines* lines = attempt_.asks.Find(proposal_.key);
    const auto wanted = [&](NameId name) {
      const Request* request = lines->Of(name, books_.names);
      return request != nullptr && request->count > 0;
    };
    if (proposal_.type == Locality::kOffSwitch) return true;
    return wanted(node.rack) && (proposal_.type != Locality::kNodeLocal || wanted(node.host));
  }

  /// commonCheckContainerAllocation.
  bool NodeAsExpected(const Node& node) const {
    if (node.reserved != proposal_.reserved.slot) return false;
    // A reservation that was granted since is none to give up.
    const ContainerSlot given_up = proposal_.unreserves.slot;
    if (given_up.valid() && books_.nodes[books_.containers[given_up].node].reserved != given_up) return false;
    Resources room = node.unallocated;
    for (const ContainerRef& one : proposal_.kills) {
      const Container& container = books_.containers[one.slot];
      if (container.node == proposal_.node) room += container.resources;
    }
    return calc_.FitsIn(proposal_.size, room);
  }

  /// AbstractLeafQueue.accept and those above it.
  bool QueuesAccept() {
    if (from_reservation()) return true;
    const Resources limit = UserLimit(books_, attempt_.queue, proposal_.attempt, partition_, proposal_.mode, nullptr);
    const User* user = books_.queues[attempt_.queue].own.users.Find(attempt_.user);
    if (user == nullptr) return false;
    if (calc_.Greater(books_.cluster(), user->usage.used(partition_) - released_size_, limit)) return false;
    bool accepted = true;
    books_.queues.ForEachUp(attempt_.queue, [&](const Queue& queue) {
      const Resources& most =
          proposal_.mode == Mode::kRespect ? queue.shares[partition_].effective_max : books_.partitions.Of(partition_);
      const Resources then = queue.usage.used(partition_) + proposal_.size - released_size_;
      accepted &= calc_.FitsIn(then, most);
    });
    return accepted;
  }

  /// Takes the next number, also for a reservation.
  ContainerSlot Create() {
    const model::ContainerId number{{books_.apps[attempt_.app].id, attempt_.number}, attempt_.numbers.Next()};
    const ContainerSlot slot =
        books_.containers.Add(proposal_.attempt, attempt_.app, number, proposal_.node, proposal_.key, proposal_.size);
    books_.containers.SetCreated(slot, books_.now_ms);
    attempt_.numbers.Add(slot);
    ++attempt_.held;
    const KeyLines* lines = attempt_.asks.Find(proposal_.key);
    if (lines->Any()->partition != partition_) books_.asked_labels[number] = lines->Any()->partition;
    const std::string& leaf = books_.queues[attempt_.queue].name;
    if (books_.queues.names().Ambiguous(leaf)) books_.named_ambiguously.insert(number);
    return slot;
  }

  ContainerSlot Reserve() {
    const ContainerSlot slot = Create();
    KeyCounts& counts = attempt_.counts[proposal_.key];
    counts.reserved_on.push_back(proposal_.node);
    counts.most_reserved = std::max(counts.most_reserved, static_cast<uint32_t>(counts.reserved_on.size()));
    counts.re_reservations = 0;
    if (partition_ == kNoLabel) {
      books_.queues.ForEachUp(attempt_.queue, [&](Queue& queue) { queue.metrics_reserved += proposal_.size; });
    }
    attempt_.usage.AddReserved(partition_, proposal_.size);
    books_.nodes.SetReserved(proposal_.node, slot);
    const Container& container = books_.containers[slot];
    books_.Emit(ms::Reserved{attempt_.app, proposal_.node, container.id, container.resources, proposal_.key.priority});
    return slot;
  }

  ContainerSlot Grant() {
    ContainerSlot slot = proposal_.reserved.slot;
    if (slot.valid()) {
      Unreserve(books_, slot);
    } else {
      slot = Create();
    }
    books_.containers.SetState(slot, ContainerState::kAllocated);
    books_.containers.Join(slot, attempt_.live);
    attempt_.most_live = std::max(attempt_.most_live, attempt_.live.count());
    const KeyLines* lines = attempt_.asks.Find(proposal_.key);
    const PartitionId label = lines->Any()->partition;
    const hadoop::Taken taken =
        TakeAsk(books_, proposal_.attempt, proposal_.key, proposal_.type, books_.nodes[proposal_.node]);
    books_.containers.KeepTaken(slot, taken, books_.names);
    attempt_.usage.AddUsed(partition_, proposal_.size);
    books_.nodes.Put(slot, false, books_.containers);
    const bool master = attempt_.master.Starts();
    if (master) {
      attempt_.master.Start(proposal_.size);
      books_.new_masters.emplace_back(proposal_.attempt, slot);
    }
    Tell(slot, master, label);
    return slot;
  }

  /// SchedulerApplicationAttempt.pullNewlyUpdatedContainers: Hadoop grants a container that holds the room, and gives
  /// it to the larger one when its master asks next; that one takes a number, too.
  void MakeLarger() {
    if (from_reservation()) {
      DropReservation(books_, proposal_.reserved.slot);
    } else {
      attempt_.numbers.Skip(attempt_.numbers.Next());
    }
    const ContainerSlot slot = GrowingContainer(books_, attempt_, proposal_.key);
    TakeAsk(books_, proposal_.attempt, proposal_.key, proposal_.type, books_.nodes[proposal_.node]);
    Release();
    Grow(books_, slot, proposal_.size);
    Tell(slot, false, AskedLabel(books_, books_.containers[slot]));
  }

  void Tell(ContainerSlot slot, bool master, PartitionId label) {
    const Container& container = books_.containers[slot];
    ms::Granted grant;
    grant.app = attempt_.app;
    grant.container = container.id;
    grant.node = container.node;
    grant.priority = container.key.priority;
    grant.allocation_request_id = container.key.id;
    grant.resources = container.resources;
    grant.locality = proposal_.type;
    grant.from_reservation = from_reservation();
    grant.is_master = master;
    grant.label = books_.partitions.Name(label);
    books_.Emit(std::move(grant));
  }

  /// AbstractLeafQueue.internalReleaseContainer: reservations of this leaf, containers of others.
  void Release() {
    for (const ContainerRef& one : released_) {
      if (!one.StillThere(books_.containers)) continue;
      const ContainerSlot slot = one.slot;
      const Container& container = books_.containers[slot];
      const bool own = books_.attempts[container.attempt].queue == attempt_.queue;
      if (own && container.state == ContainerState::kReserved) {
        DropReservation(books_, slot);
      } else if (!own) {
        Complete(books_, slot, {End::kKilled, model::kExitPreempted, "Container preempted by scheduler"});
      }
    }
  }

  Books& books_;
  const Arithmetic& calc_;
  const Proposal& proposal_;
  Attempt& attempt_;
  PartitionId partition_;
  std::vector<ContainerRef> released_;
  Resources released_size_;
};

}  // namespace

bool ProposesSomething(const Proposal& proposal) {
  return proposal.attempt.valid() && (!proposal.size.IsZero() || proposal.unreserves.valid());
}

bool Commit(Books& books, const Proposal& proposal) {
  if (!ProposesSomething(proposal)) return true;
  if (!books.attempts.Has(proposal.attempt)) return false;
  bool done = false;
  const bool current = books.apps.Current(books.attempts[proposal.attempt].app) == proposal.attempt;
  if (current && !books.attempts[proposal.attempt].stopped) {
    Decision decision(books, proposal);
    done = decision.Holds();
    if (done) decision.Apply();
  }
  if (!proposal.reserves && !proposal.size.IsZero() && books.attempts.Has(proposal.attempt)) {
    books.attempts[proposal.attempt].unconfirmed -= Resources::Of(proposal.size[0], proposal.size[1]);
  }
  return done;
}

}  // namespace fairlead::scheduler::yarn_capacity
