#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace fairlead::scheduler {

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

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
  };
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> ids_;
};

}  // namespace fairlead::scheduler
