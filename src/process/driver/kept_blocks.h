#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "wire/engine/messages.h"

namespace fairlead::process::driver {

/// How an executor comes to a partition of a cached dataset that another one keeps: it asks the driver, the driver has
/// a holder write the partition as a block file (Spark's rdd_D_P) once, and names the shuffle service that serves that
/// file. A holder that cannot or has gone is answered as unknown: the asker then computes the partition. On the
/// driver's loop.
class KeptBlocks {
 public:
  using SendFunction = std::function<void(uint32_t executor, const wire::engine::Message& message)>;
  explicit KeptBlocks(SendFunction send) : send_(std::move(send)) {}

  /// `holders`: who keeps it and can be asked, the best first.
  void Ask(uint32_t asker, const wire::engine::AskKept& ask, const std::vector<wire::engine::Place>& holders);
  void OnPublished(uint32_t holder, const wire::engine::KeptPublished& published);
  /// The holder keeps it no longer, or keeps it again: what was published is not to be read any more.
  void OnChanged(uint32_t holder, int32_t dataset, int32_t partition);
  void OnLost(uint32_t executor);
  void Forget(int32_t dataset);

 private:
  struct Block {
    wire::engine::Place place;
    bool published = false;
    int64_t bytes = 0;
    uint64_t checksum = 0;
    std::vector<std::pair<uint32_t, uint64_t>> waiting;  // askers and their tokens
  };
  using Key = std::tuple<int32_t, int32_t, uint32_t>;  // dataset, partition, holder
  void Answer(const Block& block, uint32_t asker, uint64_t token);
  void AnswerUnknown(const Block& block);

  SendFunction send_;
  std::map<Key, Block> blocks_;
};

}  // namespace fairlead::process::driver
