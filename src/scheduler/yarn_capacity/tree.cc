#include "scheduler/yarn_capacity/tree.h"

#include <algorithm>
#include <cmath>

#include "base/java_number.h"
#include "scheduler/yarn_capacity/activation.h"
#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/managed.h"
#include "scheduler/yarn_capacity/placement.h"
#include "scheduler/yarn_capacity/runnability.h"
#include "scheduler/yarn_capacity/setup.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

constexpr float kPrecision = 0.0005F;
constexpr size_t kDeepest = 100;

/// A tree that was read and is not (yet) in force, in the order in which its queues were finished.
struct Parsed {
  QueueNames names;
  std::vector<QueueId> all;
  QueueId root;
};

/// CapacitySchedulerQueueManager.parseQueue, depth first.
CapacityProblem Parse(Books& books, QueueId parent, const std::string& name, size_t depth, Parsed& parsed,
                      QueueId& made) {
  const std::string path = parent.valid() ? books.queues[parent].path + "." + name : name;
  if (depth > kDeepest) return {CapacityFault::kArgument, "queues nest deeper than 100: " + path};
  const auto it = books.file.queues.find(path);
  static const model::CapacityQueueSettings nothing;
  const model::CapacityQueueSettings& keys = it == books.file.queues.end() ? nothing : it->second.own;
  const std::vector<std::string> names = keys.queues.value_or(std::vector<std::string>{});
  const QueueId old = books.queues.names().FindPath(path);
  const bool dynamic_parent = old.valid() && !books.queues[old].leaf && books.queues[old].dynamic;
  const bool makes = dynamic_parent || (keys.auto_creation.value_or(false) && !books.config.quirks.percentages_only) ||
                     keys.auto_creation_legacy.value_or(false);
  const bool leaf = names.empty() && !makes;
  if (leaf && !parent.valid()) {
    return {CapacityFault::kState, "Queue configuration missing child queue names for " + name};
  }
  if (keys.reservable.value_or(false)) {
    return {CapacityFault::kArgument, path + ": reservable is not supported; remove the key"};
  }
  if (keys.auto_creation_legacy.value_or(false) && !names.empty()) {
    return {CapacityFault::kArgument,
            "Can not convert parent queue: " + path +
                " to auto create enabled parent queue since it could have other pre-configured queues which is not "
                "supported; take out its auto-create-child-queue.enabled or its queues"};
  }
  const QueueId id = books.queues.Make(path, parent, leaf);
  parsed.all.push_back(id);
  if (CapacityProblem problem = SetUp(books, id)) return problem;
  std::vector<QueueId> children;
  std::string doubled;  // Hadoop takes it where the sums fit
  for (const std::string& child_name : names) {
    const QueueId same = parsed.names.FindPath(path + "." + child_name);
    if (same.valid()) {
      doubled =
          path + "." + child_name + " is listed twice; name it once in yarn.scheduler.capacity." + path + ".queues";
      children.push_back(same);
      continue;
    }
    QueueId child;
    if (CapacityProblem problem = Parse(books, id, child_name, depth + 1, parsed, child)) return problem;
    children.push_back(child);
  }
  if (!children.empty()) {
    CapacityProblem problem = SetChildren(books, id, children);
    if (problem && !doubled.empty()) problem.message += "; " + doubled;
    if (problem) return problem;
  }
  if (!doubled.empty()) return {CapacityFault::kArgument, doubled};
  parsed.names.Add(books.queues[id], id);
  made = id;
  return {};
}

CapacityProblem ParseAll(Books& books, Parsed& parsed) {
  if (books.file.problem) return books.file.problem;
  if (books.config.quirks.percentages_only) books.file.legacy_queue_mode = true;  // a key of 3.4
  if (!books.file.dominant && books.calc.types() > 2) {
    return {CapacityFault::kRuntime,
            "RM uses DefaultResourceCalculator which used only memory as resource-type but invalid resource-types "
            "specified. Use DominantResourceCalculator instead to make effective use of these resource-types"};
  }
  return Parse(books, {}, "root", 0, parsed, parsed.root);
}

/// Percentages of children, label by label.
CapacityProblem CheckPercentages(const Books& books, const Queue& parent, ChildrenBy parent_by,
                                 const std::vector<QueueId>& children) {
  for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
    if (!parent.shares.Exists(label)) continue;
    float sum = 0;
    for (const QueueId child : children) sum += books.queues[child].shares.capacity(label);
    const std::string of = "Illegal capacity sum of " + base::JavaFloat(sum) + " for children of queue " + parent.name +
                           " for label=" + books.partitions.Name(label);
    const float own = std::fabs(parent.shares.capacity(label));
    const bool checked = parent_by == ChildrenBy::kPercent && !parent.settings.allow_zero_sum;
    if (std::fabs(1 - sum) > kPrecision) {
      if (std::fabs(sum) > kPrecision) return Io(of + ". It should be either 0 or 1.0");
      if (checked && own > kPrecision) {
        return Io(of + ". It is set to 0, but parent percent != 0, and doesn't allow children capacity to set to 0");
      }
    } else if (checked && own <= 0) {
      return Io(of + ". queue=" + parent.name + " has zero capacity, but childqueues have positive capacities");
    }
  }
  return {};
}

/// Amounts of children, label by label.
CapacityProblem CheckAmounts(const Books& books, const Queue& parent, ChildrenBy by, ChildrenBy parent_by,
                             const std::vector<QueueId>& children) {
  if (by != parent_by && parent.parent.valid()) {
    return Io("Parent=" + parent.path +
              ": When absolute minResource is used, we must make sure both parent and child all use absolute "
              "minResource");
  }
  for (PartitionId label{0}; label.value < parent.shares.partitions(); ++label.value) {
    if (!parent.shares.Exists(label)) continue;
    Resources sum;
    for (const QueueId child : children) sum += books.queues[child].shares[label].configured_min;
    const Resources& own = parent.shares[label].configured_min;
    if (!own.IsZero() && books.calc.Less(books.partitions.Of(label), own, sum)) {
      return Io("Parent Queues capacity: " + model::ToString(own) +
                " is less than to its children:" + model::ToString(sum) + " for queue:" + parent.name);
    }
  }
  return {};
}

/// ParentQueue.setChildQueues: of one label. `amounts`: a child has an amount of the default partition.
CapacityProblem CheckLabelTogether(const Books& books, const Queue& parent, PartitionId label, bool amounts,
                                   const std::vector<QueueId>& children) {
  float sum = 0;
  Resources least;
  for (const QueueId id : children) {
    const Queue& child = books.queues[id];
    sum += child.shares.capacity(label);
    if (parent.parent.valid() && parent.settings.absolute != child.settings.absolute) {
      return Argument("Parent queue '" + parent.path + "' and child queue '" + child.path +
                      "' should use either percentages or amounts together");
    }
    least += child.shares[label].configured_min;
  }
  const float own = parent.shares.capacity(label);
  if ((!amounts && own > 0 && std::fabs(1 - sum) > kPrecision) || (own == 0 && sum > 0)) {
    return Argument("Illegal capacity of " + base::JavaFloat(sum) + " for children of queue " + parent.name +
                    " for label=" + books.partitions.Name(label));
  }
  const Resources& have = parent.shares[label].configured_min;
  if (!have.IsZero() && books.calc.Less(books.partitions.Of(label), have, least)) {
    return Argument("Parent Queues capacity: " + model::ToString(have) +
                    " is less than to its children:" + model::ToString(least) + " for queue:" + parent.name);
  }
  return {};
}

/// ParentQueue.setChildQueues.
CapacityProblem CheckTogether(const Books& books, const Queue& parent, const std::vector<QueueId>& children) {
  bool amounts = false;
  for (const QueueId id : children) {
    const bool amount = !books.queues[id].shares[kNoLabel].configured_min.IsZero();
    amounts |= amount;
    if (amount && parent.name != "root" && parent.shares.capacity(kNoLabel) != 0) {
      return Argument("Parent queue '" + parent.path + "' and child queue '" + books.queues[id].path +
                      "' should use either percentages or amounts together");
    }
  }
  if (CapacityProblem problem = CheckLabelTogether(books, parent, kNoLabel, amounts, children)) return problem;
  for (PartitionId label{1}; label.value < parent.shares.partitions(); ++label.value) {
    if (!parent.shares.Exists(label)) continue;
    if (CapacityProblem problem = CheckLabelTogether(books, parent, label, amounts, children)) return problem;
  }
  return {};
}

/// What is said in legacy mode of a parent's children.
CapacityProblem CheckChildren(const Books& books, QueueId id, const std::vector<QueueId>& children) {
  const Queue& parent = books.queues[id];
  if (books.config.quirks.children_checked_together) return CheckTogether(books, parent, children);
  ChildrenBy by{};
  ChildrenBy parent_by{};
  if (CapacityProblem problem = ReadMode(books, parent, children, by)) return problem;
  if (CapacityProblem problem = ReadMode(books, parent, {id}, parent_by)) return problem;
  if (by == ChildrenBy::kAbsolute || parent_by == ChildrenBy::kAbsolute) {
    if (CapacityProblem problem = CheckAmounts(books, parent, by, parent_by, children)) return problem;
  }
  return by == ChildrenBy::kPercent ? CheckPercentages(books, parent, parent_by, children) : CapacityProblem{};
}

}  // namespace

CapacityProblem SetChildren(Books& books, QueueId id, const std::vector<QueueId>& children) {
  // Leaves of managed parents have what is dealt out to them.
  if (books.file.legacy_queue_mode && !IsManaged(books, books.queues[id])) {
    if (CapacityProblem problem = CheckChildren(books, id, children)) return problem;
  }
  books.queues[id].children = children;
  return {};
}

CapacityProblem Load(Books& books) {
  Parsed parsed;
  if (CapacityProblem problem = ParseAll(books, parsed)) return problem;
  for (const QueueId id : parsed.all) books.queues.names().Add(books.queues[id], id);
  books.queues.SetRoot(parsed.root);
  if (!books.config.quirks.start_computes_nothing) UpdateCluster(books);
  if (CapacityProblem problem = CheckMapping(books)) return problem;
  for (const auto& [path, id] : books.queues.names().paths()) books.killable.Know(path);
  return {};
}

namespace {

/// CapacitySchedulerConfigValidator.validateQueueHierarchy. (Hadoop goes by a hash order; which of several problems
/// is told first changes nothing.)
CapacityProblem CheckHierarchy(const Books& books, const Parsed& parsed) {
  for (const auto& [path, id] : books.queues.names().paths()) {
    const Queue& old = books.queues[id];
    const auto keys = books.file.queues.find(path);
    const bool stops = old.state == CapacityQueueState::kStopped;
    const bool told = keys != books.file.queues.end() && keys->second.own.state == CapacityQueueState::kStopped;
    const QueueId now = parsed.names.FindPath(path);
    if (!now.valid()) {
      if (!stops && !told && !old.dynamic) {
        return Io(path +
                  " cannot be deleted from the capacity scheduler configuration, as the queue is not yet in "
                  "stopped state. Current State : " +
                  std::string(EnumName(old.state)));
      }
    } else if (old.leaf && !books.queues[now].leaf && !stops &&
               (books.config.quirks.conversion_by_state_key
                    ? !told
                    : books.queues[now].state != CapacityQueueState::kStopped)) {
      return Io("Can not convert the leaf queue: " + path +
                " to parent queue since it is not yet in stopped state. "
                "Current State : " +
                std::string(EnumName(old.state)));
    }
  }
  return {};
}

/// CapacitySchedulerQueueManager.isDanglingDynamicQueue.
bool IsDangling(const Books& books, const Parsed& parsed, const Queue& queue) {
  if (!queue.dynamic) return false;
  if (!queue.parent.valid()) return true;
  const std::string& above = books.queues[queue.parent].path;
  if (parsed.names.FindPath(above).valid()) return false;
  const QueueId known = books.queues.names().FindPath(above);
  return !known.valid() || !books.queues[known].dynamic;
}

/// CapacitySchedulerQueueManager.updateQueues.
void UpdateNames(Books& books, const Parsed& parsed) {
  QueueNames& names = books.queues.names();
  for (const auto& [path, id] : parsed.names.paths()) {
    if (!names.FindPath(path).valid()) names.Add(books.queues[id], id);
  }
  const std::map<std::string, QueueId, std::less<>> all = names.paths();
  for (const auto& [path, id] : all) {
    const Queue& queue = books.queues[id];
    const bool gone = !queue.dynamic && !parsed.names.FindPath(path).valid();
    if (gone || IsDangling(books, parsed, queue)) names.Remove(queue);
  }
}

/// Children by path in the order of a Java HashMap that they were put into one after another.
class ChildMap {
 public:
  explicit ChildMap(const Books& books, const std::vector<QueueId>& children) : books_(books) {
    for (const QueueId id : children) Put(id);
  }
  void Put(QueueId id) {
    const std::string& path = books_.queues[id].path;
    for (QueueId& held : held_) {
      if (books_.queues[held].path == path) {
        held = id;
        return;
      }
    }
    held_.push_back(id);
    most_ = std::max(most_, held_.size());
  }
  void Remove(QueueId id) { std::erase(held_, id); }
  QueueId Find(const std::string& path) const {
    for (const QueueId held : held_) {
      if (books_.queues[held].path == path) return held;
    }
    return {};
  }
  std::vector<QueueId> InOrder() const {
    std::vector<int32_t> hashes;
    for (const QueueId id : held_) hashes.push_back(hadoop::java::HashOfString(books_.queues[id].path));
    std::vector<QueueId> order;
    for (const uint32_t i : hadoop::java::HashOrder(hashes, hadoop::java::HashCapacity(most_))) {
      order.push_back(held_[i]);
    }
    return order;
  }

 private:
  const Books& books_;
  std::vector<QueueId> held_;
  size_t most_ = 0;
};

CapacityProblem ReinitializeParent(Books& books, QueueId id, QueueId parsed);

/// AbstractLeafQueue.reinitialize, AbstractParentQueue.reinitialize. `parsed` may be the queue itself.
CapacityProblem Reinitialize(Books& books, QueueId id, QueueId parsed) {
  Queue& queue = books.queues[id];
  if (parsed != id) queue.dynamic = false;
  if (queue.leaf != books.queues[parsed].leaf) {
    return Io("Trying to reinitialize " + queue.path + " from " + books.queues[parsed].path);
  }
  if (!queue.leaf) return ReinitializeParent(books, id, parsed);
  const Resources& now = books.queues[parsed].settings.maximum_allocation;
  if (!queue.settings.maximum_allocation.FitsIn(now)) {
    return Io("Trying to reinitialize " + queue.path +
              " the maximum allocation size can not be decreased! Current "
              "setting: " +
              model::ToString(queue.settings.maximum_allocation) + ", trying to set it to: " + model::ToString(now));
  }
  if (CapacityProblem problem = SetUp(books, id)) return problem;
  if (books.config.quirks.reload_activates_at_once) Activate(books, id);
  return {};
}

CapacityProblem ReinitializeParent(Books& books, QueueId id, QueueId parsed) {
  if (CapacityProblem problem = SetUp(books, id)) return problem;
  ChildMap current(books, books.queues[id].children);
  const ChildMap fresh(books, books.queues[parsed].children);
  for (const QueueId child : current.InOrder()) {
    if (fresh.Find(books.queues[child].path).valid() || !books.queues[child].dynamic) continue;
    if (CapacityProblem problem = Reinitialize(books, child, child)) return problem;
  }
  for (const QueueId child : fresh.InOrder()) {
    const QueueId known = current.Find(books.queues[child].path);
    if (known.valid() && books.queues[known].leaf == books.queues[child].leaf) {
      if (CapacityProblem problem = Reinitialize(books, known, child)) return problem;
      continue;
    }
    books.queues[child].parent = id;
    current.Put(child);
    if (known.valid()) books.queues.names().Add(books.queues[child], child);
  }
  for (const QueueId child : current.InOrder()) {
    if (!fresh.Find(books.queues[child].path).valid() && !books.queues[child].dynamic) current.Remove(child);
  }
  // Nothing of the file is below a managed parent: its leaves stay in the order in which they came
  // (ManagedParentQueue.reinitialize).
  if (IsManaged(books, books.queues[id])) return {};
  if (!books.config.quirks.children_checked_together) return SetChildren(books, id, current.InOrder());
  books.queues[id].children = current.InOrder();
  return {};
}

/// Queues that nothing names any more: of the tree that was read, and removed ones without applications.
void DropUnnamed(Books& books, const std::set<QueueId>& before, const Parsed& parsed) {
  std::set<QueueId> named;
  books.queues.ForEachDown(books.queues.root(), [&](QueueId id) { named.insert(id); });
  for (const auto& [path, id] : books.queues.names().paths()) {
    for (QueueId at = id; at.valid() && named.insert(at).second; at = books.queues[at].parent) {
    }
  }
  std::set<QueueId> used = named;
  for (const AttemptId attempt : books.attempts) {
    for (QueueId at : {books.attempts[attempt].queue, books.attempts[attempt].headroom_of}) {
      for (; books.queues.Has(at) && used.insert(at).second; at = books.queues[at].parent) {
      }
    }
  }
  std::set<QueueId> all = before;
  all.insert(parsed.all.begin(), parsed.all.end());
  for (const QueueId id : all) {
    if (!used.contains(id)) books.queues.Drop(id);
  }
}

/// CapacityScheduler.reinitializeQueues with books.file.
CapacityProblem ReadAgain(Books& books) {
  books.labels_of_path.clear();
  std::set<QueueId> before;
  for (const auto& [path, id] : books.queues.names().paths()) before.insert(id);
  Parsed parsed;
  CapacityProblem problem = ParseAll(books, parsed);
  if (!problem) problem = CheckHierarchy(books, parsed);
  if (!problem) {
    UpdateNames(books, parsed);
    ForgetEntitled(books);
    problem = Reinitialize(books, books.queues.root(), parsed.root);
  }
  if (!problem) {
    UpdateCluster(books);
    EntitleLeaves(books);
    problem = CheckMapping(books);
  }
  if (!problem) {
    books.queues.ForEachDown(books.queues.root(), [&](QueueId id) { books.killable.Know(books.queues[id].path); });
  }
  DropUnnamed(books, before, parsed);
  return problem;
}

}  // namespace

CapacityProblem Reload(Books& books, const model::CapacityQueues& file) {
  const model::CapacityQueues old = std::exchange(books.file, file);
  auto old_left = std::exchange(books.left_keys, {});
  // The calculator is read once, at the start.
  books.file.dominant = old.dominant;
  if (CapacityProblem problem = ReadAgain(books)) {
    books.file = old;
    books.left_keys = std::move(old_left);
    if (!books.config.quirks.refused_reload_stays) ReadAgain(books);
    return problem;
  }
  UpdateRunnability(books);
  return {};
}

}  // namespace fairlead::scheduler::yarn_capacity
