#include "wire/spark_transport/java_text.h"

#include <algorithm>
#include <cstdint>

namespace fairlead::wire::spark_transport {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

struct Unit {
  size_t bytes;
  bool good;
};

/// How many bytes a sequence with this first byte has; 0: none begins so.
size_t Announced(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2) return 0;
  if (lead < 0xE0) return 2;
  if (lead < 0xF0) return 3;
  return lead < 0xF5 ? 4 : 0;
}

bool MayBeSecond(uint8_t lead, uint8_t second) {
  if ((second & 0xC0) != 0x80) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  return lead != 0xF4 || second < 0x90;
}

/// What Java reads at once: a character, or what it replaces by one U+FFFD. `text` is not empty.
Unit Next(std::string_view text) {
  const auto at = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const size_t wanted = Announced(at(0));
  if (wanted <= 1) return {1, wanted == 1};
  for (size_t i = 1; i < wanted; ++i) {
    if (i == text.size() || (i == 1 ? !MayBeSecond(at(0), at(1)) : (at(i) & 0xC0) != 0x80)) return {i, false};
  }
  const bool surrogate = at(0) == 0xED && at(1) >= 0xA0;
  return {wanted, !surrogate};
}

}  // namespace

std::string JavaText(std::string_view bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; })) {
    return std::string(bytes);
  }
  std::string out;
  while (!bytes.empty()) {
    const Unit unit = Next(bytes);
    out.append(unit.good ? bytes.substr(0, unit.bytes) : kReplacement);
    bytes.remove_prefix(unit.bytes);
  }
  return out;
}

}  // namespace fairlead::wire::spark_transport
