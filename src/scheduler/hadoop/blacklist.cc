#include "scheduler/hadoop/blacklist.h"

#include <algorithm>

namespace fairlead::scheduler::hadoop {

bool Blacklist::Contains(const std::vector<NameId>& list, NameId name) {
  return std::binary_search(list.begin(), list.end(), name);
}

void Blacklist::Update(Of of, const std::vector<std::string>& add, const std::vector<std::string>& remove,
                       Names& names) {
  std::vector<NameId>& list = lists_[Which(of)];
  bool changed = false;
  for (const std::string& place : add) {
    const NameId name = names.Acquire(place);
    if (Contains(list, name)) {
      names.Release(name);
      continue;
    }
    list.insert(std::lower_bound(list.begin(), list.end(), name), name);
    changed = true;
  }
  for (const std::string& place : remove) {
    const NameId name = names.Find(place);
    if (!name.valid() || !Contains(list, name)) continue;
    list.erase(std::lower_bound(list.begin(), list.end(), name));
    names.Release(name);
    changed = true;
  }
  if (of == Of::kMaster) changed_ |= changed;
}

void Blacklist::TakeOver(Blacklist& from) {
  lists_[Which(Of::kMaster)] = std::exchange(from.lists_[Which(Of::kMaster)], {});
}

void Blacklist::Clear(Names& names) {
  for (std::vector<NameId>& list : lists_) {
    for (const NameId name : list) names.Release(name);
    list.clear();
  }
}

void Blacklist::Mix(base::StateHasher& hash) const {
  for (const std::vector<NameId>& list : lists_) {
    hash.Mix(list.size());
    for (const NameId name : list) hash.Mix(name.value);
  }
  hash.Mix(changed_);
}

}  // namespace fairlead::scheduler::hadoop
