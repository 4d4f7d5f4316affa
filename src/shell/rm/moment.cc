#include "shell/rm/moment.h"

#include <charconv>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string_view>

namespace fairlead::shell {
namespace {

constexpr int64_t kLongestMs = int64_t{1000} * 366 * 86'400'000;

/// Of `digits` digits at the beginning of `text`, which it takes off.
std::optional<int> Take(std::string_view& text, size_t digits) {
  int value = 0;
  if (text.size() < digits) return {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value);
  if (error != std::errc() || end != text.data() + digits || value < 0) return {};
  text.remove_prefix(digits);
  return value;
}

bool TakeSign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

/// "03:10", "03:10:05" into the day of `out`.
bool TakeClock(std::string_view& text, std::tm& out) {
  const auto hour = Take(text, 2);
  if (!hour || *hour > 23 || !TakeSign(text, ':')) return false;
  const auto minute = Take(text, 2);
  if (!minute || *minute > 59) return false;
  out.tm_hour = *hour;
  out.tm_min = *minute;
  out.tm_sec = 0;
  if (!TakeSign(text, ':')) return true;
  const auto second = Take(text, 2);
  if (!second || *second > 60) return false;
  out.tm_sec = *second;
  return true;
}

std::optional<base::WallTime> Clock(std::string_view text, base::WallTime end) {
  const std::time_t seconds = end.ms / 1000;
  std::tm day{};
  if (::localtime_r(&seconds, &day) == nullptr || !TakeClock(text, day) || !text.empty()) return {};
  day.tm_isdst = -1;
  std::tm before = day;  // mktime changes what it is given
  base::WallTime found{int64_t{std::mktime(&day)} * 1000};
  if (found <= end) return found;
  --before.tm_mday;
  return base::WallTime{int64_t{std::mktime(&before)} * 1000};
}

std::optional<base::WallTime> Date(std::string_view text) {
  std::tm day{};
  const auto year = Take(text, 4);
  if (!year || !TakeSign(text, '-')) return {};
  const auto month = Take(text, 2);
  if (!month || *month < 1 || *month > 12 || !TakeSign(text, '-')) return {};
  const auto date = Take(text, 2);
  if (!date || *date < 1 || *date > 31) return {};
  day.tm_year = *year - 1900;
  day.tm_mon = *month - 1;
  day.tm_mday = *date;
  day.tm_isdst = -1;
  if (!text.empty() && ((!TakeSign(text, 'T') && !TakeSign(text, ' ')) || !TakeClock(text, day))) return {};
  const bool utc = TakeSign(text, 'Z');
  const std::tm asked = day;
  const std::time_t seconds = utc ? ::timegm(&day) : std::mktime(&day);
  if (!text.empty() || day.tm_mday != asked.tm_mday) return {};  // of a day that the month does not have
  return base::WallTime{int64_t{seconds} * 1000};
}

std::optional<base::WallTime> Before(std::string_view text, base::WallTime end) {
  if (text.empty()) return {};
  int64_t back = 0;
  while (!text.empty()) {
    int64_t count = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    if (error != std::errc() || count < 0 || count > kLongestMs / 86'400'000 * 86'400 || text.empty()) return {};
    const int64_t unit = text[0] == 's'   ? 1000
                         : text[0] == 'm' ? 60'000
                         : text[0] == 'h' ? 3'600'000
                         : text[0] == 'd' ? 86'400'000
                                          : 0;
    if (unit == 0 || count > (kLongestMs - back) / unit) return {};
    back += count * unit;
    text.remove_prefix(1);
  }
  return base::WallTime{end.ms - back};
}

std::optional<base::WallTime> Epoch(std::string_view text) {
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (error != std::errc() || end != text.data() + text.size() || ms < 0 || ms > kLongestMs) return {};
  return base::WallTime{ms};
}

}  // namespace

base::Result<base::WallTime> ParseMoment(const std::string& text, base::WallTime end) {
  const std::string_view all = text;
  std::optional<base::WallTime> found = all.starts_with('-') ? Before(all.substr(1), end) : Date(all);
  if (!found) found = Clock(all, end);
  if (!found) found = Epoch(all);
  if (found) return *found;
  return base::Error{"'" + text +
                     "' is no moment; write 2026-11-25T03:10 (with Z: UTC), 03:10, -2h (before the last moment that is "
                     "kept), or milliseconds since 1970"};
}

}  // namespace fairlead::shell
