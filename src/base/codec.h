#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/fields.h"
#include "base/hash.h"
#include "base/ids.h"
#include "base/time.h"

// Made from FL_FIELDS: Encode and Decode (a binary form: zigzag varints, length-prefixed strings, variants by index),
// HashInto (StateHash) and ToJson (for people and `replay --json`). What is kept in a store, a journal or a file goes
// through base/stored.h.

namespace fairlead::base {

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};
template <class T>
struct IsSet : std::false_type {};
template <class T, class C>
struct IsSet<std::set<T, C>> : std::true_type {};
template <class T>
struct IsMap : std::false_type {};
template <class K, class V, class C>
struct IsMap<std::map<K, V, C>> : std::true_type {};
template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct IsVariant : std::false_type {};
template <class... T>
struct IsVariant<std::variant<T...>> : std::true_type {};
template <class T>
struct IsArray : std::false_type {};
template <class T, size_t N>
struct IsArray<std::array<T, N>> : std::true_type {};
template <class T>
struct IsIndex : std::false_type {};
template <class T>
struct IsIndex<Index<T>> : std::true_type {};

inline uint64_t TakeVarint(ByteReader& in) {
  uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = in.U8();
    if (shift == 63 && byte > 1) break;  // more than 64 bits
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (!(byte & 0x80)) return value;
  }
  in.Fail();
  return 0;
}

inline uint64_t ZigZag(int64_t v) { return (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63); }
inline int64_t UnZigZag(uint64_t v) { return static_cast<int64_t>(v >> 1) ^ -static_cast<int64_t>(v & 1); }

/// How structs are written. What outlives a release is kStored (base/stored.h); a hash has no need of lengths.
enum class Form : uint8_t {
  kPlain,   ///< the fields one after the other
  kStored,  ///< with the length of every struct before its fields, so that one that has grown shifts nothing behind it
};

/// Puts the length of the bytes since `begin` before them.
inline void InsertLength(std::string& out, size_t begin) {
  const size_t length = out.size() - begin;
  std::string varint;
  PutVarint(varint, length);
  out.insert(begin, varint);
}

/// Appends the binary form of `value`.
template <Form form = Form::kPlain, class T>
void Encode(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out.push_back(value ? 1 : 0);
  } else if constexpr (std::is_enum_v<T>) {
    PutVarint(out, static_cast<uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    PutVarint(out, ZigZag(static_cast<int64_t>(value)));
  } else if constexpr (std::is_floating_point_v<T>) {
    ByteWriter(out).U64(std::bit_cast<uint64_t>(static_cast<double>(value)));
  } else if constexpr (std::is_same_v<T, std::string>) {
    PutVarint(out, value.size());
    out.append(value);
  } else if constexpr (IsIndex<T>::value) {
    PutVarint(out, value.value);
  } else if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
    PutVarint(out, ZigZag(value.ns));
  } else if constexpr (std::is_same_v<T, WallTime>) {
    PutVarint(out, ZigZag(value.ms));
  } else if constexpr (IsVector<T>::value || IsSet<T>::value) {
    PutVarint(out, value.size());
    for (const auto& item : value) Encode<form, typename T::value_type>(out, item);
  } else if constexpr (IsMap<T>::value) {
    PutVarint(out, value.size());
    for (const auto& [key, item] : value) {
      Encode<form>(out, key);
      Encode<form>(out, item);
    }
  } else if constexpr (IsArray<T>::value) {
    for (const auto& item : value) Encode<form>(out, item);
  } else if constexpr (IsOptional<T>::value) {
    out.push_back(value ? 1 : 0);
    if (value) Encode<form>(out, *value);
  } else if constexpr (IsVariant<T>::value) {
    PutVarint(out, value.index());
    std::visit([&](const auto& alternative) { Encode<form>(out, alternative); }, value);
  } else {
    static_assert(HasFields<T>, "a journalled type needs FL_FIELDS");
    const size_t begin = out.size();
    T::VisitFields(value, [&](std::string_view, const auto& field) { Encode<form>(out, field); });
    if constexpr (form == Form::kStored) InsertLength(out, begin);
  }
}

/// True when so many items can still follow: none takes less than a byte. Checked before anything is allocated.
inline bool MayFollow(ByteReader& in, uint64_t count) {
  if (count > in.remaining()) in.Fail();
  return !in.failed();
}

/// A number as `T`; one that does not fit is malformed.
template <class T, class Wide>
T Narrow(ByteReader& in, Wide wide) {
  const T value = static_cast<T>(wide);
  if (static_cast<Wide>(value) != wide) in.Fail();
  return value;
}

/// Of a set or map, beside its element.
inline constexpr size_t kTreeNode = 48;

/// A kind of message that is decoded here: an element may be a byte, so memory counts, in proportion to the bytes or
/// `most`. What is trusted and must not be refused has no bound but the proportion.
constexpr BudgetKind DecodedKind(std::string_view name, size_t bytes, size_t per_byte, size_t most = SIZE_MAX) {
  constexpr size_t kFloor = 64 << 10;
  return {name,
          bytes,
          64,
          {.floor = kFloor, .per_byte = per_byte, .most = most},
          {.floor = SIZE_MAX, .per_byte = 0, .most = SIZE_MAX},
          {.floor = SIZE_MAX, .per_byte = 0, .most = SIZE_MAX}};
}

inline bool TakeBool(ByteReader& in) {
  const uint8_t byte = in.U8();
  if (byte > 1) in.Fail();
  return byte == 1;
}

template <Form form = Form::kPlain, class T>
void Decode(ByteReader& in, T& value);

template <Form form, class V, size_t... I>
void DecodeVariant(ByteReader& in, V& value, uint64_t index, std::index_sequence<I...>) {
  const auto pick = [&]<size_t N>() {
    if (index != N) return false;
    Decode<form>(in, value.template emplace<N>());
    return true;
  };
  if (!(pick.template operator()<I>() || ...)) in.Fail();
}

/// The fields of a struct. In the stored form those behind the struct's end keep their defaults: an earlier release did
/// not have them. Bytes behind the last field are malformed: a later release wrote something that would be lost here.
template <Form form, class T>
void DecodeFields(ByteReader& in, T& value) {
  if constexpr (form == Form::kPlain) {
    T::VisitFields(value, [&](std::string_view, auto& field) { Decode<form>(in, field); });
  } else {
    ByteReader own(in.Take(TakeVarint(in)), in.budget());
    T::VisitFields(value, [&](std::string_view, auto& field) {
      if (own.remaining() > 0) Decode<form>(own, field);
    });
    if (!own.done()) in.Fail();
  }
}

/// Reads what Encode wrote; `in.failed()` tells of malformed input, `value` is then unspecified but destructible.
template <Form form, class T>
void Decode(ByteReader& in, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = TakeBool(in);
  } else if constexpr (std::is_enum_v<T>) {
    value = Narrow<T>(in, TakeVarint(in));
  } else if constexpr (std::is_integral_v<T>) {
    value = Narrow<T>(in, UnZigZag(TakeVarint(in)));
  } else if constexpr (std::is_floating_point_v<T>) {
    value = static_cast<T>(std::bit_cast<double>(in.U64()));
  } else if constexpr (std::is_same_v<T, std::string>) {
    const std::string_view text = in.Take(TakeVarint(in));
    if (in.Charge(text.size())) value = text;
  } else if constexpr (IsIndex<T>::value) {
    value.value = Narrow<uint32_t>(in, TakeVarint(in));
  } else if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
    value.ns = UnZigZag(TakeVarint(in));
  } else if constexpr (std::is_same_v<T, WallTime>) {
    value.ms = UnZigZag(TakeVarint(in));
  } else if constexpr (IsVector<T>::value || IsSet<T>::value) {
    const uint64_t n = TakeVarint(in);
    value.clear();
    if (!MayFollow(in, n)) return;
    for (uint64_t i = 0; i < n && !in.failed(); ++i) {
      if (!in.Charge(sizeof(typename T::value_type) + (IsSet<T>::value ? kTreeNode : 0))) return;
      typename T::value_type item{};
      Decode<form>(in, item);
      value.insert(value.end(), std::move(item));
    }
  } else if constexpr (IsMap<T>::value) {
    const uint64_t n = TakeVarint(in);
    value.clear();
    if (!MayFollow(in, n)) return;
    for (uint64_t i = 0; i < n && !in.failed(); ++i) {
      if (!in.Charge(sizeof(typename T::value_type) + kTreeNode)) return;
      typename T::key_type key{};
      Decode<form>(in, key);
      Decode<form>(in, value[std::move(key)]);
    }
  } else if constexpr (IsArray<T>::value) {
    for (auto& item : value) Decode<form>(in, item);
  } else if constexpr (IsOptional<T>::value) {
    value.reset();
    if (TakeBool(in)) Decode<form>(in, value.emplace());
  } else if constexpr (IsVariant<T>::value) {
    DecodeVariant<form>(in, value, TakeVarint(in), std::make_index_sequence<std::variant_size_v<T>>{});
  } else {
    static_assert(HasFields<T>, "a journalled type needs FL_FIELDS");
    DecodeFields<form>(in, value);
  }
}

/// Mixes `value` into a state hash.
template <class T>
void HashInto(StateHasher& hasher, const T& value) {
  std::string bytes;
  Encode(bytes, value);
  hasher.Mix(std::string_view(bytes));
}

/// Appends `text` as a JSON string; a byte that is not part of well-formed UTF-8 is written as the \u00XX of its value.
void AppendJsonString(std::string& out, std::string_view text);
void AppendJsonNumber(std::string& out, double value);

/// Appends `value` as JSON. Enums come as numbers unless `EnumName(value)` is found by argument-dependent lookup.
template <class T>
void ToJson(std::string& out, const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::is_enum_v<T>) {
    if constexpr (requires { EnumName(value); }) {
      AppendJsonString(out, EnumName(value));
    } else {
      out += std::to_string(static_cast<int64_t>(value));
    }
  } else if constexpr (std::is_integral_v<T>) {
    out += std::to_string(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    AppendJsonNumber(out, static_cast<double>(value));
  } else if constexpr (std::is_same_v<T, std::string>) {
    AppendJsonString(out, value);
  } else if constexpr (IsIndex<T>::value) {
    out += value.valid() ? std::to_string(value.value) : "null";
  } else if constexpr (std::is_same_v<T, Instant> || std::is_same_v<T, Duration>) {
    out += std::to_string(value.ns);
  } else if constexpr (std::is_same_v<T, WallTime>) {
    out += std::to_string(value.ms);
  } else if constexpr (IsVector<T>::value || IsSet<T>::value || IsArray<T>::value) {
    out += '[';
    bool first = true;
    for (const auto& item : value) {
      if (!first) out += ',';
      first = false;
      ToJson<typename T::value_type>(out, item);
    }
    out += ']';
  } else if constexpr (IsMap<T>::value) {
    out += '[';
    bool first = true;
    for (const auto& [key, item] : value) {
      if (!first) out += ',';
      first = false;
      out += '[';
      ToJson(out, key);
      out += ',';
      ToJson(out, item);
      out += ']';
    }
    out += ']';
  } else if constexpr (IsOptional<T>::value) {
    if (value) {
      ToJson(out, *value);
    } else {
      out += "null";
    }
  } else if constexpr (IsVariant<T>::value) {
    std::visit(
        [&]<class A>(const A& alternative) {
          if constexpr (requires { A::kName; }) {
            out += '{';
            AppendJsonString(out, A::kName);
            out += ':';
            ToJson(out, alternative);
            out += '}';
          } else {
            ToJson(out, alternative);
          }
        },
        value);
  } else {
    static_assert(HasFields<T>, "needs FL_FIELDS");
    out += '{';
    bool first = true;
    T::VisitFields(value, [&](std::string_view name, const auto& field) {
      if (!first) out += ',';
      first = false;
      AppendJsonString(out, name);
      out += ':';
      ToJson(out, field);
    });
    out += '}';
  }
}

}  // namespace fairlead::base
