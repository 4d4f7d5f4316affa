#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "base/slot_table.h"
#include "base/state.h"
#include "model/ids.h"
#include "rm/state.h"

namespace fairlead::rm {

/// The nodes by index, in order of registration, the active ones by name, and those that went away. A node stays where
/// it is until it is forgotten: of those that went away the last kGoneKept are kept. An index is never given twice;
/// what a forgotten node leaves behind is a pointer. Whoever may change a node, or whether ForEachActive and
/// ForEachGone show it, gets its index noted as touched, as with AppTable.
class NodeTable {
 public:
  static constexpr size_t kGoneKept = 10'000;
  /// Names that strangers register are there until they expire. The largest clusters have a fifth of it.
  static constexpr size_t kActiveMax = 100'000;

  /// The node under the next index.
  Node& Add(Node node) {
    node.index.value = static_cast<uint32_t>(nodes_.size());
    node.touched = false;  // it may be a copy of one that was
    Node& added = *nodes_.emplace_back(std::make_unique<Node>(std::move(node)));
    Touch(added);
    return added;
  }
  /// One that is forgotten reads as a node without a name.
  Node& operator[](model::NodeIndex index) {
    if (nodes_[index.value]) {
      Touch(*nodes_[index.value]);
      return *nodes_[index.value];
    }
    nobody_ = Node{};
    return nobody_;
  }
  const Node& operator[](model::NodeIndex index) const { return nodes_[index.value] ? *nodes_[index.value] : nobody_; }
  /// Null when it is forgotten or was never there.
  const Node* Find(model::NodeIndex index) const {
    return index.valid() && index.value < nodes_.size() ? nodes_[index.value].get() : nullptr;
  }

  /// The one that is active under that name; null: none.
  Node* Active(const model::rm::NodeAddress& address) {
    Node* active = const_cast<Node*>(std::as_const(*this).Active(address));
    if (active) Touch(*active);
    return active;
  }
  const Node* Active(const model::rm::NodeAddress& address) const {
    const uint32_t slot =
        active_.Find(HashOf(address), [&](uint32_t index) { return nodes_[index]->address == address; });
    return slot == base::SlotTable::kNone ? nullptr : nodes_[slot].get();
  }
  /// It is the active one under its name from now on.
  void Activate(const Node& node) {
    TouchGone(node.address);
    if (const Node* other = Active(node.address)) {
      Deactivate(*other);
      Retire(other->index);
    }
    active_.Add(HashOf(node.address), node.index.value);
    gone_.erase(node.address);
    TakeLarger(node.capacity);
  }
  /// It went away; the oldest beyond kGoneKept is forgotten, and lives until the next Clear().
  void Remove(const Node& node) {
    if (Active(node.address) == &node) Deactivate(node);
    TouchGone(node.address);
    gone_[node.address] = node.index;
    Retire(node.index);
  }
  void Clear() { forgotten_.clear(); }
  /// The one that went away last under that name; null: none, or one is active.
  const Node* Gone(const model::rm::NodeAddress& address) const {
    const auto it = gone_.find(address);
    return it == gone_.end() ? nullptr : Find(it->second);
  }
  /// Whether ForEachActive or ForEachGone visit it.
  bool Shows(const Node& node) const { return Active(node.address) == &node || Gone(node.address) == &node; }
  /// Those that came, went or were touched since the last call, each once for what it was before.
  std::vector<model::NodeIndex> TakeTouched() {
    for (const model::NodeIndex index : touched_) {
      if (nodes_[index.value]) nodes_[index.value]->touched = false;
    }
    return std::exchange(touched_, {});
  }
  /// The most of each type that an active node has. O(active nodes) when the largest may have gone, else O(1).
  const model::Resources& largest() const {
    if (largest_stale_) {
      largest_ = {};
      largest_stale_ = false;
      ForEachActive([this](const Node& node) { TakeLarger(node.capacity); });
    }
    return largest_;
  }
  /// The capacity of an active node has changed.
  void Resized() { largest_stale_ = true; }
  size_t active() const { return active_.size(); }

  /// In order of registration.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& node : nodes_) {
      if (node) visit(std::as_const(*node));
    }
  }
  /// By name: the last one under each name that is not active.
  template <class Visit>
  void ForEachGone(Visit visit) const {
    for (const auto& [address, index] : gone_) visit(std::as_const(*nodes_[index.value]));
  }
  /// In no order that means anything.
  template <class Visit>
  void ForEachActive(Visit visit) const {
    active_.ForEach([&](uint32_t index) { visit(std::as_const(*nodes_[index])); });
  }

  // For Core::Prefetch: where the node is, and where its name is looked up.
  void PrefetchPlace(model::NodeIndex index) const {
    if (index.value < nodes_.size()) base::Prefetch(&nodes_[index.value]);
  }
  void PrefetchName(const Node& node) const { active_.Prefetch(HashOf(node.address)); }
  FL_STATE_PART(nodes_, active_, gone_, retired_, touched_, largest_, largest_stale_)

 private:
  void Touch(Node& node) {
    if (!std::exchange(node.touched, true)) touched_.push_back(node.index);
  }
  void TouchGone(const model::rm::NodeAddress& address) {
    if (const Node* gone = Gone(address)) Touch(*nodes_[gone->index.value]);
  }
  void Deactivate(const Node& node) {
    active_.Remove(HashOf(node.address), node.index.value);
    largest_stale_ = true;
  }
  void Retire(model::NodeIndex index) {
    retired_.push_back(index);
    if (retired_.size() <= kGoneKept) return;
    Owned<Node>& oldest = nodes_[retired_.front().value];
    Touch(*oldest);
    retired_.pop_front();
    const auto it = gone_.find(oldest->address);
    if (it != gone_.end() && it->second == oldest->index) gone_.erase(it);
    forgotten_.push_back(std::move(oldest));
  }
  void TakeLarger(const model::Resources& capacity) const {
    for (size_t type = 0; type < model::Resources::kMaxTypes; ++type) {
      largest_[type] = std::max(largest_[type], capacity[type]);
    }
  }
  static uint32_t HashOf(const model::rm::NodeAddress& address) {
    const size_t host = std::hash<std::string>()(address.host);
    return static_cast<uint32_t>(host ^ host >> 32) * 31 + static_cast<uint32_t>(address.port);
  }

  std::vector<Owned<Node>> nodes_;
  base::SlotTable active_;
  std::map<model::rm::NodeAddress, model::NodeIndex> gone_;
  std::deque<model::NodeIndex> retired_;  // oldest first; each once
  std::vector<Owned<Node>> forgotten_;
  std::vector<model::NodeIndex> touched_;
  Node nobody_;
  mutable model::Resources largest_;
  mutable bool largest_stale_ = false;
};

}  // namespace fairlead::rm
