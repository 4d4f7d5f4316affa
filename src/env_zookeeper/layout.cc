#include "env_zookeeper/layout.h"

#include <array>
#include <charconv>

namespace fairlead::env_zookeeper {

namespace {

constexpr char kHex[] = "0123456789abcdef";

bool IsPlain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

void Escape(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (IsPlain(c)) {
      out += c;
    } else {
      const auto byte = static_cast<uint8_t>(c);
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

template <class Number>
std::optional<Number> ParseNumber(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::string> Unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (IsPlain(text[i])) {
      out += text[i];
      continue;
    }
    if (text[i] != '%' || i + 2 >= text.size()) return std::nullopt;
    const auto byte = ParseNumber<uint8_t>(text.substr(i + 1, 2), 16);
    if (!byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

std::string Hex(uint64_t number) {
  std::array<char, 16> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number, 16).ptr};
}

}  // namespace

std::string ToString(const RowName& name) {
  std::string out;
  Escape(name.table, out);
  out += ',';
  Escape(name.key, out);
  out += ',' + Hex(name.version);
  if (name.part) out += ',' + std::to_string(*name.part);
  return out;
}

std::optional<RowName> ParseRowName(std::string_view name) {
  std::array<std::string_view, 4> fields;
  size_t count = 0;
  for (size_t from = 0; from <= name.size();) {
    if (count == fields.size()) return std::nullopt;
    const size_t comma = std::min(name.find(',', from), name.size());
    fields[count++] = name.substr(from, comma - from);
    from = comma + 1;
  }
  if (count < 3) return std::nullopt;
  const auto table = Unescape(fields[0]);
  const auto key = Unescape(fields[1]);
  const auto version = ParseNumber<uint64_t>(fields[2], 16);
  if (!table || !key || !version) return std::nullopt;
  RowName out{*table, *key, *version, std::nullopt};
  if (count == 4) {
    out.part = ParseNumber<uint32_t>(fields[3], 10);
    if (!out.part) return std::nullopt;
  }
  if (ToString(out) != name) return std::nullopt;  // one name a row
  return out;
}

std::string InlineValue(std::string_view value) { return "v" + std::string(value); }

std::string PartedValue(uint32_t parts) { return "p" + std::to_string(parts); }

std::optional<uint32_t> PartsOf(std::string_view node) {
  if (node.starts_with("v")) return 0;
  if (!node.starts_with("p")) return std::nullopt;
  const auto parts = ParseNumber<uint32_t>(node.substr(1), 10);
  return parts == 0u ? std::nullopt : parts;
}

}  // namespace fairlead::env_zookeeper
