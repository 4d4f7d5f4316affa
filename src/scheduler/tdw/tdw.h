#pragma once

#include <memory>

#include "scheduler/books/config.h"
#include "scheduler/scheduler.h"

namespace fairlead::scheduler {

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
};

/// TDW's ClusterManager: groups, pools, sessions; FAIR or FIFO on each level; one round per task type; preferred nodes,
/// then nodes below the mean load, then any. Cost of a round: per grant O(log) on each level, O(wants of its session)
/// and a node search as in FreeIndex; the same once for each size that finds no node. With preemption, O(pools) when
/// the cluster is full, and O(sessions) of the pools that give something back.
std::unique_ptr<Scheduler> MakeTdw(const TdwConfig& config);

}  // namespace fairlead::scheduler
