#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "wire/engine/messages.h"

namespace fairlead::process::executor {

/// The partitions of cached datasets that one executor keeps, in memory up to a limit and as files. Those not used for
/// longest make room, but not for one of their own dataset: a scan over a dataset that does not fit would else drop
/// each partition just before its use. The driver hears of every change in the order in which they happen. No I/O:
/// files that nobody needs any more are handed to the owner.
class KeptPartitions {
 public:
  using Key = std::pair<int32_t, int32_t>;  // dataset, partition
  struct Kept {
    std::shared_ptr<const void> bytes;  // the owner's; null: on disk alone
    int64_t size = 0;                   // of them, in memory
    std::string path;                   // of its file, as far as there is one
    uint64_t checksum = 0;              // XXH3 of that file's bytes
    uint64_t used = 0;                  // grows with each use
  };
  using Tell = std::function<void(const wire::engine::BlockKept& news)>;
  KeptPartitions(int64_t bytes_max, Tell tell) : bytes_max_(bytes_max), tell_(std::move(tell)) {}

  /// Null: it is not kept. Counts as a use.
  const Kept* Find(const Key& key);
  /// True: `size` bytes of a partition of `dataset` may be kept in memory, and are booked until Keep. Others may
  /// have made room; O(partitions) for each.
  bool Book(int32_t dataset, int64_t size, std::vector<std::string>& files_gone);
  /// Keeps a partition, whose bytes in memory were booked. One that two attempts made replaces the one before.
  void Keep(const Key& key, Kept kept, std::vector<std::string>& files_gone);
  /// A file of the partition was written from `bytes`; false: it is not those that are kept any more.
  bool HasFile(const Key& key, const std::shared_ptr<const void>& bytes, const std::string& path, uint64_t checksum);
  void Forget(int32_t dataset, std::vector<std::string>& files_gone);

  bool Keeps(const Key& key) const { return kept_.contains(key); }
  size_t size() const { return kept_.size(); }
  int64_t bytes() const { return bytes_; }
  /// Empty when the sum of bytes is that of the kept and booked partitions.
  std::string CheckInvariants() const;

 private:
  const int64_t bytes_max_;
  Tell tell_;
  std::map<Key, Kept> kept_;
  int64_t bytes_ = 0;   // in memory, with what is booked
  int64_t booked_ = 0;  // of them
  uint64_t next_use_ = 1;
};

}  // namespace fairlead::process::executor
