#include "scheduler/yarn_fair/ordering.h"

#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/bounds.h"
#include "scheduler/yarn_fair/update.h"

// Who is offered a node first. Hadoop puts the members of a queue into a TreeSet at every offer; here they stay in
// order and only those whose usage, demand or weight changed are put to another place. Where the comparator is no order
// (order.h), the TreeSet is built as Hadoop builds it.

namespace fairlead::scheduler::yarn_fair {
namespace {

const Resources kNothing;

}  // namespace

static void PlaceAttempt(Books& books, Order& order, AttemptId id, const OrderKey& key);

CompareContext ContextOf(const Books& books, const Queue& parent) {
  return {parent.policy, books.nodes.total(), books.fixed.types, books.config.quirks.drf_needy_test_uses_first_usage};
}

Subject SubjectOf(const Queue& queue) {
  return {queue.used, queue.demand, queue.min_share, queue.weight, 0, {0, queue.name_rank}};
}

Subject SubjectOf(const Attempt& attempt) {
  return {attempt.used, attempt.demand, kNothing, attempt.weight, attempt.start_ms, attempt.name};
}

void Charge(Books& books, AttemptId id, const Resources& size, int sign) {
  Attempt& attempt = books.attempts[id];
  if (sign > 0) {
    attempt.used += size;
  } else {
    attempt.used -= size;
  }
  DemandChanged(books, id);
  if (!attempt.stopped || books.config.quirks.kept_container_leaves_twice)
    ChargeQueues(books, attempt.queue, size, sign);
  Touch(books, id);
  if (attempt.offerable) NoteUsage(books, attempt);
}

void ChargeQueues(Books& books, QueueId id, const Resources& size, int sign) {
  books.queues[id].demand_dirty = true;
  for (; id.valid(); id = books.queues[id].parent) {
    if (sign > 0) {
      books.queues[id].used += size;
    } else {
      books.queues[id].used -= size;
    }
    TouchQueue(books, id);
  }
}

void Touch(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  Order& order = books.queues[attempt.queue].order;
  if (order.built && !attempt.key_dirty) {
    attempt.key_dirty = true;
    order.dirty.push_back(id.value);
  }
  SetOfferable(books, id, attempt.runnable && attempt.demand != attempt.used);
}

void SetOfferable(Books& books, AttemptId id, bool offerable) {
  Attempt& attempt = books.attempts[id];
  if (attempt.offerable == offerable) return;
  attempt.offerable = offerable;
  if (offerable) NoteAsks(books, attempt);
  for (QueueId at = attempt.queue; at.valid(); at = books.queues[at].parent) {
    books.queues[at].offerable += offerable ? 1 : UINT32_MAX;
    TouchQueue(books, at);
  }
}

void TouchQueue(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  if (!queue.parent.valid() || queue.key_dirty) return;
  Order& order = books.queues[queue.parent].order;
  if (!order.built) return;
  queue.key_dirty = true;
  order.dirty.push_back(id.value);
}

void Detach(Books& books, AttemptId id) {
  Attempt& attempt = books.attempts[id];
  Order& order = books.queues[attempt.queue].order;
  if (attempt.key_dirty) std::erase(order.dirty, id.value);
  attempt.key_dirty = false;
  const bool placed = attempt.in_order;
  attempt.in_order = false;
  if (!order.built || !placed) return;
  std::vector<uint32_t>& members = attempt.in_starting ? order.starting : order.members;
  const auto it = std::lower_bound(members.begin(), members.end(), books.keys.attempts[id.value],
                                   [&](uint32_t a, const OrderKey& key) { return books.keys.attempts[a] < key; });
  FL_CHECK(it != members.end() && *it == id.value, "an attempt stands where its key says");
  members.erase(it);
  if (!books.keys.attempts[id.value].exact) --order.inexact;
}

/// Brings one changed member to its place; `counts_when_absent`: its inexact key counts although it is not eligible.
template <class Member>
void PlaceMember(Order& order, std::vector<uint32_t>& members, std::vector<OrderKey>& keys, Member& member, uint32_t id,
                 const OrderKey& key, bool eligible, bool counts_when_absent) {
  const auto less = [&](uint32_t a, const OrderKey& k) { return keys[a] < k; };
  const OrderKey& old = keys[id];
  auto from = members.end();
  if (member.in_order) {
    from = members.front() == id ? members.begin() : std::lower_bound(members.begin(), members.end(), old, less);
    FL_CHECK(from != members.end() && *from == id, "a member stands where its key says");
  }
  if (!old.exact && (counts_when_absent || member.in_order)) --order.inexact;
  if (!key.exact && (counts_when_absent || eligible)) ++order.inexact;
  if (!eligible) {
    if (member.in_order) members.erase(from);
  } else if (!member.in_order) {
    members.insert(std::lower_bound(members.begin(), members.end(), key, less), id);
  } else if (key < old) {
    const auto to = std::lower_bound(members.begin(), from, key, less);
    std::copy_backward(to, from, from + 1);
    *to = id;
  } else {
    const auto to = std::lower_bound(from + 1, members.end(), key, less);
    *std::copy(from + 1, to, from) = id;
  }
  keys[id] = key;
  member.in_order = eligible;
}

void PlaceAttempt(Books& books, Order& order, AttemptId id, const OrderKey& key) {
  Attempt& attempt = books.attempts[id];
  attempt.key_dirty = false;
  const auto place = [&](bool eligible) {
    PlaceMember(order, attempt.in_starting ? order.starting : order.members, books.keys.attempts, attempt, id.value,
                key, eligible, false);
  };
  if (attempt.in_starting != attempt.master.Starts()) place(false);
  attempt.in_starting = attempt.master.Starts();
  place(attempt.offerable);
}

void Refresh(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  Order& order = queue.order;
  if (!order.built) return Rebuild(books, id);
  if (order.dirty.empty()) return;
  const CompareContext context = ContextOf(books, queue);
  for (const uint32_t member : order.dirty) {
    if (queue.leaf) {
      PlaceAttempt(books, order, AttemptId{member}, KeyOf(context, SubjectOf(books.attempts[AttemptId{member}])));
    } else {
      Queue& child = books.queues[QueueId{member}];
      child.key_dirty = false;
      PlaceMember(order, order.members, books.keys.queues, child, member, KeyOf(context, SubjectOf(child)),
                  child.offerable > 0, true);
    }
  }
  order.dirty.clear();
}

void Rebuild(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  Order& order = queue.order;
  const CompareContext context = ContextOf(books, queue);
  for (const uint32_t member : order.dirty) {
    (queue.leaf ? books.attempts[AttemptId{member}].key_dirty : books.queues[QueueId{member}].key_dirty) = false;
  }
  order = Order{};
  order.built = true;
  queue.least_start = Unbounded();
  queue.most_start = {};
  for (const AttemptId member : queue.runnable) {
    Attempt& attempt = books.attempts[member];
    books.keys.attempts[member.value] = KeyOf(context, SubjectOf(attempt));
    attempt.in_order = attempt.offerable;
    attempt.in_starting = attempt.master.Starts();
    if (!attempt.in_order) continue;
    (attempt.in_starting ? order.starting : order.members).push_back(member.value);
    if (attempt.in_starting) NoteStarting(books, attempt);
    if (!books.keys.attempts[member.value].exact) ++order.inexact;
  }
  for (const QueueId member : queue.children) {
    Queue& child = books.queues[member];
    books.keys.queues[member.value] = KeyOf(context, SubjectOf(child));
    child.in_order = child.offerable > 0;
    if (!books.keys.queues[member.value].exact) ++order.inexact;
    if (child.in_order) order.members.push_back(member.value);
  }
  for (std::vector<uint32_t>* members : {&order.members, &order.starting}) {
    std::sort(members->begin(), members->end(), [&](uint32_t a, uint32_t b) {
      return queue.leaf ? books.keys.attempts[a] < books.keys.attempts[b] : books.keys.queues[a] < books.keys.queues[b];
    });
    members->erase(std::unique(members->begin(), members->end()), members->end());
  }
}

std::vector<uint32_t> Merged(const Books& books, const Order& order) {
  std::vector<uint32_t> all;
  std::merge(order.members.begin(), order.members.end(), order.starting.begin(), order.starting.end(),
             std::back_inserter(all),
             [&](uint32_t a, uint32_t b) { return books.keys.attempts[a] < books.keys.attempts[b]; });
  return all;
}

std::vector<uint32_t> ExactOrder(const Books& books, QueueId id) {
  const Queue& queue = books.queues[id];
  std::vector<uint32_t> list;
  for (const QueueId member : queue.children) list.push_back(member.value);
  for (const AttemptId member : queue.runnable) {
    if (books.attempts[member].offerable) list.push_back(member.value);
  }
  const CompareContext context = ContextOf(books, queue);
  std::vector<uint32_t> order;
  for (const uint32_t i : java::TreeOrder(static_cast<uint32_t>(list.size()), [&](uint32_t a, uint32_t b) {
         const auto subject = [&](uint32_t i) {
           return queue.leaf ? SubjectOf(books.attempts[AttemptId{list[i]}])
                             : SubjectOf(books.queues[QueueId{list[i]}]);
         };
         return Compare(context, subject(a), subject(b));
       })) {
    order.push_back(list[i]);
  }
  return order;
}

void InvalidateOrders(Books& books) {
  for (const QueueId id : books.queues) {
    Queue& queue = books.queues[id];
    queue.order.built = false;
    queue.shares_dirty = true;
    queue.demand_dirty = true;
    queue.bounded = false;
  }
}

}  // namespace fairlead::scheduler::yarn_fair
