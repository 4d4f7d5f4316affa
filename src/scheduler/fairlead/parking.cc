#include <algorithm>

#include "model/taken_back.h"
#include "scheduler/fairlead/policy.h"

// Parking. Nobody knows how large an application is before its master has asked, so masters start in the order in which
// they came. Under overload those of large ones then wait by the hundred, in room that tasks could use, until the
// queue's share for masters is full and nobody starts. Those whose turn is far are ended (once each, and in their first
// minute, where nothing but the start is lost). What they asked for is remembered, and they start again in their turn.

namespace fairlead::scheduler::native {
namespace {

/// The first so many masters of a queue may only wait (half of them where the share for masters keeps others from
/// starting), and more as long as all that wait have this part of that share.
constexpr size_t kMayWait = 4;
constexpr int64_t kPart = 8;
/// Masters ended in one review and queue at most.
constexpr int kParkCap = 100;

bool MayTakeFrom(const Queues& queues, QueueId queue) {
  if (queues[queue].policy == model::OrderPolicy::kFifo) return false;  // there the size does not count
  for (; queue.valid(); queue = queues[queue].parent) {
    if (!queues[queue].preemptable) return false;
  }
  return true;
}

/// The master that the application has had for less than `within` and got nothing by; not valid: none.
ContainerSlot NewMasterOf(const Books& books, const App& app, base::Duration within) {
  const ContainerSlot at = app.containers.first();  // the newest, and the only one
  if (!at.valid() || !books.containers[at].is_master || books.containers[at].chosen() || app.next_sequence > 1 ||
      books.now >= books.containers[at].granted + within) {
    return {};
  }
  return at;
}

/// It has its master, has said what it wants, and has got and been promised nothing of it.
bool OnlyWaits(const App& app) {
  if (app.needs_master || app.classes == 0 || app.master_used.IsZero() || !(app.used == app.master_used)) return false;
  return std::none_of(app.asks.begin(), app.asks.end(), [](const Ask& ask) { return ask.reserved > 0; });
}

}  // namespace

/// Leaves where some master may be ended: mostly none, for the new ones start where something ends.
std::vector<bool> FairPolicy::LeavesToPark(const Books& books) const {
  std::vector<bool> leaves(books.queues.size());
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (app.needs_master || leaves[app.leaf.value] || !order_.small_jobs().MayPark(slot)) continue;
    if (!NewMasterOf(books, app, config_.small_jobs.park_within).valid() || !OnlyWaits(app)) continue;
    leaves[app.leaf.value] = MayTakeFrom(books.queues, app.leaf);
  }
  return leaves;
}

void FairPolicy::ParkMasters(Core& core) {
  const Books& books = core.books();
  const std::vector<bool> leaves = LeavesToPark(books);
  if (std::find(leaves.begin(), leaves.end(), true) == leaves.end()) return;
  std::vector<std::vector<AppSlot>> waiting(books.queues.size());
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (leaves[app.leaf.value] && app.runnable && app.active && OnlyWaits(app)) waiting[app.leaf.value].push_back(slot);
  }
  for (const QueueId leaf : books.queues) {
    std::vector<AppSlot>& line = waiting[leaf.value];
    const size_t may_wait = order_.MastersClosed(leaf) ? std::min(kMayWait, (line.size() + 1) / 2) : kMayWait;
    if (line.size() <= may_wait) continue;
    std::sort(line.begin(), line.end(), [&](AppSlot a, AppSlot b) { return order_.Before(leaf, a, b); });
    Resources most = books.queues.MasterLimits(leaf);
    for (int64_t& amount : most.amount) amount /= kPart;
    Resources wait;
    for (const AppSlot slot : line) wait += books.apps[slot].master_used;
    int left = kParkCap;
    for (size_t i = line.size(); i-- > may_wait && left > 0 && !wait.FitsIn(most);) {
      const App& app = books.apps[line[i]];
      const ContainerSlot master = NewMasterOf(books, app, config_.small_jobs.park_within);
      if (!master.valid() || !order_.small_jobs().MayPark(line[i])) continue;
      wait -= app.master_used;
      order_.MasterParked(line[i]);
      core.Finish(master, model::kExitPreempted, model::DiagnosticsOf(model::TakenBackFor::kMasters));
      --left;
    }
  }
}

}  // namespace fairlead::scheduler::native
