#include "scheduler/hadoop/asks.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "scheduler/hadoop/calculator.h"

namespace fairlead::scheduler::hadoop {
namespace {

/// Different (priority, request id) of one application, and lines of all of them. Hadoop has no limit; a master must
/// not fill the resource manager's memory.
constexpr int64_t kMostKeys = 4'096;
constexpr int64_t kMostLines = 65'536;

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

std::strong_ordering operator<=>(const RequestKey& a, const RequestKey& b) {
  const auto ranks = [](const RequestKey& key) {
    return std::tuple(key.IsGrowth(), key.priority, key.id, key.grows_attempt, key.grows);
  };
  return ranks(a) <=> ranks(b);
}

/// Of a container that grows its number stands for its whole id: no decision goes by the order of such keys in a map.
int32_t RequestKey::JavaHash() const {
  uint32_t hash = static_cast<uint32_t>(HashOfPriority(priority));
  hash = 31 * hash + static_cast<uint32_t>(java::HashOfLong(id));
  return java::Wrap(31 * hash + static_cast<uint32_t>(java::HashOfLong(grows)));
}

int32_t KeyLines::SlotOf(NameId name, const Names& names) const {
  return name == Names::kAny ? any_slot : requests.Find(name, names.Hash(name));
}

const Request* KeyLines::Of(NameId name, const Names& names) const {
  const int32_t slot = SlotOf(name, names);
  return slot < 0 ? nullptr : &requests.at(slot);
}

const KeyLines* Asks::Find(const RequestKey& key) const {
  const int32_t slot = keys_.Find(key, key.JavaHash());
  return slot < 0 ? nullptr : &keys_.at(slot);
}

void Asks::Update(std::vector<Line> lines, bool give_back, Names& names, int64_t now_ms) {
  if (empty()) {
    least_ = Unbounded();
    most_ = {};
  }
  for (const Line& line : lines) {
    least_ = ComponentwiseMin(least_, line.request.capability);
    most_ = ComponentwiseMax(most_, line.request.capability);
  }
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
  int32_t slot = keys_.Find(key, hash);
  if (slot < 0) {
    slot = keys_.Insert(key, hash, {});
    keys_.at(slot).since_ms = now_ms;
  }
  bool any_updated = false;
  int32_t last_any = 0;
  for (const uint32_t i : java::HashOrder(hashes, java::HashCapacity(hashes.size()))) {
    KeyLines& held = keys_.at(slot);
    if (lines[i].name == Names::kAny) {
      any_updated = true;
      last_any = held.AnyCount();
    }
    Put(held, lines[i], give_back, names);
  }
  if (!any_updated) return;
  if (keys_.at(slot).AnyCount() <= 0) {
    deactivated_.push_back(key);
    RemoveKey(slot, names);
  } else if (last_any <= 0) {
    activated_.push_back({key, slot});
  }
}

void Asks::Put(KeyLines& held, const Line& line, bool give_back, Names& names) {
  const int32_t known = held.SlotOf(line.name, names);
  Request request = line.request;
  if (give_back && known >= 0) request.count = held.requests.at(known).count + 1;
  if (known >= 0) {
    held.requests.at(known) = request;
    return;
  }
  names.AddUse(line.name);
  ++lines_;
  const int32_t slot = held.requests.Insert(line.name, names.Hash(line.name), request);
  if (line.name == Names::kAny) held.any_slot = slot;
}

model::Refused Asks::TooMuch(const std::vector<model::Ask>& wanted, const Names& names) const {
  if (lines_ + wanted.size() <= kMostKeys) return {};
  std::set<RequestKey> more_keys;
  std::set<std::pair<RequestKey, std::string_view>> more_lines;
  for (const model::Ask& ask : wanted) {
    const RequestKey key{ask.priority, ask.allocation_request_id};
    const KeyLines* placement = Find(key);
    if (!placement) more_keys.insert(key);
    const NameId name = ask.name == "*" ? Names::kAny : names.Find(ask.name);
    const bool known = placement && name.valid() && placement->Of(name, names);
    if (!known) more_lines.insert({key, ask.name});
  }
  if (keys_.size() + more_keys.size() > kMostKeys) return {model::Refusal::kTooManyKeys, {}, {}, {kMostKeys}};
  if (lines_ + more_lines.size() > kMostLines) return {model::Refusal::kTooManyPlaces, {}, {}, {kMostLines}};
  return {};
}

Taken Asks::Take(const RequestKey& key, model::Locality type, NameId host, NameId rack, Names& names) {
  const int32_t slot = keys_.Find(key, key.JavaHash());
  FL_CHECK(slot >= 0, "no lines of this key");
  KeyLines& held = keys_.at(slot);
  Taken taken;
  const auto take = [&](NameId name) {
    const Request* request = held.Of(name, names);
    FL_CHECK(request != nullptr, "no line of this name");
    taken.lines[taken.size++] = {name, request->relax, request->capability, request->partition};
    Decrement(held, name, names);
  };
  if (type == model::Locality::kNodeLocal) take(host);
  if (type != model::Locality::kOffSwitch) take(rack);
  take(Names::kAny);
  if (held.AnyCount() == 0) {
    Deactivate(key);
    if (held.requests.empty()) keys_.Remove(slot);
  }
  return taken;
}

void Asks::Decrement(KeyLines& held, NameId name, Names& names) {
  const int32_t slot = held.SlotOf(name, names);
  if (--held.requests.at(slot).count != 0) return;
  held.requests.Remove(slot);
  --lines_;
  if (name == Names::kAny) held.any_slot = -1;
  names.Release(name);
}

void Asks::Deactivate(const RequestKey& key) {
  const auto it = std::lower_bound(active_.begin(), active_.end(), key,
                                   [](const ActiveKey& a, const RequestKey& b) { return a.key < b; });
  if (it != active_.end() && it->key == key) active_.erase(it);
}

void Asks::RemoveKey(int32_t slot, Names& names) {
  keys_.at(slot).requests.ForEach([&](NameId name, const Request&) { names.Release(name); });
  lines_ -= keys_.at(slot).requests.size();
  keys_.Remove(slot);
}

void Asks::Clear(Names& names) {
  ForEach([&](const RequestKey&, NameId name, const Request&) { names.Release(name); });
  *this = Asks();
}

std::string Asks::Check() const {
  std::string wrong;
  size_t lines = 0;
  ForEach([&](const RequestKey&, NameId, const Request& request) {
    ++lines;
    if (!least_.FitsIn(request.capability) || !request.capability.FitsIn(most_)) wrong += "bounds of the asks\n";
  });
  if (lines != lines_) wrong += "lines are " + std::to_string(lines_) + ", counted " + std::to_string(lines) + "\n";
  size_t active = 0;
  keys_.ForEach([&](const RequestKey&, const KeyLines& held) { active += held.AnyCount() > 0 ? 1 : 0; });
  const bool found = std::all_of(active_.begin(), active_.end(), [&](const ActiveKey& one) {
    return Find(one.key) == &keys_.at(one.slot) && of(one).AnyCount() > 0;
  });
  if (!found || active != active_.size()) wrong += "active keys\n";
  return wrong;
}

void Asks::Mix(base::StateHasher& hash, const Names& names) const {
  ForEach([&](const RequestKey& key, NameId name, const Request& request) {
    hash.Mix(static_cast<uint64_t>(key.priority));
    hash.Mix(static_cast<uint64_t>(key.id));
    if (key.IsGrowth()) hash.Mix(static_cast<uint64_t>(key.grows) << 32 | static_cast<uint32_t>(key.grows_attempt));
    hash.Mix(std::string_view(names.Text(name)));
    hash.Mix(static_cast<uint64_t>(request.count));
    hash.Mix(request.relax);
    hadoop::Mix(hash, request.capability);
    if (request.partition != kNoLabel) hash.Mix(request.partition.value);
  });
  keys_.ForEach([&](const RequestKey&, const KeyLines& held) { hash.Mix(static_cast<uint64_t>(held.since_ms)); });
}

}  // namespace fairlead::scheduler::hadoop
