#include "scheduler/yarn_capacity/dynamic.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/managed.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

bool HasEmptyPart(const std::string& path) {
  return path.empty() || path.front() == '.' || path.back() == '.' || path.find("..") != std::string::npos;
}

/// CapacitySchedulerQueueManager.determineMissingParents: whether the leaf may be made; parents to make, topmost first.
bool FindMissing(const Books& books, const std::string& leaf, std::vector<std::string>& missing) {
  const QueueNames& names = books.queues.names();
  std::string candidate = PathAbove(leaf);
  if (candidate.empty() || names.Ambiguous(candidate)) return false;
  int32_t distance = 1;
  QueueId existing = names.Find(candidate);
  QueueId static_one = existing;
  const auto is_static = [&](QueueId id) { return id.valid() && !books.queues[id].dynamic; };
  while (!is_static(static_one) && !candidate.empty()) {
    ++distance;
    if (!existing.valid()) missing.insert(missing.begin(), candidate);
    candidate = PathAbove(candidate);
    if (!existing.valid()) existing = names.Find(candidate);
    static_one = names.Find(candidate);
  }
  if (!existing.valid() || !static_one.valid() || IsManaged(books, books.queues[existing])) return false;
  const auto keys = books.file.queues.find(books.queues[static_one].path);
  const int32_t deepest = keys == books.file.queues.end()
                              ? books.file.maximum_queue_depth
                              : keys->second.own.maximum_queue_depth.value_or(books.file.maximum_queue_depth);
  return distance <= deepest && !books.queues[existing].leaf && MayMakeQueues(books, books.queues[existing]);
}

/// ParentQueue.addDynamicChildQueue.
QueueId AddChild(Books& books, QueueId parent, const std::string& path, bool leaf, CapacityProblem& problem) {
  if (const QueueId known = books.queues.names().FindPath(path); known.valid()) return known;
  const int32_t most = KeysOf(books, books.queues[parent]).max_queues.value_or(1000);
  const std::vector<QueueId> children = books.queues[parent].children;
  if (static_cast<int64_t>(children.size()) >= most) return {};
  ChildrenBy by{};
  const bool weights = !ReadMode(books, books.queues[parent], children, by) && by == ChildrenBy::kWeight;
  if (!weights && books.file.legacy_queue_mode) return {};
  const QueueId id = books.queues.Make(path, parent, leaf);
  books.queues[id].dynamic = true;
  if (CapacityProblem found = SetUp(books, id)) {
    books.queues.Drop(id);
    if (found.fault != model::CapacityFault::kIo) problem = std::move(found);
    return {};
  }
  books.queues[parent].children.push_back(id);
  books.queues[parent].last_submission_ms = books.now_ms;
  UpdateQueue(books, parent);
  books.queues.names().Add(books.queues[id], id);
  return id;
}

/// isEligibleForAutoDeletion.
bool IsIdle(const Books& books, const Queue& queue) {
  if (!queue.dynamic || IsMadeByManaged(books, queue) || (queue.leaf ? queue.apps() > 0 : !queue.children.empty()))
    return false;
  return KeysOf(books, queue).auto_removal.value_or(true);
}

/// ParentQueue.removeChildQueue.
void Remove(Books& books, QueueId id) {
  const QueueId parent = books.queues[id].parent;
  books.left_keys[books.queues[id].path] = KeysOf(books, books.queues[id]);
  books.queues.names().Remove(books.queues[id]);
  std::erase(books.queues[parent].children, id);
  books.user_limits.Forget(id);
  UpdateQueue(books, parent);
  bool named = false;  // by an attempt that stopped
  for (const AttemptId attempt : books.attempts) {
    if (books.attempts[attempt].headroom_of == id) books.attempts[attempt].headroom_of = {};
    named |= books.attempts[attempt].queue == id;
  }
  if (!named) books.queues.Drop(id);
}

}  // namespace

QueueId MakeQueue(Books& books, const std::string& path, CapacityProblem& problem) {
  if (HasEmptyPart(path)) return {};
  const QueueId above = books.queues.Find(PathAbove(path));
  if (above.valid() && IsManaged(books, books.queues[above])) {
    return MakeManagedLeaf(books, above, books.queues[above].path + path.substr(path.rfind('.')));
  }
  if (books.config.quirks.percentages_only) return {};
  std::vector<std::string> missing;
  if (!FindMissing(books, path, missing)) return {};
  QueueId parent = books.queues.Find(missing.empty() ? PathAbove(path) : PathAbove(missing.front()));
  for (const std::string& one : missing) {
    parent = AddChild(books, parent, one, false, problem);
    if (!parent.valid()) return {};
  }
  const std::string leaf = books.queues[parent].path + path.substr(path.rfind('.'));
  const QueueId made = AddChild(books, parent, leaf == path ? path : leaf, true, problem);
  return made;
}

/// AutoCreatedQueueDeletionPolicy.editSchedule: marks, and sends away those that were marked before.
void RemoveIdleQueues(Books& books) {
  std::set<std::string> idle;
  std::vector<std::string> sent;
  for (const std::string& path : books.queues.names().InHashOrder()) {
    if (!IsIdle(books, books.queues[books.queues.names().FindPath(path)])) continue;
    if (books.rounds.idle_queues.contains(path)) {
      sent.push_back(path);
    } else {
      idle.insert(path);
    }
  }
  books.rounds.idle_queues = std::move(idle);
  std::vector<int32_t> hashes;
  for (const std::string& path : sent) hashes.push_back(hadoop::java::HashOfString(path));
  for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(sent.size()))) {
    const QueueId id = books.queues.names().FindPath(sent[i]);
    if (!id.valid()) continue;
    const Queue& queue = books.queues[id];
    const int64_t seconds = (books.now_ms - queue.last_submission_ms) / 1000;
    if (IsIdle(books, queue) && seconds > books.file.queue_expiration_seconds) Remove(books, id);
  }
}

}  // namespace fairlead::scheduler::yarn_capacity
