#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/records/buffer.h"
#include "engine/records/fields.h"

// How records become bytes in shuffles, results, caches and captured state. Defaults exist for arithmetic types, enums,
// strings and string views, pairs, tuples, arrays, vectors, optionals and aggregates of such; a class of one's own
// specialises Serde. Both ends are the same binary on the same kind of machine, so numbers stay in memory order.

namespace fairlead::engine {

/// Write(out, v) appends the bytes of v; Read(in, v) takes them back, false on malformed input. kFixed: the size when
/// every value has the same, else 0. kHoldsViews: whether a value that was read may point into the bytes it was read
/// from, as a std::string_view does; what is kept of such a record is made to own its bytes (owned.h).
template <class T>
struct Serde;

template <class T>
concept Serializable = requires(Buffer& out, Cursor& in, const T& c, T& v) {
  requires Serde<T>::kFixed >= 0;
  requires Serde<T>::kHoldsViews || !Serde<T>::kHoldsViews;
  Serde<T>::Write(out, c);
  { Serde<T>::Read(in, v) } -> std::same_as<bool>;
};

template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
struct Serde<T> {
  static constexpr size_t kFixed = sizeof(T);
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const T& v) { out.Append(&v, sizeof(T)); }
  static bool Read(Cursor& in, T& v) { return in.Take(&v, sizeof(T)); }
};

template <>
struct Serde<std::string_view> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = true;
  static void Write(Buffer& out, std::string_view v) {
    char* p = out.Room(v.size() + 10);
    size_t n = 0;
    uint64_t length = v.size();
    while (length >= 0x80) {
      p[n++] = static_cast<char>(length | 0x80);
      length >>= 7;
    }
    p[n++] = static_cast<char>(length);
    if (!v.empty()) std::memcpy(p + n, v.data(), v.size());
    out.Advance(n + v.size());
  }
  static bool Read(Cursor& in, std::string_view& v) {
    uint64_t n = 0;
    return in.Varint(n) && in.TakeView(n, v);
  }
};

template <>
struct Serde<std::string> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const std::string& v) { Serde<std::string_view>::Write(out, v); }
  static bool Read(Cursor& in, std::string& v) {
    std::string_view view;
    if (!Serde<std::string_view>::Read(in, view)) return false;
    v.assign(view);
    return true;
  }
};

template <class A, class B>
  requires(Serializable<A> && Serializable<B>)
struct Serde<std::pair<A, B>> {
  static constexpr size_t kFixed = Serde<A>::kFixed && Serde<B>::kFixed ? Serde<A>::kFixed + Serde<B>::kFixed : 0;
  static constexpr bool kHoldsViews = Serde<A>::kHoldsViews || Serde<B>::kHoldsViews;
  static void Write(Buffer& out, const std::pair<A, B>& v) {
    Serde<A>::Write(out, v.first);
    Serde<B>::Write(out, v.second);
  }
  static bool Read(Cursor& in, std::pair<A, B>& v) {
    return Serde<A>::Read(in, v.first) && Serde<B>::Read(in, v.second);
  }
};

template <class... T>
  requires(Serializable<T> && ...)
struct Serde<std::tuple<T...>> {
  static constexpr size_t kFixed = ((Serde<T>::kFixed != 0) && ...) ? (Serde<T>::kFixed + ... + 0) : 0;
  static constexpr bool kHoldsViews = (Serde<T>::kHoldsViews || ...);
  static void Write(Buffer& out, const std::tuple<T...>& v) {
    std::apply([&](const T&... field) { (Serde<T>::Write(out, field), ...); }, v);
  }
  static bool Read(Cursor& in, std::tuple<T...>& v) {
    return std::apply([&](T&... field) { return (Serde<T>::Read(in, field) && ...); }, v);
  }
};

template <class T, size_t N>
  requires Serializable<T>
struct Serde<std::array<T, N>> {
  static constexpr size_t kFixed = Serde<T>::kFixed * N;
  static constexpr bool kHoldsViews = Serde<T>::kHoldsViews;
  static void Write(Buffer& out, const std::array<T, N>& v) {
    for (const T& item : v) Serde<T>::Write(out, item);
  }
  static bool Read(Cursor& in, std::array<T, N>& v) {
    for (T& item : v) {
      if (!Serde<T>::Read(in, item)) return false;
    }
    return true;
  }
};

template <class T>
  requires Serializable<T>
struct Serde<std::vector<T>> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = Serde<T>::kHoldsViews;
  static void Write(Buffer& out, const std::vector<T>& v) {
    PutVarint(out, v.size());
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      out.Append(v.data(), v.size() * sizeof(T));
    } else {
      for (const auto& item : v) Serde<T>::Write(out, item);
    }
  }
  static bool Read(Cursor& in, std::vector<T>& v) {
    uint64_t n = 0;
    v.clear();
    if (!in.Varint(n)) return false;
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      if (n > in.remaining() / sizeof(T)) return in.Fail();
      v.resize(n);
      return in.Take(v.data(), n * sizeof(T));
    } else {
      for (uint64_t i = 0; i < n; ++i) {
        T item{};
        if (in.done() && Serde<T>::kFixed != 0) return in.Fail();
        if (!Serde<T>::Read(in, item)) return false;
        v.push_back(std::move(item));
      }
      return true;
    }
  }
};

template <class T>
  requires Serializable<T>
struct Serde<std::optional<T>> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = Serde<T>::kHoldsViews;
  static void Write(Buffer& out, const std::optional<T>& v) {
    Serde<bool>::Write(out, v.has_value());
    if (v) Serde<T>::Write(out, *v);
  }
  static bool Read(Cursor& in, std::optional<T>& v) {
    uint8_t has = 0;
    if (!Serde<uint8_t>::Read(in, has)) return false;
    v.reset();
    return has == 0 || Serde<T>::Read(in, v.emplace());
  }
};

namespace serde_internal {
/// Whether what a class holds can be written, found out without an error where it cannot.
template <class T>
constexpr bool FieldsSerializable() {
  if constexpr (base::HasFields<T>) {
    return true;
  } else if constexpr (PlainAggregate<T> && CountFields<T>() <= kFieldsMax) {
    return AllFields<T>([]<class... F>(FieldTypes<F...>) { return (Serializable<F> && ...); });
  } else {
    return false;
  }
}
}  // namespace serde_internal

template <class T>
  requires(serde_internal::FieldsSerializable<T>())
struct Serde<T> {
  static constexpr size_t kFixed = [] {
    if constexpr (base::HasFields<T>) {
      return size_t{0};
    } else {
      return AllFields<T>([]<class... F>(FieldTypes<F...>) {
        return ((Serde<F>::kFixed != 0) && ...) ? (Serde<F>::kFixed + ... + size_t{0}) : size_t{0};
      });
    }
  }();
  /// Fields that only FL_FIELDS names are not known here: they may be views.
  static constexpr bool kHoldsViews = [] {
    if constexpr (base::HasFields<T>) {
      return true;
    } else {
      return AllFields<T>([]<class... F>(FieldTypes<F...>) { return (Serde<F>::kHoldsViews || ...); });
    }
  }();
  static void Write(Buffer& out, const T& v) {
    VisitEachField(v, [&]<class F>(const F& field) { Serde<F>::Write(out, field); });
  }
  static bool Read(Cursor& in, T& v) {
    bool ok = true;
    VisitEachField(v, [&]<class F>(F& field) { ok = ok && Serde<F>::Read(in, field); });
    return ok;
  }
};

/// Functions without state.
template <class T>
  requires(std::is_class_v<T> && std::is_empty_v<T> && std::is_default_constructible_v<T> && !PlainAggregate<T> &&
           !base::HasFields<T>)
struct Serde<T> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer&, const T&) {}
  static bool Read(Cursor&, T&) { return true; }
};

/// The bytes of one value.
template <class T>
std::string ToBytes(const T& value) {
  Buffer out;
  Serde<T>::Write(out, value);
  return std::string(out.view());
}

/// True when `bytes` held exactly one value.
template <class T>
bool FromBytes(std::string_view bytes, T& value) {
  Cursor in(bytes);
  return Serde<T>::Read(in, value) && in.done();
}

}  // namespace fairlead::engine
