#include "nm/room.h"

namespace fairlead::nm {

bool Room::Take(const model::ContainerId& id, const model::Resources& wanted) {
  if (Holds(id)) return true;
  if (line_.empty() && Fits(wanted)) return holders_.emplace(id, wanted).second;
  line_.emplace_back(id, wanted);
  return false;
}

std::optional<model::ContainerId> Room::TakeNext() {
  if (line_.empty() || !Fits(line_.front().second)) return std::nullopt;
  const model::ContainerId id = line_.front().first;
  holders_.insert(line_.front());
  line_.erase(line_.begin());
  return id;
}

void Room::Resize(const model::ContainerId& id, const model::Resources& size) {
  if (const auto at = holders_.find(id); at != holders_.end()) at->second = size;
  for (auto& [waiting, wanted] : line_) {
    if (waiting == id) wanted = size;
  }
}

void Room::Leave(const model::ContainerId& id) {
  holders_.erase(id);
  std::erase_if(line_, [&](const auto& waiting) { return waiting.first == id; });
}

bool Room::Fits(const model::Resources& wanted) const {
  if (holders_.empty()) return true;  // the node may have been made smaller since the grant: waiting would help nobody
  model::Resources used = wanted;
  for (const auto& [id, held] : holders_) used += held;
  return all_types_ ? used.FitsIn(capacity_) : used.memory_mib() <= capacity_.memory_mib();
}

void Room::HashInto(base::StateHasher& hasher) const {
  base::HashInto(hasher, capacity_);
  base::HashInto(hasher, holders_);
  for (const auto& [id, wanted] : line_) base::HashInto(hasher, id);
}

}  // namespace fairlead::nm
