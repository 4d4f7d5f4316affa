#pragma once

#include <vector>

#include "base/state.h"
#include "model/ids.h"

namespace fairlead::rm {

/// Nodes as bits: looked up for every grant.
class NodeSet {
 public:
  /// True when the node is new here.
  bool Insert(model::NodeIndex node) {
    if (bits_.size() <= node.value) bits_.resize(node.value + 1);
    const bool is_new = !bits_[node.value];
    bits_[node.value] = true;
    return is_new;
  }
  void Erase(model::NodeIndex node) {
    if (node.value < bits_.size()) bits_[node.value] = false;
  }
  void Clear() { bits_.clear(); }
  const std::vector<bool>& bits() const { return bits_; }
  FL_STATE(bits_)

 private:
  std::vector<bool> bits_;
};

}  // namespace fairlead::rm
