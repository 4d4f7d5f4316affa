#pragma once

#include <string_view>
#include <type_traits>

// One field list per struct. FL_FIELDS(a, b, c) inside a struct gives it
//   template <class V> static void ForEachField(V&& v)      calls v("a", &Self::a), ...
// from which base/codec.h makes the journal encoding, the state hash and JSON. Indices of variants and fields are only
// ever appended.

#define FL_INTERNAL_FE_0(m)
#define FL_INTERNAL_FE_1(m, x) m(x)
#define FL_INTERNAL_FE_2(m, x, ...) m(x) FL_INTERNAL_FE_1(m, __VA_ARGS__)
#define FL_INTERNAL_FE_3(m, x, ...) m(x) FL_INTERNAL_FE_2(m, __VA_ARGS__)
#define FL_INTERNAL_FE_4(m, x, ...) m(x) FL_INTERNAL_FE_3(m, __VA_ARGS__)
#define FL_INTERNAL_FE_5(m, x, ...) m(x) FL_INTERNAL_FE_4(m, __VA_ARGS__)
#define FL_INTERNAL_FE_6(m, x, ...) m(x) FL_INTERNAL_FE_5(m, __VA_ARGS__)
#define FL_INTERNAL_FE_7(m, x, ...) m(x) FL_INTERNAL_FE_6(m, __VA_ARGS__)
#define FL_INTERNAL_FE_8(m, x, ...) m(x) FL_INTERNAL_FE_7(m, __VA_ARGS__)
#define FL_INTERNAL_FE_9(m, x, ...) m(x) FL_INTERNAL_FE_8(m, __VA_ARGS__)
#define FL_INTERNAL_FE_10(m, x, ...) m(x) FL_INTERNAL_FE_9(m, __VA_ARGS__)
#define FL_INTERNAL_FE_11(m, x, ...) m(x) FL_INTERNAL_FE_10(m, __VA_ARGS__)
#define FL_INTERNAL_FE_12(m, x, ...) m(x) FL_INTERNAL_FE_11(m, __VA_ARGS__)
#define FL_INTERNAL_FE_13(m, x, ...) m(x) FL_INTERNAL_FE_12(m, __VA_ARGS__)
#define FL_INTERNAL_FE_14(m, x, ...) m(x) FL_INTERNAL_FE_13(m, __VA_ARGS__)
#define FL_INTERNAL_FE_15(m, x, ...) m(x) FL_INTERNAL_FE_14(m, __VA_ARGS__)
#define FL_INTERNAL_FE_16(m, x, ...) m(x) FL_INTERNAL_FE_15(m, __VA_ARGS__)
#define FL_INTERNAL_FE_17(m, x, ...) m(x) FL_INTERNAL_FE_16(m, __VA_ARGS__)
#define FL_INTERNAL_FE_18(m, x, ...) m(x) FL_INTERNAL_FE_17(m, __VA_ARGS__)
#define FL_INTERNAL_FE_19(m, x, ...) m(x) FL_INTERNAL_FE_18(m, __VA_ARGS__)
#define FL_INTERNAL_FE_20(m, x, ...) m(x) FL_INTERNAL_FE_19(m, __VA_ARGS__)
#define FL_INTERNAL_FE_21(m, x, ...) m(x) FL_INTERNAL_FE_20(m, __VA_ARGS__)
#define FL_INTERNAL_FE_22(m, x, ...) m(x) FL_INTERNAL_FE_21(m, __VA_ARGS__)
#define FL_INTERNAL_FE_23(m, x, ...) m(x) FL_INTERNAL_FE_22(m, __VA_ARGS__)
#define FL_INTERNAL_FE_24(m, x, ...) m(x) FL_INTERNAL_FE_23(m, __VA_ARGS__)
#define FL_INTERNAL_PICK(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18, _19, _20, \
                         _21, _22, _23, _24, name, ...)                                                             \
  name
#define FL_INTERNAL_FOR_EACH(m, ...)                                                                              \
  FL_INTERNAL_PICK(__VA_ARGS__, FL_INTERNAL_FE_24, FL_INTERNAL_FE_23, FL_INTERNAL_FE_22, FL_INTERNAL_FE_21,       \
                   FL_INTERNAL_FE_20, FL_INTERNAL_FE_19, FL_INTERNAL_FE_18, FL_INTERNAL_FE_17, FL_INTERNAL_FE_16, \
                   FL_INTERNAL_FE_15, FL_INTERNAL_FE_14, FL_INTERNAL_FE_13, FL_INTERNAL_FE_12, FL_INTERNAL_FE_11, \
                   FL_INTERNAL_FE_10, FL_INTERNAL_FE_9, FL_INTERNAL_FE_8, FL_INTERNAL_FE_7, FL_INTERNAL_FE_6,     \
                   FL_INTERNAL_FE_5, FL_INTERNAL_FE_4, FL_INTERNAL_FE_3, FL_INTERNAL_FE_2, FL_INTERNAL_FE_1)      \
  (m, __VA_ARGS__)
#define FL_INTERNAL_VISIT_FIELD(field) visitor(std::string_view(#field), self.field);

/// Up to 24 fields. Structs without fields write FL_NO_FIELDS().
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
