#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "process/spark_worker/supervision.h"

namespace fairlead::shell {

/// One log of an executor, rolled as Spark's org.apache.spark.util.logging.RollingFileAppender rolls it: the active
/// file keeps its name, rolled ones get the time behind it, compressed ones ".gz".
class RollingLog {
 public:
  RollingLog(std::string path, const process::spark_worker::LogRolling& rolling, base::WallTime now);
  ~RollingLog();
  RollingLog(const RollingLog&) = delete;
  RollingLog& operator=(const RollingLog&) = delete;

  /// Appends what one read gave, after rolling where that is due. What cannot be written is lost.
  void Append(std::string_view bytes, base::WallTime now);

 private:
  bool IsDue(size_t bytes, base::WallTime now) const;
  void Roll(base::WallTime now);
  void Open();
  void RemoveOld() const;

  const std::string path_;
  const process::spark_worker::LogRolling rolling_;
  int file_ = -1;
  int64_t written_ = 0;  // since it was rolled
  base::WallTime next_;
};

/// Reads `pipe`, which it closes, into the log until its writers have gone; in a thread of its own.
void PumpIntoLog(int pipe, const std::string& path, const process::spark_worker::LogRolling& rolling);

}  // namespace fairlead::shell
