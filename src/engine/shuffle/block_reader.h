#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engine/plan/operators.h"
#include "engine/records/buffer.h"
#include "engine/records/frame.h"
#include "engine/records/record.h"

namespace fairlead::engine {

/// Walks over all frames of all blocks of one reduce partition. A damaged block is a FetchFailed of its map output.
class BlockReader {
 public:
  BlockReader(TaskContext& task, int32_t shuffle, int32_t partition);

  /// The records of the next frame; valid until the next call unless Keep() was called. False at the end.
  bool NextFrame(std::string_view& records);
  /// Gives away what holds the bytes of the frame returned last.
  std::shared_ptr<const void> Keep();
  /// How many bytes Keep() holds.
  size_t kept_bytes() const { return kept_bytes_; }

  /// Records of the current frame that do not parse.
  [[noreturn]] void Malformed();

 private:
  bool NextBlock();
  TaskContext& task_;
  const int32_t shuffle_;
  std::unique_ptr<ShuffleInput> input_;
  ShuffleBlock block_;
  FrameReader frames_{std::string_view()};
  std::shared_ptr<Buffer> scratch_;
  std::string_view current_;
  size_t kept_bytes_ = 0;
};

/// Calls use(key, value) for each keyed record of `frame`; false when it does not parse.
template <class Use>
bool ForEachRecord(std::string_view frame, RecordShape shape, Use&& use) {
  Cursor in(frame);
  std::string_view key, value;
  while (!in.done()) {
    if (!TakePart(in, shape.key_fixed, key) || !TakePart(in, shape.value_fixed, value)) return false;
    use(key, value);
  }
  return !in.failed;
}

}  // namespace fairlead::engine
