#pragma once

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <utility>

namespace fairlead::env_posix {

/// Owns a descriptor.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// Opens `relative` below `root`: openat2 lets no component, link or ".." leave it.
inline int OpenConfined(const std::string& root, const std::string& relative, uint64_t flags, uint64_t resolve = 0) {
  const Descriptor directory(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return -1;
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory.get(), relative.c_str(), &how, sizeof how));
}

}  // namespace fairlead::env_posix
