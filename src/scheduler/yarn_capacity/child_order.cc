#include "scheduler/yarn_capacity/child_order.h"

#include <algorithm>
#include <cmath>

#include "scheduler/hadoop/java.h"
#include "scheduler/yarn_capacity/books.h"

namespace fairlead::scheduler::yarn_capacity {
namespace {

/// From so many changes at once on, to sort everything is no dearer.
constexpr size_t kMostTouched = 8;

template <class T>
int OrderOf(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

/// Compares children of one parent for one partition.
struct Comparison {
  const Books& books;
  PartitionId partition;

  bool both_minima() const { return books.config.quirks.ties_by_both_minima; }

  int operator()(const Rival& a, const Rival& b) const {
    if (partition != kNoLabel && a.accessible != b.accessible) return a.accessible ? -1 : 1;
    if (a.absolute > 0 && b.absolute == 0) return -1;
    if (b.absolute > 0 && a.absolute == 0) return 1;
    const bool both_zero = a.absolute == 0 && b.absolute == 0;
    const int use = CompareUse(static_cast<double>(both_zero ? a.absolute_used : a.used),
                               static_cast<double>(both_zero ? b.absolute_used : b.used), a.priority, b.priority);
    if (use != 0) return use;
    const bool by_minima = both_minima() ? a.has_minimum && b.has_minimum : a.has_minimum || b.has_minimum;
    return by_minima ? CompareMinima(a, b) : OrderOf(b.absolute, a.absolute);
  }

  int CompareMinima(const Rival& a, const Rival& b) const {
    const Resources& of_a = books.queues[a.id].shares[partition].configured_min;
    const Resources& of_b = books.queues[b.id].shares[partition].configured_min;
    for (size_t type = 0; type < books.calc.types(); ++type) {
      const int order = OrderOf(of_b[type], of_a[type]);
      if (order != 0) return order;
    }
    return 0;
  }

  /// Every stable way to sort gives the same then: Java's own matters where comparisons contradict each other.
  bool IsOrderly(const Rival& rival) const {
    return !std::isnan(rival.used) && !std::isnan(rival.absolute_used) && !(both_minima() && rival.has_minimum);
  }
};

Rival RivalOf(const Books& books, const Queue& parent, uint32_t place, PartitionId partition) {
  const QueueId id = parent.children[place];
  const Queue& queue = books.queues[id];
  const Share& share = queue.shares[partition];
  Rival rival;
  rival.id = id;
  rival.place = place;
  rival.used = share.used;
  rival.absolute_used = share.absolute_used;
  rival.absolute = queue.shares.absolute(partition);
  rival.priority = parent.settings.by_priority ? queue.settings.priority : 0;
  rival.accessible = queue.settings.any_label || queue.settings.accessible.contains(partition);
  rival.has_minimum = !share.configured_min.IsZero();
  return rival;
}

std::vector<Rival> Sorted(const Books& books, const Queue& parent, PartitionId partition) {
  std::vector<Rival> rivals;
  rivals.reserve(parent.children.size());
  for (uint32_t place = 0; place < parent.children.size(); ++place) {
    rivals.push_back(RivalOf(books, parent, place, partition));
  }
  const Comparison compare{books, partition};
  if (rivals.size() < 32) {
    hadoop::java::SortSmall(std::span<Rival>(rivals), compare);
  } else {
    std::stable_sort(rivals.begin(), rivals.end(), [&](const Rival& a, const Rival& b) { return compare(a, b) < 0; });
  }
  return rivals;
}

}  // namespace

int CompareUse(double used_a, double used_b, int32_t priority_a, int32_t priority_b) {
  if (priority_a != priority_b && (used_a < 1) == (used_b < 1)) return OrderOf(priority_b, priority_a);
  return OrderOf(used_a, used_b);
}

void ChildOrders::Touch(QueueId parent, QueueId child, PartitionId partition) {
  if (!parent.valid() || parent.value >= parents_.size() || partition.value >= parents_[parent.value].size()) return;
  Order& order = parents_[parent.value][partition.value];
  if (!order.kept || (!order.touched.empty() && order.touched.back() == child)) return;
  order.touched.push_back(child);
  if (order.touched.size() > kMostTouched) order = {};
}

/// Takes those touched out and puts them back where they belong now.
void ChildOrders::Move(const Books& books, QueueId parent, PartitionId partition, Order& order) {
  const Comparison compare{books, partition};
  const auto before = [&](const Rival& a, const Rival& b) {
    const int by = compare(a, b);
    return by != 0 ? by < 0 : a.place < b.place;
  };
  std::vector<Rival>& rivals = order.rivals;
  std::vector<Rival> moved;
  for (const QueueId child : order.touched) {
    const auto from = std::find_if(rivals.begin(), rivals.end(), [&](const Rival& rival) { return rival.id == child; });
    if (from == rivals.end()) continue;  // touched twice
    moved.push_back(RivalOf(books, books.queues[parent], from->place, partition));
    rivals.erase(from);
  }
  for (const Rival& rival : moved) {
    rivals.insert(std::upper_bound(rivals.begin(), rivals.end(), rival, before), rival);
    if (!compare.IsOrderly(rival)) order.kept = false;
  }
  order.touched.clear();
}

std::span<const Rival> ChildOrders::Of(const Books& books, QueueId parent, PartitionId partition) {
  if (parent.value >= parents_.size()) parents_.resize(parent.value + size_t{1});
  std::vector<Order>& of_parent = parents_[parent.value];
  if (partition.value >= of_parent.size()) of_parent.resize(partition.value + size_t{1});
  Order& order = of_parent[partition.value];
  if (order.kept && !order.touched.empty()) Move(books, parent, partition, order);
  if (!order.kept) {
    order = {Sorted(books, books.queues[parent], partition), {}, true};
    const Comparison compare{books, partition};
    order.kept = std::all_of(order.rivals.begin(), order.rivals.end(),
                             [&](const Rival& rival) { return compare.IsOrderly(rival); });
  }
  return order.rivals;
}

std::string ChildOrders::Check(const Books& books) const {
  std::string wrong;
  for (QueueId parent{0}; parent.value < parents_.size(); ++parent.value) {
    const std::vector<Order>& of_parent = parents_[parent.value];
    for (PartitionId partition{0}; partition.value < of_parent.size(); ++partition.value) {
      Order order = of_parent[partition.value];
      if (!order.kept || !books.queues.Has(parent)) continue;
      Move(books, parent, partition, order);
      const std::vector<Rival> sorted = Sorted(books, books.queues[parent], partition);
      const auto same = [](const Rival& a, const Rival& b) { return a.id == b.id; };
      if (order.kept && !std::equal(sorted.begin(), sorted.end(), order.rivals.begin(), order.rivals.end(), same)) {
        wrong += books.queues[parent].path + " keeps another order of its children than sorting gives\n";
      }
    }
  }
  return wrong;
}

}  // namespace fairlead::scheduler::yarn_capacity
