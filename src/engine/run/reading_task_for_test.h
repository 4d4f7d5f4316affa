#pragma once

#include <memory>
#include <string>

#include "engine/plan/operators.h"

namespace fairlead::engine {

/// A task that has no files and may not commit: what reads, or begins to write, needs no more.
class ReadingTask final : public TaskContext {
 public:
  std::unique_ptr<ShuffleInput> OpenShuffle(int32_t, int32_t) override { return nullptr; }
  std::string LocalPath(const std::string&) override { return {}; }
  std::string ScratchPath() override { return {}; }
  bool MayCommit() override { return false; }
  std::shared_ptr<const std::string> FetchBroadcast(int64_t) override { return nullptr; }
};

}  // namespace fairlead::engine
