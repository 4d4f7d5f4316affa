#include "base/text.h"

#include <cstdint>
#include <cstdio>

namespace fairlead::base {
namespace {

uint32_t CodePoint(std::string_view sequence) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  uint32_t out = byte(0) & (0x7Fu >> sequence.size());
  for (size_t i = 1; i < sequence.size(); ++i) out = out << 6 | (byte(i) & 0x3F);
  return out;
}

void AppendEscape(std::string& out, uint32_t code) {
  if (code == '\n') {
    out += "\\n";
  } else if (code == '\t') {
    out += "\\t";
  } else {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "\\u%04x", static_cast<unsigned>(code));
    out += buffer;
  }
}

}  // namespace

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t length = byte(0) >= 0xC2 && byte(0) <= 0xDF   ? 2
                        : byte(0) >= 0xE0 && byte(0) <= 0xEF ? 3
                        : byte(0) >= 0xF0 && byte(0) <= 0xF4 ? 4
                                                             : 0;
  if (length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool outside = (byte(0) == 0xED && byte(1) > 0x9F) || (byte(0) == 0xF4 && byte(1) > 0x8F);
  return overlong || outside ? 0 : length;
}

bool IsControl(std::string_view sequence) {
  const uint32_t code = CodePoint(sequence);
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C ||  // Arabic letter mark
         (code >= 0x200E && code <= 0x200F) || (code >= 0x2028 && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || code == 0xFEFF;
}

std::string VisibleText(std::string_view text, Lines lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const bool kept = lines == Lines::kKept && (text[0] == '\n' || text[0] == '\t');
    if (length == 0) {
      AppendEscape(out, static_cast<unsigned char>(text[0]));
    } else if (IsControl(sequence) && !kept) {
      AppendEscape(out, CodePoint(sequence));
    } else {
      out += sequence;
    }
    text.remove_prefix(sequence.size());
  }
  return out;
}

std::string Counted(int64_t count, std::string_view word) {
  std::string out = std::to_string(count) + " ";
  out += word;
  if (count != 1) out += 's';
  return out;
}

std::string_view Trimmed(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::vector<std::string> SplitTrimmed(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (const std::string_view part : Split(text, at)) {
    if (!Trimmed(part).empty()) parts.emplace_back(Trimmed(part));
  }
  return parts;
}

std::string Joined(std::span<const std::string> parts, std::string_view between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += between;
    text += parts[i];
  }
  return text;
}

std::string Lowered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string Uppered(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    out += kDigits[byte >> 4];
    out += kDigits[byte & 15];
  }
  return out;
}

}  // namespace fairlead::base
