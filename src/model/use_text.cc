#include "model/use_text.h"

#include <charconv>
#include <cstdint>

namespace fairlead::model {
namespace {

/// What is told, in this order.
struct Told {
  int64_t MeasuredUse::*amount;
  int64_t most;
};
constexpr Told kTold[] = {
    {&MeasuredUse::milli_cores, 1'000'000'000},
    {&MeasuredUse::physical_bytes, int64_t{1} << 50},
    {&MeasuredUse::disk_bytes, int64_t{1} << 50},
    {&MeasuredUse::network_bytes, int64_t{1} << 50},
    {&MeasuredUse::disk_busy, 1000},
};

}  // namespace

std::string ToText(const MeasuredUse& use) {
  std::string text;
  for (const Told& told : kTold) text += (text.empty() ? "" : " ") + std::to_string(use.*told.amount);
  return text;
}

MeasuredUse ParseUse(std::string_view text) {
  MeasuredUse use;
  const char* const end = text.data() + text.size();
  const char* at = text.data();
  for (const Told& told : kTold) {
    int64_t value = MeasuredUse::kUnknown;
    const auto [stopped, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return {};
    if (value >= 0 && value <= told.most) use.*told.amount = value;
    if (stopped == end) break;
    if (*stopped != ' ') return {};
    at = stopped + 1;
  }
  return use;
}

}  // namespace fairlead::model
