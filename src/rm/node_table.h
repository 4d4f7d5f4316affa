#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/prefetch.h"
#include "base/slot_table.h"
#include "model/ids.h"
#include "rm/state.h"

namespace fairlead::rm {

/// The nodes by index, in order of registration, and the active ones by name. Nodes stay where they are for good.
class NodeTable {
 public:
  /// The node under the next index.
  Node& Add(Node node) {
    node.index.value = static_cast<uint32_t>(nodes_.size());
    return *nodes_.emplace_back(std::make_unique<Node>(std::move(node)));
  }
  Node& operator[](model::NodeIndex index) { return *nodes_[index.value]; }
  const Node& operator[](model::NodeIndex index) const { return *nodes_[index.value]; }
  /// Null when there is none.
  const Node* Find(model::NodeIndex index) const {
    return index.valid() && index.value < nodes_.size() ? nodes_[index.value].get() : nullptr;
  }

  /// The one that is active under that name; null: none.
  Node* Active(const model::rm::NodeAddress& address) {
    return const_cast<Node*>(std::as_const(*this).Active(address));
  }
  const Node* Active(const model::rm::NodeAddress& address) const {
    const uint32_t slot =
        active_.Find(HashOf(address), [&](uint32_t index) { return nodes_[index]->address == address; });
    return slot == base::SlotTable::kNone ? nullptr : nodes_[slot].get();
  }
  /// It is the active one under its name from now on.
  void Activate(const Node& node) {
    if (const Node* other = Active(node.address)) Deactivate(*other);
    active_.Add(HashOf(node.address), node.index.value);
  }
  /// It is the active one under its name.
  void Deactivate(const Node& node) { active_.Remove(HashOf(node.address), node.index.value); }
  size_t active() const { return active_.size(); }

  /// In order of registration.
  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& node : nodes_) visit(std::as_const(*node));
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

 private:
  static uint32_t HashOf(const model::rm::NodeAddress& address) {
    const size_t host = std::hash<std::string>()(address.host);
    return static_cast<uint32_t>(host ^ host >> 32) * 31 + static_cast<uint32_t>(address.port);
  }

  std::vector<std::unique_ptr<Node>> nodes_;
  base::SlotTable active_;
};

}  // namespace fairlead::rm
