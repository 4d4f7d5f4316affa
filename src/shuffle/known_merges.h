#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::shuffle {

/// The merges of an application by shuffle, as a value that readers hold: copies share what is the same, so that a
/// change of one among n costs O(sqrt n), not n. Any thread may read a copy.
class KnownMerges {
 public:
  struct Latest {
    int32_t merge_id = 0;
    bool removed = false;  // RemoveShuffleMerge: nothing of it is read, though its files may still be there
    friend bool operator==(const Latest&, const Latest&) = default;
  };

  /// nullptr: not known. Cost: O(log n).
  const Latest* Find(int32_t shuffle_id) const;
  void Set(int32_t shuffle_id, Latest latest);
  void Erase(int32_t shuffle_id);
  size_t size() const { return size_; }

 private:
  static constexpr size_t kMost = 128;                    // in one chunk
  using Chunk = std::vector<std::pair<int32_t, Latest>>;  // by shuffle; none is empty
  using Chunks = std::vector<std::shared_ptr<const Chunk>>;
  /// The last one that begins at the shuffle or before, or the first.
  Chunks::iterator ChunkOf(int32_t shuffle_id);

  Chunks chunks_;
  size_t size_ = 0;
};

}  // namespace fairlead::shuffle
