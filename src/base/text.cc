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

}  // namespace fairlead::base
