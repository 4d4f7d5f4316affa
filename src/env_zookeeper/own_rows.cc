#include "env_zookeeper/own_rows.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace fairlead::env_zookeeper {

namespace {

constexpr int kRoundsMax = 8;

/// How many of some values are not above another, while values are added (Fenwick 1994).
class Ranks {
 public:
  explicit Ranks(size_t size) : sums_(size + 1) {}
  void Add(size_t rank) {
    for (size_t i = rank + 1; i < sums_.size(); i += i & (~i + 1)) ++sums_[i];
  }
  uint64_t UpTo(size_t rank) const {  // those below `rank`
    uint64_t sum = 0;
    for (size_t i = rank; i > 0; i -= i & (~i + 1)) sum += sums_[i];
    return sum;
  }

 private:
  std::vector<uint64_t> sums_;
};

template <class T>
size_t Below(const std::vector<T>& sorted, const T& value) {
  return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}
template <class T>
size_t NotAbove(const std::vector<T>& sorted, const T& value) {
  return static_cast<size_t>(std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin());
}

/// How many other nodes agree with each, which come in the order in which they were made: earlier with a lower version,
/// later with a higher one, or of the same transaction and version.
std::vector<uint64_t> Agreeing(const std::vector<RowNode>& nodes) {
  std::vector<uint64_t> versions;
  std::vector<int64_t> times;
  std::map<std::pair<int64_t, uint64_t>, uint64_t> alike;
  for (const RowNode& node : nodes) {
    versions.push_back(node.version);
    times.push_back(node.made);
    ++alike[{node.made, node.version}];
  }
  std::sort(versions.begin(), versions.end());
  std::vector<uint64_t> agreeing(nodes.size());
  Ranks seen(nodes.size());
  for (size_t from = 0, to = 0; from < nodes.size(); from = to) {
    to = NotAbove(times, nodes[from].made);
    for (size_t i = from; i < to; ++i) agreeing[i] = seen.UpTo(Below(versions, nodes[i].version));
    for (size_t i = from; i < to; ++i) seen.Add(Below(versions, nodes[i].version));
    for (size_t i = from; i < to; ++i) {
      const size_t not_above = NotAbove(versions, nodes[i].version);
      agreeing[i] += nodes.size() - to - not_above + seen.UpTo(not_above);
      agreeing[i] += alike[{nodes[i].made, nodes[i].version}] - 1;
    }
  }
  return agreeing;
}

}  // namespace

std::vector<RowNode> MayBeOurs(std::vector<RowNode> nodes, uint64_t rows, uint64_t version, const HeadTimes& head) {
  std::erase_if(nodes, [&](const RowNode& node) {
    if (node.version == version) return node.made != head.changed;
    return node.version > version || node.made <= head.made || node.made >= head.changed;
  });
  std::sort(nodes.begin(), nodes.end(), [](const RowNode& a, const RowNode& b) { return a.made < b.made; });
  for (int round = 0; round < kRoundsMax && nodes.size() > rows; ++round) {
    const std::vector<uint64_t> agreeing = Agreeing(nodes);
    std::vector<RowNode> left;
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (agreeing[i] + 1 >= rows) left.push_back(std::move(nodes[i]));
    }
    if (left.size() == agreeing.size()) return left;
    nodes = std::move(left);
  }
  return nodes;
}

}  // namespace fairlead::env_zookeeper
