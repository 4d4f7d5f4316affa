#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace fairlead::apps {
namespace {

constexpr std::chrono::milliseconds kAnew{100};
/// Work that is over sooner writes no line.
constexpr std::chrono::seconds kFirstLine{2};
constexpr std::chrono::seconds kNextLine{10};
constexpr int64_t kCells = 30;

}  // namespace

Progress::Progress(std::string name)
    : name_(std::move(name)), terminal_(::isatty(STDERR_FILENO) == 1), next_(std::chrono::steady_clock::now()) {
  if (!terminal_) next_ += kFirstLine;
}

void Progress::TakeAway() {
  if (terminal_) std::fputs("\r\x1b[K", stderr);
}

void Progress::Show(int64_t done, int64_t all, const char* what, const std::string& more) {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + (terminal_ ? kAnew : kNextLine);
  all = std::max<int64_t>(all, 1);
  const std::string bar(static_cast<size_t>(std::clamp<int64_t>(done * kCells / all, 0, kCells)), '#');
  std::fprintf(stderr, "%s%-16s [%-30s] %3lld %%  %lld of %lld %s%s%s", terminal_ ? "\r\x1b[K" : "", name_.c_str(),
               bar.c_str(), static_cast<long long>(done * 100 / all), static_cast<long long>(done),
               static_cast<long long>(all), what, more.c_str(), terminal_ ? "" : "\n");
  std::fflush(stderr);
}

}  // namespace fairlead::apps
