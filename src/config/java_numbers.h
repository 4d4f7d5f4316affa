#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

// Numbers in texts as java.lang reads them: Integer.parseInt, Long.parseLong, Float.parseFloat, Double.parseDouble, and
// org.apache.hadoop.conf.Configuration on top of them.

namespace fairlead::config::java {

/// Integer.parseInt, Long.parseLong: nothing for what throws NumberFormatException.
template <class T>
std::optional<T> ParseInteger(std::string_view text, int base = 10) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Configuration.getInt, getLong: trimmed; hexadecimal after "0x".
template <class T>
std::optional<T> ConfiguredInteger(std::string_view text) {
  text = base::Trimmed(text);
  bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  if (!digits.starts_with("0x") && !digits.starts_with("0X")) return ParseInteger<T>(text);
  const std::string hex = (negative ? "-" : "") + std::string(digits.substr(2));
  return ParseInteger<T>(hex, 16);
}

/// Float.parseFloat, Double.parseDouble: white space around it and a suffix f or d are read over.
template <class T>
std::optional<T> ParseReal(std::string_view text) {
  text = base::Trimmed(text);
  if (!text.empty() && std::string_view("fFdD").find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  if (text.empty() || (text.front() != '-' && text.front() != '.' && (text.front() < '0' || text.front() > '9'))) {
    return std::nullopt;  // "inf" and "nan" are not Java's words for them
  }
  T value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What Integer.parseInt and Long.parseLong say of a text that is no number.
inline std::string NoInteger(std::string_view text) { return "For input string: \"" + std::string(text) + "\""; }
/// What Float.parseFloat and Double.parseDouble say of one.
inline std::string NoReal(std::string_view text) {
  text = base::Trimmed(text);
  if (text.empty()) return "empty String";
  const std::string_view unsigned_text = text.substr(text.find_first_of("+-") == 0 ? 1 : 0);
  const size_t end = std::min(unsigned_text.find_first_not_of("0123456789."), unsigned_text.size());
  const std::string_view digits = unsigned_text.substr(0, end);
  return digits.find('.') != digits.rfind('.') ? "multiple points" : NoInteger(text);
}

}  // namespace fairlead::config::java
