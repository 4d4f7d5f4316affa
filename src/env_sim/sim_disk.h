#pragma once

#include <map>
#include <memory>
#include <string>

#include "env/confined_files.h"
#include "env/disk.h"
#include "env/loop.h"

namespace fairlead::env_sim {

/// A file system in memory. Faults: a path prefix can be made to fail with an errno, for everything or for changes
/// alone, and the disk can be full.
class SimDisk final : public env::Disk, public env::ConfinedFiles {
 public:
  explicit SimDisk(env::Loop& loop) : loop_(loop) {}

  /// Every access below `prefix` fails with `error` (errno; 0 heals).
  void FailBelow(const std::string& prefix, int error);
  /// The same for what changes files there: EROFS is a read-only file system.
  void FailWritesBelow(const std::string& prefix, int error);
  /// Bytes that may still be written.
  void SetFreeBytes(uint64_t bytes) { free_bytes_ = bytes; }

  base::Result<std::string> ReadFile(const std::string& path, uint64_t bytes_max) override;
  base::Status WriteFileAtomically(const std::string& path, std::string_view bytes, uint32_t mode) override;
  base::Status MakeDirectories(const std::string& path, uint32_t mode) override;
  base::Status RemoveTree(const std::string& path) override;
  base::Status Rename(const std::string& from, const std::string& to) override;
  base::Result<std::vector<env::FileInfo>> List(const std::string& path) override;
  base::Result<env::FileInfo> Stat(const std::string& path) override;
  base::Result<env::DiskSpace> Space(const std::string& path) override;
  base::Result<std::shared_ptr<env::File>> OpenForReading(const std::string& path) override;
  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string& root, const std::string& relative) override;
  base::Result<std::shared_ptr<env::File>> OpenForAppending(const std::string& path, uint32_t mode) override;
  base::Result<bool> RemoveBeneath(const std::string& root, const std::string& relative) override;
  base::Status WriteAt(const std::string& root, const std::string& relative, uint64_t offset,
                       std::string_view bytes) override;
  base::Status Shorten(const std::string& root, const std::string& relative, uint64_t bytes) override;

 private:
  friend class SimFile;
  struct Node {
    bool directory = false;
    std::shared_ptr<std::string> bytes;
    base::WallTime modified;
    uint32_t mode = 0644;
  };
  base::Status Check(const std::string& path) const;
  base::Status CheckWrite(const std::string& path) const;
  base::Status Take(uint64_t bytes);
  Node* FindNode(const std::string& path);

  env::Loop& loop_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, int> failing_;
  std::map<std::string, int> failing_writes_;
  uint64_t free_bytes_ = uint64_t{1} << 40;
};

}  // namespace fairlead::env_sim
