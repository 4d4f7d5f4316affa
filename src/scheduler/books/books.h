#pragma once

#include <algorithm>
#include <cstdint>

#include "base/state.h"
#include "base/time.h"
#include "model/resources.h"
#include "scheduler/books/apps.h"
#include "scheduler/books/config.h"
#include "scheduler/books/containers.h"
#include "scheduler/books/gangs.h"
#include "scheduler/books/nodes.h"
#include "scheduler/books/places.h"
#include "scheduler/books/queues.h"
#include "scheduler/books/reservations.h"
#include "scheduler/books/shapes.h"
#include "scheduler/books/timers.h"
#include "scheduler/books/users.h"

namespace fairlead::scheduler::native {

/// Resource types that amounts are compared in.
inline size_t TypesInUse() { return std::max<size_t>(2, model::ResourceTypes::Count()); }

/// All that the profiles have in common: parts that each keep their own state, by number and without pointers, so that
/// a fork is a copy. Core changes several of them together.
struct Books {
  explicit Books(const BooksConfig& configured)
      : config(configured),
        types(TypesInUse()),
        queues(types, configured.cluster_master_share, configured.queues),
        nodes(types) {}

  /// Whether the application excludes the node, or it or its ask does. O(log exclusions).
  bool Excluded(const App& app, NodeIndex node) const;
  bool Excluded(const App& app, const Ask& ask, NodeIndex node) const;
  /// The node takes one container of the shape for the application. O(log exclusions).
  bool Fits(const App& app, NodeIndex node, const Shape& shape) const {
    return nodes.Fits(node, shape.size, shape.label) && !Excluded(app, node);
  }

  /// What keeps one more container of that size from the application. O(depth of the queue, groups of the user).
  Limit FindLimit(const App& app, const model::Resources& size, bool master) const {
    if (users.counts_use()) {
      const Limit limit = FindUserLimit(app, size);
      if (limit.kind != Limit::Kind::kFree) return limit;
    }
    return queues.FindLimit(app.leaf, size, master);
  }
  /// What the application may still get of `room`, under the maxima of its queues, user and groups.
  model::Resources Headroom(const App& app, model::Resources room) const;

  BooksConfig config;
  size_t types;  // TypesInUse()
  base::Instant now{};
  Users users;
  Queues queues;
  Nodes nodes;
  Places places;
  Shapes shapes;
  Containers containers;
  Apps apps;
  Reservations reservations;
  Gangs gangs;
  Timers timers;
  uint64_t next_serial = 1;  // of asks, reservations and gangs
  FL_STATE_PART(types, now, users, queues, nodes, places, shapes, containers, apps, reservations, gangs, timers,
                next_serial)

 private:
  Limit FindUserLimit(const App& app, const model::Resources& size) const;
};

}  // namespace fairlead::scheduler::native
