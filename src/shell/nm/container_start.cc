#include "shell/nm/container_start.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/stored.h"
#include "model/ids.h"

namespace fairlead::shell {

namespace {

constexpr char kLogDirFile[] = "logs";
constexpr char kLostStartsFile[] = "lost-starts";
constexpr int64_t kCountBytesMax = 20;

/// The path without its last `steps` parts.
std::string Above(const std::string& path, int steps) {
  size_t end = path.size();
  for (int i = 0; i < steps && end != std::string::npos && end > 0; ++i) end = path.rfind('/', end - 1);
  return end == std::string::npos ? "" : path.substr(0, end);
}

/// Depths below a local or log directory (process/nm/layout.h).
constexpr int kAppDirDepth = 4;   // usercache/USER/appcache/APP
constexpr int kWorkDirDepth = 5;  // .../CONTAINER
constexpr int kLogDirDepth = 2;   // APP/CONTAINER

Place PlaceAt(const std::string& path, int depth) {
  const std::string root = Above(path, depth);
  return {root, Below(root, path)};
}

}  // namespace

Place LogPlace(const std::string& log_dir) { return PlaceAt(log_dir, kLogDirDepth); }

ContainerSetup SetupOf(const process::nm::LaunchPlan& plan) {
  ContainerSetup setup;
  for (const std::string& app_dir : plan.app_dirs) setup.app_dirs.push_back(PlaceAt(app_dir, kAppDirDepth));
  setup.work_dir = PlaceAt(plan.work_dir, kWorkDirDepth);
  for (const std::string& log_dir : plan.log_dirs) setup.log_dirs.push_back(LogPlace(log_dir));
  setup.script = plan.script;
  setup.tokens = plan.tokens;
  setup.links = plan.links;
  setup.debug_info = plan.debug_info;
  return setup;
}

Order OrderOf(const process::nm::LaunchPlan& plan) {
  Order order;
  order.submitter = plan.user;
  for (const std::string& app_dir : plan.app_dirs) {
    const std::string root = Above(app_dir, kAppDirDepth);
    order.tops.push_back({root, Below(root, Above(app_dir, 2)), 0750});
  }
  for (const std::string& log_dir : plan.log_dirs) {
    const std::string root = Above(log_dir, kLogDirDepth);
    order.tops.push_back({root, Below(root, Above(log_dir, 1)), 0710});
  }
  return order;
}

base::Result<Fd> PrepareControl(const std::string& control, const SupervisorSpec& spec, const std::string& log_dir) {
  if (base::Status made = MakeRoot(control, 0700); !made) return made.error();
  const base::Result<Fd> directory = OpenRoot(control);
  if (!directory) return directory.error();
  for (const char* old : {kSupervisorExit, kSupervisorPid, kSupervisorSocket}) ::unlinkat(directory->get(), old, 0);
  const std::string sealed = base::EncodeSealed(spec);
  for (const auto& [name, text] :
       {std::pair<const char*, const std::string&>{kLogDirFile, log_dir}, {kSupervisorSpec, sealed}}) {
    if (base::Status written = WriteFile(directory->get(), name, text, 0600); !written) return written.error();
  }
  Fd lock(::openat(directory->get(), kSupervisorLock, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return ErrnoOf("lock of " + control);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) < 0)
    return base::Error{"a supervisor of " + spec.container + " still runs"};
  return lock;
}

std::string RememberedLogDir(const std::string& control) {
  const base::Result<Fd> directory = OpenRoot(control);
  const base::Result<std::string> text =
      directory ? ReadTail(directory->get(), kLogDirFile, PATH_MAX) : directory.error();
  return text ? *text : "";
}

int64_t CountLostStart(const std::string& control) {
  [[maybe_unused]] const base::Status made = MakeRoot(control, 0700);
  const base::Result<Fd> directory = OpenRoot(control);
  if (!directory) return 1;
  const base::Result<std::string> before = ReadTail(directory->get(), kLostStartsFile, kCountBytesMax);
  const int64_t count = (before ? std::strtoll(before->c_str(), nullptr, 10) : 0) + 1;
  [[maybe_unused]] const base::Status kept = WriteFile(directory->get(), kLostStartsFile, std::to_string(count), 0600);
  return count;
}

base::Result<Fd> OpenControlLock(const std::string& control) {
  Fd lock(::open((control + "/" + kSupervisorLock).c_str(), O_RDWR | O_CLOEXEC));
  if (!lock.valid()) return ErrnoOf("lock of " + control);
  return lock;
}

// Through /proc/self/fd, since a socket's path is limited to 107 bytes.
base::Result<Fd> ConnectToSupervisor(const std::string& control) {
  const base::Result<Fd> directory = OpenRoot(control);
  if (!directory) return directory.error();
  Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(directory->get()) + "/" + kSupervisorSocket;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0)
    return ErrnoOf("the supervisor's socket");
  return fd;
}

}  // namespace fairlead::shell
