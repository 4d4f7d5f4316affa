#include "sim/traces/json.h"

#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>

namespace fairlead::sim {
namespace {

constexpr size_t kDepth = 64;
constexpr size_t kValues = 20'000'000;

/// Where reading stands; shared by all copies of the iterator that the parser makes.
struct Cursor {
  const char* at;
  const char* end;
  int line;
};

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;
  explicit CountingIterator(Cursor* cursor) : cursor_(cursor) {}
  reference operator*() const { return *cursor_->at; }
  CountingIterator& operator++() {
    if (*cursor_->at++ == '\n') ++cursor_->line;
    return *this;
  }
  CountingIterator operator++(int) { return ++*this; }
  friend bool operator==(const CountingIterator& a, const CountingIterator& b) { return a.AtEnd() == b.AtEnd(); }
  friend bool operator!=(const CountingIterator& a, const CountingIterator& b) { return !(a == b); }

 private:
  bool AtEnd() const { return cursor_ == nullptr || cursor_->at == cursor_->end; }
  Cursor* cursor_;
};

/// Builds the tree from the parser's calls.
class Builder {
 public:
  explicit Builder(const Cursor& cursor) : cursor_(cursor) {}

  bool null() { return Add({}); }
  bool boolean(bool value) { return Number(JsonValue::Kind::kBool, value ? 1 : 0); }
  bool number_integer(int64_t value) { return Number(JsonValue::Kind::kNumber, static_cast<double>(value)); }
  bool number_unsigned(uint64_t value) { return Number(JsonValue::Kind::kNumber, static_cast<double>(value)); }
  bool number_float(double value, const std::string&) { return Number(JsonValue::Kind::kNumber, value); }
  bool string(std::string& value) {
    JsonValue text;
    text.kind = JsonValue::Kind::kText;
    text.text = std::move(value);
    return Add(std::move(text));
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(size_t) { return Open(JsonValue::Kind::kObject); }
  bool end_object() { return Close(); }
  bool start_array(size_t) { return Open(JsonValue::Kind::kArray); }
  bool end_array() { return Close(); }
  bool key(std::string& name) {
    open_.back().names.push_back(std::move(name));
    return true;
  }
  bool parse_error(size_t, const std::string&, const nlohmann::json::exception& error) {
    const std::string text = error.what();
    const size_t at = text.find("syntax error");
    error_ = at == std::string::npos ? "malformed JSON" : text.substr(at);
    return false;
  }

  JsonValue& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  bool Number(JsonValue::Kind kind, double value) {
    JsonValue number;
    number.kind = kind;
    number.number = value;
    return Add(std::move(number));
  }
  bool Add(JsonValue value) {
    if (++values_ > kValues) {
      error_ = "one JSON document with more than " + std::to_string(kValues) + " values; split it";
      return false;
    }
    if (value.line == 0) value.line = cursor_.line;
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }
  bool Open(JsonValue::Kind kind) {
    if (open_.size() == kDepth) {
      error_ = "JSON nested deeper than " + std::to_string(kDepth);
      return false;
    }
    open_.emplace_back();
    open_.back().kind = kind;
    open_.back().line = cursor_.line;
    return true;
  }
  bool Close() {
    JsonValue value = std::move(open_.back());
    open_.pop_back();
    return Add(std::move(value));
  }

  const Cursor& cursor_;
  std::vector<JsonValue> open_;
  JsonValue root_;
  std::string error_;
  size_t values_ = 0;
};

}  // namespace

const JsonValue* JsonValue::Find(std::string_view name) const {
  if (kind != Kind::kObject) return nullptr;
  for (size_t i = names.size(); i > 0; --i) {
    if (names[i - 1] == name) return &items[i - 1];
  }
  return nullptr;
}

base::Result<std::optional<JsonValue>> JsonStream::Next() {
  while (!rest_.empty() && std::string_view(" \t\r\n").find(rest_[0]) != std::string_view::npos) {
    if (rest_[0] == '\n') ++line_;
    rest_.remove_prefix(1);
  }
  if (rest_.empty()) return std::optional<JsonValue>();
  if (rest_[0] != '{' && rest_[0] != '[') {
    return base::Error{file_ + ":" + std::to_string(line_) + ": expected a JSON object here"};
  }
  Cursor cursor{rest_.data(), rest_.data() + rest_.size(), line_};
  Builder builder(cursor);
  const bool good = nlohmann::json::sax_parse(CountingIterator(&cursor), CountingIterator(nullptr), &builder,
                                              nlohmann::json::input_format_t::json, /*strict=*/false);
  line_ = cursor.line;
  if (!good) return base::Error{file_ + ":" + std::to_string(line_) + ": " + builder.error()};
  rest_.remove_prefix(static_cast<size_t>(cursor.at - rest_.data()));
  return std::optional<JsonValue>(std::move(builder.root()));
}

JsonFields::JsonFields(const JsonValue& object, const std::string& file, std::string& error)
    : object_(object), file_(file), error_(error) {
  if (object.kind != JsonValue::Kind::kObject) Refuse(object.line, "expected an object {...}");
}

void JsonFields::Refuse(int line, const std::string& what) {
  if (error_.empty()) error_ = file_ + ":" + std::to_string(line) + ": " + what;
}

double JsonFields::Real(std::string_view name, double fallback, double low, double high) {
  const JsonValue* value = object_.Find(name);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return fallback;
  if (value->kind != JsonValue::Kind::kNumber || !(value->number >= low && value->number <= high)) {
    Refuse(value->line,
           std::string(name) + " must be a number from " + std::to_string(low) + " to " + std::to_string(high));
    return fallback;
  }
  return value->number;
}

int64_t JsonFields::Int(std::string_view name, int64_t fallback, int64_t low, int64_t high) {
  const JsonValue* value = object_.Find(name);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return fallback;
  const double number = value->number;
  const bool whole = value->kind == JsonValue::Kind::kNumber && std::floor(number) == number;
  if (!whole || !(number >= static_cast<double>(low) && number <= static_cast<double>(high))) {
    Refuse(value->line,
           std::string(name) + " must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return fallback;
  }
  return static_cast<int64_t>(number);
}

int64_t JsonFields::Needed(std::string_view name, int64_t low, int64_t high) {
  if (!Has(name)) Refuse(object_.line, "\"" + std::string(name) + "\" is missing");
  return Int(name, low, low, high);
}

std::string JsonFields::Text(std::string_view name, const std::string& fallback) {
  const JsonValue* value = object_.Find(name);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return fallback;
  if (value->kind == JsonValue::Kind::kText) return value->text;
  // Ids are written with and without quotes.
  if (value->kind == JsonValue::Kind::kNumber)
    return std::to_string(std::llround(std::clamp(value->number, -9e15, 9e15)));
  Refuse(value->line, std::string(name) + " must be a text");
  return fallback;
}

const std::vector<JsonValue>& JsonFields::Items(std::string_view name) {
  static const std::vector<JsonValue> kNone;
  const JsonValue* value = object_.Find(name);
  if (value == nullptr || value->kind == JsonValue::Kind::kNull) return kNone;
  if (value->kind != JsonValue::Kind::kArray) {
    Refuse(value->line, std::string(name) + " must be an array [...]");
    return kNone;
  }
  return value->items;
}

}  // namespace fairlead::sim
