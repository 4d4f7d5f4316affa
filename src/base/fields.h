#pragma once

#include <string_view>
#include <type_traits>

// One field list per struct. FL_FIELDS(a, b, c) inside a struct gives it
//   static void VisitFields(self, visitor)      calls visitor("a", self.a), ...
// from which base/codec.h makes the journal encoding, the state hash and JSON. Indices of variants and fields are only
// ever appended.

#define FL_INTERNAL_PARENS ()
#define FL_INTERNAL_EXPAND(...) FL_INTERNAL_EXPAND3(FL_INTERNAL_EXPAND3(FL_INTERNAL_EXPAND3(__VA_ARGS__)))
#define FL_INTERNAL_EXPAND3(...) FL_INTERNAL_EXPAND2(FL_INTERNAL_EXPAND2(FL_INTERNAL_EXPAND2(__VA_ARGS__)))
#define FL_INTERNAL_EXPAND2(...) FL_INTERNAL_EXPAND1(FL_INTERNAL_EXPAND1(FL_INTERNAL_EXPAND1(__VA_ARGS__)))
#define FL_INTERNAL_EXPAND1(...) FL_INTERNAL_EXPAND0(FL_INTERNAL_EXPAND0(FL_INTERNAL_EXPAND0(__VA_ARGS__)))
#define FL_INTERNAL_EXPAND0(...) __VA_ARGS__
/// m(x) for each x: a macro cannot call itself, but what it leaves behind is read again as often as EXPAND says.
#define FL_INTERNAL_FOR_EACH(m, ...) __VA_OPT__(FL_INTERNAL_EXPAND(FL_INTERNAL_EACH(m, __VA_ARGS__)))
#define FL_INTERNAL_EACH(m, x, ...) m(x) __VA_OPT__(FL_INTERNAL_AGAIN FL_INTERNAL_PARENS(m, __VA_ARGS__))
#define FL_INTERNAL_AGAIN() FL_INTERNAL_EACH
#define FL_INTERNAL_VISIT_FIELD(field) visitor(std::string_view(#field), self.field);

/// Up to 80 fields. Structs without fields write FL_NO_FIELDS().
#define FL_FIELDS(...)                                         \
  template <class Self, class Visitor>                         \
  static void VisitFields(Self&& self, Visitor&& visitor) {    \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_FIELD, __VA_ARGS__) \
  }
#define FL_NO_FIELDS()                 \
  template <class Self, class Visitor> \
  static void VisitFields(Self&&, Visitor&&) {}

namespace fairlead::base {

struct FieldProbe {
  template <class T>
  void operator()(std::string_view, T&&) const {}
};

/// True for structs with an FL_FIELDS list.
template <class T>
concept HasFields = requires(T& value) { T::VisitFields(value, FieldProbe{}); };

}  // namespace fairlead::base
