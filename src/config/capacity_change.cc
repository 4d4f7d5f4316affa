#include "config/capacity_change.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "config/java_numbers.h"

namespace fairlead::config {
namespace {

constexpr size_t kBytesMax = size_t{16} << 20;  // of all, as of the file

std::string Prefix(const std::string& path) { return "yarn.scheduler.capacity." + path + "."; }

/// An empty value takes the key out.
void Set(Properties& keys, const std::string& name, const std::string& value) {
  const std::string key(base::Trimmed(name));
  if (value.empty()) {
    keys.erase(key);
  } else if (!key.empty()) {
    keys[key] = value;
  }
}

void SetAll(Properties& keys, const CapacityChange::Queue& queue) {
  for (const auto& [name, value] : queue.keys) Set(keys, Prefix(queue.path) + name, value);
}

/// A queue's list of those below it.
class Children {
 public:
  Children(Properties& keys, const std::string& parent) : keys_(keys), prefix_(Prefix(parent)) {
    const auto found = keys.find(prefix_ + "queues");
    std::string_view text = found == keys.end() ? std::string_view() : std::string_view(found->second);
    while (!text.empty()) {
      const size_t end = std::min(text.find(','), text.size());
      const std::string name(base::Trimmed(text.substr(0, end)));
      if (!name.empty() && !Has(name)) names_.push_back(name);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
  }
  bool Has(const std::string& name) const { return std::find(names_.begin(), names_.end(), name) != names_.end(); }
  void Remove(const std::string& name) { std::erase(names_, name), Write(names_.empty()); }
  void Add(const std::string& name) { names_.push_back(name), Write(false); }
  /// A leaf becomes a parent, or the other way: its ordering policy is not one of the other kind.
  void ForgetPolicy() { keys_.erase(prefix_ + "ordering-policy"); }
  size_t size() const { return names_.size(); }

 private:
  void Write(bool leaf) {
    std::string list;
    for (const std::string& name : names_) list += (list.empty() ? "" : ",") + name;
    Set(keys_, prefix_ + "queues", list);
    if (leaf) ForgetPolicy();
  }
  Properties& keys_;
  std::string prefix_;
  std::vector<std::string> names_;
};

base::Status Remove(Properties& keys, const std::string& path) {
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos) return base::Error{"Can't remove queue " + path};
  Children siblings(keys, path.substr(0, dot));
  const std::string name = path.substr(dot + 1);
  if (!siblings.Has(name)) return base::Error{"Queue " + path + " not found"};
  siblings.Remove(name);
  // Hadoop's expression takes every dot of the path for any letter, and so the keys of other queues, too.
  std::erase_if(keys, [prefix = Prefix(path)](const auto& entry) { return entry.first.starts_with(prefix); });
  return {};
}

base::Status Add(Properties& keys, const CapacityChange::Queue& queue) {
  const size_t dot = queue.path.rfind('.');
  if (dot == std::string::npos) return base::Error{"Can't add invalid queue " + queue.path};
  Children siblings(keys, queue.path.substr(0, dot));
  const std::string name = queue.path.substr(dot + 1);
  if (siblings.Has(name)) return base::Error{"Can't add existing queue " + queue.path};
  siblings.Add(name);
  SetAll(keys, queue);
  if (siblings.size() == 1) siblings.ForgetPolicy();
  return {};
}

}  // namespace

base::Result<Properties> WithChange(Properties keys, const CapacityChange& change) {
  for (const std::string& path : change.remove) {
    if (const base::Status done = Remove(keys, path); !done.ok()) return done.error();
  }
  for (const CapacityChange::Queue& queue : change.add) {
    if (const base::Status done = Add(keys, queue); !done.ok()) return done.error();
  }
  for (const CapacityChange::Queue& queue : change.update) SetAll(keys, queue);
  for (const auto& [name, value] : change.global) Set(keys, name, value);
  size_t bytes = 0;
  for (const auto& [name, value] : keys) bytes += name.size() + value.size();
  if (bytes > kBytesMax) return base::Error{"The configuration would have more than 16 MiB."};
  return keys;
}

}  // namespace fairlead::config
