#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace fairlead::base {

/// A dense index of one kind of entity; `Tag` keeps kinds apart. kInvalid marks "none".
template <class Tag>
struct Index {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t value = kNone;
  constexpr bool valid() const { return value != kNone; }
  friend constexpr auto operator<=>(Index, Index) = default;
};

}  // namespace fairlead::base

template <class Tag>
struct std::hash<fairlead::base::Index<Tag>> {
  size_t operator()(fairlead::base::Index<Tag> index) const noexcept { return index.value; }
};
