#include "process/executor/kept_partitions.h"

namespace fairlead::process::executor {

const KeptPartitions::Kept* KeptPartitions::Find(const Key& key) {
  const auto found = kept_.find(key);
  if (found == kept_.end()) return nullptr;
  found->second.used = next_use_++;
  return &found->second;
}

bool KeptPartitions::Book(int32_t dataset, int64_t size, std::vector<std::string>& files_gone) {
  while (bytes_ + size > bytes_max_) {
    auto oldest = kept_.end();
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->first.first == dataset || !it->second.bytes) continue;
      if (oldest == kept_.end() || it->second.used < oldest->second.used) oldest = it;
    }
    if (oldest == kept_.end()) return false;
    bytes_ -= oldest->second.size;
    if (!oldest->second.path.empty()) files_gone.push_back(oldest->second.path);
    tell_({oldest->first.first, oldest->first.second, false});
    kept_.erase(oldest);
  }
  bytes_ += size;
  booked_ += size;
  return true;
}

void KeptPartitions::Keep(const Key& key, Kept kept, std::vector<std::string>& files_gone) {
  if (kept.bytes) booked_ -= kept.size;
  kept.used = next_use_++;
  Kept& slot = kept_[key];
  if (slot.bytes) bytes_ -= slot.size;
  if (!slot.path.empty() && slot.path != kept.path) files_gone.push_back(slot.path);
  slot = std::move(kept);
  tell_({key.first, key.second, true});
}

bool KeptPartitions::HasFile(const Key& key, const std::shared_ptr<const void>& bytes, const std::string& path,
                             uint64_t checksum) {
  const auto found = kept_.find(key);
  if (found == kept_.end() || found->second.bytes != bytes) return false;
  found->second.path = path;
  found->second.checksum = checksum;
  return true;
}

void KeptPartitions::Forget(int32_t dataset, std::vector<std::string>& files_gone) {
  std::erase_if(kept_, [&](const auto& entry) {
    if (entry.first.first != dataset) return false;
    if (entry.second.bytes) bytes_ -= entry.second.size;
    if (!entry.second.path.empty()) files_gone.push_back(entry.second.path);
    return true;
  });
}

std::string KeptPartitions::CheckInvariants() const {
  int64_t sum = booked_;
  for (const auto& [key, kept] : kept_) {
    if (kept.bytes) sum += kept.size;
    if (!kept.bytes && kept.path.empty()) return "a partition is kept nowhere";
  }
  return sum == bytes_ && bytes_ <= bytes_max_ ? "" : "bytes of kept partitions do not add up";
}

}  // namespace fairlead::process::executor
