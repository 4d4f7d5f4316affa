#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/disk.h"

namespace fairlead::process::spark_worker {

/// A log with all its rolled files, the oldest first, as one text (org.apache.spark.util.logging.RollingFileAppender,
/// getSortedRolledOverFiles): `name` in the directory `below` (with a "/" at its end) of `root`, and what begins with
/// that name. Files that end in ".gz" count and read as what they hold, the oldest first, until they hold 64 MiB
/// together: the rest is passed over, since an executor may have written it and the worker waits meanwhile.
class LogFiles {
 public:
  /// Fails where there is no file. Cost: compressed files are unpacked to learn their lengths.
  static base::Result<LogFiles> Find(env::Disk& disk, const std::string& root, const std::string& below,
                                     const std::string& name);
  int64_t size() const { return size_; }
  /// `length` bytes from `offset`, fewer at the end.
  base::Result<std::string> Read(int64_t offset, int64_t length) const;

 private:
  struct Part {
    std::shared_ptr<env::File> file;
    bool compressed = false;
    int64_t size = 0;
  };
  std::vector<Part> parts_;
  int64_t size_ = 0;
};

}  // namespace fairlead::process::spark_worker
