#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

// What a stage computes, as data: executors never run the user's main, they rebuild the operators from these keys and
// bytes (docs/engine.md, "How a job travels").

namespace fairlead::engine {

/// A place of a narrow input: partition `partition` of the plan's node `node`.
struct InputRange {
  int32_t node = -1;      // index into StagePlan::nodes
  int32_t out_start = 0;  // partitions [out_start, out_start + length) of the reader ...
  int32_t in_start = 0;   // ... are partitions [in_start, ...) of the input
  int32_t length = 0;
  FL_FIELDS(node, out_start, in_start, length)
};

/// One operator with its captured state.
struct PlanNode {
  int32_t dataset = -1;
  std::string op;       // key of the registry
  std::string payload;  // captured state
  std::vector<InputRange> inputs;
  std::vector<int32_t> shuffles;  // read by it
  int32_t partitions = 0;
  bool cached = false;
  bool keeps_records = false;  // in memory while it runs
  FL_FIELDS(dataset, op, payload, inputs, shuffles, partitions, cached, keeps_records)
};

/// A pipeline of narrow operators, inputs before their readers, and the operator that takes the last node's records: a
/// shuffle writer or an action.
struct StagePlan {
  std::vector<PlanNode> nodes;
  std::string sink_op;
  std::string sink_payload;
  int32_t shuffle = -1;  // written; -1: an action
  int32_t reduce_partitions = 0;
  int64_t sample_records = 0;  // above 0: sources give about as many records of each partition, spread over it
  std::string description;
  FL_FIELDS(nodes, sink_op, sink_payload, shuffle, reduce_partitions, sample_records, description)
};

}  // namespace fairlead::engine
