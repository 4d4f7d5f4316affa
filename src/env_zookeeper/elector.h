#pragma once

#include <memory>
#include <string>

#include "base/time.h"
#include "env/elector.h"
#include "env/loop.h"

namespace fairlead::env_zookeeper {

/// Keys of the configuration by which a person sets what is refused: the elector's words.
struct ElectorKeys {
  std::string identity;  // empty: none can be set
  std::string place;
  std::string id;
};

struct ElectorOptions {
  std::string servers;     // "host:port,host:port"
  base::Duration timeout;  // of the session, as asked for; the servers may give more (two of their ticks at least)
  std::string scheme;      // "digest": nodes are for `identity` alone; empty: everybody may change them
  std::string identity;    // "user:password"
  std::string root;        // "/fairlead/CLUSTER"
  std::string id;          // this member's name, of its own
  std::string about;       // where it runs, for people
  ElectorKeys keys;
};

/// An elector over ZooKeeper (layout.h): whoever makes the ephemeral node /leader leads, and changes /epoch in the same
/// transaction. Eight times a session the leader asks, by a transaction that checks /epoch, whether it still leads; it
/// may act for three quarters of the session's time from the moment at which it sent a question that was answered so.
/// The quarter that is left covers what the servers tell each other of sessions late (half a tick, and a tick is half a
/// session at most). While another leads, a copy of its rows follows (row_copy.h).
std::unique_ptr<env::Elector> MakeElector(env::Loop& loop, ElectorOptions options);

}  // namespace fairlead::env_zookeeper
