#include <algorithm>

#include "base/check.h"
#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_fair/core.h"

// Who is offered a node first. Hadoop puts the members of a queue into a TreeSet at every offer; here they stay in
// order and only those whose usage, demand or weight changed are put to another place. Where the comparator is no order
// (order.h), the TreeSet is built as Hadoop builds it.

namespace fairlead::scheduler::yarn_fair {
namespace {

const Resources kNothing;

}  // namespace

CompareContext Core::ContextOf(const Queue& parent) const {
  return {parent.policy, nodes_.total(), types_, config_.quirks.drf_needy_test_uses_first_usage};
}

Subject Core::SubjectOf(const Queue& queue) const {
  return {queue.used, queue.demand, queue.min_share, queue.weight, 0, {0, queue.name_rank}};
}

Subject Core::SubjectOf(const Attempt& attempt) const {
  return {attempt.used, attempt.demand, kNothing, attempt.weight, attempt.start_ms, attempt.name};
}

/// Adds a container's size to (or takes it off) its application and all queues above.
void Core::Charge(AttemptId id, const Resources& size, int sign) {
  Attempt& attempt = attempts_[id];
  if (sign > 0) {
    attempt.used += size;
  } else {
    attempt.used -= size;
  }
  DemandChanged(id);
  if (!attempt.stopped || config_.quirks.kept_container_leaves_twice) ChargeQueues(attempt.queue, size, sign);
  Touch(id);
  if (attempt.offerable) NoteUsage(attempt);
}

void Core::ChargeQueues(QueueId id, const Resources& size, int sign) {
  queues_[id].demand_dirty = true;
  for (; id.valid(); id = queues_[id].parent) {
    if (sign > 0) {
      queues_[id].used += size;
    } else {
      queues_[id].used -= size;
    }
    TouchQueue(id);
  }
}

/// The attempt's place among the applications of its leaf, or whether it has one, may have changed.
void Core::Touch(AttemptId id) {
  Attempt& attempt = attempts_[id];
  Order& order = queues_[attempt.queue].order;
  if (order.built && !attempt.key_dirty) {
    attempt.key_dirty = true;
    order.dirty.push_back(id.value);
  }
  SetOfferable(id, attempt.runnable && attempt.demand != attempt.used);
}

void Core::SetOfferable(AttemptId id, bool offerable) {
  Attempt& attempt = attempts_[id];
  if (attempt.offerable == offerable) return;
  attempt.offerable = offerable;
  if (offerable) NoteAsks(attempt);
  for (QueueId at = attempt.queue; at.valid(); at = queues_[at].parent) {
    queues_[at].offerable += offerable ? 1 : UINT32_MAX;
    TouchQueue(at);
  }
}

void Core::TouchQueue(QueueId id) {
  Queue& queue = queues_[id];
  if (!queue.parent.valid() || queue.key_dirty) return;
  Order& order = queues_[queue.parent].order;
  if (!order.built) return;
  queue.key_dirty = true;
  order.dirty.push_back(id.value);
}

/// Takes a leaving attempt out of its leaf's order at once.
void Core::Detach(AttemptId id) {
  Attempt& attempt = attempts_[id];
  Order& order = queues_[attempt.queue].order;
  if (attempt.key_dirty) std::erase(order.dirty, id.value);
  attempt.key_dirty = false;
  const bool placed = attempt.in_order;
  attempt.in_order = false;
  if (!order.built || !placed) return;
  std::vector<uint32_t>& members = attempt.in_starting ? order.starting : order.members;
  const auto it = std::lower_bound(members.begin(), members.end(), attempt_keys_[id.value],
                                   [&](uint32_t a, const OrderKey& key) { return attempt_keys_[a] < key; });
  FL_CHECK(it != members.end() && *it == id.value, "an attempt stands where its key says");
  members.erase(it);
  if (!attempt_keys_[id.value].exact) --order.inexact;
}

/// Brings one changed member to its place; `counts_when_absent`: its inexact key counts although it is not eligible.
template <class Member>
void Core::PlaceMember(Order& order, std::vector<uint32_t>& members, std::vector<OrderKey>& keys, Member& member,
                       uint32_t id, const OrderKey& key, bool eligible, bool counts_when_absent) {
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

void Core::PlaceAttempt(Order& order, AttemptId id, const OrderKey& key) {
  Attempt& attempt = attempts_[id];
  attempt.key_dirty = false;
  const auto place = [&](bool eligible) {
    PlaceMember(order, attempt.in_starting ? order.starting : order.members, attempt_keys_, attempt, id.value, key,
                eligible, false);
  };
  if (attempt.in_starting != attempt.master.Starts()) place(false);
  attempt.in_starting = attempt.master.Starts();
  place(attempt.offerable);
}

void Core::Refresh(QueueId id) {
  Queue& queue = queues_[id];
  Order& order = queue.order;
  if (!order.built) return Rebuild(id);
  if (order.dirty.empty()) return;
  const CompareContext context = ContextOf(queue);
  for (const uint32_t member : order.dirty) {
    if (queue.leaf) {
      PlaceAttempt(order, AttemptId{member}, KeyOf(context, SubjectOf(attempts_[AttemptId{member}])));
    } else {
      Queue& child = queues_[QueueId{member}];
      child.key_dirty = false;
      PlaceMember(order, order.members, queue_keys_, child, member, KeyOf(context, SubjectOf(child)),
                  child.offerable > 0, true);
    }
  }
  order.dirty.clear();
}

void Core::Rebuild(QueueId id) {
  Queue& queue = queues_[id];
  Order& order = queue.order;
  const CompareContext context = ContextOf(queue);
  for (const uint32_t member : order.dirty) {
    (queue.leaf ? attempts_[AttemptId{member}].key_dirty : queues_[QueueId{member}].key_dirty) = false;
  }
  order = Order{};
  order.built = true;
  queue.least_start = Unbounded();
  queue.most_start = {};
  for (const AttemptId member : queue.runnable) {
    Attempt& attempt = attempts_[member];
    attempt_keys_[member.value] = KeyOf(context, SubjectOf(attempt));
    attempt.in_order = attempt.offerable;
    attempt.in_starting = attempt.master.Starts();
    if (!attempt.in_order) continue;
    (attempt.in_starting ? order.starting : order.members).push_back(member.value);
    if (attempt.in_starting) NoteStarting(attempt);
    if (!attempt_keys_[member.value].exact) ++order.inexact;
  }
  for (const QueueId member : queue.children) {
    Queue& child = queues_[member];
    queue_keys_[member.value] = KeyOf(context, SubjectOf(child));
    child.in_order = child.offerable > 0;
    if (!queue_keys_[member.value].exact) ++order.inexact;
    if (child.in_order) order.members.push_back(member.value);
  }
  for (std::vector<uint32_t>* members : {&order.members, &order.starting}) {
    std::sort(members->begin(), members->end(), [&](uint32_t a, uint32_t b) {
      return queue.leaf ? attempt_keys_[a] < attempt_keys_[b] : queue_keys_[a] < queue_keys_[b];
    });
    members->erase(std::unique(members->begin(), members->end()), members->end());
  }
}

std::vector<uint32_t> Core::Merged(const Order& order) const {
  std::vector<uint32_t> all;
  std::merge(order.members.begin(), order.members.end(), order.starting.begin(), order.starting.end(),
             std::back_inserter(all), [&](uint32_t a, uint32_t b) { return attempt_keys_[a] < attempt_keys_[b]; });
  return all;
}

/// The TreeSet of Hadoop, filled in list order.
std::vector<uint32_t> Core::ExactOrder(QueueId id) const {
  const Queue& queue = queues_[id];
  std::vector<uint32_t> list;
  for (const QueueId member : queue.children) list.push_back(member.value);
  for (const AttemptId member : queue.runnable) {
    if (attempts_[member].offerable) list.push_back(member.value);
  }
  const CompareContext context = ContextOf(queue);
  std::vector<uint32_t> order;
  for (const uint32_t i : java::TreeOrder(static_cast<uint32_t>(list.size()), [&](uint32_t a, uint32_t b) {
         const auto subject = [&](uint32_t i) {
           return queue.leaf ? SubjectOf(attempts_[AttemptId{list[i]}]) : SubjectOf(queues_[QueueId{list[i]}]);
         };
         return Compare(context, subject(a), subject(b));
       })) {
    order.push_back(list[i]);
  }
  return order;
}

void Core::InvalidateOrders() {
  for (const QueueId id : queues_) {
    Queue& queue = queues_[id];
    queue.order.built = false;
    queue.shares_dirty = true;
    queue.demand_dirty = true;
    queue.bounded = false;
  }
}

}  // namespace fairlead::scheduler::yarn_fair
