#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/measured_use.h"
#include "model/resources.h"
#include "model/rm.h"
#include "process/rm/machine.h"
#include "process/rm/reports.h"
#include "rm/life_cycles.h"

namespace fairlead::process::rm {

inline constexpr size_t kAppStates = fairlead::rm::AppLifeCycle::kStateCount;
inline constexpr size_t kNodeStates = fairlead::rm::NodeLifeCycle::kStateCount;

/// How far nodes have come with an application's logs: as it is while they have time, and when that is over.
struct LogStatuses {
  using Status = wire::yarn::LogAggregationStatusProto;
  Status in_time = Status::kDisabled;
  Status late = Status::kDisabled;
  base::Duration time_out{};  // so long after their application's end
  static bool IsLate(const App& app, base::Duration time_out, base::WallTime now);
  /// As clients see it at `now`.
  Status At(const App& app, base::WallTime now) const { return IsLate(app, time_out, now) ? late : in_time; }
};

/// One application as readers see it; never changed once made, so that any thread may read it.
struct AppRow {
  App app;  // what reports tell: of its attempts the last one, of its submission no context; no containers
  UsageRecord usage;
  LogStatuses logs;
  int64_t pending = 0;  // containers asked for and not granted
};

/// The applications at one moment, in order of submission. A copy costs a pointer for every kChunk of them; what was
/// copied does not change.
class AppRows {
 public:
  static constexpr uint32_t kChunk = 128;

  template <class Visit>
  void ForEach(Visit visit) const {
    for (const auto& [number, chunk] : chunks_) {
      for (const auto& row : *chunk) {
        if (row) visit(*row);
      }
    }
  }
  /// Those from index `first` on, until `visit` says false; gives the index of that one.
  template <class Visit>
  std::optional<model::AppIndex> VisitFrom(model::AppIndex first, Visit visit) const {
    for (auto chunk = chunks_.lower_bound(first.value / kChunk); chunk != chunks_.end(); ++chunk) {
      for (const auto& row : *chunk->second) {
        if (row && row->app.index >= first && !visit(*row)) return row->app.index;
      }
    }
    return {};
  }

 private:
  friend class Summary;
  using Chunk = std::array<std::shared_ptr<const AppRow>, kChunk>;
  std::map<uint32_t, std::shared_ptr<const Chunk>> chunks_;  // by index / kChunk; none is empty
};

/// Sums over the applications of a queue and all below it.
struct QueueSums {
  std::array<int64_t, kAppStates> apps{};  // by the state that clients see
  int64_t without_master = 0;              // of those before their end: no container yet
  int64_t containers = 0;
  int64_t reservations = 0;
  int64_t pending = 0;
  model::Resources reserved;
  int64_t In(model::rm::AppState state) const { return apps[static_cast<size_t>(state)]; }
  /// Finished, whatever they told of it.
  int64_t Completed() const { return In(model::rm::AppState::kFinishing) + In(model::rm::AppState::kFinished); }
  /// Before their end.
  int64_t Live() const {
    int64_t live = -Completed() - In(model::rm::AppState::kFailed) - In(model::rm::AppState::kKilled);
    for (const int64_t count : apps) live += count;
    return live;
  }
  friend bool operator==(const QueueSums&, const QueueSums&) = default;
};

/// Adds the row to the sums (`sign` 1) or takes it away (-1).
void AddRow(QueueSums& sums, const AppRow& row, int64_t sign);

/// Sums over all applications and nodes.
struct ClusterSums {
  QueueSums all;
  std::array<int64_t, kAppStates> states{};  // applications by state
  model::Resources used;
  std::array<int64_t, kNodeStates> nodes{};  // by state
  model::Resources capacity;                 // of nodes that the scheduler knows
  model::Resources running_capacity;         // of nodes that run
  // What those that the scheduler knows measured together.
  int64_t physical_bytes = 0;
  int64_t milli_cores = 0;
  friend bool operator==(const ClusterSums&, const ClusterSums&) = default;
};

/// What readers see of a machine, kept beside it: Refresh looks only at what was touched since the last time.
class Summary {
 public:
  using LogsOf = std::function<LogStatuses(const App&)>;
  explicit Summary(LogsOf logs_of) : logs_of_(std::move(logs_of)) {}

  /// Cost: the applications and nodes touched since.
  void Refresh(ResourceMachine& machine, base::WallTime now);
  /// The nodes' sums alone.
  void RefreshNodes(ResourceMachine& machine);

  const ClusterSums& cluster() const { return cluster_; }
  /// By full name, with the queues above; those without applications are not there. Cost of a copy: the queues.
  const std::map<std::string, QueueSums>& queues() const { return queues_; }
  /// To be read by any thread.
  AppRows Rows();

  /// Counts all again; empty when it agrees, else what differs. O(state); for tests.
  std::string Check(const ResourceMachine& machine, base::WallTime now) const;

 private:
  struct NodeShare {
    bool shown = false;
    bool in_scheduler = false;
    model::rm::NodeState state = model::rm::NodeState::kNew;
    model::Resources capacity;
    int64_t physical_bytes = 0;
    int64_t milli_cores = 0;
  };
  using Writable = std::array<std::shared_ptr<const AppRow>, AppRows::kChunk>;
  struct Chunk {
    std::shared_ptr<Writable> rows;
    bool copied = false;  // readers have it
    size_t used = 0;
  };

  static NodeShare ShareOf(const Core& core, model::NodeIndex index);
  void Count(const AppRow& row, int64_t sign);
  void Count(const NodeShare& share, int64_t sign);
  void Put(model::AppIndex index, std::shared_ptr<const AppRow> row);

  LogsOf logs_of_;
  std::map<uint32_t, Chunk> rows_;  // by index / AppRows::kChunk
  std::vector<NodeShare> nodes_;    // by index
  ClusterSums cluster_;
  std::map<std::string, QueueSums> queues_;
};

/// A row of the application as it is now, without `logs`. Cost: its live containers and asks.
AppRow RowOf(const App& app, const scheduler::Scheduler& scheduler, base::WallTime now);

}  // namespace fairlead::process::rm
