#include "shell/base/log_allowance.h"

#include <algorithm>
#include <utility>

namespace fairlead::shell {

bool LogAllowance::Take(env::LogLevel level, std::string_view sentence, size_t bytes, base::Instant now,
                        int64_t& left_out) {
  constexpr int64_t kMillis = 1000;
  const std::lock_guard lock(mutex_);
  const int64_t earned = (now - filled_).millis() * kBytesPerSecond / kMillis;
  if (earned > 0) {
    purse_ = std::min(purse_ + earned, kPurseBytes);
    filled_ = now;
  }
  if (said_.size() >= kSentencesMax) said_.clear();
  Said& said = said_.try_emplace(std::string(sentence), Said{now}).first->second;
  if (now - said.since >= kWindow) said = {now};
  const bool often = ++said.lines > kLinesOfSentence;
  const bool bounded = level >= env::LogLevel::kWarn || purse_ < kPurseBytes / 2;
  if ((often && bounded) || purse_ < static_cast<int64_t>(bytes)) {
    if (left_out_++ == 0) left_out_since_ = now;
    return false;
  }
  purse_ -= static_cast<int64_t>(bytes);
  const bool told = left_out_ > 0 && now - left_out_since_ >= kWindow;
  left_out = told ? std::exchange(left_out_, 0) : 0;
  return true;
}

int64_t LogAllowance::TakeLeftOut() {
  const std::lock_guard lock(mutex_);
  return std::exchange(left_out_, 0);
}

std::string Shortened(std::string_view value, size_t bytes_max) {
  if (value.size() <= bytes_max) return std::string(value);
  return std::string(value.substr(0, bytes_max)) + "... (" + std::to_string(value.size()) + " bytes)";
}

}  // namespace fairlead::shell
