#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "env/disk.h"

namespace fairlead::env {

/// What the system has of files in memory, so that a loop's thread can leave to others what would wait for a disk.
class PageCache {
 public:
  virtual ~PageCache() = default;
  /// True when reading the range needs no disk, as far as the system can say.
  virtual bool Holds(const File& file, uint64_t offset, uint64_t length) = 0;
  /// Disk::OpenBeneath where that needs no disk; else an Error with EAGAIN.
  virtual base::Result<std::shared_ptr<File>> OpenBeneath(const std::string& root, const std::string& relative) = 0;
};

}  // namespace fairlead::env
