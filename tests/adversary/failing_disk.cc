// A disk that fails while daemons run: preloaded, what is written, synced or cut below the directory that
// FAIRLEAD_TEST_DISK names fails with EIO while the byte in the file FAIRLEAD_TEST_DISK_FAILS is not 0; reading does,
// too, while it is 2. (The kernel's own failing disks, device mapper's, are not there on every machine.)
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

using Byte = std::atomic<unsigned char>;

const Byte* state = nullptr;
const char* directory = nullptr;

__attribute__((constructor)) void Open() {
  directory = std::getenv("FAIRLEAD_TEST_DISK");
  const char* name = std::getenv("FAIRLEAD_TEST_DISK_FAILS");
  const int file = name && directory ? ::open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* memory = ::mmap(nullptr, sizeof(Byte), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (memory != MAP_FAILED) state = static_cast<const Byte*>(memory);
}

constexpr unsigned char kWrites = 1;
constexpr unsigned char kReads = 2;

/// Whether `what` with this descriptor is to fail; errno says how.
bool Fails(int fd, unsigned char what) {
  if (!state || state->load() < what) return false;
  char path[4096];
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const int before = errno;
  const ssize_t n = ::readlink(link.c_str(), path, sizeof path);
  errno = before;
  const size_t length = std::strlen(directory);
  if (n < static_cast<ssize_t>(length) || std::strncmp(path, directory, length) != 0) return false;
  errno = EIO;
  return true;
}

template <class Call>
Call* Next(const char* name) {
  return reinterpret_cast<Call*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {

ssize_t write(int fd, const void* bytes, size_t count) {
  static auto* const next = Next<decltype(write)>("write");
  return Fails(fd, kWrites) ? -1 : next(fd, bytes, count);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
  static auto* const next = Next<decltype(pwrite64)>("pwrite64");
  return Fails(fd, kWrites) ? -1 : next(fd, bytes, count, at);
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) { return ::pwrite64(fd, bytes, count, at); }
ssize_t writev(int fd, const iovec* parts, int count) {
  static auto* const next = Next<decltype(writev)>("writev");
  return Fails(fd, kWrites) ? -1 : next(fd, parts, count);
}
int fsync(int fd) {
  static auto* const next = Next<decltype(fsync)>("fsync");
  return Fails(fd, kWrites) ? -1 : next(fd);
}
int fdatasync(int fd) {
  static auto* const next = Next<decltype(fdatasync)>("fdatasync");
  return Fails(fd, kWrites) ? -1 : next(fd);
}
int ftruncate64(int fd, off64_t length) noexcept {
  static auto* const next = Next<decltype(ftruncate64)>("ftruncate64");
  return Fails(fd, kWrites) ? -1 : next(fd, length);
}
int ftruncate(int fd, off_t length) noexcept { return ::ftruncate64(fd, length); }
ssize_t read(int fd, void* bytes, size_t count) {
  static auto* const next = Next<decltype(read)>("read");
  return Fails(fd, kReads) ? -1 : next(fd, bytes, count);
}
ssize_t pread64(int fd, void* bytes, size_t count, off64_t at) {
  static auto* const next = Next<decltype(pread64)>("pread64");
  return Fails(fd, kReads) ? -1 : next(fd, bytes, count, at);
}
ssize_t pread(int fd, void* bytes, size_t count, off_t at) { return ::pread64(fd, bytes, count, at); }

}  // extern "C"
