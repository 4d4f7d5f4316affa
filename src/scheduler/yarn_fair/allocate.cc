#include <algorithm>
#include <set>

#include "scheduler/yarn_fair/core.h"

// One call of an application's master: FairScheduler.allocate, FSAppAttempt.getHeadroom.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

namespace {

/// Keeps count times size, and sums of such, far from the end of int64.
constexpr int64_t kLargest = INT64_MAX >> 20;

/// Different (priority, request id) of one application, and lines of all of them. Hadoop has no limit; a master must
/// not fill the resource manager's memory.
constexpr int64_t kMostKeys = 4'096;
constexpr int64_t kMostLines = 65'536;

}  // namespace

/// FairScheduler.validateResourceRequests: the name of a type that is asked for although the queue's maximum is 0.
std::string Core::ZeroTypeAsked(const std::vector<model::Ask>& asks, QueueId queue) const {
  const Resources& max = queues_[queue].max_share;
  for (size_t type = 0; type < types_; ++type) {
    if (max[type] != 0) continue;
    for (const model::Ask& ask : asks) {
      if (ask.capability[type] > 0) return std::string(model::ResourceTypes::Name(type));
    }
  }
  return "";
}

/// FairScheduler.getMaximumResourceCapability(queue), ClusterNodeTracker.getMaxAllowedAllocation.
Resources Core::MaximumFor(QueueId queue) const {
  Resources maximum = config_.maximum_allocation;
  if (config_.cap_at_largest_node && nodes_.count() > 0) maximum = ComponentwiseMin(maximum, nodes_.Largest());
  return ComponentwiseMin(maximum, MaxContainer(queue));
}

void Core::Apply(const ms::Allocate& event) {
  const AttemptId id = apps_.Current(event.app);
  if (!id.valid()) {
    Emit(ms::AllocateAnswered{event.app, event.token, {}, static_cast<int32_t>(nodes_.count())});
    return;
  }
  const std::string zero = ZeroTypeAsked(event.asks, attempts_[id].queue);
  if (!zero.empty()) {
    return Refuse(event.token, model::Refusal::kQueueHasNone,
                  {model::ToString(apps_[event.app].id), queues_[attempts_[id].queue].name, zero});
  }
  if (model::Refused refused = TooMuchAsked(attempts_[id].asks, event.asks)) {
    return Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  ReleaseAsked(id, event.releases);
  if (!attempts_[id].stopped) {
    if (!event.asks.empty()) RecordAsks(id, event.asks);
    attempts_[id].blacklist.Update(attempts_[id].master.BlacklistNow(), event.blacklist_add, event.blacklist_remove,
                                   names_);
  }
  Emit(ms::AllocateAnswered{event.app, event.token, Headroom(attempts_[id]), static_cast<int32_t>(nodes_.count())});
}

model::Refused Core::TooMuchAsked(const Asks& asks, const std::vector<model::Ask>& wanted) const {
  if (asks.lines() + wanted.size() <= kMostKeys) return {};
  std::set<RequestKey> keys;
  std::set<std::pair<RequestKey, std::string_view>> lines;
  for (const model::Ask& ask : wanted) {
    const RequestKey key{ask.priority, ask.allocation_request_id};
    const KeyLines* placement = asks.Find(key);
    if (!placement) keys.insert(key);
    const NameId name = ask.name == "*" ? Names::kAny : names_.Find(ask.name);
    const bool known = placement && name.valid() && placement->Of(name, names_);
    if (!known) lines.insert({key, ask.name});
  }
  if (asks.keys() + keys.size() > kMostKeys) return {model::Refusal::kTooManyKeys, {}, {}, {kMostKeys}};
  if (asks.lines() + lines.size() > kMostLines) return {model::Refusal::kTooManyPlaces, {}, {}, {kMostLines}};
  return {};
}

void Core::RecordAsks(AttemptId id, const std::vector<model::Ask>& asks) {
  const Resources maximum = MaximumFor(attempts_[id].queue);
  std::vector<Asks::Line> lines;
  lines.reserve(asks.size());
  for (const model::Ask& ask : asks) {
    Resources size = ask.capability;
    for (int64_t& amount : size.amount) amount = std::clamp<int64_t>(amount, 0, kLargest);
    const Resources fitted = hadoop::Normalize(size, config_.minimum_allocation, maximum, config_.increment);
    const NameId name = ask.name == "*" ? Names::kAny : names_.Acquire(ask.name);
    if (name == Names::kAny) names_.AddUse(name);
    lines.push_back({name, {ask.priority, ask.allocation_request_id}, {ask.count, ask.relax_locality, fitted}});
  }
  UpdateAsks(id, lines, false);
  for (const Asks::Line& line : lines) names_.Release(line.name);
}

/// Every change of asks but what grants take.
void Core::UpdateAsks(AttemptId id, std::vector<Asks::Line> lines, bool give_back) {
  Attempt& attempt = attempts_[id];
  attempt.asks.Update(std::move(lines), give_back, names_, now_ms_);
  if (attempt.offerable) NoteAsks(attempt);
  DemandChanged(id);
}

bool Core::IsBlacklisted(const Attempt& attempt, const Node& node) const {
  return attempt.blacklist.Has(attempt.master.BlacklistNow(), node.host, node.rack);
}

/// Free space of blacklisted nodes is subtracted as of the last change of the list, lost nodes included.
Resources Core::Headroom(Attempt& attempt) {
  const Queue& queue = queues_[attempt.queue];
  Resources free = nodes_.total() - allocated_;
  if (attempt.blacklist.TakeChanged()) {
    attempt.blacklisted_nodes.clear();
    for (NodeIndex id{0}; id.value < nodes_.size(); ++id.value) {
      if (nodes_[id].alive && IsBlacklisted(attempt, nodes_[id])) attempt.blacklisted_nodes.push_back(id);
    }
  }
  for (const NodeIndex id : attempt.blacklisted_nodes) SubtractNonNegative(free, nodes_[id].unallocated);
  const Resources most = ComponentwiseMin(free, queue.max_share - queue.used);
  Resources headroom;
  headroom[0] = std::min(most[0], std::max<int64_t>(queue.fair_share[0] - queue.used[0], 0));
  headroom[1] = std::min<int64_t>(most[1], INT32_MAX);
  if (queue.policy == Policy::kDrf) {
    headroom[1] = std::min(headroom[1], std::max<int64_t>(queue.fair_share[1] - queue.used[1], 0));
  }
  return headroom;
}

void Core::Apply(const ms::Acquired& event) {
  if (!apps_.Alive(event.app)) return;
  for (const model::ContainerId& id : event.containers) {
    const ContainerSlot slot = FindLive(id);
    if (!slot.valid() || containers_[slot].state != ContainerState::kAllocated) continue;
    containers_.SetState(slot, ContainerState::kAcquired);
    containers_.DropTaken(slot, names_);
  }
}

}  // namespace fairlead::scheduler::yarn_fair
