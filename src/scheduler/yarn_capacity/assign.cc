#include "scheduler/yarn_capacity/assign.h"

#include <algorithm>
#include <optional>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/allocator.h"
#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/commit.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/recording.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;

model::ContainerId ContainerOf(const Books& books, const Proposal& proposal) {
  if (proposal.reserved.valid()) return proposal.reserved.id;
  const Attempt& attempt = books.attempts[proposal.attempt];
  return {{books.apps[attempt.app].id, attempt.number}, attempt.numbers.Next()};
}

namespace {

/// Hadoop's loop of a heartbeat never ends when it has no limit and a proposal near the asked place is refused again
/// and again; ours does.
constexpr int32_t kMostRefusals = 1'000;

constexpr std::string_view kAtMaximum = "Queue hits max-capacity limit";

/// One node offered once, respecting partitions or not.
class Offer {
 public:
  Offer(Books& books, NodeIndex node, Mode mode)
      : books_(books),
        calc_(books.calc),
        node_(node),
        partition_(books.partitions.OfNode(node)),
        asked_for_(mode == Mode::kIgnore ? kNoLabel : partition_),
        mode_(mode),
        record_(books) {}

  Proposal ToQueue(QueueId id, Limits& limits) {
    Proposal proposal = books_.queues[id].leaf ? ToLeaf(id, limits) : ToParent(id, limits);
    proposal.mode = mode_;
    return proposal;
  }

 private:
  bool Concerns(const Queue& queue) const {
    if (mode_ == Mode::kRespect && !queue.settings.Accesses(partition_)) {
      return Reject(queue, "Queue is not able to access partition");
    }
    if (calc_.Greater(books_.cluster(), queue.usage.pending(asked_for_), {})) return true;
    record_.OfQueue(queue, ActivityState::kSkipped, "Queue does not need more resource");
    return false;
  }
  bool Reject(const Queue& queue, std::string_view why) const {
    record_.OfQueue(queue, ActivityState::kRejected, why);
    return false;
  }

  /// AbstractCSQueue.canAssignToThisQueue.
  bool HasRoom(const Queue& queue, Limits& limits, const Resources& could_be_unreserved) const {
    Resources limit = books_.partitions.Of(partition_);
    if (mode_ == Mode::kRespect) {
      limit = calc_.Min(books_.cluster(), queue.shares[partition_].effective_max, limits.limit);
    }
    Resources used = queue.usage.used(partition_);
    if (!queue.leaf && !queue.children.empty()) used -= books_.killable.TotalOfQueue(queue.path, partition_);
    limits.headroom = limit - used;
    if (!calc_.AtLeast(books_.cluster(), used, limit)) return true;
    return books_.file.continue_looking && calc_.Greater(books_.cluster(), could_be_unreserved, {}) &&
           calc_.Less(books_.cluster(), used - could_be_unreserved, limit);
  }

  /// AbstractParentQueue.canAssign.
  bool NodeHasRoom(const Queue& queue) const {
    const Node& node = books_.nodes[node_];
    if (node.reserved.valid()) return Reject(queue, "Queue skipped because node has been reserved");
    const Resources room = node.unallocated + books_.killable.TotalOfNode(node_);
    const bool enough = books_.config.quirks.node_room_by_dominant_share
                            ? calc_.AtLeast(books_.cluster(), room, books_.minimum())
                            : calc_.FitsIn(books_.minimum(), room);
    return enough || Reject(queue, "Queue skipped because node resource is insufficient");
  }

  Proposal ToParent(QueueId id, Limits& limits) {
    const Queue& queue = books_.queues[id];
    if (!Concerns(queue)) return Proposal::Nothing(Skipped::kNone);
    if (!NodeHasRoom(queue)) return Proposal::Nothing(Skipped::kNone);
    const Resources reserved = Resources::Of(queue.metrics_reserved[0], queue.metrics_reserved[1]);
    if (!HasRoom(queue, limits, reserved)) {
      Reject(queue, kAtMaximum);
      return Proposal::Nothing(Skipped::kNone);
    }
    Proposal proposal = ToChildren(id, limits);
    record_.OfQueue(queue, Gives(proposal) ? ActivityState::kAccepted : ActivityState::kSkipped);
    return proposal;
  }

  bool Gives(const Proposal& proposal) const { return calc_.Greater(books_.cluster(), proposal.size, {}); }

  /// AbstractParentQueue.getResourceLimitsOfChild, with the net limit.
  Resources LimitOfChild(const Queue& parent, const Queue& child, Limits& limits) const {
    CutToParent(books_, parent, partition_, limits.limit);
    return RoomOfChild(books_, parent, child, partition_, limits.Net());
  }

  /// AbstractParentQueue.assignContainersToChildQueues.
  Proposal ToChildren(QueueId id, Limits& limits) {
    Proposal best = Proposal::Nothing(Skipped::kNone);
    for (const Rival& rival : books_.orders.Of(books_, id, partition_)) {
      const QueueId child = rival.id;
      Limits of_child(LimitOfChild(books_.queues[id], books_.queues[child], limits));
      Proposal proposal = ToQueue(child, of_child);
      if (Gives(proposal)) return proposal;
      if (proposal.skipped != Skipped::kQueueLimit) continue;
      if (best.skipped != Skipped::kQueueLimit) best = std::move(proposal);
      const Resources& blocked = books_.queues[child].leaf ? of_child.headroom : of_child.blocked;
      limits.blocked += calc_.Max(books_.cluster(), blocked, {});
    }
    // A parent of this one hears that a limit was met, and nothing else of it.
    return Proposal::Nothing(best.skipped);
  }

  /// AbstractLeafQueue.canAssignToUser.
  bool UserMayGet(const Queue& leaf, const Attempt& attempt, const Resources& limit, Limits& limits) const {
    const User* user = leaf.own.users.Find(attempt.user);
    if (user == nullptr) return false;
    limits.needs_unreserving = {};
    const Resources& cluster = books_.cluster();
    if (!calc_.Greater(cluster, user->usage.used(partition_), limit)) return true;
    if (!books_.file.continue_looking ||
        !calc_.AtMost(cluster, user->usage.used(kNoLabel) - attempt.usage.reserved(kNoLabel), limit)) {
      return false;
    }
    limits.needs_unreserving = user->usage.used(partition_) - limit;
    return true;
  }

  /// AbstractLeafQueue.setPreemptionAllowed.
  void AllowPreemption(const Queue& leaf, Limits& limits) const {
    const Share& share = leaf.shares[partition_];
    limits.may_preempt = share.effective_min.IsZero()
                             ? share.absolute_used < leaf.shares.absolute(partition_)
                             : calc_.Less(books_.cluster(), leaf.usage.used(partition_), share.effective_min);
  }

  std::optional<Proposal> FromReservation(QueueId id, Limits& limits) {
    const ContainerSlot slot = books_.nodes[node_].reserved;
    if (!slot.valid()) return std::nullopt;
    const AttemptId attempt = books_.containers[slot].attempt;
    if (books_.attempts[attempt].queue != id) return std::nullopt;
    return Allocator(books_, attempt, node_, mode_, limits).FromReservation(slot);
  }

  Proposal ToLeaf(QueueId id, Limits& limits) {
    Queue& leaf = books_.queues[id];
    SetPassLimit(books_, leaf, limits.limit);
    AllowPreemption(leaf, limits);
    if (std::optional<Proposal> reserved = FromReservation(id, limits)) return *reserved;
    if (!Concerns(leaf)) return Proposal::Nothing(Skipped::kNone);
    KnownLimits& known = KnownOf(id);
    bool check_queue = true;
    RefreshOrder(books_, leaf);
    for (const AttemptId attempt_id : leaf.own.active.ids()) {
      const Attempt& attempt = books_.attempts[attempt_id];
      const bool departed = attempt.stopped || attempt.queue != id;
      if (departed && books_.config.quirks.departed_passed_over) continue;
      const Resources reserved = attempt.usage.reserved(kNoLabel);
      if (check_queue) {
        if (!HasRoom(leaf, limits, reserved)) {
          record_.OfApp(attempt_id, ActivityState::kRejected, kAtMaximum);
          Reject(leaf, kAtMaximum);
          return Proposal::Nothing(Skipped::kNone);
        }
        if (!books_.file.continue_looking || reserved.IsZero()) check_queue = false;
      }
      if (!UserMayGet(id, attempt_id, reserved, known, limits)) {
        record_.OfApp(attempt_id, ActivityState::kRejected, "Queue hits user max-capacity limit");
        continue;
      }
      Proposal proposal = Allocator(books_, attempt_id, node_, mode_, limits).Propose();
      if (Gives(proposal) || proposal.skipped == Skipped::kQueueLimit) {
        Record(leaf, attempt, proposal);
        return proposal;
      }
      if (proposal.skipped != Skipped::kOther) {
        record_.OfQueue(leaf, ActivityState::kSkipped, "Queue skipped to respect FIFO of applications");
        return Proposal::Nothing(Skipped::kNone);
      }
    }
    record_.OfQueue(leaf, ActivityState::kSkipped);
    return Proposal::Nothing(Skipped::kNone);
  }

  /// What the leaf's walk ended with.
  void Record(const Queue& leaf, const Attempt& attempt, const Proposal& proposal) const {
    if (!record_.on()) return;
    if (Gives(proposal)) return record_.OfQueue(leaf, ActivityState::kAccepted);
    Reject(leaf, "Queue does not have enough headroom for inner highest-priority request from " +
                     model::ToString(books_.apps[attempt.app].id));
  }

  using KnownLimits = UserLimitCache::OfUsers;
  KnownLimits& KnownOf(QueueId id) {
    return books_.user_limits.Of(id, books_.queues[id].own.users.version(), partition_, mode_ == Mode::kIgnore);
  }

  bool UserMayGet(QueueId leaf, AttemptId id, const Resources& reserved, KnownLimits& known, Limits& limits) {
    const Attempt& attempt = books_.attempts[id];
    const auto held = known.find(attempt.user);
    const Resources limit =
        UserLimit(books_, leaf, id, partition_, mode_, held == known.end() ? nullptr : &held->second.limit);
    UserLimitCache::Known& cached =
        held == known.end() ? known.emplace(attempt.user, UserLimitCache::Known{limit, true, {}}).first->second
                            : held->second;
    if (!cached.may_get && reserved.FitsIn(cached.reservation)) return false;
    const bool may = UserMayGet(books_.queues[leaf], attempt, limit, limits);
    if (!may && cached.reservation.FitsIn(reserved)) {
      cached.may_get = false;
      cached.reservation = reserved;
    }
    return may;
  }

  Books& books_;
  const Arithmetic& calc_;
  NodeIndex node_;
  PartitionId partition_;
  PartitionId asked_for_;
  Mode mode_;
  Recording record_;
};

/// What one attempt on a node gave, for the loop of a heartbeat.
struct Tried {
  bool nothing = true;  // no assignment at all
  Proposal proposal;
};

/// CapacityScheduler.allocateFromReservedContainer.
template <class Decide>
void TryReserved(Books& books, NodeIndex node, Decide decide) {
  const AttemptId attempt = books.containers[books.nodes[node].reserved].attempt;
  if (books.apps.Current(books.attempts[attempt].app) != attempt) return;
  Limits limits(books.partitions.Of(kNoLabel));
  const Proposal proposal = Offer(books, node, Mode::kRespect).ToQueue(books.attempts[attempt].queue, limits);
  const Recording record(books);
  if (record.on() && !proposal.size.IsZero()) {
    record.OfQueue(books.queues[books.attempts[attempt].queue],
                   proposal.reserves ? ActivityState::kReReserved : ActivityState::kAccepted);
    record.Finish(proposal.reserves ? AttemptOutcome::kReserved : AttemptOutcome::kAllocatedFromReserved,
                  model::ToString(ContainerOf(books, proposal)));
  }
  decide(proposal);
}

/// The attempt at the root is over.
void Finish(const Books& books, const Proposal& proposal) {
  const Recording record(books);
  if (!record.on()) return;
  if (proposal.size.IsZero()) return record.Finish(AttemptOutcome::kSkipped);
  record.Finish(proposal.reserves ? AttemptOutcome::kReserved : AttemptOutcome::kAllocated,
                model::ToString(ContainerOf(books, proposal)));
}

/// CapacityScheduler.allocateContainersToNode: once.
template <class Decide>
Tried TryOnce(Books& books, NodeIndex node, Decide decide) {
  if (!books.nodes.Alive(node)) return {};
  if (books.nodes[node].reserved.valid()) {
    TryReserved(books, node, decide);
    return {};
  }
  const Resources room = books.nodes[node].unallocated + books.killable.TotalOfNode(node);
  if (!books.nodes[node].schedulable || books.calc.AvailableContainers(room, books.minimum()) <= 0) {
    const Recording record(books);
    record.OfQueue(books.queues[books.queues.root()], ActivityState::kRejected,
                   "Initial check: node resource is insufficient for minimum allocation");
    record.Finish(AttemptOutcome::kSkipped);
    return {};
  }
  const PartitionId partition = books.partitions.OfNode(node);
  Limits limits(books.partitions.Of(partition));
  Proposal proposal = Offer(books, node, Mode::kRespect).ToQueue(books.queues.root(), limits);
  Finish(books, proposal);
  decide(proposal);
  if (books.calc.Greater(books.cluster(), proposal.size, {})) return {false, std::move(proposal)};
  if (partition == kNoLabel || books.partitions.Exclusive(partition)) return {};
  Limits shared(books.partitions.Of(kNoLabel));
  proposal = Offer(books, node, Mode::kIgnore).ToQueue(books.queues.root(), shared);
  Finish(books, proposal);
  decide(proposal);
  return {false, std::move(proposal)};
}

/// CapacityScheduler.updateSchedulerHealth: what a heartbeat proposed last is what its run did, whether it is committed
/// or not. A new container has no id by then. A reservation that is only held on, and what goes to a shared partition,
/// is not told.
void NoteProposal(Books& books, const Proposal& proposal) {
  const bool held_on = proposal.reserves && proposal.reserved.valid();
  if (held_on || proposal.mode == Mode::kIgnore || !books.calc.Greater(books.cluster(), proposal.size, {})) return;
  Health& health = books.health;
  std::optional<model::ContainerId> known;
  if (proposal.reserved.valid()) known = proposal.reserved.id;
  Note(books, proposal.node, books.attempts[proposal.attempt].queue, known,
       proposal.reserves ? health.reservation : health.allocation);
  health.allocated = health.reserved = {};
  (proposal.reserves ? health.reserved : health.allocated) = {1, proposal.size};
}

/// CapacityScheduler.allocateContainersToNode with its loop (canAllocateMore).
void OfferNode(Books& books, NodeIndex node) {
  int32_t off_switch = 0;
  int32_t assigned = 0;
  int32_t refused = 0;
  const auto decide = [&](const Proposal& proposal) {
    NoteProposal(books, proposal);
    if (!Commit(books, proposal)) ++refused;
  };
  Tried tried = TryOnce(books, node, decide);
  while (!tried.nothing) {
    if (tried.proposal.type == model::Locality::kOffSwitch && !tried.proposal.size.IsZero()) ++off_switch;
    if (books.calc.Greater(books.cluster(), tried.proposal.size, {})) ++assigned;
    const bool more = !tried.proposal.size.IsZero() && off_switch < books.file.offswitch_per_heartbeat &&
                      !tried.proposal.reserves && books.file.assign_multiple && refused < kMostRefusals &&
                      (books.file.max_assign_per_heartbeat == -1 || assigned < books.file.max_assign_per_heartbeat);
    if (!more) return;
    tried = TryOnce(books, node, decide);
  }
}

/// The node's pass, written down where it was asked for.
template <class Pass>
void Recorded(Books& books, NodeIndex node, Pass pass) {
  const bool recorded = books.records != nullptr && books.records->Begin(node);
  pass();
  if (recorded) {
    books.records->End(base::Instant{books.now_ms * 1'000'000},
                       std::string(books.partitions.Name(books.partitions.OfNode(node))));
  }
}

}  // namespace

void Apply(Books& books, const ms::NodeUpdated& event) {
  if (!books.nodes.Alive(event.node)) return;
  books.health.run_ms = books.now_ms;
  if (!books.file_asynchronous) books.health.allocated = books.health.reserved = {};
  NodeReport(books, event.node, event);
  if (!books.file_asynchronous) Recorded(books, event.node, [&] { OfferNode(books, event.node); });
}

void Apply(Books& books, const ms::ProposalPass& event) {
  std::vector<Proposal> proposals;
  for (const NodeIndex node : event.nodes) {
    Recorded(books, node, [&] {
      TryOnce(books, node, [&](const Proposal& proposal) {
        if (!ProposesSomething(proposal)) return;
        proposals.push_back(proposal);
      });
    });
  }
  for (const Proposal& proposal : proposals) Commit(books, proposal);
}

}  // namespace fairlead::scheduler::yarn_capacity
