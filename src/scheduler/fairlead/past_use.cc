#include "scheduler/fairlead/past_use.h"

#include <algorithm>
#include <array>

namespace fairlead::scheduler::native {

using base::Duration;
using base::Instant;

namespace {

using Wide = unsigned __int128;

constexpr uint64_t kOne = uint64_t{1} << 62;

constexpr uint64_t SquareRoot(Wide value) {
  Wide root = 0;
  for (Wide bit = Wide{1} << 62; bit != 0; bit >>= 1) {
    if ((root | bit) * (root | bit) <= value) root |= bit;
  }
  return static_cast<uint64_t>(root);
}

/// 2^(-2^-i) for i from 1 on, as parts of kOne.
constexpr std::array<uint64_t, 32> MakeRoots() {
  std::array<uint64_t, 32> roots{};
  uint64_t root = kOne / 2;
  for (uint64_t& one : roots) one = root = SquareRoot(Wide{root} * kOne);
  return roots;
}
constexpr std::array<uint64_t, 32> kRoots = MakeRoots();

/// 2^(-time / half_life) as parts of kOne.
uint64_t Factor(Duration time, Duration half_life) {
  const auto halvings = (Wide{static_cast<uint64_t>(time.ns)} << 32) / static_cast<uint64_t>(half_life.ns);
  if (halvings >> 32 >= 62) return 0;
  uint64_t factor = kOne >> static_cast<unsigned>(halvings >> 32);
  for (unsigned i = 0; i < kRoots.size(); ++i) {
    if (halvings >> (31 - i) & 1) factor = static_cast<uint64_t>(Wide{factor} * kRoots[i] / kOne);
  }
  return factor;
}

int32_t DepthOf(const Queues& queues, QueueId queue) {
  int32_t level = -1;
  for (; queue.valid(); queue = queues[queue].parent) ++level;
  return level;
}

}  // namespace

int64_t Decayed(int64_t mean, int64_t now, Duration time, Duration half_life) {
  const __int128 gap = __int128{mean} - now;
  return now + static_cast<int64_t>(gap * static_cast<__int128>(Factor(time, half_life)) / static_cast<__int128>(kOne));
}

PastUse::PastUse(const FairnessConfig& config)
    : half_lives_(config.half_lives),
      on_(std::any_of(half_lives_.begin(), half_lives_.end(), [](Duration one) { return one.ns > 0; })),
      due_(on_ ? Instant{} : Instant::Max()) {}

void PastUse::TreeChanged(const Queues& queues, const TreeChange& change, Instant now) {
  if (!on_) return;
  if (rows_.size() <= change.queue.value) rows_.resize(change.queue.value + 1);
  Row& row = rows_[change.queue.value];
  Keep(row, now);
  row = {};
  if (!change.added || !change.parent.valid()) return;
  const auto level = static_cast<size_t>(DepthOf(queues, change.parent)) + 1;
  row.half_life = half_lives_[std::min(level, half_lives_.size()) - 1];
  row.name = queues[change.queue].name;
  row.at = now;
  const auto gone = gone_.find(row.name);
  if (gone == gone_.end() || row.half_life.ns == 0) return;
  row.mean = Decayed(gone->second.mean, 0, now - gone->second.at, row.half_life);
  row.projected = static_cast<uint64_t>(Decayed(row.mean, 0, {row.half_life.ns / 100}, row.half_life));
  gone_.erase(gone);
}

/// The queue went.
void PastUse::Keep(const Row& row, Instant now) {
  if (row.name.empty() || row.half_life.ns == 0) return;
  const int64_t mean = Decayed(row.mean, row.now, now - row.at, row.half_life);
  if (mean < kNothing) return;
  Row& kept = gone_[row.name] = row;
  kept.mean = mean;
  kept.at = now;
  if (gone_.size() <= kMostGone) return;
  gone_.erase(std::min_element(gone_.begin(), gone_.end(),
                               [](const auto& a, const auto& b) { return a.second.mean < b.second.mean; }));
}

void PastUse::Refreshed(Instant now) {
  due_ = now + kRefresh;
  std::erase_if(gone_, [now](const auto& one) {
    const Row& row = one.second;
    return Decayed(row.mean, 0, now - row.at, row.half_life) < kNothing;
  });
}

void PastUse::Note(const Queues& queues, QueueId id, Instant now) {
  Row& row = rows_[id.value];
  if (row.half_life.ns == 0) return;
  row.mean = Decayed(row.mean, row.now, now - row.at, row.half_life);
  row.at = now;
  const Share share = queues.ShareOf(queues[queues[id].parent].policy, queues[id].used);
  constexpr auto kMost = Wide{static_cast<uint64_t>(kUnit)} * 8;  // an overcommitted cluster
  row.now = share.of == 0 ? 0 : static_cast<int64_t>(std::min(Wide{share.used} * kUnit / share.of, kMost));
  row.projected = static_cast<uint64_t>(Decayed(row.mean, row.now, {row.half_life.ns / 100}, row.half_life));
}

void PastUse::Mix(base::StateHasher& hash) const {
  for (const Row& row : rows_) {
    hash.Mix(static_cast<uint64_t>(row.mean));
    hash.Mix(static_cast<uint64_t>(row.now));
    hash.Mix(static_cast<uint64_t>(row.at.ns));
  }
  for (const auto& [name, row] : gone_) {
    base::HashInto(hash, name);
    hash.Mix(static_cast<uint64_t>(row.mean));
    hash.Mix(static_cast<uint64_t>(row.at.ns));
  }
}

}  // namespace fairlead::scheduler::native
