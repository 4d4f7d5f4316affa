#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/codec.h"
#include "base/described.h"

// What is made of described structs (base/described.h): JSON, and schemas of it.

namespace fairlead::base {

/// The shortest digits that read back as the same number; null where it is none.
void AppendShortest(std::string& out, double value);
void AppendShortest(std::string& out, float value);

/// Appends a described struct as JSON, without what is absent. What it holds: described structs, numbers, texts, lists
/// of these, and types that write themselves (AppendJson).
template <class T>
void WriteJson(std::string& out, const T& value) {
  if constexpr (requires { value.AppendJson(out); }) {
    value.AppendJson(out);
  } else if constexpr (Described<T>) {
    char before = '{';
    T::VisitFields(value, [&]<class F>(std::string_view name, const F& field) {
      if constexpr (IsOptional<F>::value) {
        if (!field) return;
      }
      out += before;
      before = ',';
      AppendJsonString(out, name);
      out += ':';
      WriteJson(out, field);
    });
    out += before == '{' ? "{}" : "}";
  } else if constexpr (IsOptional<T>::value) {
    WriteJson(out, *value);
  } else if constexpr (IsVector<T>::value) {
    char before = '[';
    for (const auto& item : value) {
      out += before;
      before = ',';
      WriteJson(out, item);
    }
    out += before == '[' ? "[]" : "]";
  } else if constexpr (std::is_floating_point_v<T>) {
    AppendShortest(out, value);
  } else {
    ToJson(out, value);
  }
}

/// Schemas for the JSON that WriteJson writes, as OpenAPI 3.0 and draft 7 of JSON Schema both read them.
class JsonSchemas {
 public:
  /// `place`: where Definitions() will stand, such as "#/definitions/". `closed`: a member that is not described is
  /// wrong.
  explicit JsonSchemas(std::string_view place, bool closed = false) : place_(place), closed_(closed) {}

  /// The schema of a T. A described struct is a reference, and a member of Definitions(); one with FL_FIELDS alone is
  /// told in its place, as ToJson writes it. A type that writes itself (AppendJson) says its own:
  /// `static std::string Schema(JsonSchemas&)`.
  template <class T>
  std::string Of() {
    if constexpr (std::is_same_v<T, bool>) {
      return R"({"type":"boolean"})";
    } else if constexpr (std::is_integral_v<T>) {
      return R"({"type":"integer"})";
    } else if constexpr (std::is_floating_point_v<T>) {
      return R"({"type":"number"})";
    } else if constexpr (std::is_same_v<T, std::string>) {
      return R"({"type":"string"})";
    } else if constexpr (IsOptional<T>::value) {
      return Of<typename T::value_type>();
    } else if constexpr (IsVector<T>::value) {
      return R"({"type":"array","items":)" + Of<typename T::value_type>() + "}";
    } else if constexpr (requires(JsonSchemas& self) { T::Schema(self); }) {
      return T::Schema(*this);
    } else if constexpr (IsMap<T>::value || IsArray<T>::value) {  // as ToJson writes them
      return R"({"type":"array"})";
    } else if constexpr (!Described<T>) {
      return Struct<T>();
    } else {
      if (!definitions_.contains(T::kDescribedAs)) {
        definitions_.emplace(T::kDescribedAs, "");  // known, for a struct that holds its like
        const std::string made = Struct<T>();
        definitions_.find(T::kDescribedAs)->second = made;
      }
      return R"({"$ref":")" + place_ + std::string(T::kDescribedAs) + "\"}";
    }
  }

  /// What is written is closed.
  bool closed() const { return closed_; }
  /// {"Name": schema, ...} of all structs that Of() has met.
  std::string Definitions() const;

 private:
  template <class T>
  std::string Struct() {
    Members members;
    if constexpr (Described<T>) {
      T::VisitMeanings(T{}, [&]<class F>(std::string_view name, std::string_view meaning, const F&) {
        members.Add(name, meaning, Of<F>(), !IsOptional<F>::value);
      });
    } else {
      T::VisitFields(T{}, [&]<class F>(std::string_view name, const F&) { members.Add(name, "", Of<F>(), true); });
    }
    return members.Schema(closed_);
  }

  /// The members of one object.
  class Members {
   public:
    void Add(std::string_view name, std::string_view meaning, const std::string& schema, bool always);
    std::string Schema(bool closed) const;

   private:
    std::string properties_;
    std::string required_;
  };

  std::string place_;
  bool closed_;
  std::map<std::string, std::string, std::less<>> definitions_;
};

}  // namespace fairlead::base
