#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "base/fields.h"
#include "engine/records/fields.h"
#include "engine/records/text.h"

// Records as rows: the columns of CSV files, the members of JSON objects.

namespace fairlead::engine {

namespace rows_internal {

template <class T>
inline constexpr bool kText = std::is_convertible_v<const T&, std::string_view>;
template <class T>
inline constexpr bool kOptional = requires(const T& value) {
  value.has_value();
  *value;
};
template <class T>
inline constexpr bool kPair = requires { typename T::first_type; };
template <class T>
inline constexpr bool kTuple = requires { std::tuple_size<T>::value; };
template <class T>
inline constexpr bool kList = !kText<T> && requires(const T& value) { value.begin(); };

}  // namespace rows_internal

/// Calls `visit(field)` for each column of a record in order: the fields of an aggregate, a pair or a tuple. Any other
/// record is one column.
template <class T, class Visit>
void VisitColumns(T& record, Visit&& visit) {
  using Record = std::remove_const_t<T>;
  if constexpr (rows_internal::kText<Record> || std::is_arithmetic_v<Record> || std::is_enum_v<Record> ||
                rows_internal::kOptional<Record> || rows_internal::kList<Record>) {
    visit(record);
  } else if constexpr (rows_internal::kPair<Record>) {
    visit(record.first);
    visit(record.second);
  } else if constexpr (rows_internal::kTuple<Record>) {
    std::apply([&](auto&... field) { (visit(field), ...); }, record);
  } else {
    VisitEachField(record, visit);
  }
}

template <class T>
size_t CountColumns() {
  T probe{};
  size_t count = 0;
  VisitColumns(probe, [&count](const auto&) { ++count; });
  return count;
}

/// The names of the columns where the record's class says them (FL_FIELDS); else none.
template <class T>
std::vector<std::string> ColumnNames() {
  std::vector<std::string> names;
  if constexpr (base::HasFields<T>) {
    T probe{};
    T::VisitFields(probe, [&names](std::string_view name, const auto&) { names.emplace_back(name); });
  }
  return names;
}

/// As AppendText, in quotes where a reader needs them (RFC 4180).
template <class T>
void AppendCsvField(std::string& out, const T& value, char separator) {
  const size_t begin = out.size();
  AppendText(out, value);
  const std::string_view text = std::string_view(out).substr(begin);
  const bool plain =
      text.find_first_of("\"\r\n") == std::string_view::npos && text.find(separator) == std::string_view::npos;
  if (plain) return;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  out.replace(begin, std::string::npos, quoted + "\"");
}

/// A value as JSON: strings, numbers (null for those that JSON has not), booleans, null for an absent optional; lists,
/// pairs and tuples are arrays, aggregates objects where FL_FIELDS names their fields and arrays elsewhere.
template <class T>
void AppendJsonValue(std::string& out, const T& value) {
  if constexpr (rows_internal::kText<T>) {
    base::AppendJsonString(out, std::string_view(value));
  } else if constexpr (std::is_floating_point_v<T>) {
    std::isfinite(value) ? AppendText(out, value) : void(out.append("null"));
  } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
    AppendText(out, value);
  } else if constexpr (rows_internal::kOptional<T>) {
    value.has_value() ? AppendJsonValue(out, *value) : void(out.append("null"));
  } else {
    char before = '[';
    [[maybe_unused]] const auto item = [&](const auto& one) {
      out.push_back(std::exchange(before, ','));
      AppendJsonValue(out, one);
    };
    if constexpr (rows_internal::kList<T>) {
      for (const auto& one : value) item(one);
    } else if constexpr (base::HasFields<T>) {
      before = '{';
      T::VisitFields(value, [&](std::string_view name, const auto& field) {
        out.push_back(std::exchange(before, ','));
        base::AppendJsonString(out, name);
        out.push_back(':');
        AppendJsonValue(out, field);
      });
    } else {
      VisitColumns(value, item);
    }
    constexpr bool kObject = base::HasFields<T> && !rows_internal::kList<T>;
    if (before != ',') out.push_back(kObject ? '{' : '[');
    out.push_back(kObject ? '}' : ']');
  }
}

/// A member of a JSON object: not there or null, a string (its contents), or anything else (as JSON).
struct JsonField {
  enum class Kind : uint8_t { kAbsent, kString, kOther };
  Kind kind = Kind::kAbsent;
  std::string_view text;
};

/// False where it is no such value: a number is not read from a string, nor a whole number from a fraction. A string
/// takes what is no string as its JSON.
template <class T>
bool ParseJsonField(const JsonField& field, T& value) {
  if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string>) {
    value = field.text;
    return field.kind != JsonField::Kind::kAbsent;
  } else if constexpr (std::is_same_v<T, bool>) {
    value = field.text == "true";
    return field.kind == JsonField::Kind::kOther && (value || field.text == "false");
  } else if constexpr (std::is_arithmetic_v<T>) {
    return field.kind == JsonField::Kind::kOther && ParseField(field.text, value);
  } else {
    static_assert(
        std::is_same_v<T, std::optional<typename T::value_type>>,
        "a member of a JSON line is a number, bool, string, std::string_view or std::optional of one of them");
    if (field.kind == JsonField::Kind::kAbsent) {
      value.reset();
      return true;
    }
    return ParseJsonField(field, value.emplace());
  }
}

}  // namespace fairlead::engine
