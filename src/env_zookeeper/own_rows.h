#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::env_zookeeper {

/// A node below /rows that has the name of a row.
struct RowNode {
  std::string name;
  uint64_t version = 0;  // that the name says
  int64_t made = 0;      // Node::made
};

/// Which of ZooKeeper's transactions made rows: Node::made and Node::changed of /head.
struct HeadTimes {
  int64_t made = 0;     // all came after it
  int64_t changed = 0;  // rows of the head's version were made by this one, no others by it or after it
};

/// Of more nodes than the `rows` that were committed up to `version`, those that may be them. Rows get rising versions,
/// those of one transaction the same: so with each row all others agree in this order. A node with which fewer agree is
/// a stranger's, and one that does not agree with /head. More than `rows` are left where a stranger knew that and named
/// his nodes by it. O(n log n).
std::vector<RowNode> MayBeOurs(std::vector<RowNode> nodes, uint64_t rows, uint64_t version, const HeadTimes& head);

}  // namespace fairlead::env_zookeeper
