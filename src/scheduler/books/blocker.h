#pragma once

#include <string>
#include <vector>

#include "model/resource_words.h"
#include "model/scheduler.h"
#include "scheduler/books/books.h"

namespace fairlead::scheduler {

/// One thing that stands in the way of an ask.
struct Blocker {
  model::scheduler::PendingReason reason = model::scheduler::PendingReason::kNone;
  std::string subject;  // the queue, user or label that it is about; empty: none
  std::string detail;   // its numbers, for a person
  std::string remedy;   // what change removes it
};

namespace native {

// What profiles have in common of why an ask waits: what is in the way is added to `out`.

/// Limits on running applications, of the user and of the queues.
void FindRunningLimits(const Books& books, const App& app, std::vector<Blocker>& out);
/// Maxima of the user and the user's groups in all queues, under which `size` more does not fit.
void FindUserMaxima(const Books& books, const App& app, const model::Resources& size, std::vector<Blocker>& out);
/// Maxima of the leaf and of the queues above it, under which `size` more does not fit.
void FindQueueMaxima(const Books& books, const App& app, const model::Resources& size, std::vector<Blocker>& out);
/// What masters may use, in the leaf and in the cluster. `closed`: an earlier application found the leaf's share used
/// up.
void FindMasterLimits(const Books& books, const App& app, const model::Resources& size, bool closed,
                      std::vector<Blocker>& out);
/// A node that takes containers would have room for the shape if nothing ran there. O(nodes).
bool FitsSomeNode(const Books& books, const Shape& shape);
/// No node has room for the shape: only another node, or the end of containers, helps.
Blocker NoRoom(const Books& books, const Shape& shape);
/// All nodes with room for the shape are excluded by the application, or by the ask alone (`more` places).
Blocker AllExcluded(const App& app, const Shape& shape, size_t more = 0);
/// The first is the reason, the text names all; with none the ask is served next.
model::scheduler::Pending Joined(const std::vector<Blocker>& blockers);

}  // namespace native
}  // namespace fairlead::scheduler
