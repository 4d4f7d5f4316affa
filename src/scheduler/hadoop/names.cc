#include "scheduler/hadoop/names.h"

#include "base/check.h"
#include "scheduler/hadoop/java.h"

namespace fairlead::scheduler::hadoop {

NameId Names::Acquire(std::string_view name) {
  NameId id = Find(name);
  if (!id.valid()) {
    id = entries_.Add();
    entries_[id].text = name;
    entries_[id].hash = java::HashOfString(name);
    ids_.emplace(name, id);
  }
  AddUse(id);
  return id;
}

void Names::Release(NameId id) {
  FL_CHECK(entries_[id].uses > 0, "a name released once too often");
  if (--entries_[id].uses > 0) return;
  ids_.erase(entries_[id].text);
  entries_.Remove(id);
}

NameId Names::Find(std::string_view name) const {
  const auto it = ids_.find(name);
  return it == ids_.end() ? NameId{} : it->second;
}

}  // namespace fairlead::scheduler::hadoop
