#include "scheduler/yarn_capacity/setup.h"

#include <algorithm>
#include <cmath>

#include "base/java_number.h"
#include "base/text.h"
#include "model/queue_lifetimes.h"
#include "scheduler/yarn_capacity/capacity.h"
#include "scheduler/yarn_capacity/managed.h"

namespace fairlead::scheduler::yarn_capacity {

using model::CapacityEntry;
using model::CapacityQueueSettings;
using model::CapacityUnit;

namespace {

template <class T>
void FillOne(std::optional<T>& field, const std::optional<T>& other) {
  if (!field) field = other;
}
template <class Value>
void FillOne(std::map<std::string, Value>& field, const std::map<std::string, Value>& other) {
  field.insert(other.begin(), other.end());
}
void FillOne(CapacityProblem& field, const CapacityProblem& other) {
  if (!field) field = other;
}

/// What is not set takes the other's value.
void Fill(CapacityQueueSettings& settings, const CapacityQueueSettings& other) {
  std::vector<const void*> fields;
  CapacityQueueSettings::VisitFields(other, [&](auto, const auto& field) { fields.push_back(&field); });
  size_t at = 0;
  CapacityQueueSettings::VisitFields(settings, [&](auto, auto& field) {
    using Field = std::remove_reference_t<decltype(field)>;
    FillOne(field, *static_cast<const Field*>(fields[at++]));
  });
}

const model::CapacityQueueKeys* FindKeys(const Books& books, const std::string& path) {
  const auto it = books.file.queues.find(path);
  return it == books.file.queues.end() ? nullptr : &it->second;
}

std::vector<std::string> PartsOf(const std::string& path) {
  std::vector<std::string> parts(1);
  for (const char c : path) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

/// AutoCreatedQueueTemplate.setTemplateConfigEntries: the parent's own path, then with "*" for its last parts.
model::CapacityQueueKeys TemplatesOf(const Books& books, const std::string& parent) {
  model::CapacityQueueKeys found;
  std::vector<std::string> parts = PartsOf(parent);
  const bool root = parts.size() == 1;
  int32_t depth = books.file.maximum_queue_depth;
  if (const auto* keys = FindKeys(books, parent); keys != nullptr) {
    depth = keys->own.maximum_queue_depth.value_or(depth);
  }
  const int32_t last = static_cast<int32_t>(parts.size()) - 1;
  const int32_t levels = root ? 0 : std::min(last, depth);
  for (int32_t level = 0; level <= levels; ++level) {
    if (const auto* keys = FindKeys(books, base::Joined(parts, ".")); keys != nullptr) {
      Fill(found.children, keys->children);
      Fill(found.leaves, keys->leaves);
      Fill(found.parents, keys->parents);
    }
    parts[static_cast<size_t>(last - level)] = "*";
  }
  return found;
}

}  // namespace

CapacityQueueSettings KeysOf(const Books& books, const Queue& queue) {
  CapacityQueueSettings settings;
  if (const auto* keys = FindKeys(books, queue.path); keys != nullptr) settings = keys->own;
  if (!queue.dynamic) return settings;
  if (IsMadeByManaged(books, queue)) {
    Fill(settings, FindKeys(books, books.queues[queue.parent].path)->leaves);
    return settings;
  }
  // AbstractLeafQueue.parseAndSetDynamicTemplates writes over what the file says, and the templates over that where
  // the file says nothing.
  const bool own_factor = settings.user_limit_factor.has_value();
  const bool own_percent = settings.am_percent.contains("");
  const model::CapacityQueueKeys templates = TemplatesOf(books, books.queues[queue.parent].path);
  Fill(settings, queue.leaf ? templates.leaves : templates.parents);
  Fill(settings, templates.children);
  if (queue.leaf) {
    if (own_factor || !settings.user_limit_factor) settings.user_limit_factor = -1.0F;
    if (own_percent || !settings.am_percent.contains("")) settings.am_percent[""] = 1.0F;
  }
  if (const auto left = books.left_keys.find(queue.path); left != books.left_keys.end()) Fill(settings, left->second);
  return settings;
}

bool MayMakeQueues(const Books& books, const Queue& queue) {
  if (IsManaged(books, queue)) return true;
  return queue.dynamic || (!books.config.quirks.percentages_only && KeysOf(books, queue).auto_creation.value_or(false));
}

Rank RankOf(const Books& books, AttemptId id) {
  const Attempt& attempt = books.attempts[id];
  return {attempt.recovering,         attempt.priority,
          attempt.cached_used,        attempt.cached_used + attempt.cached_pending,
          books.apps[attempt.app].id, attempt.start};
}

/// CSQueueUtils.updateUsedCapacity.
void UpdateUsedShare(Books& books, Queue& queue, PartitionId partition) {
  const Resources& total = books.partitions.Of(partition);
  Share& share = queue.shares.Of(partition);
  share.absolute_used = share.used = 0;
  if (!books.calc.Greater(total, total, {})) return;
  // A managed leaf without its share counts against the template's.
  const bool without = queue.shares.absolute(partition) == 0 && IsMadeByManaged(books, queue);
  const Resources least =
      without ? hadoop::MultiplyDown(total,
                                     static_cast<double>(TemplateShare(books, books.queues[queue.parent], partition)))
              : share.effective_min;
  const Resources guaranteed = books.calc.Max(total, least, books.minimum());
  share.absolute_used = books.calc.Divide(total, queue.usage.used(partition), total);
  share.used = books.calc.Divide(total, queue.usage.used(partition), guaranteed);
}

void UpdateUsedShares(Books& books, Queue& queue) {
  const uint32_t end = std::max(queue.shares.partitions(), queue.usage.partitions());
  for (PartitionId id{0}; id.value < end; ++id.value) {
    if (queue.shares.Exists(id) || queue.usage.Exists(id)) UpdateUsedShare(books, queue, id);
  }
}

void UpdateAbsoluteShares(Books& books, Queue& queue) {
  const Shares* above = queue.parent.valid() ? &books.queues[queue.parent].shares : nullptr;
  for (PartitionId id{0}; id.value < queue.shares.partitions(); ++id.value) {
    if (!queue.shares.Exists(id)) continue;
    Share& share = queue.shares.Of(id);
    const float of = above == nullptr ? 1.0F : above->absolute(id);
    if (books.file.legacy_queue_mode) {
      const float capacity = std::max(queue.shares.capacity(id), share.normalized_weight);
      if (capacity > 0) share.absolute = capacity * of;
    } else {
      share.absolute = queue.shares.capacity(id) * of;
    }
    if (share.maximum > 0) {
      share.absolute_maximum = share.maximum * (above == nullptr ? 1.0F : (*above)[id].absolute_maximum);
    }
  }
}

namespace {

/// Setting one queue up, subject by subject.
class SetUpQueue {
 public:
  SetUpQueue(Books& books, QueueId id)
      : books_(books),
        id_(id),
        queue_(books.queues[id]),
        managed_(IsMadeByManaged(books, queue_)),
        made_now_(queue_.dynamic && !queue_.has_state),
        keys_(KeysOf(books, queue_)) {}

  CapacityProblem Run() {
    if (keys_.problem) return keys_.problem;
    for (auto part : {&SetUpQueue::Labels, &SetUpQueue::Capacities, &SetUpQueue::Amounts,
                      &SetUpQueue::MaximumAllocation, &SetUpQueue::Lifetimes, &SetUpQueue::State}) {
      if (CapacityProblem problem = (this->*part)()) return problem;
    }
    Weights();
    if (CapacityProblem problem = Vectors()) return problem;
    UpdateUsedShares(books_, queue_);
    if (books_.config.quirks.labels_checked_late) {
      if (CapacityProblem problem = CheckLabels()) return problem;
    }
    Preemption();
    return queue_.leaf ? OfLeaf() : OfParent();
  }

 private:
  const Queue* parent() const { return queue_.parent.valid() ? &books_.queues[queue_.parent] : nullptr; }
  QueueSettings& to() const { return queue_.settings; }

  /// QueueNodeLabelsSettings.
  CapacityProblem Labels() {
    TakeTemplateLabels();
    const Queue* above = parent();
    to().any_label = above == nullptr || above->settings.any_label;
    to().accessible = above == nullptr ? std::set<PartitionId>{} : above->settings.accessible;
    if (above != nullptr && keys_.accessible_labels) {
      to().any_label = *keys_.accessible_labels == std::vector<std::string>{"*"};
      to().accessible.clear();
      for (const std::string& label : *keys_.accessible_labels) {
        if (label != "*") to().accessible.insert(books_.partitions.Intern(label));
      }
    }
    DefaultLabel(above);
    to().labels.clear();
    for (const std::string& label : ConfiguredLabels()) to().labels.insert(books_.partitions.Intern(label));
    return books_.config.quirks.labels_checked_late ? CapacityProblem{} : CheckLabels();
  }

  CapacityProblem CheckLabels() const {
    const Queue* above = parent();
    if (above == nullptr || above->settings.any_label) return {};
    if (to().any_label) return Io("Parent's accessible queue is not ANY(*), but child's accessible queue is *");
    for (const PartitionId label : to().accessible) {
      if (!above->settings.accessible.contains(label)) {
        return Io("Some labels of child queue is not a subset of parent queue, these labels=[" +
                  books_.partitions.Name(label) + "]");
      }
    }
    return {};
  }

  void DefaultLabel(const Queue* above) {
    to().has_default_label = keys_.default_label_expression.has_value();
    to().default_label = keys_.default_label_expression.value_or("");
    if (above == nullptr || to().has_default_label) return;
    bool all = !above->settings.any_label || to().any_label;
    for (const PartitionId label : above->settings.accessible) all &= to().accessible.contains(label);
    if (!all) return;
    to().has_default_label = above->settings.has_default_label;
    to().default_label = above->settings.default_label;
  }

  /// AbstractCSQueue.parseAndSetDynamicTemplates.
  void TakeTemplateLabels() {
    if (!queue_.dynamic) return;
    const auto of_template = books_.file.configured_labels.find(
        parent()->path + (managed_ ? ".leaf-queue-template" : ".auto-queue-creation-v2.template"));
    if (of_template != books_.file.configured_labels.end() && of_template->second.size() > 1) {
      books_.labels_of_path[queue_.path] = of_template->second;
    }
  }

  std::set<std::string> ConfiguredLabels() const {
    std::map<std::string, std::set<std::string>> all = books_.file.configured_labels;
    for (const auto& [path, labels] : books_.labels_of_path) all[path] = labels;
    std::set<std::string> labels;
    if (queue_.parent.valid() || books_.config.quirks.root_labels_are_its_own) {
      const auto it = all.find(queue_.path);
      if (it != all.end()) labels = it->second;
    } else {
      for (const auto& [path, some] : all) labels.insert(some.begin(), some.end());
    }
    if (labels.empty()) labels.insert("");
    return labels;
  }

  /// CSQueueUtils.loadCapacitiesByLabelsFromConf.
  CapacityProblem Capacities() {
    queue_.shares.ClearConfigured();
    const bool root = !queue_.parent.valid();
    for (const PartitionId id : to().labels) {
      const std::string& label = books_.partitions.Name(id);
      const auto capacity = keys_.capacity.find(label);
      const auto maximum = keys_.maximum_capacity.find(label);
      float percent = root ? 100.0F : 0.0F;
      float most = 100;
      float weight = -1;
      if (capacity != keys_.capacity.end()) {
        if (capacity->second.problem) return capacity->second.problem;
        if (!root && HasShare(id)) percent = capacity->second.percent;
        weight = capacity->second.weight;
      }
      if (maximum != keys_.maximum_capacity.end()) {
        if (maximum->second.problem) return maximum->second.problem;
        if (!root || id == kNoLabel) most = maximum->second.percent;
      }
      if (books_.config.quirks.percentages_only && weight >= 0) {
        return {CapacityFault::kNumber, queue_.path + ".capacity is a weight, which this release does not know"};
      }
      Share& share = queue_.shares.Of(id);
      share.capacity = percent / 100;
      share.maximum = most / 100;
      share.master_percent = MasterPercent(label);
      share.weight = weight;
      if (books_.config.quirks.maximum_below_capacity_refused && share.maximum < share.capacity) {
        return Argument("Illegal call to setMaxCapacity. Queue '" + queue_.path +
                        "' has a capacity greater than its "
                        "maximum capacity");
      }
    }
    UpdateAbsoluteShares(books_, queue_);
    return {};
  }

  /// Leaves of managed parents have their share at times.
  bool HasShare(PartitionId id) const { return !managed_ || IsEntitled(books_, queue_, id); }

  float MasterPercent(const std::string& label) const {
    const auto own = keys_.am_percent.find(label);
    if (own != keys_.am_percent.end()) return own->second;
    const auto of_queue = keys_.am_percent.find("");
    return of_queue != keys_.am_percent.end() ? of_queue->second : books_.file.am_percent;
  }

  CapacityProblem NotAbove(const Resources& a, const Resources& b, const std::string& what) const {
    if (b.IsZero() || !books_.calc.Greater(books_.cluster(), a, b)) return {};
    return Argument(what + " " + model::ToString(a) + " is greater than " + model::ToString(b) +
                    " in queue:" + queue_.path);
  }

  /// AbstractCSQueue.updateConfigurableResourceLimits.
  CapacityProblem Amounts() {
    const Queue* above = parent();
    for (const PartitionId id : to().labels) {
      const std::string& label = books_.partitions.Name(id);
      const auto capacity = keys_.capacity.find(label);
      const auto maximum = keys_.maximum_capacity.find(label);
      const bool none = capacity == keys_.capacity.end() || !HasShare(id);
      const Resources least = none ? Resources{} : capacity->second.amount;
      Resources most = maximum == keys_.maximum_capacity.end() ? Resources{} : maximum->second.amount;
      if (above != nullptr) {
        const Resources& over = above->shares[id].configured_max;
        if (CapacityProblem problem = NotAbove(most, over, "Max resource configuration")) return problem;
        if (most.IsZero() && !least.IsZero() && !over.IsZero()) most = over;
      }
      if (CapacityProblem problem = NotAbove(least, most, "Min resource configuration")) return problem;
      queue_.shares.Of(id).configured_min = least;
      queue_.shares.Of(id).configured_max = most;
    }
    return {};
  }

  /// QueueAllocationSettings.setupMaximumAllocation.
  CapacityProblem MaximumAllocation() {
    const Resources& cluster = books_.file.maximum_allocation;
    Resources most = parent() == nullptr ? cluster : parent()->settings.maximum_allocation;
    const auto too_large = [&] {
      return Argument("Queue maximum allocation cannot be larger than the cluster setting for queue " + queue_.path +
                      " max allocation per queue: " + model::ToString(most) +
                      " cluster setting: " + model::ToString(cluster));
    };
    if (keys_.maximum_allocation) {
      most = *keys_.maximum_allocation;
      if (!most.FitsIn(cluster)) return too_large();
    } else {
      const int32_t memory = keys_.maximum_allocation_mb.value_or(-1);
      const int32_t vcores = keys_.maximum_allocation_vcores.value_or(-1);
      if (memory != -1) most[0] = memory;
      if (vcores != -1) most[1] = vcores;
      if ((memory != -1 && memory > cluster[0]) || (vcores != -1 && vcores > cluster[1])) return too_large();
    }
    to().maximum_allocation = most;
    return {};
  }

  /// QueueAppLifetimeAndLimitSettings; the resource manager keeps to them.
  CapacityProblem Lifetimes() {
    const model::QueueLifetimes of = model::LifetimesOf(books_.file, queue_.path);
    if (parent() == nullptr || of.maximum <= 0 || of.standard <= of.maximum) return {};
    return {model::CapacityFault::kRuntime, "Default lifetime " + std::to_string(of.standard) +
                                                " can't exceed maximum lifetime " + std::to_string(of.maximum)};
  }

  /// QueueStateHelper.setQueueState.
  CapacityProblem State() {
    const Queue* above = parent();
    const bool above_runs = above == nullptr || above->state == CapacityQueueState::kRunning;
    if (queue_.has_state) {
      if (queue_.state == CapacityQueueState::kRunning) {
        if (keys_.state == CapacityQueueState::kStopped) Stop(books_, id_);
      } else if (keys_.state == CapacityQueueState::kRunning) {
        if (!above_runs) return Argument("The parent Queue:" + above->path + " is not running");
        queue_.state = CapacityQueueState::kRunning;
      }
      return {};
    }
    if (keys_.state == CapacityQueueState::kRunning && !above_runs) {
      return Argument("The parent queue:" + above->path + " cannot be STOPPED as the child queue:" + queue_.path +
                      " is in RUNNING state.");
    }
    queue_.state = keys_.state.value_or(CapacityQueueState::kRunning);
    if (!keys_.state && !above_runs) queue_.state = CapacityQueueState::kStopped;
    queue_.has_state = true;
    return {};
  }

  void Weights() {
    to().user_weights = parent() == nullptr ? std::map<std::string, float>{} : parent()->settings.user_weights;
    for (const auto& [user, weight] : keys_.user_weights) to().user_weights[user] = weight;
  }

  std::vector<CapacityEntry> VectorOf(const std::map<std::string, model::CapacityValue>& values,
                                      const std::string& label, const CapacityEntry& otherwise) const {
    const CapacityEntry all{CapacityUnit::kPercent, 100};
    if (!queue_.parent.valid()) return std::vector<CapacityEntry>(books_.calc.types(), all);
    const auto it = values.find(label);
    if (it != values.end() && !it->second.vector.empty()) return it->second.vector;
    if (otherwise.unit == CapacityUnit::kNone) return {};
    return std::vector<CapacityEntry>(books_.calc.types(), otherwise);
  }

  /// CapacityConfigType.ABSOLUTE_RESOURCE.
  bool SaysAmount(std::map<std::string, model::CapacityValue>::const_iterator capacity) const {
    if (capacity == keys_.capacity.end() || !capacity->second.absolute) return false;
    return !capacity->second.amount.IsZero() || !books_.config.quirks.zero_amount_is_percentage;
  }

  static bool AllOf(const std::vector<CapacityEntry>& vector, CapacityUnit unit) {
    return !vector.empty() &&
           std::all_of(vector.begin(), vector.end(), [&](const CapacityEntry& one) { return one.unit == unit; });
  }

  /// The rest of AbstractCSQueue.setupQueueConfigs: vectors, weights from them, updateCapacityConfigType.
  CapacityProblem Vectors() {
    to().minimum.clear();
    to().maximum.clear();
    bool first = true;
    for (const PartitionId id : to().labels) {
      const std::string& label = books_.partitions.Name(id);
      std::vector<CapacityEntry> least = VectorOf(keys_.capacity, label, {});
      std::vector<CapacityEntry> most = VectorOf(keys_.maximum_capacity, label, {CapacityUnit::kAbsolute, 0});
      if (queue_.dynamic && !managed_ && least.empty()) {
        least.assign(books_.calc.types(), {CapacityUnit::kWeight, 1});
        most.assign(books_.calc.types(), {CapacityUnit::kPercent, 100});
      }
      if (AllOf(least, CapacityUnit::kWeight) &&
          std::all_of(least.begin(), least.end(), [&](const auto& one) { return one.value == least[0].value; })) {
        queue_.shares.Of(id).weight = static_cast<float>(least[0].value);
      }
      const auto capacity = keys_.capacity.find(label);
      const bool absolute =
          books_.file.legacy_queue_mode ? SaysAmount(capacity) : AllOf(least, CapacityUnit::kAbsolute);
      to().minimum[id] = std::move(least);
      to().maximum[id] = std::move(most);
      if (!first && absolute != to().absolute && queue_.parent.valid() && books_.file.legacy_queue_mode) {
        return Argument("Queue '" + queue_.path +
                        "' should use either percentage based capacity configuration or absolute resource.");
      }
      if (first) to().absolute = absolute;
      first = false;
    }
    return {};
  }

  /// CSQueuePreemptionSettings and what else is inherited.
  void Preemption() {
    const Queue* above = parent();
    to().preemption_disabled =
        !books_.file.preemption.enabled ||
        keys_.disable_preemption.value_or(above != nullptr && above->settings.preemption_disabled);
    to().intra_disabled_above =
        !books_.file.preemption.intra_queue ||
        keys_.intra_queue_disable_preemption.value_or(above != nullptr && above->settings.intra_disabled_above);
    to().priority = keys_.priority.value_or(0);
    to().max_parallel_apps = keys_.max_parallel_apps.value_or(books_.file.max_parallel_apps);
  }

  CapacityProblem OfParent() {
    to().allow_zero_sum = keys_.allow_zero_capacity_sum.value_or(false);
    const bool above = parent() != nullptr && parent()->settings.by_priority;
    const std::string policy = keys_.ordering_policy.value_or(above ? "priority-utilization" : "utilization");
    if (policy != "utilization" && policy != "priority-utilization") {
      return {CapacityFault::kRuntime, "Unable to construct queue ordering policy=" + policy + " queue=" + queue_.path};
    }
    to().by_priority = policy == "priority-utilization";
    return {};
  }

  CapacityProblem OfLeaf() {
    Leaf& leaf = queue_.own;
    leaf.last_cluster = leaf.pass_limit = leaf.headroom_limit = books_.cluster();
    if (CapacityProblem problem = Ordering(leaf)) return problem;
    const bool for_all = !books_.config.quirks.no_user_limits_for_all;
    const float percent = keys_.user_limit.value_or(for_all ? books_.file.user_limit : 100.0F);
    if (books_.config.quirks.whole_user_limit_percent && percent != std::trunc(percent)) {
      return {CapacityFault::kNumber, queue_.path + ".minimum-user-limit-percent is no whole number"};
    }
    leaf.users.SetLimits(percent, keys_.user_limit_factor.value_or(for_all ? books_.file.user_limit_factor : 1.0F));
    to().master_percent = MasterPercent("");
    leaf.max_apps = keys_.maximum_applications.value_or(-1);
    if (leaf.max_apps < 0 && books_.file.global_queue_max_application > 0) {
      leaf.max_apps = books_.file.global_queue_max_application;
    }
    SetMaximumApplications(books_, queue_, kNoLabel, false);
    if (CapacityProblem problem = PriorityGroups()) return problem;
    if (!to().default_label.empty() && !to().any_label) {
      const PartitionId label = books_.partitions.Intern(to().default_label);
      if (!to().accessible.contains(label)) {
        return Io("Invalid default label expression of  queue=" + queue_.path +
                  " doesn't have permission to access all labels in default label expression. labelExpression of "
                  "resource request=" +
                  to().default_label + ". Queue labels=" + AccessibleLabels());
      }
    }
    to().minimum_allocation_factor =
        books_.calc.Ratio(to().maximum_allocation - books_.minimum(), to().maximum_allocation);
    to().default_application_priority = keys_.default_application_priority.value_or(0);
    const float least = std::min(100.0F, percent);
    for (const auto& [user, weight] : to().user_weights) {
      if (weight < 0 || weight > 100.0F / least) {
        return Io("Weight (" + base::JavaFloat(weight) + ") for user \"" + user + "\" must be between 0 and 100 / " +
                  base::JavaFloat(least) + " (= " + base::JavaFloat(100.0F / least) +
                  ", the number of concurrent active users in " + queue_.path + ")");
      }
    }
    leaf.users.SetWeights(to().user_weights);
    return {};
  }

  std::string AccessibleLabels() {
    std::vector<std::string> names;
    for (const PartitionId label : to().accessible) {
      if (label != kNoLabel) names.push_back(books_.partitions.Name(label));
    }
    return base::Joined(names, ",");
  }

  /// AppPriorityACLsManager.addPrioirityACLs: a leaf made on demand has groups from the next reading of the file on
  /// (CapacitySchedulerQueueManager.setQueueAcls).
  CapacityProblem PriorityGroups() {
    to().priority_groups.clear();
    if (!keys_.priority_access) return {};
    if (keys_.priority_access->problem) return keys_.priority_access->problem;
    if (made_now_) return {};
    std::vector<model::CapacityPriorityGroup> groups = keys_.priority_access->groups;
    for (model::CapacityPriorityGroup& group : groups) {
      group.most = std::min(group.most, books_.config.max_application_priority);
    }
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.most > b.most; });
    to().priority_groups = std::move(groups);
    return {};
  }

  /// CapacitySchedulerConfiguration.getAppOrderingPolicy, AbstractLeafQueue.setOrderingPolicy.
  CapacityProblem Ordering(Leaf& leaf) {
    std::string policy = keys_.ordering_policy.value_or("fifo");
    if (const size_t dot = policy.rfind('.'); dot != std::string::npos) policy = policy.substr(dot + 1);
    AppOrder order;
    if (policy == "fair" || policy == "FairOrderingPolicy") {
      order = AppOrder(AppOrder::Kind::kFair, keys_.size_based_weight.value_or(false));
    } else if (policy == "fifo-for-pending-apps" || policy == "FifoOrderingPolicyForPendingApps") {
      order = AppOrder(AppOrder::Kind::kPending, false);
    } else if (policy == "fifo-with-partitions" || policy == "FifoOrderingPolicyWithExclusivePartitions") {
      return {CapacityFault::kRuntime,
              "Unable to construct ordering policy for: " + policy +
                  ": an order for each exclusive partition is not kept here; write fifo, which has one for all"};
    } else if (policy != "fifo" && policy != "FifoOrderingPolicy") {
      const std::string& written = *keys_.ordering_policy;
      return {CapacityFault::kRuntime, "Unable to construct ordering policy for: " + written + ", " + written};
    }
    for (const AttemptId id : leaf.active.InOrder()) order.Add(id, RankOf(books_, id));
    leaf.active = std::move(order);
    return {};
  }

  Books& books_;
  QueueId id_;
  Queue& queue_;
  const bool managed_;   // made in the older way
  const bool made_now_;  // on demand
  const CapacityQueueSettings keys_;
};

}  // namespace

CapacityProblem SetUp(Books& books, QueueId id) { return SetUpQueue(books, id).Run(); }

void Stop(Books& books, QueueId id) {
  Queue& queue = books.queues[id];
  queue.state = queue.apps() > 0 ? CapacityQueueState::kDraining : CapacityQueueState::kStopped;
  const std::vector<QueueId> children = queue.children;
  for (const QueueId child : children) Stop(books, child);
}

}  // namespace fairlead::scheduler::yarn_capacity
