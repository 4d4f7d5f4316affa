#pragma once

#include <string_view>

#include "base/fields.h"

// FL_DESCRIBED("Name", (field, "what it is"), ...) inside a struct: FL_FIELDS, a name and a sentence for each field. Of
// such a struct base/described_json.h makes JSON, in which an absent optional is left out, and a schema. The struct is
// then the one place that says what a document holds.
//
// FL_DESCRIBED_BEYOND(Base, "Name", ...): the same of a struct that is derived from Base, with the fields of Base
// first. A name that C++ keeps for itself gets a _ behind it, which the document does not have: for_.

#define FL_INTERNAL_VISIT_DESCRIBED(pair) FL_INTERNAL_VISIT_DESCRIBED_OF pair
#define FL_INTERNAL_VISIT_DESCRIBED_OF(field, meaning) visitor(::fairlead::base::JsonName(#field), self.field);
#define FL_INTERNAL_VISIT_MEANING(pair) FL_INTERNAL_VISIT_MEANING_OF pair
#define FL_INTERNAL_VISIT_MEANING_OF(field, meaning) \
  visitor(::fairlead::base::JsonName(#field), std::string_view(meaning), self.field);

#define FL_DESCRIBED(name, ...)                                    \
  static constexpr std::string_view kDescribedAs = name;           \
  template <class Self, class Visitor>                             \
  static void VisitFields(Self&& self, Visitor&& visitor) {        \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_DESCRIBED, __VA_ARGS__) \
  }                                                                \
  template <class Self, class Visitor>                             \
  static void VisitMeanings(const Self& self, Visitor&& visitor) { \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_MEANING, __VA_ARGS__)   \
  }
#define FL_DESCRIBED_BEYOND(base, name, ...)                       \
  static constexpr std::string_view kDescribedAs = name;           \
  template <class Self, class Visitor>                             \
  static void VisitFields(Self&& self, Visitor&& visitor) {        \
    base::VisitFields(self, visitor);                              \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_DESCRIBED, __VA_ARGS__) \
  }                                                                \
  template <class Self, class Visitor>                             \
  static void VisitMeanings(const Self& self, Visitor&& visitor) { \
    base::VisitMeanings(self, visitor);                            \
    FL_INTERNAL_FOR_EACH(FL_INTERNAL_VISIT_MEANING, __VA_ARGS__)   \
  }

namespace fairlead::base {

constexpr std::string_view JsonName(std::string_view field) {
  return field.ends_with('_') ? field.substr(0, field.size() - 1) : field;
}

/// True for structs with FL_DESCRIBED.
template <class T>
concept Described = HasFields<T> && requires { T::kDescribedAs; };

}  // namespace fairlead::base
