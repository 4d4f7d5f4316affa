#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/time.h"
#include "env/elector.h"
#include "env_sim/world.h"

namespace fairlead::env_sim {

/// Faults of the members' own code, for tests of the tests.
struct QuorumBugs {
  bool no_fence = false;        // a deposed leader's rows are taken
  bool late_step_down = false;  // a leader believes in its right to act for too long
};

/// A quorum by which members of a world elect a leader and keep its rows, as a ZooKeeper ensemble does
/// (env_zookeeper/elector.h), without its bytes: sessions that expire, messages in order that come late.
class SimQuorum {
 public:
  SimQuorum(World& world, base::Duration session, QuorumBugs bugs = {});
  ~SimQuorum();

  /// The port of a process on `machine`.
  std::unique_ptr<env::Elector> Join(Machine& machine, const std::string& id);
  /// Nothing passes between the member and the quorum any more, and nobody is told; or again: then what was sent
  /// meanwhile comes late, in order. A connection loses nothing in silence, and a ZooKeeper client asks again after one
  /// that broke (env_zookeeper/store.h).
  void Cut(const std::string& id, bool cut);
  /// What the member sends and gets from now on takes this much longer.
  void Delay(const std::string& id, base::Duration delay);

  /// Rows that a deposed leader has written.
  int64_t foul_writes() const;
  /// How many leaders there have been.
  int64_t epochs() const;

 private:
  friend class SimElector;
  friend class SimSharedStore;
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace fairlead::env_sim
