#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/state.h"

namespace fairlead::scheduler {

/// Looks names up without making strings of them.
struct NameHash {
  using is_transparent = void;
  size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};
/// By name; never iterated, since its order means nothing.
template <class Value>
using NameMap = std::unordered_map<std::string, Value, NameHash, std::equal_to<>>;

/// Gives names dense numbers in order of first use. Never iterated through its hash table, so order stays exact.
class Interner {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  /// The number of `name`, new or known.
  uint32_t Intern(std::string_view name) {
    if (const auto it = ids_.find(name); it != ids_.end()) return it->second;
    const auto id = static_cast<uint32_t>(names_.size());
    names_.emplace_back(name);
    ids_.emplace(std::string(name), id);
    return id;
  }
  /// The number of `name`, or kNone.
  uint32_t Find(std::string_view name) const {
    const auto it = ids_.find(name);
    return it == ids_.end() ? kNone : it->second;
  }
  const std::string& Name(uint32_t id) const { return names_[id]; }
  size_t size() const { return names_.size(); }
  FL_STATE(names_, ids_)

 private:
  std::vector<std::string> names_;
  NameMap<uint32_t> ids_;
};

}  // namespace fairlead::scheduler
