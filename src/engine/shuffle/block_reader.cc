#include "engine/shuffle/block_reader.h"

#include "engine/records/errors.h"

namespace fairlead::engine {

BlockReader::BlockReader(TaskContext& task, int32_t shuffle, int32_t partition)
    : task_(task), shuffle_(shuffle), input_(task.OpenShuffle(shuffle, partition)) {}

bool BlockReader::NextBlock() {
  task_.CheckKilled();
  if (!input_->Next(block_)) return false;
  frames_ = FrameReader(block_.bytes);
  return true;
}

bool BlockReader::NextFrame(std::string_view& records) {
  if (!scratch_ || scratch_.use_count() > 1) scratch_ = std::make_shared<Buffer>();
  while (!frames_.Next(records, *scratch_)) {
    if (!frames_.error().empty()) throw FetchFailed(shuffle_, block_.map_index, block_.place, frames_.error());
    if (!NextBlock()) return false;
  }
  current_ = records;
  return true;
}

std::shared_ptr<const void> BlockReader::Keep() {
  if (current_.data() == scratch_->data()) {
    kept_bytes_ = scratch_->capacity();
    return scratch_;
  }
  kept_bytes_ = current_.size();
  return block_.owner;
}

void BlockReader::Malformed() {
  throw FetchFailed(shuffle_, block_.map_index, block_.place, "records of a block do not parse");
}

}  // namespace fairlead::engine
