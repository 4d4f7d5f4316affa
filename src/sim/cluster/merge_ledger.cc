#include "sim/cluster/merge_ledger.h"

#include <algorithm>

#include "base/bytes.h"
#include "shuffle/merge_book.h"
#include "wire/spark_shuffle/layout.h"

namespace fairlead::sim {

namespace layout = wire::spark_shuffle;

namespace {

/// An answer may be so long on its way while its service starts again.
constexpr base::Duration kOnTheWay = base::Duration::Seconds(3);

std::string Named(int32_t map, int32_t reduce) {
  return "block " + std::to_string(map) + " of partition " + std::to_string(reduce);
}

}  // namespace

void MergeLedger::Wrote(const std::string& scope, int32_t shuffle, int32_t map, int32_t reduce,
                        const std::string& block) {
  Shuffle& known = At(scope, shuffle);
  const auto [place, fresh] = known.blocks.try_emplace(Block{reduce, map}, block);
  if (!fresh && place->second != block) {
    on_violation_(scope + ": " + Named(map, reduce) + " was written a second time, and differs");
  }
}

std::vector<std::string> MergeLedger::directories() const {
  std::vector<std::string> out;
  for (const auto& [name, scope] : scopes_) out.push_back(scope.directory);
  return out;
}

bool MergeLedger::HadTrouble(const std::string& scope, const std::string& host) const {
  const std::optional<base::Instant>& trouble = services_.at(host).trouble;
  return trouble && *trouble >= scopes_.at(scope).began;
}

bool MergeLedger::HasExcuse(const std::string& scope, const std::string& host, base::Instant acknowledged) const {
  return services_.at(host).started + kOnTheWay > acknowledged || HadTrouble(scope, host);
}

void MergeLedger::Acknowledged(const std::string& scope, const std::string& host, int32_t shuffle, int32_t map,
                               int32_t reduce, base::Instant now) {
  Shuffle& known = At(scope, shuffle);
  const Block block{reduce, map};
  known.acknowledged[host].emplace(block, now);
  const auto claimed = known.claimed.find(host);
  if (claimed == known.claimed.end() || claimed->second.contains(block)) return;
  if (HasExcuse(scope, host, now)) return;
  on_violation_(host + " acknowledged " + Named(map, reduce) + " of " + scope + " and had not claimed it");
}

void MergeLedger::Claimed(const std::string& scope, const std::string& application, const std::string& host,
                          int32_t shuffle, const std::vector<layout::MergeStatus>& statuses) {
  Shuffle& known = At(scope, shuffle);
  std::set<Block>& claimed = known.claimed[host];
  for (const layout::MergeStatus& status : statuses) {
    int64_t bytes = 0;
    for (const int32_t map : status.maps.Indices()) {
      const auto block = known.blocks.find({status.reduce_id, map});
      if (block == known.blocks.end()) {
        on_violation_(host + " claims " + Named(map, status.reduce_id) + " of " + scope + ", which nobody wrote");
        continue;
      }
      bytes += static_cast<int64_t>(block->second.size());
      claimed.insert(block->first);
    }
    bytes_claimed_ += bytes;
    if (bytes != status.bytes) {
      on_violation_(host + " claims " + std::to_string(status.bytes) + " bytes of partition " +
                    std::to_string(status.reduce_id) + ", whose blocks have " + std::to_string(bytes));
    }
    const std::string name = fairlead::shuffle::MergedFileName(application, shuffle, 0, status.reduce_id);
    if (!HadTrouble(scope, host)) CheckFiles(scope, name, host, known, status);
  }
  for (const auto& [block, when] : known.acknowledged[host]) {
    if (claimed.contains(block) || HasExcuse(scope, host, when)) continue;
    on_violation_(host + " acknowledged " + Named(block.second, block.first) + " of " + scope +
                  " and does not claim it");
  }
}

void MergeLedger::CheckFiles(const std::string& scope, const std::string& name, const std::string& host,
                             const Shuffle& shuffle, const layout::MergeStatus& status) {
  const auto read = [&](const char* suffix) {
    const std::string path = layout::BlockPath({scopes_.at(scope).directory}, name + suffix);
    const auto bytes = services_.at(host).disk->ReadFile(path);
    if (!bytes.ok()) on_violation_(host + " claims what it has not: " + bytes.error().message);
    return bytes.ok() ? *bytes : std::string();
  };
  const std::string data = read(".data");
  const std::string index = read(".index");
  const base::Status valid = layout::ValidateIndex(index, static_cast<int64_t>(data.size()));
  if (!valid.ok()) return on_violation_(host + ", " + name + ": " + valid.error().message);
  const auto chunks = layout::ReadChunkMaps(read(".meta"), index.size() / 8 - 1);
  if (!chunks.ok()) return on_violation_(host + ", " + name + ": " + chunks.error().message);
  std::vector<int32_t> all;
  for (size_t i = 0; i < chunks->size(); ++i) {
    const std::vector<int32_t> maps = (*chunks)[i].Indices();
    all.insert(all.end(), maps.begin(), maps.end());
    const auto begin = base::BigEndian<uint64_t>(std::string_view(index).substr(8 * i));
    const auto end = base::BigEndian<uint64_t>(std::string_view(index).substr(8 * i + 8));
    const std::string wrong =
        Compare(shuffle, status.reduce_id, maps, std::string_view(data).substr(begin, end - begin));
    if (!wrong.empty()) on_violation_(host + ", chunk " + std::to_string(i) + " of " + name + ": " + wrong);
  }
  std::sort(all.begin(), all.end());
  if (all != status.maps.Indices()) on_violation_(host + ", " + name + ": its chunks have other maps than it claims");
}

void MergeLedger::ChunkRead(const std::string& scope, int32_t shuffle, int32_t reduce, const std::vector<int32_t>& maps,
                            std::string_view chunk) {
  const std::string wrong = Compare(At(scope, shuffle), reduce, maps, chunk);
  if (!wrong.empty()) on_violation_(scope + " read a merged chunk: " + wrong);
}

/// No block is the begin of another one.
std::string MergeLedger::Compare(const Shuffle& shuffle, int32_t reduce, std::vector<int32_t> maps,
                                 std::string_view bytes) {
  while (!maps.empty()) {
    const auto next = std::find_if(maps.begin(), maps.end(), [&](int32_t map) {
      const auto block = shuffle.blocks.find({reduce, map});
      return block != shuffle.blocks.end() && bytes.starts_with(block->second);
    });
    if (next == maps.end()) return "it has bytes of no block of its maps";
    bytes.remove_prefix(shuffle.blocks.at({reduce, *next}).size());
    maps.erase(next);
  }
  return bytes.empty() ? "" : "it has more bytes than its blocks";
}

}  // namespace fairlead::sim
