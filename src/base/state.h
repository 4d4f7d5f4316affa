#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "base/codec.h"

// A whole part as bytes, with all that it has derived: what a segment of a journal begins with. A class or struct lists
// every member in FL_STATE(a, b, c), public, behind the members of an aggregate; one that also holds what is not its
// own (references to other parts, the sink of the running step) lists the rest in FL_STATE_PART; what follows from the
// members it may set in AfterRead(). Two equal parts have equal bytes. They are read by the build that wrote them: a
// journal's header says which.

/// Up to 80 members.
#define FL_STATE(...) FL_INTERNAL_STATE(true, __VA_ARGS__)
#define FL_STATE_PART(...) FL_INTERNAL_STATE(false, __VA_ARGS__)
#define FL_INTERNAL_STATE(whole, ...)                          \
  static constexpr bool kWholeState = whole;                   \
  template <class Self, class Visitor>                         \
  static void VisitState(Self&& self, Visitor&& visitor) {     \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_FIELD, __VA_ARGS__) \
  }

namespace fairlead::base {

template <class T>
concept HasState = requires(T& value) { T::VisitState(value, FieldProbe{}); };

namespace state_internal {

template <class T>
concept Leaf = std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string> || IsIndex<T>::value ||
               std::is_same_v<T, Instant> || std::is_same_v<T, Duration> || std::is_same_v<T, WallTime>;
template <class T>
concept Pointer = requires { typename T::element_type; } && !requires(T& v) { v.size(); };
template <class T>
concept Map = requires { typename T::mapped_type; };
template <class T>
concept Set = requires { typename T::key_type; } && !Map<T>;
template <class T>
concept Sequence = requires(T& v) {
  v.emplace_back();
  v.clear();
};
template <class T>
concept Pair = requires(T& v) {
  v.first;
  v.second;
};
template <class T>
concept Hashed = requires(T& v) { v.bucket_count(); };
__extension__ using Wide = unsigned __int128;
__extension__ using SignedWide = __int128;

/// Between two members of a struct lies less than the second one's alignment, or a member is missing in its list.
template <class T>
bool CheckWhole(const T& value) {
  struct Place {
    size_t begin, end, alignment;
    std::string_view name;
  };
  std::vector<Place> places;
  const auto* const self = reinterpret_cast<const char*>(&value);
  T::VisitState(value, [&]<class Field>(std::string_view name, const Field& field) {
    const auto begin = static_cast<size_t>(reinterpret_cast<const char*>(&field) - self);
    places.push_back({begin, begin + sizeof(Field), alignof(Field), name});
  });
  places.push_back({sizeof(T), sizeof(T), alignof(T), "the end"});
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.begin < b.begin; });
  size_t at = 0;
  for (const Place& place : places) {
    FL_CHECK(place.begin < at + place.alignment,
             ("a state leaves out the member before " + std::string(place.name)).c_str());
    at = std::max(at, place.end);
  }
  return true;
}

}  // namespace state_internal

/// Appends the state of `value`.
template <class T>
void WriteState(std::string& out, const T& value) {
  namespace in = state_internal;
  const auto items = [&out](const auto& all) {
    PutVarint(out, all.size());
    for (const auto& item : all) WriteState(out, item);
  };
  if constexpr (HasState<T>) {
    if constexpr (T::kWholeState) {
      [[maybe_unused]] static const bool whole = in::CheckWhole(value);
    }
    T::VisitState(value, [&](std::string_view, const auto& field) { WriteState(out, field); });
  } else if constexpr (std::is_same_v<T, in::Wide> || std::is_same_v<T, in::SignedWide>) {
    ByteWriter(out).U64(static_cast<uint64_t>(static_cast<in::Wide>(value) >> 64));
    ByteWriter(out).U64(static_cast<uint64_t>(value));
  } else if constexpr (in::Leaf<T>) {
    Encode(out, value);
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    PutVarint(out, value.size());
    for (const bool bit : value) out.push_back(bit ? 1 : 0);
  } else if constexpr (in::Hashed<T>) {
    std::vector<const typename T::value_type*> sorted;
    for (const auto& item : value) sorted.push_back(&item);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    PutVarint(out, sorted.size());
    for (const auto* item : sorted) WriteState(out, *item);
  } else if constexpr (in::Map<T> || in::Set<T> || in::Sequence<T>) {
    items(value);
  } else if constexpr (IsArray<T>::value || std::is_array_v<T>) {
    for (const auto& item : value) WriteState(out, item);
  } else if constexpr (IsOptional<T>::value || in::Pointer<T>) {
    out.push_back(value ? 1 : 0);
    if (value) WriteState(out, *value);
  } else if constexpr (IsVariant<T>::value) {
    PutVarint(out, value.index());
    std::visit([&](const auto& alternative) { WriteState(out, alternative); }, value);
  } else if constexpr (in::Pair<T>) {
    WriteState(out, value.first);
    WriteState(out, value.second);
  } else {
    static_assert(HasFields<T>, "a part of a state needs FL_STATE");
    T::VisitFields(value, [&](std::string_view, const auto& field) { WriteState(out, field); });
  }
}

/// A core's state at the head of a segment of the journal: our own.
inline constexpr BudgetKind kStateKind = DecodedKind("a core's state", SIZE_MAX, 4096);

template <class T>
void ReadState(ByteReader& in, T& value);

namespace state_internal {

template <class V, size_t... I>
void ReadVariant(ByteReader& in, V& value, uint64_t index, std::index_sequence<I...>) {
  const auto pick = [&]<size_t N>() {
    if (index != N) return false;
    ReadState(in, value.template emplace<N>());
    return true;
  };
  if (!(pick.template operator()<I>() || ...)) in.Fail();
}

template <class T>
void ReadItems(ByteReader& in, T& value) {
  const uint64_t count = TakeVarint(in);
  value.clear();
  if (!MayFollow(in, count)) return;
  if (count > value.max_size()) return in.Fail();
  for (uint64_t i = 0; i < count && !in.failed(); ++i) {
    if (!in.Charge(sizeof(typename T::value_type))) return;
    if constexpr (Map<T>) {
      typename T::key_type key{};
      ReadState(in, key);
      ReadState(in, value[std::move(key)]);
    } else if constexpr (Set<T>) {
      typename T::value_type item{};
      ReadState(in, item);
      value.insert(value.end(), std::move(item));
    } else {
      ReadState(in, value.emplace_back());
    }
  }
}

}  // namespace state_internal

/// Reads what WriteState of this build wrote into a value that was made from the same configuration; `in.failed()`
/// tells of malformed input, `value` is then unspecified but destructible.
template <class T>
void ReadState(ByteReader& in, T& value) {
  namespace si = state_internal;
  if constexpr (HasState<T>) {
    T::VisitState(value, [&](std::string_view, auto& field) { ReadState(in, field); });
    if constexpr (requires { value.AfterRead(); }) value.AfterRead();
  } else if constexpr (std::is_same_v<T, si::Wide> || std::is_same_v<T, si::SignedWide>) {
    const uint64_t high = in.U64();
    value = static_cast<T>(si::Wide{high} << 64 | in.U64());
  } else if constexpr (si::Leaf<T>) {
    Decode(in, value);
  } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
    const uint64_t count = TakeVarint(in);
    value.clear();
    if (!MayFollow(in, count)) return;
    for (uint64_t i = 0; i < count && !in.failed(); ++i) value.push_back(TakeBool(in));
  } else if constexpr (si::Map<T> || si::Set<T> || si::Sequence<T>) {
    si::ReadItems(in, value);
  } else if constexpr (IsArray<T>::value || std::is_array_v<T>) {
    for (auto& item : value) ReadState(in, item);
  } else if constexpr (IsOptional<T>::value) {
    value.reset();
    if (TakeBool(in)) ReadState(in, value.emplace());
  } else if constexpr (si::Pointer<T>) {
    value.reset();
    if (!TakeBool(in)) return;
    auto read = std::make_unique<std::remove_const_t<typename T::element_type>>();
    ReadState(in, *read);
    value = std::move(read);
  } else if constexpr (IsVariant<T>::value) {
    si::ReadVariant(in, value, TakeVarint(in), std::make_index_sequence<std::variant_size_v<T>>{});
  } else if constexpr (si::Pair<T>) {
    ReadState(in, value.first);
    ReadState(in, value.second);
  } else {
    static_assert(HasFields<T>, "a part of a state needs FL_STATE");
    T::VisitFields(value, [&](std::string_view, auto& field) { ReadState(in, field); });
  }
}

}  // namespace fairlead::base
