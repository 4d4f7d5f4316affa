#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::sim {

/// A JSON value that knows the line it stands on, so that a trace's mistake can be named by its place.
struct JsonValue {
  enum class Kind : uint8_t { kNull, kBool, kNumber, kText, kArray, kObject };
  Kind kind = Kind::kNull;
  int line = 0;
  double number = 0;  // of kBool: 0 or 1
  std::string text;
  std::vector<std::string> names;  // of kObject, beside `items`
  std::vector<JsonValue> items;

  /// The member of that name (the last of equal ones), or nullptr; nullptr of anything but an object.
  const JsonValue* Find(std::string_view name) const;
};

/// Several JSON values in one text, one after the other, as SLS and Rumen files are written.
class JsonStream {
 public:
  /// `text` outlives the stream; `file` is for messages.
  JsonStream(std::string_view text, std::string file) : rest_(text), file_(std::move(file)) {}

  /// The next value, an object or an array; nullopt at the end. Refused with "FILE:LINE: what" are malformed JSON,
  /// values nested deeper than 64 and documents of more than 20 million values. O(size).
  base::Result<std::optional<JsonValue>> Next();

 private:
  std::string_view rest_;
  std::string file_;
  int line_ = 1;
};

/// Takes members of one object by name and kind; the first mistake stays in `error` as "FILE:LINE: what".
class JsonFields {
 public:
  JsonFields(const JsonValue& object, const std::string& file, std::string& error);

  const JsonValue* Find(std::string_view name) const { return object_.Find(name); }
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  /// A whole number within [low, high]; `fallback` when it is not there or null.
  int64_t Int(std::string_view name, int64_t fallback, int64_t low, int64_t high);
  /// As Int, but it has to be there.
  int64_t Needed(std::string_view name, int64_t low, int64_t high);
  double Real(std::string_view name, double fallback, double low, double high);
  std::string Text(std::string_view name, const std::string& fallback = "");
  /// The elements of an array; none when it is not there.
  const std::vector<JsonValue>& Items(std::string_view name);
  void Refuse(int line, const std::string& what);
  int line() const { return object_.line; }

 private:
  const JsonValue& object_;
  const std::string& file_;
  std::string& error_;
};

}  // namespace fairlead::sim
