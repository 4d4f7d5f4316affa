#include "shuffle/known_merges.h"

#include <algorithm>

namespace fairlead::shuffle {
namespace {

/// Where the shuffle is in a chunk, or would be.
template <class Chunk>
auto PlaceIn(Chunk& chunk, int32_t shuffle_id) {
  return std::lower_bound(chunk.begin(), chunk.end(), shuffle_id,
                          [](const auto& entry, int32_t id) { return entry.first < id; });
}

}  // namespace

KnownMerges::Chunks::iterator KnownMerges::ChunkOf(int32_t shuffle_id) {
  const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), shuffle_id,
                                      [](int32_t id, const auto& chunk) { return id < chunk->front().first; });
  return after == chunks_.begin() ? after : after - 1;
}

const KnownMerges::Latest* KnownMerges::Find(int32_t shuffle_id) const {
  const auto after = std::upper_bound(chunks_.begin(), chunks_.end(), shuffle_id,
                                      [](int32_t id, const auto& chunk) { return id < chunk->front().first; });
  if (after == chunks_.begin()) return nullptr;
  const Chunk& chunk = **(after - 1);
  const auto place = PlaceIn(chunk, shuffle_id);
  return place == chunk.end() || place->first != shuffle_id ? nullptr : &place->second;
}

void KnownMerges::Set(int32_t shuffle_id, Latest latest) {
  const auto at = ChunkOf(shuffle_id);
  if (at == chunks_.end()) {
    chunks_.push_back(std::make_shared<const Chunk>(Chunk{{shuffle_id, latest}}));
    size_ = 1;
    return;
  }
  Chunk chunk = **at;
  const auto place = PlaceIn(chunk, shuffle_id);
  if (place != chunk.end() && place->first == shuffle_id) {
    place->second = latest;
  } else {
    chunk.insert(place, {shuffle_id, latest});
    ++size_;
  }
  if (chunk.size() <= kMost) {
    *at = std::make_shared<const Chunk>(std::move(chunk));
    return;
  }
  const auto middle = chunk.begin() + kMost / 2;
  *at = std::make_shared<const Chunk>(chunk.begin(), middle);
  chunks_.insert(at + 1, std::make_shared<const Chunk>(middle, chunk.end()));
}

void KnownMerges::Erase(int32_t shuffle_id) {
  if (Find(shuffle_id) == nullptr) return;
  const auto at = ChunkOf(shuffle_id);
  --size_;
  if ((*at)->size() == 1) {
    chunks_.erase(at);
    return;
  }
  Chunk chunk = **at;
  chunk.erase(PlaceIn(chunk, shuffle_id));
  *at = std::make_shared<const Chunk>(std::move(chunk));
}

}  // namespace fairlead::shuffle
