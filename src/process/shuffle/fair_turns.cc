#include "process/shuffle/fair_turns.h"

namespace fairlead::process::shuffle {

void FairTurns::Wait(const std::string& app, uint64_t connection) {
  const auto [found, added] = by_name_.try_emplace(app);
  if (added) found->second = apps_.insert(apps_.end(), App{app, 0, {}});
  found->second->connections.push_back(connection);
}

void FairTurns::Round(const std::function<int64_t(uint64_t connection, int64_t bytes)>& turn) {
  // Who begins to wait during the round comes behind this mark, and into the next one.
  const size_t count = apps_.size();
  for (size_t i = 0; i < count; ++i) {
    App& app = apps_.front();
    app.deficit += quantum_;
    while (app.deficit > 0 && !app.connections.empty()) {
      const uint64_t connection = app.connections.front();
      app.connections.pop_front();
      app.deficit -= turn(connection, app.deficit);
    }
    if (app.connections.empty()) {  // nothing is saved up for later
      by_name_.erase(app.name);
      apps_.pop_front();
    } else {
      apps_.splice(apps_.end(), apps_, apps_.begin());
    }
  }
}

}  // namespace fairlead::process::shuffle
