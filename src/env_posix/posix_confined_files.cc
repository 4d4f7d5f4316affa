#include "env_posix/posix_confined_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include "env_posix/confined_open_internal.h"

namespace fairlead::env_posix {
namespace {

constexpr mode_t kMode = 0644;  // executors read merged files of their host by themselves

base::Error WriteError(const std::string& path, int error = errno) {
  return {"write " + path + ": " + std::strerror(error), error};
}

class PosixConfinedFiles final : public env::ConfinedFiles {
 public:
  base::Status WriteAt(const std::string& root, const std::string& relative, uint64_t offset,
                       std::string_view bytes) override {
    const std::string path = root + "/" + relative;
    const Descriptor file(Open(root, relative, O_CREAT));
    if (!file.valid()) return WriteError(path);
    if (offset == 0 && !CutAt(file.get(), 0)) return WriteError(path);
    return Write(file.get(), offset, bytes, path);
  }

  base::Status Shorten(const std::string& root, const std::string& relative, uint64_t bytes) override {
    const Descriptor file(Open(root, relative, 0));
    const bool cut = file.valid() && CutAt(file.get(), static_cast<off_t>(bytes));
    return cut ? base::Status() : WriteError(root + "/" + relative);
  }

 private:
  /// A plain file with one name, which everybody may read; or -1 and errno. `makes`: O_CREAT, or 0.
  static int Open(const std::string& root, const std::string& relative, int makes) {
    const size_t slash = relative.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : relative.substr(0, slash);
    const std::string name = slash == std::string::npos ? relative : relative.substr(slash + 1);
    const Descriptor directory(OpenConfined(root, parent, O_PATH | O_DIRECTORY));
    if (!directory.valid()) return -1;
    // Not blocking: it may be a pipe that somebody has put there.
    const int flags = O_WRONLY | makes | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    Descriptor file(::openat(directory.get(), name.c_str(), flags, kMode));
    struct stat info {};
    if (!file.valid() || ::fstat(file.get(), &info) < 0) return -1;
    // A second name may be a file of somebody else's.
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return errno = EPERM, -1;
    // The umask of a service that keeps its state to itself took that away.
    if ((info.st_mode & kMode) != kMode && ::fchmod(file.get(), kMode) < 0) return -1;
    return file.Release();
  }

  static bool CutAt(int file, off_t bytes) {
    struct stat info {};
    return ::fstat(file, &info) == 0 && (info.st_size <= bytes || ::ftruncate(file, bytes) == 0);
  }

  static base::Status Write(int file, uint64_t offset, std::string_view bytes, const std::string& path) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return WriteError(path);
      bytes.remove_prefix(static_cast<size_t>(n));
      offset += static_cast<uint64_t>(n);
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<env::ConfinedFiles> MakePosixConfinedFiles() { return std::make_unique<PosixConfinedFiles>(); }

}  // namespace fairlead::env_posix
