// A machine whose clock is set while daemons run: preloaded, CLOCK_REALTIME is off by the seconds (int64) in the file
// that FAIRLEAD_TEST_CLOCK names. The monotonic clocks are the machine's. (libfaketime does not get along with
// jemalloc, which asks for the time while the first library is loaded.)
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace {

using Seconds = std::atomic<int64_t>;

const Seconds* offset = nullptr;

__attribute__((constructor)) void Open() {
  const char* name = std::getenv("FAIRLEAD_TEST_CLOCK");
  const int file = name ? ::open(name, O_RDONLY | O_CLOEXEC) : -1;
  if (file < 0) return;
  void* memory = ::mmap(nullptr, sizeof(Seconds), PROT_READ, MAP_SHARED, file, 0);
  ::close(file);
  if (memory != MAP_FAILED) offset = static_cast<const Seconds*>(memory);
}

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  const auto result = static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
  if ((clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) && offset) now->tv_sec += offset->load();
  return result;
}

extern "C" int gettimeofday(timeval* now, void*) noexcept {
  timespec exact{};
  const int result = ::clock_gettime(CLOCK_REALTIME, &exact);
  *now = {exact.tv_sec, exact.tv_nsec / 1000};
  return result;
}

extern "C" time_t time(time_t* also) noexcept {
  timespec exact{};
  ::clock_gettime(CLOCK_REALTIME, &exact);
  if (also) *also = exact.tv_sec;
  return exact.tv_sec;
}
