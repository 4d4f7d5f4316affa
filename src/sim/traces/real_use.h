#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/measured_use.h"
#include "model/resources.h"
#include "sim/traces/trace.h"

namespace fairlead::sim {

/// What tasks use, other than what they ask for. Off (`part` 0): tasks take as long as the trace says, and nodes
/// measure nothing.
struct UseOptions {
  double part = 0;          // of the tasks' asks, the mean over jobs
  double io_jobs = 0;       // this part of the jobs waits for a disk and hardly for a core
  double io_disk = 0.2;     // of a disk's time each task of theirs takes
  double busy_nodes = 0;    // this part of the nodes runs other programs ...
  double busy_cores = 0;    // ... that would use so many times its cores, and as much of its disk's time
  double input_mib = 0;     // a task that names places reads so much, at its own host in no time ...
  double rack_mbit = 2000;  // ... within its rack and from farther so fast
  double cluster_mbit = 1000;
  int32_t kinds = 0;          // jobs are of so many kinds, and those of one use alike; 0: each is one of its own
  int64_t measure_ms = 3000;  // a node's meter looks so often
  int64_t delay_ms = 1000;    // until the report with what it saw arrives
  uint64_t seed = 1;
};

/// Of a task, a node's other programs, or all of them together.
struct RealAmounts {
  double milli_cores = 0;
  double memory_mib = 0;
  double disk = 0;     // of one disk's time
  double network = 0;  // bytes a second
  RealAmounts& operator+=(const RealAmounts& other);
  RealAmounts& operator-=(const RealAmounts& other);
};

/// What runs on the nodes and how fast. Cores and disks are shared evenly: where tasks want more than there is, all
/// that wait for it become slower by the same factor. Memory is not shared: the newest task ends when there is not
/// enough (the kernel's choice would be no better).
///
/// A job's tasks use of cores and memory `part` times a number drawn for its kind from [0.5, 1.5], each task 0.9 to 1.1
/// of that, memory at most what it asked for, cores at most twice; of network what they ask for by a resource type
/// "network" (Mbit/s) times that part. O(tasks of the node) where a speed changes, else O(1).
class RealUse {
 public:
  struct Task {
    uint32_t app = 0;
    uint32_t sequence = 0;
    RealAmounts use;
    double left_ms = 0;  // at full speed, at `since_ms`
    int64_t since_ms = 0;
    int64_t end_ms = 0;  // as it runs now
    bool waits_for_disk = false;
  };

  RealUse(const UseOptions& options, const std::vector<TraceNode>& list);

  bool on() const { return options_.part > 0; }
  const UseOptions& options() const { return options_; }
  /// The node of that place in the list starts, or starts again, with no task.
  void AddNode(uint32_t node, uint32_t list, int64_t now_ms);
  /// What the job is called, without digits: those of one kind alike.
  std::string NameOf(uint32_t app) const;
  /// What the task uses; the same whenever it is asked.
  Task Draw(uint32_t app, uint32_t task, const model::Resources& size) const;
  /// How long it reads its input, if it runs in the rack of a place that it named, or farther away.
  double ReadMs(bool rack, bool far) const;

  /// `task` begins with `left_ms` to run; the tasks whose end is another now are appended with it.
  void Start(uint32_t node, Task task, int64_t now_ms, std::vector<Task>& moved);
  void Stop(uint32_t node, uint32_t app, uint32_t sequence, int64_t now_ms, std::vector<Task>& moved);
  /// The task that ends because the node has not enough memory; null: it has.
  const Task* OutOfMemory(uint32_t node) const;

  /// The node's meter looks: the mean since it did last, memory at the moment.
  void Look(uint32_t node, int64_t now_ms);
  /// What it saw last.
  const model::MeasuredUse& seen(uint32_t node) const { return nodes_[node].seen; }
  /// What runs on the node, the oldest first, and what a task of it is measured to use now.
  const std::vector<Task>& tasks(uint32_t node) const { return nodes_[node].tasks; }
  model::MeasuredUse UseOf(uint32_t node, const Task& task) const;

 private:
  struct Node {
    RealAmounts room;
    RealAmounts others;
    RealAmounts all;  // with the tasks
    double core_speed = 1;
    double disk_speed = 1;
    std::vector<Task> tasks;  // oldest first
    RealAmounts used;         // amount times ms since the meter looked
    int64_t summed_ms = 0;
    int64_t looked_ms = 0;
    model::MeasuredUse seen;
  };
  uint32_t KindOf(uint32_t app) const;
  static void Sum(Node& node, int64_t now_ms);
  static void Respeed(Node& node, int64_t now_ms, std::vector<Task>& moved);

  UseOptions options_;
  const std::vector<TraceNode>& list_;
  std::vector<Node> nodes_;  // by NodeIndex
  int32_t network_type_ = -1;
};

}  // namespace fairlead::sim
