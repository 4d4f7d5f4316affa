#include "shuffle/merged_partition.h"

#include <algorithm>

namespace fairlead::shuffle {

/// Another stream brings the same block, or it is merged already.
bool MergedPartition::Duplicate(const PushedBlock& block) const {
  return (current_ == block.map_index && !block.writing) || maps_.Contains(block.map_index);
}

void MergedPartition::Append(PushedBlock& block, std::string_view bytes) {
  current_ = block.map_index;
  block.writing = true;
  // Not twice as much at a step: what is kept counts.
  if (const size_t size = tail_.size() + bytes.size(); size > tail_.capacity()) tail_.reserve(size + size / 8);
  tail_.append(bytes);
  block.written += static_cast<int64_t>(bytes.size());
}

void MergedPartition::OnBytes(PushedBlock& block, std::string_view bytes, bool may_defer) {
  if (block.dropped) return;
  if (Writable(block) && !Duplicate(block)) {
    Append(block, block.deferred);
    block.deferred = {};
    return Append(block, bytes);
  }
  if (!Writable(block) && may_defer) {
    block.deferred.append(bytes);
    return;
  }
  block.dropped = true;
  block.deferred = {};
}

PushOutcome MergedPartition::OnEnd(PushedBlock& block) {
  const bool duplicate = Writable(block) && Duplicate(block);
  if (duplicate || block.dropped || !Writable(block)) {
    block.deferred = {};
    return duplicate ? PushOutcome::kDuplicate : PushOutcome::kCollision;
  }
  if (!block.deferred.empty()) Append(block, std::exchange(block.deferred, {}));
  end_ += block.written;
  if (end_ - chunk_begin_ >= chunk_bytes_min_) {
    EndChunk(block.map_index);
  } else {
    chunk_maps_.Add(block.map_index);
  }
  maps_.Add(block.map_index);
  last_map_ = block.map_index;
  current_ = -1;
  block.writing = false;
  return PushOutcome::kMerged;
}

void MergedPartition::OnFailure(PushedBlock& block) {
  block.deferred = {};
  if (!block.writing) return;
  block.writing = false;
  current_ = -1;
  // What the file has beyond the end is written over, or cut off.
  tail_.resize(static_cast<size_t>(std::max(int64_t{0}, end_ - in_file_)));
  if (tail_.capacity() > 2 * tail_.size()) tail_.shrink_to_fit();  // what is kept counts, and no write frees it
  in_file_ = std::min(in_file_, end_);
}

void MergedPartition::EndChunk(int32_t last_map) {
  chunk_maps_.Add(last_map);
  files_.offsets.push_back(end_);
  files_.meta += chunk_maps_.Serialize();
  chunk_begin_ = end_;
  chunk_maps_.Clear();
}

MergedFiles MergedPartition::Finish() {
  if (current_ >= 0) {
    PushedBlock cut;
    cut.writing = true;
    OnFailure(cut);
  }
  if (end_ != chunk_begin_) EndChunk(last_map_);
  return std::move(files_);
}

MergedPartition::Unwritten MergedPartition::Take() {
  Unwritten out{in_file_, std::exchange(tail_, {})};
  in_file_ += static_cast<int64_t>(out.bytes.size());
  taken_ = std::max(taken_, in_file_);
  return out;
}

void MergedPartition::GiveBack(Unwritten unwritten) {
  const int64_t kept =
      std::clamp(in_file_ - unwritten.offset, int64_t{0}, static_cast<int64_t>(unwritten.bytes.size()));
  unwritten.bytes.resize(static_cast<size_t>(kept));
  in_file_ = std::min(in_file_, unwritten.offset);
  tail_.insert(0, unwritten.bytes);
}

size_t MergedPartition::memory_bytes() const {
  return sizeof *this + tail_.capacity() + files_.meta.capacity() + files_.offsets.capacity() * 8 +
         maps_.memory_bytes() + chunk_maps_.memory_bytes();
}

}  // namespace fairlead::shuffle
