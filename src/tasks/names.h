#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tasks/hash_order.h"

namespace fairlead::tasks {

/// Names as dense numbers in order of first mention, with their Java hash codes. Lookup only; never walked by hash.
class Names {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t Intern(std::string_view name) {
    if (const auto it = numbers_.find(name); it != numbers_.end()) return it->second;
    const auto number = static_cast<uint32_t>(entries_.size());
    entries_.push_back({std::string(name), JavaHash(name)});
    numbers_.emplace(std::string(name), number);
    return number;
  }
  uint32_t Find(std::string_view name) const {
    const auto it = numbers_.find(name);
    return it == numbers_.end() ? kNone : it->second;
  }
  const std::string& Text(uint32_t number) const { return entries_[number].text; }
  int32_t Hash(uint32_t number) const { return entries_[number].hash; }
  NamedKey Key(uint32_t number) const { return {number, Hash(number)}; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string text;
    int32_t hash = 0;
  };
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> numbers_;
};

}  // namespace fairlead::tasks
