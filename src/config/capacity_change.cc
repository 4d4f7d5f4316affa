#include "config/capacity_change.h"

#include <map>
#include <string_view>
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

/// The names of a list of queues, each once, as they come.
class Names {
 public:
  explicit Names(std::string_view text) {
    for (const std::string_view part : base::Split(text, ',')) {
      const std::string name(base::Trimmed(part));
      if (!name.empty() && !Has(name)) Add(name);
    }
  }
  bool Has(const std::string& name) const { return places_.contains(name); }
  void Add(const std::string& name) { in_order_[places_[name] = next_++] = name; }
  void Remove(const std::string& name) { in_order_.erase(places_.at(name)), places_.erase(name); }
  size_t size() const { return places_.size(); }
  std::string Text() const {
    std::string list;
    for (const auto& [place, name] : in_order_) list += (list.empty() ? "" : ",") + name;
    return list;
  }

 private:
  std::map<std::string, size_t> places_;
  std::map<size_t, std::string> in_order_;
  size_t next_ = 0;
};

/// Keys of a file. Its lists of queues are read once and written at the end: O(log keys) a queue.
class Tree {
 public:
  explicit Tree(Properties& keys) : keys_(keys) {}

  base::Status Remove(const std::string& path) {
    const size_t dot = path.rfind('.');
    if (dot == std::string::npos) return base::Error{"Can't remove queue " + path};
    const std::string parent = path.substr(0, dot);
    const std::string name = path.substr(dot + 1);
    if (!Below(parent).Has(name)) return base::Error{"Queue " + path + " not found"};
    Below(parent).Remove(name);
    if (Below(parent).size() == 0) ForgetPolicy(parent);
    // Hadoop's expression takes every dot of the path for any letter, and so the keys of other queues, too.
    EraseBelow(keys_, Prefix(path));
    EraseBelow(lists_, Prefix(path));
    return {};
  }

  base::Status Add(const CapacityChange::Queue& queue) {
    const size_t dot = queue.path.rfind('.');
    if (dot == std::string::npos) return base::Error{"Can't add invalid queue " + queue.path};
    const std::string parent = queue.path.substr(0, dot);
    const std::string name = queue.path.substr(dot + 1);
    if (Below(parent).Has(name)) return base::Error{"Can't add existing queue " + queue.path};
    Below(parent).Add(name);
    Update(queue);
    if (Below(parent).size() == 1) ForgetPolicy(parent);
    return {};
  }

  void Update(const CapacityChange::Queue& queue) {
    for (const auto& [name, value] : queue.keys) {
      Set(keys_, Prefix(queue.path) + name, value);
      lists_.erase(std::string(base::Trimmed(Prefix(queue.path) + name)));  // what is written so counts
    }
  }

  void WriteLists() {
    for (const auto& [key, names] : lists_) Set(keys_, key, names.Text());
    lists_.clear();
  }

 private:
  /// All of whose keys begin so.
  template <typename Map>
  static void EraseBelow(Map& map, const std::string& prefix) {
    auto at = map.lower_bound(prefix);
    while (at != map.end() && at->first.starts_with(prefix)) at = map.erase(at);
  }
  Names& Below(const std::string& parent) {
    const std::string key = Prefix(parent) + "queues";
    const auto known = lists_.find(key);
    if (known != lists_.end()) return known->second;
    const auto found = keys_.find(key);
    return lists_.emplace(key, Names(found == keys_.end() ? std::string_view() : found->second)).first->second;
  }
  /// A leaf becomes a parent, or the other way: its ordering policy is not one of the other kind.
  void ForgetPolicy(const std::string& path) { keys_.erase(Prefix(path) + "ordering-policy"); }

  Properties& keys_;
  std::map<std::string, Names> lists_;  // by key
};

}  // namespace

base::Result<Properties> WithChange(Properties keys, const CapacityChange& change) {
  Tree tree(keys);
  for (const std::string& path : change.remove) {
    if (const base::Status done = tree.Remove(path); !done.ok()) return done.error();
  }
  for (const CapacityChange::Queue& queue : change.add) {
    if (const base::Status done = tree.Add(queue); !done.ok()) return done.error();
  }
  tree.WriteLists();
  for (const CapacityChange::Queue& queue : change.update) tree.Update(queue);
  for (const auto& [name, value] : change.global) Set(keys, name, value);
  size_t bytes = 0;
  for (const auto& [name, value] : keys) bytes += name.size() + value.size();
  if (bytes > kBytesMax) return base::Error{"The configuration would have more than 16 MiB."};
  return keys;
}

}  // namespace fairlead::config
