#include "scheduler/yarn_fair/asks.h"

#include <algorithm>

#include "base/check.h"

namespace fairlead::scheduler::yarn_fair {
namespace {

/// Priority.hashCode.
int32_t HashOfPriority(int32_t priority) { return java::Wrap(517861u * 9511u + static_cast<uint32_t>(priority)); }

/// Lines of one name: the last one counts, at the place of the first (a HashMap's put).
void KeepLastOfEachName(std::vector<Asks::Line>& lines) {
  if (lines.size() < 2) return;
  std::unordered_map<NameId, size_t> place;
  size_t kept = 0;
  for (Asks::Line& line : lines) {
    const auto [it, added] = place.try_emplace(line.name, kept);
    if (added) ++kept;
    lines[it->second] = line;
  }
  lines.resize(kept);
}

}  // namespace

NameId Names::Acquire(std::string_view name) {
  const auto [it, added] = ids_.try_emplace(std::string(name), 0);
  if (!added) {
    ++entries_[it->second].uses;
    return it->second;
  }
  if (free_.empty()) {
    it->second = static_cast<NameId>(entries_.size());
    entries_.emplace_back();
  } else {
    it->second = free_.back();
    free_.pop_back();
  }
  entries_[it->second] = {std::string(name), java::HashOfString(name), 1};
  return it->second;
}

void Names::Release(NameId id) {
  FL_CHECK(entries_[id].uses > 0, "a name released once too often");
  if (--entries_[id].uses > 0) return;
  ids_.erase(entries_[id].text);
  entries_[id].text.clear();
  free_.push_back(id);
}

NameId Names::Find(const std::string& name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? kUnknown : it->second;
}

int32_t RequestKey::JavaHash() const {
  uint32_t hash = static_cast<uint32_t>(HashOfPriority(priority));
  hash = 31 * hash + static_cast<uint32_t>(java::HashOfLong(id));
  return java::Wrap(31 * hash);
}

int32_t Placement::SlotOf(NameId name, const Names& names) const {
  return name == Names::kAny ? any_slot : requests.Find(name, names.Hash(name));
}

const Request* Placement::Of(NameId name, const Names& names) const {
  const int32_t slot = SlotOf(name, names);
  return slot < 0 ? nullptr : &requests.at(slot);
}

const Placement* Asks::Find(const RequestKey& key) const {
  const int32_t slot = placements_.Find(key, key.JavaHash());
  return slot < 0 ? nullptr : &placements_.at(slot);
}

void Asks::Update(std::vector<Line> lines, bool give_back, Names& names, int64_t now_ms) {
  std::stable_sort(lines.begin(), lines.end(), [](const Line& a, const Line& b) { return a.key < b.key; });
  std::vector<std::pair<size_t, size_t>> groups;
  std::vector<int32_t> hashes;
  for (size_t begin = 0; begin < lines.size();) {
    size_t end = begin + 1;
    while (end < lines.size() && lines[end].key == lines[begin].key) ++end;
    groups.emplace_back(begin, end);
    hashes.push_back(lines[begin].key.JavaHash());
    begin = end;
  }
  for (const uint32_t g : java::HashOrder(hashes, java::HashCapacity(hashes.size()))) {
    std::vector<Line> group(lines.begin() + static_cast<ptrdiff_t>(groups[g].first),
                            lines.begin() + static_cast<ptrdiff_t>(groups[g].second));
    UpdateKey(group.front().key, group, give_back, names, now_ms);
  }
  MergeActive();
}

/// Keys of one Update at once: a call with very many keys costs a sort, not a shift for each.
void Asks::MergeActive() {
  const auto before = [](const ActiveKey& a, const ActiveKey& b) { return a.key < b.key; };
  if (!deactivated_.empty()) {
    std::sort(deactivated_.begin(), deactivated_.end());
    std::erase_if(active_, [&](const ActiveKey& a) {
      return std::binary_search(deactivated_.begin(), deactivated_.end(), a.key);
    });
    deactivated_.clear();
  }
  if (activated_.empty()) return;
  std::sort(activated_.begin(), activated_.end(), before);
  const auto middle = static_cast<ptrdiff_t>(active_.size());
  active_.insert(active_.end(), activated_.begin(), activated_.end());
  std::inplace_merge(active_.begin(), active_.begin() + middle, active_.end(), before);
  activated_.clear();
}

/// LocalityAppPlacementAllocator.updatePendingAsk and AppSchedulingInfo.updatePendingResources.
void Asks::UpdateKey(const RequestKey& key, std::vector<Line>& lines, bool give_back, Names& names, int64_t now_ms) {
  KeepLastOfEachName(lines);
  std::vector<int32_t> hashes;
  for (const Line& line : lines) hashes.push_back(names.Hash(line.name));
  const int32_t hash = key.JavaHash();
  int32_t slot = placements_.Find(key, hash);
  if (slot < 0) {
    slot = placements_.Insert(key, hash, {});
    placements_.at(slot).since_ms = now_ms;
  }
  bool any_updated = false;
  int32_t last_any = 0;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(hashes.size()))) {
    Placement& placement = placements_.at(slot);
    if (lines[i].name == Names::kAny) {
      any_updated = true;
      last_any = placement.AnyCount();
    }
    Put(placement, lines[i], give_back, names);
  }
  if (!any_updated) return;
  if (placements_.at(slot).AnyCount() <= 0) {
    deactivated_.push_back(key);
    RemovePlacement(slot, names);
  } else if (last_any <= 0) {
    activated_.push_back({key, slot});
  }
}

void Asks::Put(Placement& placement, const Line& line, bool give_back, Names& names) {
  const int32_t known = placement.SlotOf(line.name, names);
  Request request = line.request;
  if (give_back && known >= 0) request.count = placement.requests.at(known).count + 1;
  if (known >= 0) {
    placement.requests.at(known) = request;
    return;
  }
  names.AddUse(line.name);
  ++lines_;
  const int32_t slot = placement.requests.Insert(line.name, names.Hash(line.name), request);
  if (line.name == Names::kAny) placement.any_slot = slot;
}

Taken Asks::Take(const RequestKey& key, model::Locality type, NameId host, NameId rack, Names& names) {
  const int32_t slot = placements_.Find(key, key.JavaHash());
  FL_CHECK(slot >= 0, "no lines of this key");
  Placement& placement = placements_.at(slot);
  Taken taken;
  const auto take = [&](NameId name) {
    const Request* request = placement.Of(name, names);
    FL_CHECK(request != nullptr, "no line of this name");
    taken.lines[taken.size++] = {name, request->relax, request->capability};
    Decrement(placement, name, names);
  };
  if (type == model::Locality::kNodeLocal) take(host);
  if (type != model::Locality::kOffSwitch) take(rack);
  take(Names::kAny);
  if (placement.AnyCount() == 0) {
    Deactivate(key);
    if (placement.requests.empty()) placements_.Remove(slot);
  }
  return taken;
}

void Asks::Decrement(Placement& placement, NameId name, Names& names) {
  const int32_t slot = placement.SlotOf(name, names);
  if (--placement.requests.at(slot).count != 0) return;
  placement.requests.Remove(slot);
  --lines_;
  if (name == Names::kAny) placement.any_slot = -1;
  names.Release(name);
}

void Asks::Deactivate(const RequestKey& key) {
  const auto it = std::lower_bound(active_.begin(), active_.end(), key,
                                   [](const ActiveKey& a, const RequestKey& b) { return a.key < b; });
  if (it != active_.end() && it->key == key) active_.erase(it);
}

void Asks::RemovePlacement(int32_t slot, Names& names) {
  placements_.at(slot).requests.ForEach([&](NameId name, const Request&) { names.Release(name); });
  lines_ -= placements_.at(slot).requests.size();
  placements_.Remove(slot);
}

void Asks::Clear(Names& names) {
  ForEach([&](const RequestKey&, NameId name, const Request&) { names.Release(name); });
  *this = Asks();
}

}  // namespace fairlead::scheduler::yarn_fair
