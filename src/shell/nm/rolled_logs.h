#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "process/nm/ports.h"
#include "shell/nm/log_files.h"

namespace fairlead::shell {

/// Log files of an application that rolls, on their way to the cluster's place. Those of one roll are moved to
/// LOG_DIR/APPLICATION/rolled-TIME first, and go to a file with TIME in its name: whoever takes over after a crash
/// sees by that file alone whether they have arrived. An empty gathered-TIME stays for a roll that has.
class RolledLogs {
 public:
  explicit RolledLogs(const process::nm::AggregationPlan& plan) : plan_(plan) {}

  /// Moves the files that `takes` wants to the roll of the plan's `now`. What cannot be moved stays for the next roll.
  void Move(const TakesLog& takes);
  /// Times of rolls that are on their way.
  std::set<int64_t> OnTheirWay() const { return Times("rolled-"); }
  LogSources Of(int64_t time) const;
  /// Removes the files of a roll that has arrived, and remembers it where `remember` says so.
  base::Status Arrived(int64_t time, bool remember);
  std::set<int64_t> Gathered() const { return Times("gathered-"); }
  void Forget(int64_t time);
  /// Back to where their containers wrote them, unless other files have their names now.
  void PutBack();

 private:
  std::set<int64_t> Times(const std::string& prefix) const;
  /// In each of the application's directories that is there.
  template <class Visit>
  void ForEachDirectory(Visit visit) const;

  const process::nm::AggregationPlan& plan_;
};

}  // namespace fairlead::shell
