#include "scheduler/yarn_fair/allocate.h"

#include <algorithm>

#include "scheduler/yarn_fair/bounds.h"
#include "scheduler/yarn_fair/containers.h"
#include "scheduler/yarn_fair/queues.h"
#include "scheduler/yarn_fair/update.h"

// One call of an application's master: FairScheduler.allocate, FSAppAttempt.getHeadroom.

namespace fairlead::scheduler::yarn_fair {

namespace ms = model::scheduler;

namespace {

/// Keeps count times size, and sums of such, far from the end of int64.
constexpr int64_t kLargest = INT64_MAX >> 20;

}  // namespace

static void RecordAsks(Books& books, AttemptId attempt, const std::vector<model::Ask>& asks);
static Resources Headroom(Books& books, Attempt& attempt);
static Resources MaximumFor(const Books& books, QueueId queue);

std::string ZeroTypeAsked(const Books& books, const std::vector<model::Ask>& asks, QueueId queue) {
  const Resources& max = books.queues[queue].max_share;
  for (size_t type = 0; type < books.fixed.types; ++type) {
    if (max[type] != 0) continue;
    for (const model::Ask& ask : asks) {
      if (ask.capability[type] > 0) return std::string(model::ResourceTypes::Name(type));
    }
  }
  return "";
}

/// FairScheduler.getMaximumResourceCapability(queue), ClusterNodeTracker.getMaxAllowedAllocation.
Resources MaximumFor(const Books& books, QueueId queue) {
  Resources maximum = books.config.maximum_allocation;
  if (books.config.cap_at_largest_node && books.nodes.count() > 0)
    maximum = ComponentwiseMin(maximum, books.nodes.Largest());
  return ComponentwiseMin(maximum, MaxContainer(books, queue));
}

void Apply(Books& books, const ms::Allocate& event) {
  const AttemptId id = books.apps.Current(event.app);
  if (!id.valid()) {
    books.Emit(ms::AllocateAnswered{event.app, event.token, {}, static_cast<int32_t>(books.nodes.count())});
    return;
  }
  const std::string zero = ZeroTypeAsked(books, event.asks, books.attempts[id].queue);
  if (!zero.empty()) {
    return Refuse(books, event.token, model::Refusal::kQueueHasNone,
                  {model::ToString(books.apps[event.app].id), books.queues[books.attempts[id].queue].name, zero});
  }
  if (model::Refused refused = books.attempts[id].asks.TooMuch(event.asks, books.names)) {
    return books.Emit(ms::CallRefused{event.token, std::move(refused)});
  }
  hadoop::ReleaseAsked(books, id, event.releases);
  if (!books.attempts[id].stopped) {
    if (!event.asks.empty()) RecordAsks(books, id, event.asks);
    books.attempts[id].blacklist.Update(books.attempts[id].master.BlacklistNow(), event.blacklist_add,
                                        event.blacklist_remove, books.names);
  }
  books.Emit(ms::AllocateAnswered{event.app, event.token, Headroom(books, books.attempts[id]),
                                  static_cast<int32_t>(books.nodes.count())});
}

void RecordAsks(Books& books, AttemptId id, const std::vector<model::Ask>& asks) {
  const Resources maximum = MaximumFor(books, books.attempts[id].queue);
  std::vector<Asks::Line> lines;
  lines.reserve(asks.size());
  for (const model::Ask& ask : asks) {
    Resources size = ask.capability;
    for (int64_t& amount : size.amount) amount = std::clamp<int64_t>(amount, 0, kLargest);
    const Resources fitted = hadoop::Normalize(size, books.config.minimum_allocation, maximum, books.config.increment);
    const NameId name = ask.name == "*" ? Names::kAny : books.names.Acquire(ask.name);
    if (name == Names::kAny) books.names.AddUse(name);
    lines.push_back({name, {ask.priority, ask.allocation_request_id}, {ask.count, ask.relax_locality, fitted}});
  }
  UpdateAsks(books, id, lines, false);
  for (const Asks::Line& line : lines) books.names.Release(line.name);
}

void UpdateAsks(Books& books, AttemptId id, std::vector<Asks::Line> lines, bool give_back) {
  Attempt& attempt = books.attempts[id];
  attempt.asks.Update(std::move(lines), give_back, books.names, books.now_ms);
  if (attempt.offerable) NoteAsks(books, attempt);
  DemandChanged(books, id);
}

bool IsBlacklisted(const Attempt& attempt, const Node& node) {
  return attempt.blacklist.Has(attempt.master.BlacklistNow(), node.host, node.rack);
}

/// Free space of blacklisted nodes is subtracted as of the last change of the list, lost nodes included.
Resources Headroom(Books& books, Attempt& attempt) {
  const Queue& queue = books.queues[attempt.queue];
  Resources free = books.nodes.total() - books.totals.allocated;
  if (attempt.blacklist.TakeChanged()) {
    attempt.blacklisted_nodes.clear();
    for (NodeIndex id{0}; id.value < books.nodes.size(); ++id.value) {
      if (books.nodes[id].alive && IsBlacklisted(attempt, books.nodes[id])) attempt.blacklisted_nodes.push_back(id);
    }
  }
  for (const NodeIndex id : attempt.blacklisted_nodes) SubtractNonNegative(free, books.nodes[id].unallocated);
  const Resources most = ComponentwiseMin(free, queue.max_share - queue.used);
  Resources headroom;
  headroom[0] = std::min(most[0], std::max<int64_t>(queue.fair_share[0] - queue.used[0], 0));
  headroom[1] = std::min<int64_t>(most[1], INT32_MAX);
  if (queue.policy == Policy::kDrf) {
    headroom[1] = std::min(headroom[1], std::max<int64_t>(queue.fair_share[1] - queue.used[1], 0));
  }
  return headroom;
}

}  // namespace fairlead::scheduler::yarn_fair
