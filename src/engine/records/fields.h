#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/fields.h"

// Fields of plain aggregates without macros: the number of fields is found by trying brace initialisation, the fields
// by structured bindings (the technique of Boost.PFR). Up to 12 fields; larger ones write FL_FIELDS.

namespace fairlead::engine {

/// Fields of an aggregate without FL_FIELDS.
inline constexpr size_t kFieldsMax = 12;

namespace fields_internal {

/// Converts to anything; never called.
struct AnyField {
  template <class T>
  operator T() const {
    __builtin_unreachable();
  }
};

template <class T, size_t... I>
constexpr bool BraceConstructible(std::index_sequence<I...>) {
  return requires { T{(static_cast<void>(I), AnyField{})...}; };
}

template <class T, size_t N>
constexpr size_t CountFields() {
  if constexpr (N == 0) {
    return 0;
  } else if constexpr (BraceConstructible<T>(std::make_index_sequence<N>{})) {
    return N;
  } else {
    return CountFields<T, N - 1>();
  }
}

template <class T>
auto TieFields(T& v) {
  constexpr size_t kCount = CountFields<std::remove_const_t<T>, kFieldsMax + 1>();
  static_assert(kCount <= kFieldsMax, "an aggregate of more than 12 fields needs FL_FIELDS(a, b, ...)");
  if constexpr (kCount == 0) {
    return std::tie();
  } else if constexpr (kCount == 1) {
    auto& [a] = v;
    return std::tie(a);
  } else if constexpr (kCount == 2) {
    auto& [a, b] = v;
    return std::tie(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = v;
    return std::tie(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = v;
    return std::tie(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = v;
    return std::tie(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = v;
    return std::tie(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = v;
    return std::tie(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = v;
    return std::tie(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = v;
    return std::tie(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = v;
    return std::tie(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = v;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = v;
    return std::tie(a, b, c, d, e, f, g, h, i, j, k, l);
  }
}

}  // namespace fields_internal

/// The types of fields, as a value.
template <class... F>
struct FieldTypes {};

/// Classes whose public fields can be visited without help.
template <class T>
concept PlainAggregate = std::is_class_v<T> && std::is_aggregate_v<T> && !base::HasFields<T>;

/// How many fields a plain aggregate has; kFieldsMax + 1 for more than those.
template <class T>
constexpr size_t CountFields() {
  return fields_internal::CountFields<T, kFieldsMax + 1>();
}

/// Calls `of(FieldTypes<A, B, ...>())` with the types of a plain aggregate's fields.
template <class T, class Of>
constexpr auto AllFields(Of of) {
  return []<class... F>(Of call, std::tuple<F&...>*) { return call(FieldTypes<F...>()); }(
             of, static_cast<decltype(fields_internal::TieFields(std::declval<T&>()))*>(nullptr));
}

/// Calls `visit(field)` for each field in order.
template <class T, class Visit>
void VisitEachField(T& value, Visit&& visit) {
  if constexpr (base::HasFields<std::remove_const_t<T>>) {
    std::remove_const_t<T>::VisitFields(value, [&](std::string_view, auto& field) { visit(field); });
  } else {
    std::apply([&](auto&... field) { (visit(field), ...); }, fields_internal::TieFields(value));
  }
}

}  // namespace fairlead::engine
