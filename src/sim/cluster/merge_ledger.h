#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "env/disk.h"
#include "wire/spark_shuffle/map_bitmap.h"
#include "wire/spark_shuffle/merge_statuses.h"

namespace fairlead::sim {

/// What really became of blocks that were pushed: every byte that a service says it has merged was written by a map and
/// is in its files, none that it acknowledged is missing from what it says, and readers get those bytes and no others.
/// A shuffle is named by its application's attempt ("scope") and its number; a service by its host.
class MergeLedger {
 public:
  using OnViolation = std::function<void(const std::string& what)>;
  explicit MergeLedger(OnViolation on_violation) : on_violation_(std::move(on_violation)) {}

  // ---- hosts
  void AddService(const std::string& host, env::Disk& disk) { services_[host].disk = &disk; }
  /// What it has not stored is forgotten.
  void ServiceStarted(const std::string& host, base::Instant now) { services_[host].started = now; }
  /// The service's disk loses files, or does not take some, until then.
  void DiskTrouble(const std::string& host, base::Instant until) { services_[host].trouble = until; }
  /// An executor has made the directory into which services write what they merge.
  void MergesLieIn(const std::string& scope, const std::string& directory, base::Instant now) {
    scopes_.try_emplace(scope, Scope{directory, now});
  }
  std::vector<std::string> directories() const;

  // ---- blocks
  /// A map task has written its block; whoever writes it again writes the same.
  void Wrote(const std::string& scope, int32_t shuffle, int32_t map, int32_t reduce, const std::string& block);
  /// The service said that the block is merged.
  void Acknowledged(const std::string& scope, const std::string& host, int32_t shuffle, int32_t map, int32_t reduce,
                    base::Instant now);
  /// The service said at the end of the merge what it has.
  void Claimed(const std::string& scope, const std::string& application, const std::string& host, int32_t shuffle,
               const std::vector<wire::spark_shuffle::MergeStatus>& statuses);
  /// A reducer got a chunk that is to have the blocks of `maps`.
  void ChunkRead(const std::string& scope, int32_t shuffle, int32_t reduce, const std::vector<int32_t>& maps,
                 std::string_view chunk);

  int64_t bytes_claimed() const { return bytes_claimed_; }

 private:
  struct Service {
    env::Disk* disk = nullptr;
    base::Instant started;
    std::optional<base::Instant> trouble;
  };
  using Block = std::pair<int32_t, int32_t>;  // reduce, map
  struct Scope {
    std::string directory;
    base::Instant began;
  };
  struct Shuffle {
    std::map<Block, std::string> blocks;
    std::map<std::string, std::map<Block, base::Instant>> acknowledged;  // by host
    std::map<std::string, std::set<Block>> claimed;                      // by host
  };
  Shuffle& At(const std::string& scope, int32_t shuffle) { return shuffles_[{scope, shuffle}]; }
  /// Why a service may lack what it acknowledged at that time.
  bool HasExcuse(const std::string& scope, const std::string& host, base::Instant acknowledged) const;
  /// Its disk, since the application's attempt began.
  bool HadTrouble(const std::string& scope, const std::string& host) const;
  void CheckFiles(const std::string& scope, const std::string& name, const std::string& host, const Shuffle& shuffle,
                  const wire::spark_shuffle::MergeStatus& status);
  /// Empty: `bytes` are the blocks of `maps`, in some order.
  static std::string Compare(const Shuffle& shuffle, int32_t reduce, std::vector<int32_t> maps, std::string_view bytes);

  const OnViolation on_violation_;
  std::map<std::string, Service> services_;
  std::map<std::string, Scope> scopes_;
  std::map<std::pair<std::string, int32_t>, Shuffle> shuffles_;
  int64_t bytes_claimed_ = 0;
};

}  // namespace fairlead::sim
