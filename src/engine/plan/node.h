#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace fairlead::engine {

class Session;

/// A host where the data of a partition lies.
struct DataHost {
  std::string host;
  bool in_memory = false;  // HDFS caches it there
};

/// Where a source's data lies.
struct DataPlaces {
  std::vector<std::vector<DataHost>> of_partition;  // the best first; empty: nobody knows
  std::map<std::string, std::string> racks;         // of the hosts, as far as known
};

/// One dataset of the driver's lineage, without its type: what computes it and what it reads.
struct DatasetNode {
  struct Narrow {
    std::shared_ptr<DatasetNode> parent;
    int32_t out_start = 0;
    int32_t in_start = 0;
    int32_t length = 0;
  };
  struct Shuffle {
    std::shared_ptr<DatasetNode> parent;
    int32_t id = -1;
    std::string writer_op;
    std::string writer_payload;
  };
  DatasetNode() = default;
  DatasetNode(const DatasetNode&) = delete;
  DatasetNode& operator=(const DatasetNode&) = delete;
  ~DatasetNode();

  Session* session = nullptr;
  int32_t id = -1;
  std::string name;  // for people
  std::string op;
  std::string payload;
  int32_t partitions = 0;
  std::vector<Narrow> narrow;
  std::vector<Shuffle> shuffles;
  DataPlaces places;
  bool cached = false;
  bool random = false;                             // computing it again may give other records
  bool order_sensitive = false;                    // its records depend on the order of its input
  bool keeps_records = false;                      // holds records of its inputs in memory while it runs
  std::vector<std::shared_ptr<const void>> holds;  // broadcasts that its functions read
  /// Above 0: pairs, and each lies in the partition that the hash of its key names among this many (PartitionOf).
  int32_t key_partitions = 0;
};

/// What an action runs on each partition.
struct ActionPlan {
  std::string sink_op;
  std::string sink_payload;
  int64_t sample_records = 0;
  std::string description;
};

}  // namespace fairlead::engine
