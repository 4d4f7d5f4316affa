#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/operators.h"

namespace fairlead::engine {

/// A long block in an open file, given in pieces of whole frames, so that one that is larger than the task's memory is
/// read as well. Blocking; for task threads.
class FilePieces {
 public:
  /// Nothing to give.
  FilePieces() = default;
  /// [begin, end) of `file`, which must stay open; `name` is for errors. Throws TaskError when the file is shorter.
  FilePieces(int file, std::string name, uint64_t begin, uint64_t end, const TaskContext& task);

  bool done() const { return at_ == end_; }
  /// Fills in the bytes of `block` and what owns them; must not be done(). Throws TaskError.
  void Next(ShuffleBlock& block);

 private:
  void ReadRange(uint64_t end, ShuffleBlock& block);

  int file_ = -1;
  std::string name_;
  uint64_t at_ = 0;
  uint64_t end_ = 0;
  uint64_t piece_ = 0;
};

}  // namespace fairlead::engine
