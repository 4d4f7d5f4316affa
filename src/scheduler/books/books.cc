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

Limit Books::FindUserLimit(const App& app, const model::Resources& size) const {
  Limit limit;
  ForHolders(app, [&](UserId holder) {
    if (users.Exceeds(holder, size)) limit = {Limit::Kind::kUserMaximum, app.leaf, holder};
  });
  return limit;
}

model::Resources Books::Headroom(const App& app, model::Resources room) const {
  if (!users.counts_use()) return queues.Headroom(app.leaf, room);
  ForHolders(app, [&](UserId holder) {
    const User& user = users[holder];
    for (size_t t = 0; user.most && t < types; ++t) room[t] = std::min(room[t], (*user.most)[t] - user.used[t]);
  });
  return queues.Headroom(app.leaf, room);
}

}  // namespace fairlead::scheduler::native
