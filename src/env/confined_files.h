#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::env {

/// Writes files below roots in which other users make files and links, too. Error::code carries errno.
class ConfinedFiles {
 public:
  virtual ~ConfinedFiles() = default;
  /// Writes all of `bytes` at `offset` of a file, which is made when it is missing (not its directory). At offset 0
  /// what the file held before is gone. Everybody may read the file, whatever the umask. No link is followed, nothing
  /// leaves `root`, and a file that is no plain one, or has another name elsewhere, is refused (ELOOP, EXDEV, EPERM).
  /// Blocks.
  virtual base::Status WriteAt(const std::string& root, const std::string& relative, uint64_t offset,
                               std::string_view bytes) = 0;
  /// What the file has beyond `bytes` is gone; with the same refusals. Blocks.
  virtual base::Status Shorten(const std::string& root, const std::string& relative, uint64_t bytes) = 0;
};

}  // namespace fairlead::env
