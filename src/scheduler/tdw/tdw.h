#pragma once

#include <memory>
#include <string>

#include "scheduler/books/config.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

/// What a task of one type needs; 0: what its ask says.
struct TdwTaskSize {
  int32_t vcores = 0;
  int32_t network_mbit = 0;
  int32_t disk_gb = 0;
};

/// Memory of the jobtracker of a job that said how many tasks it has: base + so much a task, at most `most`. Base 0:
/// what its ask says.
struct TdwMasterMemory {
  int32_t base_mb = 0;
  int32_t per_map_mb = 1;
  int32_t per_reduce_mb = 1;
  int32_t most_mb = 8192;
};

/// The `tdw` profile's settings. What the article leaves open is decided in docs/scheduler.md, table "tdw".
struct TdwConfig {
  /// Queues, nodes, sizes as in the default profile. A pool is a leaf queue, its group the queue directly below root
  /// above it; minResources and maxResources count tasks (vcores) of one type, policies are fair and fifo.
  BooksConfig base;
  /// Grants of one type in one round.
  int32_t round_limit = 5000;
  /// Time between two rounds; 0: one round at the end of every batch.
  base::Duration round_interval = base::Duration::Millis(100);
  /// An ask of this priority asks for reduce tasks (MapReduce's value); the master is a jobtracker, the rest are
  /// maps.
  int32_t reduce_priority = 10;
  bool preemption = true;
  /// Only grants that are at most so old are taken back.
  base::Duration victim_age = base::Duration::Seconds(300);
  /// As written in the article: the last victim session gives its whole surplus, even if less is needed.
  bool over_kill = false;
  /// Sizes by task type; network and disk count where the cluster has resource types of these names.
  TdwTaskSize jobtracker = {};
  TdwTaskSize map = {};
  TdwTaskSize reduce = {};
  TdwMasterMemory master_memory = {};
  std::string network_type = "network";
  std::string disk_type = "disk";
  /// Off, as in the article: network is counted, and no node is passed over for lack of it.
  bool test_network = true;
};

/// TDW's ClusterManager: groups, pools, sessions; FAIR or FIFO on each level; one round per task type; preferred nodes,
/// then nodes below the mean load, then any. Cost of a round: per grant O(log) on each level, O(wants of its session)
/// and a node search as in FreeIndex; the same once for each size that finds no node. With preemption, O(pools) when
/// the cluster is full, and O(sessions) of the pools that give something back.
std::unique_ptr<Scheduler> MakeTdw(const TdwConfig& config);

}  // namespace fairlead::scheduler
