#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace fairlead::apps {

/// How far long work is, on standard error: on a terminal a bar that is written again and goes with the work, elsewhere
/// a line every ten seconds.
class Progress {
 public:
  explicit Progress(std::string name);
  ~Progress() { TakeAway(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `what`: the plural of what is counted. `more`: what else there is to say.
  void Show(int64_t done, int64_t all, const char* what, const std::string& more = "");

  /// To be called before other words are printed; the next Show brings the bar back.
  void TakeAway();

 private:
  std::string name_;
  bool terminal_;
  std::chrono::steady_clock::time_point next_;
};

}  // namespace fairlead::apps
