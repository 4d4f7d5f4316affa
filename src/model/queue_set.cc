#include "model/queue_set.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "model/queues.h"

namespace fairlead::model {

namespace {

using Queue = QueueSet::Queue;

/// Empty above the root.
std::string_view ParentOf(std::string_view name) {
  const size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
}

std::string_view LastPart(std::string_view name) { return name.substr(name.rfind('.') + 1); }

/// Amounts alone; nothing when any is in per cent.
std::optional<Resources> LargestOf(const std::optional<ConfiguredResources>& set) {
  if (!set || set->absolute.empty() || !set->percent.empty()) return std::nullopt;
  Resources most;
  for (size_t type = 0; type < ResourceTypes::Count(); ++type) {
    const auto amount = set->absolute.find(std::string(ResourceTypes::Name(type)));
    most[type] = amount == set->absolute.end() ? INT64_MAX : amount->second;
  }
  return most;
}

Queue QueueOf(const QueueConfig& written) {
  Queue queue;
  queue.name = FullQueueName(written.name);
  queue.submit = written.submit_acl;
  queue.administer = written.administer_acl;
  queue.largest = LargestOf(written.max_container_allocation);
  queue.labels = written.labels;
  queue.default_label = written.default_label;
  queue.max_running_apps = written.max_running_apps;
  queue.max_am_share = written.max_am_share;
  queue.priority = written.priority;
  queue.start_time = written.start_time;
  return queue;
}

void AddPriorityList(const CapacityQueues& file, Queue& queue) {
  const auto keys = file.queues.find(queue.name);
  if (keys == file.queues.end()) return;
  const auto list = keys->second.own.acls.find("acl_application_max_priority");
  if (list != keys->second.own.acls.end()) queue.priority_list = list->second;
}

/// Places of `queues`, in the order of `key`; equal ones as they stand.
template <class Key>
std::vector<uint32_t> Sorted(const std::vector<Queue>& queues, Key key) {
  std::vector<uint32_t> places(queues.size());
  std::iota(places.begin(), places.end(), 0U);
  std::ranges::stable_sort(places, {}, [&](uint32_t at) { return key(queues[at]); });
  return places;
}

std::string_view NameOf(const Queue& queue) { return queue.name; }
std::string_view LastPartOf(const Queue& queue) { return LastPart(queue.name); }

}  // namespace

std::string FullQueueName(std::string_view name) {
  if (name == "root") return "root";
  return name.starts_with("root.") ? std::string(name) : "root." + std::string(name);
}

QueueSet::QueueSet(const QueueTree& file)
    : lists_always_hold_(!file.capacity.has_value()), negative_priorities_(file.capacity.has_value()) {
  queues_.reserve(file.queues.size());
  for (const QueueConfig& written : file.queues) queues_.push_back(QueueOf(written));
  if (file.capacity) {
    for (Queue& queue : queues_) AddPriorityList(*file.capacity, queue);
  }
  by_name_ = Sorted(queues_, NameOf);
  by_last_part_ = Sorted(queues_, LastPartOf);
  any_largest_ = std::ranges::any_of(queues_, [](const Queue& queue) { return queue.largest.has_value(); });
  if (file.capacity) lifetimes_ = LifetimeKeysOf(*file.capacity);
}

const Queue* QueueSet::Find(std::string_view name) const {
  const auto full = [&](std::string_view text) {
    const auto found =
        std::ranges::lower_bound(by_name_, text, {}, [this](uint32_t at) { return NameOf(queues_[at]); });
    return found != by_name_.end() && queues_[*found].name == text ? &queues_[*found] : nullptr;
  };
  return name == "root" || name.starts_with("root.") ? full(name) : full(FullQueueName(name));
}

const Queue* QueueSet::Nearest(std::string_view name) const {
  const std::string full = FullQueueName(name);
  for (std::string_view at = full; !at.empty(); at = ParentOf(at)) {
    if (const Queue* queue = Find(at)) return queue;
  }
  return nullptr;
}

const Queue* QueueSet::FindAbbreviated(const std::string& name) const {
  if (const Queue* queue = Find(name)) return queue;
  const auto alike = std::ranges::equal_range(by_last_part_, LastPart(name), {},
                                              [this](uint32_t at) { return LastPartOf(queues_[at]); });
  const Queue* found = nullptr;
  for (const uint32_t at : alike) {
    if (!queues_[at].name.ends_with("." + name)) continue;
    if (found != nullptr) return Nearest(name);
    found = &queues_[at];
  }
  return found != nullptr ? found : Nearest(name);
}

bool QueueSet::Allows(std::string_view name, const std::string& user, const std::vector<std::string>& groups,
                      bool administer) const {
  const std::string full = FullQueueName(name);
  for (std::string_view at = full; !at.empty(); at = ParentOf(at)) {
    const Queue* queue = Find(at);
    const std::optional<AccessList>* list = queue == nullptr ? nullptr
                                            : administer     ? &queue->administer
                                                             : &queue->submit;
    if (list != nullptr && list->has_value() ? Lists(**list, user, groups) : at == "root") return true;
  }
  return false;
}

Resources QueueSet::Within(Resources maximum, std::string_view name) const {
  if (!any_largest_) return maximum;
  const std::string full = FullQueueName(name);
  for (std::string_view at = full; !at.empty(); at = ParentOf(at)) {
    const Queue* queue = Find(at);
    if (queue == nullptr || !queue->largest) continue;
    for (size_t type = 0; type < ResourceTypes::Count(); ++type) {
      maximum[type] = std::min(maximum[type], (*queue->largest)[type]);
    }
    return maximum;
  }
  return maximum;
}

QueueLifetimes QueueSet::LifetimesOf(std::string_view name) const {
  if (lifetimes_.empty()) return {};
  return model::LifetimesOf(FullQueueName(name), [this](std::string_view path) -> std::optional<LifetimeKeys> {
    const auto found = lifetimes_.find(path);
    return found == lifetimes_.end() ? std::nullopt : std::optional(found->second);
  });
}

}  // namespace fairlead::model
