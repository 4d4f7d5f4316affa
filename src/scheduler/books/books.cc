#include "scheduler/books/books.h"

#include <algorithm>

namespace fairlead::scheduler::native {
namespace {

bool IsOn(const std::vector<PlaceId>& list, const Node& node) {
  return std::binary_search(list.begin(), list.end(), node.host) ||
         std::binary_search(list.begin(), list.end(), node.rack);
}

}  // namespace

bool Books::Excluded(const App& app, NodeIndex node) const {
  return !app.excluded.empty() && IsOn(app.excluded, nodes[node]);
}

bool Books::Excluded(const App& app, const Ask& ask, NodeIndex node) const {
  return Excluded(app, node) || (!ask.excluded.empty() && IsOn(ask.excluded, nodes[node]));
}

}  // namespace fairlead::scheduler::native
