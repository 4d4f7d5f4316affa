#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"

namespace fairlead::env {

/// An open file, read at offsets (no shared position) or appended to.
class File {
 public:
  virtual ~File() = default;
  /// Reads up to out.size() bytes at `offset`; fewer only at the end of the file.
  virtual base::Result<size_t> ReadAt(uint64_t offset, std::span<char> out) = 0;
  virtual base::Result<uint64_t> Size() = 0;
  virtual base::Status Append(std::string_view bytes) = 0;
  /// Appended bytes are on stable storage when this returns.
  virtual base::Status Sync() = 0;
  /// The descriptor for sendfile or passing on; -1 where there is none (simulator).
  virtual int descriptor() const { return -1; }
};

struct FileInfo {
  enum class Kind : uint8_t { kFile, kDirectory, kLink, kOther };
  std::string name;  // last component
  Kind kind = Kind::kFile;
  uint64_t size = 0;
  base::WallTime modified;
  uint32_t mode = 0;  // permission bits
  uint32_t owner = 0;
};

struct DiskSpace {
  uint64_t total_bytes = 0;
  uint64_t free_bytes = 0;
};

/// The file system. Error::code carries errno. Calls block; long ones belong into Loop::Offload.
class Disk {
 public:
  virtual ~Disk() = default;
  virtual base::Result<std::string> ReadFile(const std::string& path, uint64_t bytes_max = UINT64_MAX) = 0;
  /// Replaces `path` whole or not at all: temporary file, sync, rename, sync of the directory.
  virtual base::Status WriteFileAtomically(const std::string& path, std::string_view bytes, uint32_t mode = 0644) = 0;
  virtual base::Status MakeDirectories(const std::string& path, uint32_t mode = 0755) = 0;
  /// Removes a file or a whole tree without following links; a missing path is success.
  virtual base::Status RemoveTree(const std::string& path) = 0;
  virtual base::Status Rename(const std::string& from, const std::string& to) = 0;
  /// By name, sorted.
  virtual base::Result<std::vector<FileInfo>> List(const std::string& path) = 0;
  /// Does not follow a link at the end.
  virtual base::Result<FileInfo> Stat(const std::string& path) = 0;
  virtual base::Result<DiskSpace> Space(const std::string& path) = 0;
  virtual base::Result<std::shared_ptr<File>> OpenForReading(const std::string& path) = 0;
  /// Opens `relative` below `root` for reading; no component may leave `root` (openat2 with RESOLVE_BENEATH, no links).
  virtual base::Result<std::shared_ptr<File>> OpenBeneath(const std::string& root, const std::string& relative) = 0;
  /// Creates the file when missing; writes go to its end.
  virtual base::Result<std::shared_ptr<File>> OpenForAppending(const std::string& path, uint32_t mode = 0644) = 0;
  /// Removes one file or empty directory below `root`, confined as OpenBeneath; true when it was there.
  virtual base::Result<bool> RemoveBeneath(const std::string& root, const std::string& relative) = 0;
};

}  // namespace fairlead::env
