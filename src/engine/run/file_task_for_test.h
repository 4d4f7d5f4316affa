#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/operators.h"
#include "engine/run/local_blocks.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::engine {

/// A task whose files lie in a directory of the test; reads what earlier ones of the directory wrote.
class FileTask final : public TaskContext {
 public:
  FileTask(std::vector<std::string> directories, int64_t memory, int32_t maps = 0)
      : directories_(std::move(directories)), maps_(maps) {
    memory_bytes = memory;
  }
  std::unique_ptr<ShuffleInput> OpenShuffle(int32_t shuffle, int32_t reduce) override {
    std::vector<BlockRequest> blocks;
    for (int32_t map = 0; map < maps_; ++map) blocks.push_back({shuffle, map, map, reduce, 0, 0});
    return ReadLocalBlocks(std::move(blocks), directories_, *this);
  }
  std::string LocalPath(const std::string& name) override {
    const std::string path = wire::spark_shuffle::BlockPath(directories_, name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return path;
  }
  std::string ScratchPath() override {
    scratch_.push_back(directories_[0] + "/scratch-" + std::to_string(task_id) + "-" + std::to_string(scratch_.size()));
    return scratch_.back();
  }
  bool MayCommit() override { return false; }
  std::shared_ptr<const std::string> FetchBroadcast(int64_t) override { return nullptr; }

  const std::vector<std::string>& scratch() const { return scratch_; }

 private:
  const std::vector<std::string> directories_;
  const int32_t maps_;  // tasks that wrote, numbered from 0
  std::vector<std::string> scratch_;
};

}  // namespace fairlead::engine
