#include "shell/rm/past_teller.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <memory>

#include "base/text.h"
#include "env/timer.h"
#include "env_posix/posix_loop.h"

namespace fairlead::shell {
namespace {

constexpr uint64_t kDocumentBytesMax = uint64_t{64} << 20;
constexpr uint64_t kComplaintBytesMax = 64 << 10;
/// Whether it is to give up.
constexpr base::Duration kLookEvery = base::Duration::Millis(100);
constexpr int kLowPriority = 10;  // masters and nodes do not wait for it
// Of the commands: docs/commands.md.
constexpr int kUsageExit = 2;
constexpr int kNotFoundExit = 4;

int ErrnoOf(const env::ExitStatus& ended) {
  return ended.code == kNotFoundExit ? ENOENT : ended.code == kUsageExit ? EINVAL : 0;
}

/// A file without a name, which a child writes by the path of its descriptor.
struct MemoryFile {
  std::string path;
  std::shared_ptr<env::File> owner;

  static base::Result<MemoryFile> Make() {
    const int descriptor = ::memfd_create("past", MFD_CLOEXEC);
    if (descriptor < 0) return base::Error{"no memory for what was then", errno};
    std::string path = "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(descriptor);
    return MemoryFile{path, env_posix::AdoptFile(descriptor, path)};
  }
};

}  // namespace

base::Result<std::string> TellPast(const std::string& journal, base::WallTime at, const std::string& target,
                                   const std::function<bool()>& given_up, const std::string& program) {
  const auto document = MemoryFile::Make();
  if (!document) return document.error();
  const auto complaint = MemoryFile::Make();
  if (!complaint) return complaint.error();
  const auto loop = env_posix::MakePosixLoop();
  env::SpawnRequest request;
  request.argv = {program, "replay", journal, "--at", std::to_string(at.ms), "--document=" + target};
  request.directory = "/";
  request.stdout_path = document->path;
  request.stderr_path = complaint->path;
  env::ExitStatus ended;
  const auto child = loop->Spawn(request, [&](env::ExitStatus status) {
    ended = status;
    loop->Stop();
  });
  if (!child) return child.error();
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(*child), kLowPriority);
  env::Timer look(*loop);
  const std::function<void()> look_again = [&] {
    if (given_up()) return (void)loop->Signal(*child, SIGKILL);
    look.After(kLookEvery, look_again);
  };
  look_again();
  loop->Run();
  const auto disk = env_posix::MakePosixDisk();
  if (ended.code == 0 && ended.signal == 0) return disk->ReadFile(document->path, kDocumentBytesMax);
  if (ended.signal == SIGKILL)
    return base::Error{"what was then takes longer than a question may; ask by fairlead replay", ETIMEDOUT};
  const auto said = disk->ReadFile(complaint->path, kComplaintBytesMax);
  if (!said || said->empty()) return base::Error{"the process that reads the journal has ended by itself"};
  return base::Error{base::VisibleText(base::Trimmed(*said)), ErrnoOf(ended)};
}

}  // namespace fairlead::shell
