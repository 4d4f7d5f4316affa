#include "scheduler/yarn_capacity/allocator.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/asks.h"
#include "scheduler/yarn_capacity/containers.h"
#include "scheduler/yarn_capacity/resize.h"

namespace fairlead::scheduler::yarn_capacity {

using model::Locality;

/// SchedulerApplicationAttempt.hasPendingResourceRequest.
bool Allocator::Pends() const {
  const PartitionId asked = mode_ == Mode::kIgnore ? kNoLabel : partition_;
  Resources pending = attempt_.usage.pending(asked);
  if (asked == kNoLabel) hadoop::SubtractNonNegative(pending, attempt_.unconfirmed);
  return !pending.IsZero();
}

bool Allocator::WithinHeadroom(const Resources& size) const {
  Resources room = limits_.headroom;
  if (books_.file.continue_looking) room += attempt_.usage.reserved(partition_);
  return books_.config.quirks.limits_by_dominant_share ? calc_.AtLeast(books_.cluster(), room, size)
                                                       : calc_.FitsIn(size, room);
}

/// shouldAllocOrReserveNewContainer: the longer reserved nodes do not help, the more may be taken elsewhere.
bool Allocator::MayTakeMore(const RequestKey& key, const Resources& size) const {
  const KeyLines* lines = attempt_.asks.Find(key);
  const int32_t wanted = lines == nullptr ? 0 : lines->AnyCount();
  const auto counts = attempt_.counts.find(key);
  const auto reserved = counts == attempt_.counts.end() ? 0 : static_cast<int32_t>(counts->second.reserved_on.size());
  int32_t starvation = 0;
  if (reserved > 0) {
    const float part = calc_.Ratio(size, leaf().settings.maximum_allocation);
    const float waited = static_cast<float>(counts->second.re_reservations) / static_cast<float>(reserved);
    const float weighed = waited * (1.0F - std::min(part, leaf().settings.minimum_allocation_factor));
    starvation = hadoop::java::ToInt(static_cast<double>(weighed));
  }
  return starvation + wanted - reserved > 0;
}

Allocator::Outcome Allocator::SkipRequest(const RequestKey& key, Outcome outcome, std::string_view why) const {
  record_.OfRequest(id_, key, ActivityState::kSkipped, why);
  return outcome;
}

Allocator::Result Allocator::SkipNode(const RequestKey& key, Outcome outcome, std::string_view why) const {
  record_.OfNode(id_, key, ActivityState::kSkipped, why);
  Result result;
  result.outcome = outcome;
  return result;
}

bool Allocator::GrowsHere(const RequestKey& key) const {
  const ContainerSlot slot = GrowingContainer(books_, attempt_, key);
  return slot.valid() && books_.containers[slot].node == node_id_;
}

/// preCheckForNodeCandidateSet. kAllocated: go on.
Allocator::Outcome Allocator::Precheck(const RequestKey& key, const KeyLines& lines) {
  const Request* any = lines.Any();
  if (any == nullptr || any->count <= 0) {
    return SkipRequest(key, Outcome::kSkipKey, "Request does not need more resource");
  }
  if (mode_ == Mode::kIgnore && WaitsForMaster(attempt_) &&
      (books_.config.quirks.masters_never_on_shared_partitions || !books_.config.masters_on_shared_partitions)) {
    return SkipRequest(key, Outcome::kSkipApp, "Request skipped in Ignore Exclusivity mode for AM allocation");
  }
  if (key.IsGrowth() && !GrowsHere(key)) {
    return SkipNode(key, Outcome::kSkipKey, "Node skipped because relax locality is not allowed").outcome;
  }
  const bool here = any->partition == (mode_ == Mode::kIgnore ? kNoLabel : partition_);
  constexpr std::string_view kElsewhere = "Node does not match partition or placement constraints";
  if (!here && !books_.config.quirks.headroom_before_partition) {
    return SkipNode(key, Outcome::kSkipKey, kElsewhere).outcome;
  }
  if (!books_.file.continue_looking && !MayTakeMore(key, any->capability)) {
    return SkipRequest(key, Outcome::kSkipKey, "Request skipped based on reservation algo");
  }
  if (!WithinHeadroom(any->capability)) {
    record_.OfRequest(id_, key, ActivityState::kRejected,
                      "Queue does not have enough headroom for inner highest-priority request");
    return Outcome::kSkipQueue;
  }
  int32_t missed = 0;
  if (any->partition == kNoLabel) missed = ++attempt_.counts[key].missed;
  if (mode_ == Mode::kIgnore && missed < nodes()) {
    return SkipRequest(key, Outcome::kSkipApp,
                       "Request skipped because non-partitioned resource request should be scheduled to "
                       "non-partitioned partition first");
  }
  return here ? Outcome::kAllocated : SkipNode(key, Outcome::kSkipKey, kElsewhere).outcome;
}

bool Allocator::MayServe(const RequestKey& key, const KeyLines& lines, Locality type, ContainerSlot reserved) const {
  const auto count_of = [&](NameId name) {
    const Request* request = lines.Of(name, books_.names);
    return request == nullptr ? 0 : request->count;
  };
  const auto counts = attempt_.counts.find(key);
  const int64_t missed = counts == attempt_.counts.end() ? 0 : counts->second.opportunities;
  if (type == Locality::kOffSwitch) {
    if (reserved.valid()) return true;
    if (nodes() == 0) return false;
    const auto places = static_cast<int32_t>(lines.requests.size());
    if (places == 1) return true;
    const int32_t additional = books_.file.rack_locality_additional_delay;
    if (additional > -1) return missed > std::min(nodes(), books_.file.node_locality_delay + additional);
    const float factor = std::min(static_cast<float>(std::max(places - 1, 0)) / static_cast<float>(nodes()), 1.0F);
    const float wait = std::min(static_cast<float>(nodes()), static_cast<float>(int64_t{lines.AnyCount()}) * factor);
    return wait < static_cast<float>(missed);
  }
  if (count_of(node_.rack) <= 0) return false;
  if (type == Locality::kRackLocal) return std::min(nodes(), books_.file.node_locality_delay) < missed;
  return count_of(node_.host) > 0;
}

ContainerSlot Allocator::FindReservation(const RequestKey& key, const Resources& at_least) const {
  const auto counts = attempt_.counts.find(key);
  if (counts == attempt_.counts.end()) return {};
  for (const NodeIndex node : ReservedNodes(books_, counts->second)) {
    const ContainerSlot slot = books_.nodes[node].reserved;
    if (slot.valid() && calc_.FitsIn(at_least, books_.containers[slot].resources)) return slot;
  }
  return {};
}

bool Allocator::AddKills(const Resources& size, std::vector<ContainerSlot>& kills) const {
  const Killable::ById* killable = books_.killable.OfNode(node_id_);
  if (killable == nullptr) return false;
  // FiCaSchedulerNode keeps them in a HashMap by id; those of one bin are in the order in which they came.
  std::vector<const Killable::One*> ones;
  for (const auto& [id, one] : *killable) ones.push_back(&one);
  std::ranges::sort(ones, {}, [](const Killable::One* one) { return one->order; });
  std::vector<int32_t> hashes;
  for (const Killable::One* one : ones) hashes.push_back(books_.containers[one->slot].JavaHash());
  Resources room = node_.unallocated;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(ones.size()))) {
    kills.push_back(ones[i]->slot);
    room += ones[i]->size;
    if (calc_.FitsIn(size, room)) return true;
  }
  return false;
}

/// assignContainer.
Allocator::Result Allocator::Place(const RequestKey& key, const Resources& size, Locality type,
                                   ContainerSlot reserved) {
  if (!calc_.FitsIn(size, node_.total)) {
    return SkipNode(key, Outcome::kSkipLocality, "Node's total resource is insufficient for request");
  }
  Result result;
  result.outcome = Outcome::kSkipLocality;
  const bool more = MayTakeMore(key, size);
  bool fits = calc_.AvailableContainers(node_.unallocated, size) > 0;
  Resources unreserve = calc_.Max(books_.cluster(), size - limits_.headroom, limits_.needs_unreserving);
  const bool must_unreserve = calc_.AnyAboveZero(unreserve);
  const bool looks_on = books_.file.continue_looking;
  if (!fits && limits_.may_preempt && calc_.AvailableContainers(node_.unallocated, size) == 0) {
    fits = AddKills(size, result.kills);
  }
  result.size = size;
  result.type = type;
  if (!fits) {
    result.kills.clear();
    constexpr std::string_view kFull = "Node does not have sufficient resource for request";
    if (!reserved.valid() && (!more || (looks_on && must_unreserve))) {
      return SkipNode(key, Outcome::kSkipLocality, kFull);
    }
    record_.OfNode(id_, key, reserved.valid() ? ActivityState::kReReserved : ActivityState::kReserved, kFull);
    result.outcome = Outcome::kReserved;
    return result;
  }
  if (!reserved.valid() && looks_on && (!more || must_unreserve)) {
    if (!must_unreserve) unreserve = size;
    result.unreserves = FindReservation(key, unreserve);
    if (!result.unreserves.valid()) {
      return SkipNode(key, Outcome::kSkipLocality, "Node can't find a container to be unreserved when needed");
    }
  }
  result.outcome = Outcome::kAllocated;
  return result;
}

/// assignContainersOnNode.
Allocator::Result Allocator::TryLevels(const RequestKey& key, const KeyLines& lines, ContainerSlot reserved) {
  constexpr std::string_view kNotRelaxed = "Node skipped because relax locality is not allowed";
  const auto of = [&](NameId name) {
    const Request* request = lines.Of(name, books_.names);
    return request != nullptr && request->count > 0 ? request : nullptr;
  };
  const auto try_level = [&](const Request& request, Locality type) {
    Result result;
    result.outcome = Outcome::kSkipLocality;
    return MayServe(key, lines, type, reserved) ? Place(key, request.capability, type, reserved) : result;
  };
  Result result;
  if (const Request* local = of(node_.host)) {
    result = try_level(*local, Locality::kNodeLocal);
    if (calc_.Greater(books_.cluster(), result.size, {})) return result;
  }
  if (const Request* rack = of(node_.rack)) {
    if (!rack->relax) return SkipNode(key, Outcome::kSkipKey, kNotRelaxed);
    result = try_level(*rack, Locality::kRackLocal);
    if (calc_.Greater(books_.cluster(), result.size, {})) return result;
  }
  const Request* any = of(Names::kAny);
  if (any == nullptr) {
    return SkipNode(key, Outcome::kSkipKey, "Node skipped because node/rack locality cannot be satisfied");
  }
  if (!any->relax) return SkipNode(key, Outcome::kSkipKey, kNotRelaxed);
  if (!MayServe(key, lines, Locality::kOffSwitch, reserved)) {
    return SkipNode(key, Outcome::kSkipApp, "Node skipped because of off-switch delay");
  }
  result = Place(key, any->capability, Locality::kOffSwitch, reserved);
  if (result.outcome == Outcome::kSkipLocality) result.outcome = Outcome::kSkipApp;
  return result;
}

/// tryAllocateOnNode.
Allocator::Result Allocator::TryNode(const RequestKey& key, const KeyLines& lines, ContainerSlot reserved) {
  if (IsBlacklisted(attempt_, node_)) return SkipNode(key, Outcome::kSkipApp, "Node is blacklisted");
  ++attempt_.counts[key].opportunities;
  const Result result = TryLevels(key, lines, reserved);
  if (!reserved.valid() && result.outcome == Outcome::kSkipKey) --attempt_.counts[key].opportunities;
  return result;
}

Proposal Allocator::Finish(const RequestKey& key, const Result& result, ContainerSlot reserved) {
  Proposal proposal;
  proposal.attempt = id_;
  proposal.key = key;
  proposal.node = node_id_;
  proposal.mode = mode_;
  const auto ref = [&](ContainerSlot slot) {
    return slot.valid() ? ContainerRef{slot, books_.containers[slot].id} : ContainerRef{};
  };
  proposal.reserved = ref(reserved);
  proposal.unreserves = ref(result.unreserves);
  proposal.skipped = result.outcome == Outcome::kSkipApp     ? Skipped::kOther
                     : result.outcome == Outcome::kSkipQueue ? Skipped::kQueueLimit
                                                             : Skipped::kNone;
  if (result.outcome != Outcome::kAllocated && result.outcome != Outcome::kReserved) return proposal;
  KeyCounts& counts = attempt_.counts[key];
  if (!reserved.valid()) {
    const bool resets = result.type == Locality::kNodeLocal ||
                        (result.type == Locality::kRackLocal && books_.file.rack_locality_full_reset);
    if (resets) counts.opportunities = 0;
    if (partition_ == kNoLabel) counts.missed = 0;
  }
  if (!calc_.Greater(books_.cluster(), result.size, {})) return proposal;
  proposal.size = result.size;
  proposal.type = result.type;
  proposal.reserves = result.outcome == Outcome::kReserved;
  for (const ContainerSlot slot : result.kills) proposal.kills.push_back(ref(slot));
  if (!proposal.reserves && record_.on()) {
    record_.OfNode(id_, key, ActivityState::kAllocated, "", model::ToString(ContainerOf(books_, proposal)));
  }
  if (!proposal.reserves) attempt_.unconfirmed += Resources::Of(result.size[0], result.size[1]);
  return proposal;
}

Proposal Allocator::Propose() {
  if (!Pends()) {
    record_.OfApp(id_, ActivityState::kSkipped, "Application does not need more resource");
    return Proposal::Nothing(Skipped::kOther);
  }
  for (const hadoop::Asks::ActiveKey& active : attempt_.asks.active()) {
    const RequestKey& key = active.key;
    const KeyLines& lines = attempt_.asks.of(active);
    Result result;
    result.outcome = Precheck(key, lines);
    if (result.outcome == Outcome::kAllocated) result = TryNode(key, lines, {});
    if (result.outcome != Outcome::kSkipKey) return Finish(key, result, {});
  }
  return Proposal::Nothing(Skipped::kOther);
}

Proposal Allocator::FromReservation(ContainerSlot slot) {
  const RequestKey key = books_.containers[slot].key;
  const KeyLines* lines = attempt_.asks.Find(key);
  Result result;
  if (lines == nullptr || lines->AnyCount() == 0) {
    result.outcome = lines == nullptr ? Outcome::kSkipKey : Outcome::kSkipQueue;
    result.unreserves = slot;
    return Finish(key, result, slot);
  }
  return Finish(key, TryNode(key, *lines, slot), slot);
}

}  // namespace fairlead::scheduler::yarn_capacity
