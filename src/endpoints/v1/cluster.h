#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

/// What is kept for `fairlead replay`; without a field: there is none.
struct Journal {
  std::optional<bool> writes{};
  std::optional<int64_t> files{}, bytes{}, bytes_max{}, segment_bytes{}, written{}, within_ms{}, disk_free{};

  FL_DESCRIBED("Journal", (writes, "it goes on; false: it has ended, the log says why"), (files, ""),
               (bytes, "of all files"), (bytes_max, "of all files"),
               (segment_bytes, "after which the next file begins"), (written, "bytes of this run"),
               (within_ms, "the time in which they were written"), (disk_free, "bytes that its disk has left"))
};

/// The whole at a moment that is kept.
struct ClusterThen {
  Amount capacity{}, used{};
  int64_t containers = 0;
  Counts apps{}, nodes{};

  FL_DESCRIBED("ClusterThen", (capacity, "of the nodes in service"), (used, ""), (containers, ""),
               (apps, "applications by state"), (nodes, "by state"))
};

/// The whole now.
struct Cluster : ClusterThen {
  int64_t id = 0;
  std::string name{}, version{}, profile{}, wishes{};
  int64_t unread_rows = 0;
  std::string unread_first{};
  Journal journal{};
  Counts waiting{};

  FL_DESCRIBED_BEYOND(
      ClusterThen, "Cluster", (id, "when the cluster's state began: the number in its applications' ids"),
      (name, "cluster.name of the configuration, or empty"), (version, "of Fairlead"), (profile, "that schedules"),
      (wishes, "switches of profile fairlead that are on, as fairlead.scheduler.wishes takes them; none"),
      (unread_rows,
       "rows of the state store that cannot be read, or that others have put there: left out of this run and kept"),
      (unread_first, "the name of one of them, or empty"),
      (journal, "what is kept for fairlead replay; empty: there is none"),
      (waiting, "containers asked for and not granted, by the reason for which they wait"))
};

/// Of one of several managers, the standby as well.
struct Ha {
  std::string id{}, leader{};
  int64_t session_ms = 0;

  FL_DESCRIBED("Ha", (id, "this manager's id; empty: it runs alone"),
               (leader, "the id of the one that leads; empty: none is known"),
               (session_ms,
                "of its session with ZooKeeper, as that gave it, which may be more than was asked for; 0: none yet. A "
                "takeover after a death waits for its end"))
};

/// From when to when something is kept of the past.
struct Past {
  int64_t from_ms = 0, to_ms = 0;
  FL_DESCRIBED("Past", (from_ms, ""), (to_ms, ""))
};

}  // namespace fairlead::endpoints::v1
