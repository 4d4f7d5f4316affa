#pragma once

#include <map>
#include <string>

#include "base/codec.h"
#include "base/time.h"
#include "model/nm.h"
#include "nm/rows.h"

namespace fairlead::nm {

/// Which containers this node has started, so that no token starts a container twice while it is good, not even over a
/// restart of the agent (NMContainerTokenSecretManager), and which it has forgotten a short while ago (Hadoop:
/// NodeStatusUpdaterImpl.recentlyStoppedContainers).
class Starts {
 public:
  explicit Starts(base::Duration remember_stopped) : remember_stopped_(remember_stopped) {}

  /// It starts with a token that is good until `expires`.
  void Note(const model::ContainerId& id, base::WallTime expires) { expiries_[id] = expires; }
  /// It was not stored: its token may be used again.
  void Undo(const model::ContainerId& id) { expiries_.erase(id); }
  bool Has(const model::ContainerId& id) const { return expiries_.contains(id); }
  bool RecentlyStopped(const model::ContainerId& id) const { return stopped_.contains(id); }

  /// The container's row goes; its token's row takes its place while the token is good.
  void DropRow(const model::ContainerId& id, base::WallTime wall, Rows& rows) const {
    rows.Remove(kContainersTable, ToString(id));
    const auto at = expiries_.find(id);
    if (at != expiries_.end() && at->second >= wall) rows.Put(model::nm::SpentToken{id, at->second});
  }
  /// As DropRow; it counts as stopped for a while.
  void Stopped(const model::ContainerId& id, base::Instant now, base::WallTime wall, Rows& rows) {
    stopped_[id] = now + remember_stopped_;
    DropRow(id, wall, rows);
  }
  void ForgetStopped(base::Instant now) {
    std::erase_if(stopped_, [&](const auto& entry) { return entry.second <= now; });
  }
  /// Forgets tokens that are good no more, except those of containers that `is_known` still.
  template <class IsKnown>
  void ForgetTokens(base::WallTime wall, const IsKnown& is_known, Rows& rows) {
    std::erase_if(expiries_, [&](const auto& entry) {
      if (entry.second >= wall || is_known(entry.first)) return false;
      rows.Remove(kSpentTokensTable, ToString(entry.first));
      return true;
    });
  }
  void HashInto(base::StateHasher& hasher) const {
    base::HashInto(hasher, expiries_);
    base::HashInto(hasher, stopped_);
  }

 private:
  base::Duration remember_stopped_;
  std::map<model::ContainerId, base::WallTime> expiries_;  // of tokens
  std::map<model::ContainerId, base::Instant> stopped_;    // until when
};

}  // namespace fairlead::nm
