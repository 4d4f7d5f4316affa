#include <algorithm>

#include "model/taken_back.h"
#include "scheduler/fairlead/policy.h"

// Parking: a queue's masters are at their limit, and some of them only wait, with large jobs. Those that would be
// served last are ended (once each), so that applications start of which nobody knows yet how small they are. Nothing
// but the master's start is lost: it has no other container. What it asked for is remembered, and it starts again in
// its turn.

namespace fairlead::scheduler::native {
namespace {

/// Masters ended in one review and queue at most.
constexpr size_t kParkCap = 100;

bool MayTakeFrom(const Queues& queues, QueueId queue) {
  for (; queue.valid(); queue = queues[queue].parent) {
    if (!queues[queue].preemptable) return false;
  }
  return true;
}

ContainerSlot MasterOf(const Books& books, const App& app) {
  ContainerSlot at = app.containers.first();
  while (at.valid() && !books.containers[at].is_master) at = books.containers[at].app_next;
  return at;
}

/// It has its master, has said what it wants, and has got and been promised nothing of it.
bool OnlyWaits(const App& app) {
  if (app.needs_master || app.classes == 0 || app.master_used.IsZero() || !(app.used == app.master_used)) return false;
  return std::none_of(app.asks.begin(), app.asks.end(), [](const Ask& ask) { return ask.reserved > 0; });
}

}  // namespace

void FairPolicy::ParkMasters(Core& core) {
  const Books& books = core.books();
  std::vector<std::vector<AppSlot>> idle(books.queues.size());
  std::vector<std::vector<AppSlot>> starting(books.queues.size());
  for (const AppSlot slot : books.apps) {
    const App& app = books.apps[slot];
    if (!app.runnable || !app.active || !order_.MastersClosed(app.leaf)) continue;
    if (app.needs_master && app.classes != 0) starting[app.leaf.value].push_back(slot);
    if (OnlyWaits(app) && order_.small_jobs().MayPark(slot)) idle[app.leaf.value].push_back(slot);
  }
  for (const QueueId leaf : books.queues) {
    std::vector<AppSlot>& first = starting[leaf.value];
    std::vector<AppSlot>& last = idle[leaf.value];
    if (first.empty() || last.empty() || !MayTakeFrom(books.queues, leaf)) continue;
    std::sort(first.begin(), first.end(), [&](AppSlot a, AppSlot b) { return order_.Before(books, a, b); });
    std::sort(last.begin(), last.end(), [&](AppSlot a, AppSlot b) { return order_.Before(books, b, a); });
    const size_t most = std::min({first.size(), last.size(), kParkCap});
    for (size_t i = 0; i < most && order_.Before(books, first[i], last[i]); ++i) ParkMaster(core, last[i], first[i]);
  }
}

/// Ends the idle master for the other's, if that can have its room.
void FairPolicy::ParkMaster(Core& core, AppSlot idle, AppSlot starting) {
  Books& books = core.books();
  const ContainerSlot master = MasterOf(books, books.apps[idle]);
  if (!master.valid() || books.containers[master].chosen()) return;
  const NodeIndex node = books.containers[master].node;
  const Resources& room = books.shapes[books.containers[master].shape].size;
  for (Ask& ask : books.apps.asks(starting)) {
    if (!ask.open() || ask.reserved > 0 || !books.shapes[ask.shape].size.FitsIn(room)) continue;
    if (!Finder(books, config_).MayReserve(books.apps[starting], ask, node)) continue;
    core.Reserve(starting, ask, node, config_.reservations.duration);
    order_.MasterParked(idle);
    core.Finish(master, model::kExitPreempted, model::DiagnosticsOf(model::TakenBackFor::kMasters));
    return;
  }
}

}  // namespace fairlead::scheduler::native
