// A file of gathered logs, which its application's user wrote: read whole, as `fairlead logs` does.

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "shell/nm/beneath.h"
#include "shell/nm/gathered_logs.h"

namespace {
class Counter final : public fairlead::shell::LogReader {
 public:
  bool Wants(const fairlead::shell::GatheredLog& log) override { return log.name != "skipped"; }
  void Read(std::string_view bytes) override { count_ += bytes.size(); }
  void Ended() override {}

 private:
  size_t count_ = 0;
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const fairlead::shell::Fd file(::memfd_create("logs", MFD_CLOEXEC));
  if (!file.valid() || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
  Counter counter;
  (void)fairlead::shell::ReadGatheredLogs(file.get(), counter);
  return 0;
}
