#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/scheduler.h"
#include "sim/traces/trace.h"

namespace fairlead::sim {

/// Host and rack of every node by name, for masters that ask by place.
struct Topology {
  struct Spot {
    std::string host;
    std::string rack;
  };
  std::vector<Spot> nodes;  // by position in the list of nodes
  std::unordered_map<std::string, uint32_t> by_host;

  explicit Topology(const std::vector<TraceNode>& list);
  /// The node of that name ("/rack/host" or "host"); for a host that is not in the cluster one of its nodes, always the
  /// same.
  uint32_t NodeOf(const std::string& name) const;
};

/// One stage of a running job as its master sees it: which tasks still wait, what the scheduler has been told, and
/// which task a granted container gets.
class StageRun {
 public:
  StageRun(const TraceStage& stage, const Topology& topology);

  bool open() const { return open_; }
  bool done() const { return finished_ == stage_.run_ms.size(); }
  int64_t waiting() const { return waiting_; }
  const TraceStage& stage() const { return stage_; }
  bool has_places() const { return !places_.empty(); }
  /// What the scheduler books for each of its tasks, which may be another size than they ask for.
  void Book(const model::Resources& size) { booked_ = size; }
  const model::Resources& booked() const { return booked_; }

  /// From now on its tasks are asked for.
  void Open() { open_ = true; }
  /// The lines that bring the scheduler's view up to date; none when it is. `id` is the allocation request id.
  void AddAsks(int64_t id, std::vector<model::Ask>& asks);
  /// A container was granted at that distance on that node: the task that gets it, or -1 when none waits.
  int64_t Assign(model::Locality locality, const Topology::Spot& spot);
  void Finished() { ++finished_; }
  /// The task's container was lost: it waits again.
  void PutBack(uint32_t task);
  /// A new attempt's master asks from scratch.
  void ForgetAsks();

 private:
  /// A host or a rack that tasks would like.
  struct Place {
    const std::string* name = nullptr;
    int64_t wanted = 0;           // of the tasks that wait, those that would like it
    int64_t told = 0;             // as the scheduler counts
    std::vector<uint32_t> tasks;  // some may have started elsewhere
  };
  void AddWish(uint32_t task, const std::string& name);
  int64_t TakeFrom(std::vector<uint32_t>& tasks);
  void Count(uint32_t task, int64_t change);

  const TraceStage& stage_;
  model::Resources booked_;
  bool open_ = false;
  bool any_host_ = false;  // every task would like any of the hosts
  int64_t waiting_ = 0;
  int64_t told_ = 0;
  size_t finished_ = 0;
  std::vector<uint32_t> queue_;  // tasks that wait; some may have started by place
  std::vector<bool> is_waiting_;
  std::unordered_map<std::string, uint32_t> place_by_name_;
  std::vector<Place> places_;
  std::vector<std::vector<uint32_t>> places_of_;  // by task
};

}  // namespace fairlead::sim
