#include "scheduler/yarn_capacity/asks.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/containers.h"

namespace fairlead::scheduler::yarn_capacity {

namespace ms = model::scheduler;
using hadoop::Asks;

namespace {

/// Keeps count times size, and sums of such, far from the end of int64.
constexpr int64_t kLargest = INT64_MAX >> 20;
/// Labels that the scheduler has ever heard of; asks for more are refused.
constexpr size_t kMostLabels = 4'096;

/// ClusterNodeTracker.getMaxAllowedAllocation.
Resources MaximumAllocation(const Books& books) {
  if (!books.config.cap_at_largest_node || books.nodes.count() == 0) return books.file.maximum_allocation;
  return hadoop::ComponentwiseMin(books.file.maximum_allocation, books.nodes.Largest());
}

void AddPending(Books& books, QueueId queue, PartitionId partition, const Resources& by) {
  books.queues.ForEachUp(queue, [&](Queue& one) { one.usage.AddPending(partition, by); });
}

/// AppSchedulingInfo.updatePendingResources: the "*" line of a key was `before` and is `now`.
void NoteAny(Books& books, AttemptId id, const Request* before, const Request& now) {
  Attempt& attempt = books.attempts[id];
  Users& users = books.queues[attempt.queue].own.users;
  const model::ApplicationId app = books.apps[attempt.app].id;
  if (now.count <= 0) {
    if (attempt.asks.active().empty()) users.Deactivate(attempt.user, app);
  } else if (before == nullptr || before->count <= 0) {
    users.Activate(attempt.user, app);
  }
  if (before != nullptr) {
    const Resources less = -(before->capability * before->count);
    AddPending(books, attempt.queue, before->partition, less);
    attempt.usage.AddPending(before->partition, less);
  }
  const Resources more = now.capability * now.count;
  AddPending(books, attempt.queue, now.partition, more);
  attempt.usage.AddPending(now.partition, more);
  attempt.requested_partitions.insert(now.partition);
}

/// The lines of one key.
bool UpdateKey(Books& books, AttemptId id, std::vector<Asks::Line> lines, bool give_back) {
  Attempt& attempt = books.attempts[id];
  const RequestKey key = lines.front().key;
  const KeyLines* held = attempt.asks.Find(key);
  const Request* any = held == nullptr ? nullptr : held->Any();
  const std::optional<Request> before = any == nullptr ? std::nullopt : std::optional(*any);
  std::optional<Request> now;
  for (const Asks::Line& line : lines) {
    if (line.name == Names::kAny) now = line.request;
  }
  if (now && give_back) now->count = before ? before->count + 1 : now->count;
  attempt.asks.Update(std::move(lines), give_back, books.names, books.now_ms);
  if (now) NoteAny(books, id, before ? &*before : nullptr, *now);
  return now.has_value();
}

void RecordAsks(Books& books, AttemptId id, const std::vector<model::Ask>& asks) {
  const Resources most = MaximumAllocation(books);
  std::vector<Asks::Line> lines;
  for (const model::Ask& ask : asks) {
    Resources size = ask.capability;
    for (int64_t& amount : size.amount) amount = std::clamp<int64_t>(amount, 0, kLargest);
    const Resources fitted = books.calc.Normalize(size, books.minimum(), most, books.minimum());
    const NameId name = ask.name == "*" ? Names::kAny : books.names.Acquire(ask.name);
    if (name == Names::kAny) books.names.AddUse(name);
    lines.push_back({name,
                     {ask.priority, ask.allocation_request_id},
                     {ask.count, ask.relax_locality, fitted, books.partitions.Intern(ask.label)}});
  }
  const bool any = UpdateAsks(books, id, lines, false);
  for (const Asks::Line& line : lines) books.names.Release(line.name);
  if (any && !WaitsForMaster(books.attempts[id])) {
    books.queues[books.attempts[id].queue].own.active.Touch(id, true);
  }
}

bool TooManyLabels(const Books& books, const std::vector<model::Ask>& asks) {
  return books.partitions.size() + asks.size() > kMostLabels &&
         std::any_of(asks.begin(), asks.end(), [](const model::Ask& ask) { return !ask.label.empty(); });
}

}  // namespace

void Apply(Books& books, const ms::Allocate& event) {
  const AttemptId id = books.apps.Current(event.app);
  const auto cluster_nodes = static_cast<int32_t>(books.nodes.count());
  if (!id.valid()) return books.Emit(ms::AllocateAnswered{event.app, event.token, {}, cluster_nodes});
  if (model::Refused refused = books.attempts[id].asks.TooMuch(event.asks, books.names)) {
    return books.Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  if (TooManyLabels(books, event.asks)) {
    return books.Emit(ms::CallRefused{event.token, {model::Refusal::kTooManyLabels, {""}, {}, {kMostLabels}}});
  }
  hadoop::ReleaseAsked(books, id, event.releases);
  if (books.attempts[id].stopped) {
    return books.Emit(ms::AllocateAnswered{event.app, event.token, {}, cluster_nodes});
  }
  if (!event.asks.empty()) RecordAsks(books, id, event.asks);
  Attempt& attempt = books.attempts[id];
  attempt.blacklist.Update(attempt.master.BlacklistNow(), event.blacklist_add, event.blacklist_remove, books.names);
  for (const model::ContainerId& container : std::exchange(attempt.to_preempt, {})) {
    books.Emit(ms::PreemptionNotice{event.app, container, true});
  }
  books.Emit(ms::AllocateAnswered{event.app, event.token, Headroom(books, id), cluster_nodes});
}

bool UpdateAsks(Books& books, AttemptId id, std::vector<Asks::Line> lines, bool give_back) {
  std::vector<std::vector<Asks::Line>> groups;
  for (Asks::Line& line : lines) {
    const auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& one) { return one.front().key == line.key; });
    if (group == groups.end()) {
      groups.push_back({std::move(line)});
    } else {
      group->push_back(std::move(line));
    }
  }
  std::vector<int32_t> hashes;
  for (const auto& group : groups) hashes.push_back(group.front().key.JavaHash());
  bool any = false;
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(hashes.size()))) {
    any |= UpdateKey(books, id, std::move(groups[i]), give_back);
  }
  return any;
}

/// AppSchedulingInfo.allocate, LocalityAppPlacementAllocator.decrementOutstanding.
hadoop::Taken TakeAsk(Books& books, AttemptId id, const RequestKey& key, model::Locality type, const Node& node) {
  Attempt& attempt = books.attempts[id];
  const hadoop::Taken taken = attempt.asks.Take(key, type, node.host, node.rack, books.names);
  if (attempt.asks.active().empty()) {
    books.queues[attempt.queue].own.users.Deactivate(attempt.user, books.apps[attempt.app].id);
  }
  const hadoop::TakenRequest& any = taken.lines[taken.size - 1];
  AddPending(books, attempt.queue, any.partition, -any.capability);
  attempt.usage.AddPending(any.partition, -any.capability);
  return taken;
}

void StopAsks(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  attempt.stopped = true;
  for (const Asks::ActiveKey& key : attempt.asks.active()) {
    const Request& any = *attempt.asks.of(key).Any();
    AddPending(books, attempt.queue, any.partition, -(any.capability * any.count));
  }
  attempt.asks.Clear(books.names);
}

void MoveAsks(Books& books, AttemptId id, QueueId source, QueueId target) {
  Attempt& attempt = books.attempts[id];
  for (const auto& [key, counts] : attempt.counts) {
    for (const NodeIndex node : counts.reserved_on) {
      const ContainerSlot slot = books.nodes[node].reserved;
      const KeyLines* lines = attempt.asks.Find(key);
      if (!slot.valid() || (lines != nullptr && lines->Any() != nullptr && lines->Any()->partition != kNoLabel))
        continue;
      const Resources& size = books.containers[slot].resources;
      books.queues.ForEachUp(source, [&](Queue& queue) { queue.metrics_reserved -= size; });
      books.queues.ForEachUp(target, [&](Queue& queue) { queue.metrics_reserved += size; });
    }
  }
  if (attempt.stopped) return;
  for (const Asks::ActiveKey& key : attempt.asks.active()) {
    const Request& any = *attempt.asks.of(key).Any();
    const Resources size = any.capability * any.count;
    AddPending(books, source, any.partition, -size);
    AddPending(books, target, any.partition, size);
  }
  const model::ApplicationId app = books.apps[attempt.app].id;
  books.queues[source].own.users.Deactivate(attempt.user, app);
  if (!attempt.asks.active().empty()) books.queues[target].own.users.Activate(attempt.user, app);
}

bool IsBlacklisted(const Attempt& attempt, const Node& node) {
  return attempt.blacklist.Has(attempt.master.BlacklistNow(), node.host, node.rack);
}

}  // namespace fairlead::scheduler::yarn_capacity
