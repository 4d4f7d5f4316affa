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
    const size_t slash = relative.rfind('/');
    const std::string parent = slash == std::string::npos ? "." : relative.substr(0, slash);
    const std::string name = slash == std::string::npos ? relative : relative.substr(slash + 1);
    const Descriptor directory(OpenConfined(root, parent, O_PATH | O_DIRECTORY));
    if (!directory.valid()) return WriteError(path);
    // Not blocking: it may be a pipe that somebody has put there.
    constexpr int kFlags = O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const Descriptor file(::openat(directory.get(), name.c_str(), kFlags, kMode));
    if (!file.valid()) return WriteError(path);
    struct stat info {};
    if (::fstat(file.get(), &info) < 0) return WriteError(path);
    // A second name may be a file of somebody else's.
    if (!S_ISREG(info.st_mode) || info.st_nlink != 1) return WriteError(path, EPERM);
    if (offset == 0 && info.st_size > 0 && ::ftruncate(file.get(), 0) < 0) return WriteError(path);
    return Write(file.get(), offset, bytes, path);
  }

 private:
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
