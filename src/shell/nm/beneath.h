#pragma once

#include <sys/stat.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

// Files below a directory that somebody else may write into: every step is relative to a descriptor, no step follows a
// link, what was opened is looked at before it is used, and nothing waits for a FIFO or a device. The one place of
// shell/nm that may make, remove, list or copy (tools/layers.py).

namespace fairlead::shell {

/// Owns a descriptor.
class Fd {
 public:
  explicit Fd(int fd = -1) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Fd();
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// "what: why", with errno as the code.
base::Error ErrnoOf(const std::string& what);

/// What one piece of work may still use; counted down over a whole tree.
struct Budget {
  int64_t bytes = INT64_MAX;
  int64_t entries = INT64_MAX;
  std::chrono::steady_clock::time_point deadline = std::chrono::steady_clock::time_point::max();

  base::Status TakeEntry();
  base::Status TakeBytes(int64_t count);
};

struct DirectoryEntry {
  std::string name;
  struct stat info {};
};

/// `path` below `root`, which holds it: "" when it does not, or when a part of the rest is "." or "..".
std::string Below(const std::string& root, const std::string& path);

/// A directory that the administrator named, to start from: links on the way to it are his.
base::Result<Fd> OpenRoot(const std::string& path);
/// Makes it where it is missing, and with 0755 what is missing above it.
base::Status MakeRoot(const std::string& path, mode_t mode);
/// Whether only root and the user `ours` can change what lies at `path`, a directory or not there yet: it and all
/// directories above belong to them, and nobody else may write there (but for sticky directories such as /tmp).
base::Status CheckRootIsSafe(const std::string& path, uint32_t ours, uint32_t ours_group);
base::Status CheckIsSafe(const struct stat& info, const std::string& name, uint32_t ours, uint32_t ours_group);
/// A directory below `root` ("" or ".": itself, opened again).
base::Result<Fd> OpenDirectory(int root, const std::string& below);
/// A regular file below `root`, for reading. EINVAL for everything that is none.
base::Result<Fd> OpenRegular(int root, const std::string& below);
/// As OpenRegular, but the path is a user's, who may use links: follow them with the caller's rights. Directories, too.
base::Result<Fd> OpenSource(const std::string& path);
/// As OpenSource, for what is said to be public: everybody may pass through every real parent of it, and read it.
base::Result<Fd> OpenPublicSource(const std::string& path);
bool IsPublic(const struct stat& info);

/// Makes every missing directory of `below` with `mode` (whatever the umask) and opens the last one. A file or link
/// that stands in the way is removed.
base::Result<Fd> MakeDirectories(int root, const std::string& below, mode_t mode);
/// A new, empty directory in the place of whatever is there.
base::Result<Fd> MakeNewDirectory(int parent, const std::string& name, mode_t mode, Budget& budget);
/// A new file in the place of whatever file or link is there.
base::Result<Fd> CreateFile(int parent, const std::string& name, mode_t mode);
base::Status WriteAll(int fd, std::string_view bytes);
base::Status WriteFile(int parent, const std::string& name, std::string_view bytes, mode_t mode);

/// By name, at most `entries_max`; what vanishes meanwhile is left out.
base::Result<std::vector<DirectoryEntry>> List(int directory, size_t entries_max);
/// Bytes [from, to) of an open regular file, fewer at its end.
base::Result<std::string> ReadRange(int fd, int64_t from, int64_t to);
/// The last bytes of a regular file.
base::Result<std::string> ReadTail(int root, const std::string& below, int64_t bytes_max);

/// Copies a regular file's bytes; more than its size at the start are refused.
base::Status CopyBytes(int from, int to, Budget& budget);
/// Copies a tree's directories and regular files into the existing directory `to`. Links and everything else are left
/// out: they would lead out of the tree, or round in it. `only_public` refuses what not everybody may read.
base::Status CopyTree(int from, int to, Budget& budget, bool only_public);
/// Gives every directory one mode and every file another; adds up the files' sizes.
base::Result<int64_t> SetModes(int directory, mode_t directories, mode_t files, Budget& budget);

/// Removes what is below `directory`, however deep: what lies deep is moved up first.
base::Status RemoveContents(int directory, Budget& budget);
/// Removes a file or tree; one that is not there is success.
base::Status RemoveTree(int parent, const std::string& name, Budget& budget);

}  // namespace fairlead::shell
