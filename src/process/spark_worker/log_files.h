#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/disk.h"

namespace fairlead::process::spark_worker {

/// A log with all its rolled files, the oldest first, as one text (org.apache.spark.util.logging.RollingFileAppender,
/// getSortedRolledOverFiles): `name` in the directory `below` (with a "/" at its end) of `root`, and what begins with
/// that name. Files that end in ".gz" count and read as what they hold, the oldest first, until they hold 64 MiB
/// together: the rest is passed over, since an executor may have written it.
class LogFiles {
 public:
  /// How long compressed files are, so that they are unpacked for that once: by path, of the last thousand.
  class Lengths {
   public:
    /// -1: not known.
    int64_t Of(const std::string& path, const env::FileInfo& file) const;
    void Note(const std::string& path, const env::FileInfo& file, int64_t length);

   private:
    struct Known {
      uint64_t size = 0;
      base::WallTime modified;
      int64_t length = 0;
    };
    std::map<std::string, Known> known_;
  };

  /// Fails where there is no file. Cost: compressed files that `lengths` does not know are unpacked, so this is no work
  /// for a loop.
  static base::Result<LogFiles> Find(env::Disk& disk, const std::string& root, const std::string& below,
                                     const std::string& name, Lengths& lengths);
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
