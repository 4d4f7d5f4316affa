#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/time.h"
#include "env/log.h"

namespace fairlead::shell {

/// How much a daemon writes into its log, whoever is the cause: strangers may bring about lines of every level, and
/// fill no disk by that. All lines share one purse of bytes, which fills up slowly. While it is more than half full, it
/// pays for what comes. Below that a sentence is written a hundred times in ten seconds, so that one that is said for
/// every message of a stranger leaves room for others. Warnings and errors have that bound always. May be called from
/// any thread; costs a lookup.
class LogAllowance {
 public:
  static constexpr size_t kValueBytesMax = 1024;  // of a field
  static constexpr size_t kLineBytesMax = 4096;
  static constexpr int64_t kPurseBytes = 4 << 20;
  static constexpr int64_t kBytesPerSecond = 64 << 10;
  static constexpr base::Duration kWindow = base::Duration::Seconds(10);
  static constexpr int64_t kLinesOfSentence = 100;

  /// False: this line is one too many. `left_out`: how many were left out in the last kWindow or longer, to be said
  /// now; 0: nothing is to be said.
  bool Take(env::LogLevel level, std::string_view sentence, size_t bytes, base::Instant now, int64_t& left_out);
  /// Those that have not been said.
  int64_t TakeLeftOut();

 private:
  static constexpr size_t kSentencesMax = 1000;
  struct Said {
    base::Instant since;
    int64_t lines = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Said, std::less<>> said_;
  int64_t purse_ = kPurseBytes;
  base::Instant filled_;
  int64_t left_out_ = 0;
  base::Instant left_out_since_;
};

/// As it stands, or its first bytes and how many there were.
std::string Shortened(std::string_view value, size_t bytes_max);

}  // namespace fairlead::shell
