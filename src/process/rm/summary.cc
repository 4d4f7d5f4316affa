#include "process/rm/summary.h"

#include <algorithm>
#include <utility>

#include "rm/life_cycles.h"

namespace fairlead::process::rm {

namespace {

/// What reports tell of an attempt.
void CopyAttempt(const Attempt& from, Attempt& to) {
  to.id = from.id;
  to.state = from.state;
  to.state_before_saving = from.state_before_saving;
  to.final_status = from.final_status;
  to.containers_preempted = from.containers_preempted;
  to.master = from.master;
  to.host = from.host;
  to.rpc_port = from.rpc_port;
  to.original_url = from.original_url;
  to.proxied_url = from.proxied_url;
  to.progress = from.progress;
  to.diagnostics = from.diagnostics;
  to.exit_status = from.exit_status;
  to.started = from.started;
  to.finished = from.finished;
}

void CopySubmission(const model::rm::Submission& from, model::rm::Submission& to) {
  to.id = from.id;
  to.user = from.user;
  to.queue = from.queue;
  to.name = from.name;
  to.type = from.type;
  to.tags = from.tags;
  to.priority = from.priority;
  to.unmanaged = from.unmanaged;
  to.label = from.label;
  to.view_acl = from.view_acl;
  to.modify_acl = from.modify_acl;
}

size_t At(model::rm::AppState state) { return static_cast<size_t>(state); }

/// Calls visit(name) for the queue and each one above it.
template <class Visit>
void ForItAndAbove(std::string queue, Visit visit) {
  while (true) {
    visit(queue);
    const size_t dot = queue.rfind('.');
    if (dot == std::string::npos) return;
    queue.resize(dot);
  }
}

}  // namespace

void AddRow(QueueSums& sums, const AppRow& row, int64_t sign) {
  const model::rm::AppState visible = Core::VisibleState(row.app);
  const Attempt* attempt = row.app.current();
  sums.apps[At(visible)] += sign;
  if (!fairlead::rm::EndIsStored(visible) && (!attempt || attempt->master.id.value == 0)) sums.without_master += sign;
  sums.containers += sign * row.usage.containers;
  sums.reservations += sign * row.usage.reservations;
  sums.pending += sign * row.pending;
  sums.reserved += row.usage.reserved * sign;
}

bool LogStatuses::IsLate(const App& app, base::Duration time_out, base::WallTime now) {
  return fairlead::rm::IsOver(app.state) && app.finished.ms + time_out.millis() < now.ms;
}

AppRow RowOf(const App& app, const scheduler::Scheduler& scheduler, base::WallTime now) {
  AppRow row;
  App& copy = row.app;
  copy.index = app.index;
  copy.alive = app.alive;
  copy.state = app.state;
  copy.in_scheduler = app.in_scheduler;
  copy.state_before_saving = app.state_before_saving;
  copy.state_before_killing = app.state_before_killing;
  copy.diagnostics = app.diagnostics;
  copy.submitted = app.submitted;
  copy.started = app.started;
  copy.launched = app.launched;
  copy.finished = app.finished;
  copy.expires = app.expires;
  copy.ran_on = app.ran_on;
  CopySubmission(app.submission, copy.submission);
  if (const Attempt* last = app.current()) CopyAttempt(*last, copy.attempts[last->id.attempt]);
  row.usage = UsageRecordOf(app, now);
  if (app.in_scheduler) row.pending = scheduler.PendingContainers(app.index);
  return row;
}

void Summary::Count(const AppRow& row, int64_t sign) {
  if (row.app.state == model::rm::AppState::kNew) return;
  AddRow(cluster_.all, row, sign);
  cluster_.states[At(row.app.state)] += sign;
  cluster_.used += row.usage.used * sign;
  ForItAndAbove(FullQueueName(row.app.submission.queue), [&](const std::string& queue) {
    const auto it = queues_.try_emplace(queue).first;
    AddRow(it->second, row, sign);
    if (it->second == QueueSums{}) queues_.erase(it);
  });
}

void Summary::Count(const NodeShare& share, int64_t sign) {
  if (!share.shown) return;
  cluster_.nodes[static_cast<size_t>(share.state)] += sign;
  if (share.state == model::rm::NodeState::kRunning) cluster_.running_capacity += share.capacity * sign;
  if (!share.in_scheduler) return;
  cluster_.capacity += share.capacity * sign;
  cluster_.physical_bytes += sign * share.physical_bytes;
  cluster_.milli_cores += sign * share.milli_cores;
}

Summary::NodeShare Summary::ShareOf(const Core& core, model::NodeIndex index) {
  const Node* node = core.ShownNode(index);
  if (!node) return {};
  return {true,
          node->in_scheduler,
          node->state,
          node->capacity,
          std::max<int64_t>(0, node->use.physical_bytes),
          std::max<int64_t>(0, node->use.milli_cores)};
}

void Summary::Put(model::AppIndex index, std::shared_ptr<const AppRow> row) {
  const uint32_t number = index.value / AppRows::kChunk;
  Chunk& chunk = rows_[number];
  if (!chunk.rows) chunk.rows = std::make_shared<Writable>();
  if (std::exchange(chunk.copied, false)) chunk.rows = std::make_shared<Writable>(*chunk.rows);
  std::shared_ptr<const AppRow>& place = (*chunk.rows)[index.value % AppRows::kChunk];
  if (place) Count(*place, -1);
  if (row) Count(*row, 1);
  chunk.used += (row ? 1 : 0);
  chunk.used -= (place ? 1 : 0);
  place = std::move(row);
  if (chunk.used == 0) rows_.erase(number);
}

void Summary::Refresh(ResourceMachine& machine, base::WallTime now) {
  for (const model::AppIndex index : machine.TakeTouchedApps()) {
    const App* app = machine.core().AppAt(index);
    if (!app) {
      Put(index, nullptr);
      continue;
    }
    auto row = std::make_shared<AppRow>(RowOf(*app, machine.scheduler(), now));
    row->logs = logs_of_(*app);
    Put(index, std::move(row));
  }
  RefreshNodes(machine);
}

void Summary::RefreshNodes(ResourceMachine& machine) {
  for (const model::NodeIndex index : machine.TakeTouchedNodes()) {
    if (index.value >= nodes_.size()) nodes_.resize(index.value + 1);
    Count(nodes_[index.value], -1);
    nodes_[index.value] = ShareOf(machine.core(), index);
    Count(nodes_[index.value], 1);
  }
}

AppRows Summary::Rows() {
  AppRows copy;
  for (auto& [number, chunk] : rows_) {
    chunk.copied = true;
    copy.chunks_.emplace_hint(copy.chunks_.end(), number, chunk.rows);
  }
  return copy;
}

std::string Summary::Check(const ResourceMachine& machine, base::WallTime now) const {
  Summary anew(logs_of_);
  std::string wrong;
  machine.core().ForEachApp([&](const App& app) {
    anew.Put(app.index, std::make_shared<const AppRow>(RowOf(app, machine.scheduler(), now)));
    const auto chunk = rows_.find(app.index.value / AppRows::kChunk);
    const AppRow* row = chunk == rows_.end() ? nullptr : (*chunk->second.rows)[app.index.value % AppRows::kChunk].get();
    const Attempt* last = app.current();
    const Attempt* seen = row ? row->app.current() : nullptr;
    if (!row || row->app.state != app.state || row->app.diagnostics != app.diagnostics ||
        row->app.submission.queue != app.submission.queue || row->app.submission.priority != app.submission.priority ||
        row->app.expires != app.expires || row->app.launched != app.launched || row->app.ran_on != app.ran_on ||
        (last == nullptr) != (seen == nullptr) ||
        (last && (last->id != seen->id || last->state != seen->state || last->progress != seen->progress ||
                  last->master.id != seen->master.id || last->final_status != seen->final_status ||
                  last->original_url != seen->original_url || last->diagnostics != seen->diagnostics ||
                  last->containers_preempted != seen->containers_preempted || last->finished != seen->finished))) {
      wrong = "the row of " + ToString(app.submission.id) + " is old";
    }
  });
  machine.core().ForEachNode([&](const Node& node) { anew.Count(ShareOf(machine.core(), node.index), 1); });
  if (!wrong.empty()) return wrong;
  if (!(anew.cluster_ == cluster_)) return "the sums of the cluster are wrong";
  if (anew.queues_ != queues_) return "the sums of a queue are wrong";
  return anew.rows_.size() == rows_.size() ? "" : "rows of applications that are gone";
}

}  // namespace fairlead::process::rm
