#include "sim/cluster/count_job.h"

#include "base/codec.h"
#include "base/rng.h"
#include "base/stored.h"

namespace fairlead::sim {

namespace {
constexpr int kRecords = 40;
constexpr int64_t kKeys = 25;
}  // namespace

Counts InputOf(uint64_t seed, int32_t partition) {
  base::Rng rng(seed * 1000 + static_cast<uint64_t>(partition));
  Counts counts;
  for (int i = 0; i < kRecords; ++i) ++counts[rng.Between(0, kKeys - 1)];
  return counts;
}

Counts Histogram(const Counts& counts) {
  Counts histogram;
  for (const auto& [key, count] : counts) ++histogram[count];
  return histogram;
}

void Merge(Counts& into, const Counts& more) {
  for (const auto& [key, count] : more) into[key] += count;
}

std::vector<Counts> Split(const Counts& counts, int32_t reduces) {
  std::vector<Counts> parts(static_cast<size_t>(reduces));
  for (const auto& [key, count] : counts) parts[static_cast<size_t>(key % reduces)][key] = count;
  return parts;
}

std::string Encoded(const Counts& counts) {
  if (counts.empty()) return "";  // as an empty block: not fetched at all
  std::string bytes;
  base::Encode(bytes, counts);
  return bytes;
}

bool DecodeInto(std::string_view bytes, Counts& counts) {
  if (bytes.empty()) return true;
  Counts more;
  base::Budget budget(base::kStoredKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::Decode(in, more);
  if (!in.done()) return false;
  Merge(counts, more);
  return true;
}

bool DecodeAllInto(std::string_view bytes, Counts& counts) {
  Counts more;
  base::Budget budget(base::kStoredKind, bytes.size());
  base::ByteReader in(bytes, budget);
  while (!in.failed() && !in.done()) {
    Counts one;
    base::Decode(in, one);
    Merge(more, one);
  }
  if (in.failed()) return false;
  Merge(counts, more);
  return true;
}

Counts Doubled(const Counts& counts) {
  Counts doubled = counts;
  for (auto& [key, count] : doubled) count *= 2;
  return doubled;
}

Counts Expected(const JobSpec& job, CountDataset target) {
  Counts all;
  for (int32_t partition = 0; partition < job.tasks; ++partition) Merge(all, InputOf(job.input_seed, partition));
  if (target == kKeysByCount) return Histogram(all);
  return target == kDoubled ? Doubled(all) : all;
}

}  // namespace fairlead::sim
