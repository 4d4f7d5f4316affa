#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "env_posix/confined_open_internal.h"
#include "env_posix/posix_loop.h"
#include "env_posix/posix_page_cache.h"

namespace fairlead::env_posix {
namespace {

constexpr int kRemovalsMax = 100;

base::Error Errno(const std::string& what, const std::string& path, int error = errno) {
  return {what + " " + path + ": " + std::strerror(error), error};
}

base::Error TooLarge(const std::string& path, uint64_t bytes_max) {
  return {"read " + path + ": it is larger than " + std::to_string(bytes_max) + " bytes", EFBIG};
}

class PosixFile final : public env::File {
 public:
  PosixFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  base::Result<size_t> ReadAt(uint64_t offset, std::span<char> out) override {
    size_t done = 0;
    while (done < out.size()) {
      // Not pread(): libc makes it a point of thread cancellation, a twentieth of the cost of a small read.
      const ssize_t n = ::syscall(SYS_pread64, fd_.get(), out.data() + done, out.size() - done, offset + done);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Errno("read", path_);
      if (n == 0) break;
      done += static_cast<size_t>(n);
    }
    return done;
  }

  base::Result<uint64_t> Size() override {
    struct stat info;
    if (::fstat(fd_.get(), &info) < 0) return Errno("stat", path_);
    return static_cast<uint64_t>(info.st_size);
  }

  base::Status Append(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return Errno("write", path_);
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return {};
  }

  base::Status Sync() override {
    if (::fdatasync(fd_.get()) < 0) return Errno("sync", path_);
    return {};
  }

  int descriptor() const override { return fd_.get(); }

 private:
  Descriptor fd_;
  std::string path_;
};

env::FileInfo ToInfo(const std::string& name, const struct stat& info) {
  using Kind = env::FileInfo::Kind;
  env::FileInfo out;
  out.name = name;
  out.kind = S_ISREG(info.st_mode)   ? Kind::kFile
             : S_ISDIR(info.st_mode) ? Kind::kDirectory
             : S_ISLNK(info.st_mode) ? Kind::kLink
                                     : Kind::kOther;
  out.size = static_cast<uint64_t>(info.st_size);
  out.modified = {info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1'000'000};
  out.mode = info.st_mode & 07777;
  out.owner = info.st_uid;
  return out;
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

class PosixDisk final : public env::Disk {
 public:
  base::Result<std::string> ReadFile(const std::string& path, uint64_t bytes_max) override {
    auto file = OpenForReading(path);
    if (!file) return file.error();
    const auto size = (*file)->Size();
    if (!size) return size.error();
    if (*size > bytes_max) return TooLarge(path, bytes_max);
    return ReadToEnd(**file, *size, bytes_max, path);
  }

  base::Status WriteFileAtomically(const std::string& path, std::string_view bytes, uint32_t mode) override {
    const std::string temporary = path + ".tmp" + std::to_string(::getpid());
    ::unlink(temporary.c_str());
    {
      const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
      if (fd < 0) return Errno("create", temporary);
      PosixFile file(fd, temporary);
      base::Status written = file.Append(bytes);
      if (written.ok()) written = file.Sync();
      if (!written.ok()) {
        ::unlink(temporary.c_str());
        return written;
      }
    }
    if (::rename(temporary.c_str(), path.c_str()) < 0) {
      const base::Error error = Errno("rename to", path);
      ::unlink(temporary.c_str());
      return error;
    }
    return SyncDirectory(DirectoryOf(path));
  }

  base::Status MakeDirectories(const std::string& path, uint32_t mode) override {
    for (size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
      const std::string part = path.substr(0, end);
      if (::mkdir(part.c_str(), mode) == 0) {
        ::chmod(part.c_str(), mode);  // whatever the umask is
      } else if (errno != EEXIST) {
        return Errno("create directory", part);
      }
      if (end == std::string::npos) break;
    }
    struct stat info;
    if (::stat(path.c_str(), &info) < 0) return Errno("stat", path);
    if (!S_ISDIR(info.st_mode)) return Errno("create directory", path, ENOTDIR);
    return {};
  }

  base::Status RemoveTree(const std::string& path) override {
    std::error_code error;
    // Somebody else who removes a part of the tree (a container's directory of an application's) stops the walk: go on.
    for (int attempt = 0; attempt < kRemovalsMax; ++attempt) {
      std::filesystem::remove_all(path, error);
      if (error != std::errc::no_such_file_or_directory && error != std::errc::directory_not_empty) break;
    }
    if (error) return Errno("remove", path, error.value());
    return {};
  }

  base::Status Rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) < 0) return Errno("rename " + from + " to", to);
    return {};
  }

  base::Result<std::vector<env::FileInfo>> List(const std::string& path) override {
    DIR* directory = ::opendir(path.c_str());
    if (directory == nullptr) return Errno("list", path);
    std::vector<env::FileInfo> out;
    while (const dirent* entry = ::readdir(directory)) {
      const std::string name = entry->d_name;
      struct stat info;
      if (name == "." || name == ".." || ::fstatat(::dirfd(directory), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) {
        continue;
      }
      out.push_back(ToInfo(name, info));
    }
    ::closedir(directory);
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return out;
  }

  base::Result<env::FileInfo> Stat(const std::string& path) override {
    struct stat info;
    if (::lstat(path.c_str(), &info) < 0) return Errno("stat", path);
    return ToInfo(path.substr(path.rfind('/') + 1), info);
  }

  base::Result<env::DiskSpace> Space(const std::string& path) override {
    struct statvfs info;
    if (::statvfs(path.c_str(), &info) < 0) return Errno("statvfs", path);
    return env::DiskSpace{info.f_blocks * info.f_frsize, info.f_bavail * info.f_frsize};
  }

  base::Result<std::shared_ptr<env::File>> OpenForReading(const std::string& path) override {
    return Wrap(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path);
  }

  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string& root, const std::string& relative) override {
    return Wrap(OpenConfined(root, relative, O_RDONLY | O_NONBLOCK), root + "/" + relative);
  }

  base::Result<std::shared_ptr<env::File>> OpenForAppending(const std::string& path, uint32_t mode) override {
    return Wrap(::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, mode), path);
  }

  base::Result<bool> RemoveBeneath(const std::string& root, const std::string& relative) override {
    const size_t slash = relative.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : relative.substr(0, slash);
    const std::string name = slash == std::string::npos ? relative : relative.substr(slash + 1);
    if (name.empty() || name == "." || name == "..") return Errno("remove", relative, EINVAL);
    const Descriptor directory(OpenConfined(root, parent, O_PATH | O_DIRECTORY));
    if (!directory.valid()) {
      if (errno == ENOENT) return false;
      return Errno("remove", root + "/" + relative);
    }
    if (::unlinkat(directory.get(), name.c_str(), 0) == 0) return true;
    if (errno == EISDIR && ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) == 0) return true;
    if (errno == ENOENT) return false;
    return Errno("remove", root + "/" + relative);
  }

 private:
  static base::Result<std::shared_ptr<env::File>> Wrap(int fd, const std::string& path) {
    if (fd < 0) return Errno("open", path);
    return std::shared_ptr<env::File>(std::make_shared<PosixFile>(fd, path));
  }

  /// Files of /proc have size 0 and content: reads on until the end.
  static base::Result<std::string> ReadToEnd(env::File& file, uint64_t size, uint64_t bytes_max,
                                             const std::string& path) {
    std::string bytes(size + 1, '\0');
    size_t done = 0;
    while (true) {
      const auto n = file.ReadAt(done, {bytes.data() + done, bytes.size() - done});
      if (!n) return n.error();
      done += *n;
      if (done < bytes.size()) break;
      if (done > bytes_max) return TooLarge(path, bytes_max);
      bytes.resize(bytes.size() * 2);
    }
    if (done > bytes_max) return TooLarge(path, bytes_max);
    bytes.resize(done);
    return bytes;
  }

  static base::Status SyncDirectory(const std::string& path) {
    const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.valid() || ::fsync(directory.get()) < 0) return Errno("sync directory", path);
    return {};
  }
};

// Linux 6.5; Debian 12's headers do not know it yet.
constexpr long kSysCachestat = 451;
struct CachestatRange {
  uint64_t offset;
  uint64_t length;
};
struct Cachestat {
  uint64_t cached, dirty, writeback, evicted, recently_evicted;
};

class PosixPageCache final : public env::PageCache {
 public:
  bool Holds(const env::File& file, uint64_t offset, uint64_t length) override {
    if (length == 0) return true;
    // tmpfs has no disk but swap, and as it keeps a file in single pages, to count a long range's takes a tenth of the
    // time that sending them takes.
    if (length >= kLongRange && IsOnTmpfs(file)) return true;
    CachestatRange range{offset, length};
    Cachestat found{};
    if (has_cachestat_ && ::syscall(kSysCachestat, file.descriptor(), &range, &found, 0) == 0) {
      return found.cached >= (offset + length - 1) / kPage - offset / kPage + 1;
    }
    has_cachestat_ = false;
    return HoldsByte(file, offset) && HoldsByte(file, offset + length - 1);
  }

  base::Result<std::shared_ptr<env::File>> OpenBeneath(const std::string& root, const std::string& relative) override {
    constexpr uint64_t kFlags = O_RDONLY | O_NONBLOCK;
    int fd = OpenConfined(root, relative, kFlags, RESOLVE_CACHED);
    if (fd < 0 && errno == EINVAL) fd = OpenConfined(root, relative, kFlags);  // an older kernel
    if (fd < 0) return Errno("open", root + "/" + relative);
    return std::shared_ptr<env::File>(std::make_shared<PosixFile>(fd, root + "/" + relative));
  }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint64_t kLongRange = 1 << 20;

  static bool IsOnTmpfs(const env::File& file) {
    struct statfs found {};
    return ::fstatfs(file.descriptor(), &found) == 0 && found.f_type == TMPFS_MAGIC;
  }

  static bool HoldsByte(const env::File& file, uint64_t offset) {
    char byte = 0;
    const iovec into{&byte, 1};
    return ::preadv2(file.descriptor(), &into, 1, static_cast<off_t>(offset), RWF_NOWAIT) >= 0 || errno != EAGAIN;
  }

  std::atomic<bool> has_cachestat_ = true;
};

}  // namespace

std::unique_ptr<env::Disk> MakePosixDisk() { return std::make_unique<PosixDisk>(); }

std::shared_ptr<env::File> AdoptFile(int descriptor, std::string name) {
  return std::make_shared<PosixFile>(descriptor, std::move(name));
}

std::unique_ptr<env::PageCache> MakePosixPageCache() { return std::make_unique<PosixPageCache>(); }

}  // namespace fairlead::env_posix
