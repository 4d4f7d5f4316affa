#include "scheduler/yarn_capacity/managed.h"

#include <algorithm>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/setup.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

constexpr int32_t kMostLeaves = 1000;       // auto-create-child-queue.max-queues
constexpr float kRoomForRounding = 0.001F;  // CSQueueUtils.EPSILON

const model::CapacityQueueKeys* KeysOfManaged(const Books& books, const Queue& queue) {
  const auto keys = books.file.queues.find(queue.path);
  const bool on = keys != books.file.queues.end() && keys->second.own.auto_creation_legacy.value_or(false);
  return on ? &keys->second : nullptr;
}

/// Partitions that the template says something of.
std::vector<PartitionId> TemplatePartitions(const Books& books, const Queue& parent) {
  std::vector<PartitionId> partitions;
  const model::CapacityQueueKeys* keys = KeysOfManaged(books, parent);
  for (PartitionId id{0}; id.value < parent.shares.partitions(); ++id.value) {
    if (id == kNoLabel || (keys != nullptr && keys->leaves.capacity.contains(books.partitions.Name(id)))) {
      partitions.push_back(id);
    }
  }
  return partitions;
}

/// What the parent has left of the partition, and a little more against rounding.
float RoomLeft(const Books& books, const Queue& parent, PartitionId partition) {
  float given = 0;
  for (const QueueId child : parent.children) {
    if (IsEntitled(books, books.queues[child], partition)) given += TemplateShare(books, parent, partition);
  }
  return parent.shares.absolute(partition) - given + kRoomForRounding;
}

/// All applications below the parent: higher priority first, then by id (CapacityScheduler.applicationComparator).
std::vector<AttemptId> AppsBelow(const Books& books, const Queue& parent) {
  std::vector<AttemptId> apps;
  for (const QueueId child : parent.children) {
    const Leaf& leaf = books.queues[child].own;
    const auto add = [&](AttemptId id) { apps.push_back(id); };
    leaf.active.ForEach(add);
    leaf.pending.ForEach(add);
    apps.insert(apps.end(), leaf.waiting.begin(), leaf.waiting.end());
  }
  std::sort(apps.begin(), apps.end(), [&](AttemptId a, AttemptId b) {
    const Attempt& one = books.attempts[a];
    const Attempt& two = books.attempts[b];
    if (one.priority != two.priority) return one.priority > two.priority;
    return books.apps[one.app].id < books.apps[two.app].id;
  });
  return apps;
}

/// One partition of a parent's leaves; whether anything changed.
bool EntitlePartition(Books& books, const Queue& parent, PartitionId partition) {
  std::set<std::string> idle;
  std::map<std::string, std::set<PartitionId>>& entitled = books.managed.entitled;
  for (const QueueId child : parent.children) {
    const Queue& leaf = books.queues[child];
    if (leaf.apps() > 0 || !IsEntitled(books, leaf, partition)) continue;
    entitled[leaf.path].erase(partition);
    idle.insert(leaf.path);
  }
  bool changed = !idle.empty();
  const float share = TemplateShare(books, parent, partition);
  float room = RoomLeft(books, parent, partition);
  for (const AttemptId id : AppsBelow(books, parent)) {
    const Queue& leaf = books.queues[books.attempts[id].queue];
    if (room < share) break;
    if (idle.contains(leaf.path) || IsEntitled(books, leaf, partition)) continue;
    entitled[leaf.path].insert(partition);
    room -= share;
    changed = true;
  }
  return changed;
}

}  // namespace

bool IsManaged(const Books& books, const Queue& queue) {
  return !queue.leaf && !queue.dynamic && KeysOfManaged(books, queue) != nullptr;
}

bool IsMadeByManaged(const Books& books, const Queue& queue) {
  return queue.dynamic && queue.parent.valid() && IsManaged(books, books.queues[queue.parent]);
}

bool IsEntitled(const Books& books, const Queue& leaf, PartitionId partition) {
  const auto of_leaf = books.managed.entitled.find(leaf.path);
  return of_leaf != books.managed.entitled.end() && of_leaf->second.contains(partition);
}

float TemplateShare(const Books& books, const Queue& parent, PartitionId partition) {
  const model::CapacityQueueKeys* keys = KeysOfManaged(books, parent);
  if (keys == nullptr) return 0;
  const auto capacity = keys->leaves.capacity.find(books.partitions.Name(partition));
  if (capacity == keys->leaves.capacity.end()) return 0;
  const Resources& total = books.partitions.Of(partition);
  if (!capacity->second.amount.IsZero()) return books.calc.Divide(total, capacity->second.amount, total);
  return capacity->second.percent / 100 * parent.shares.absolute(partition);
}

QueueId MakeManagedLeaf(Books& books, QueueId parent, const std::string& path) {
  const int32_t most = books.file.queues.at(books.queues[parent].path).own.max_queues.value_or(kMostLeaves);
  if (static_cast<int64_t>(books.queues[parent].children.size()) >= most) return {};
  const QueueId id = books.queues.Make(path, parent, true);
  books.queues[id].dynamic = true;
  for (const PartitionId partition : TemplatePartitions(books, books.queues[parent])) {
    const Queue& above = books.queues[parent];
    if (RoomLeft(books, above, partition) >= TemplateShare(books, above, partition)) {
      books.managed.entitled[path].insert(partition);
    }
  }
  if (SetUp(books, id)) {
    books.managed.entitled.erase(path);
    books.queues.Drop(id);
    return {};
  }
  books.queues[parent].children.push_back(id);
  books.queues.names().Add(books.queues[id], id);
  UpdateQueue(books, parent);
  return id;
}

void EntitleLeaves(Books& books) {
  std::vector<QueueId> parents;
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) {
    if (IsManaged(books, books.queues[id])) parents.push_back(id);
  });
  for (const QueueId id : parents) {
    bool changed = false;
    for (const PartitionId partition : TemplatePartitions(books, books.queues[id])) {
      changed |= EntitlePartition(books, books.queues[id], partition);
    }
    if (!changed) continue;
    // A leaf was set up from the same keys before: they have no problem now.
    for (const QueueId child : books.queues[id].children) SetUp(books, child);
    UpdateQueue(books, id);
  }
}

void ForgetEntitled(Books& books) { books.managed.entitled.clear(); }

}  // namespace fairlead::scheduler::yarn_capacity
