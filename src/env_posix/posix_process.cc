#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "env_posix/posix_loop.h"
#include "env_posix/processes_internal.h"
#include "env_posix/read_all.h"

namespace fairlead::env_posix {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

base::Error Errno(const std::string& what) { return {what + ": " + std::strerror(errno), errno}; }

/// Everything the child needs, made before the fork: after it only async-signal-safe calls are allowed.
struct ChildPlan {
  std::vector<char*> argv;
  std::vector<std::string> environment_text;
  std::vector<char*> environment;
  const env::SpawnRequest* request = nullptr;
};

ChildPlan PlanChild(const env::SpawnRequest& request) {
  ChildPlan plan;
  plan.request = &request;
  for (const std::string& argument : request.argv) plan.argv.push_back(const_cast<char*>(argument.c_str()));
  plan.argv.push_back(nullptr);
  for (const auto& [name, value] : request.environment) plan.environment_text.push_back(name + "=" + value);
  for (std::string& text : plan.environment_text) plan.environment.push_back(text.data());
  plan.environment.push_back(nullptr);
  return plan;
}

bool RedirectTo(const char* path, int flags, int target) {
  const int fd = ::open(path, flags, 0640);
  if (fd < 0) return false;
  if (fd == target) return true;
  const bool good = ::dup2(fd, target) == target;
  ::close(fd);
  return good;
}

/// In the child: never returns. The step that failed and errno go through `report`.
[[noreturn]] void RunChild(const ChildPlan& plan, int report) {
  const env::SpawnRequest& request = *plan.request;
  const auto fail = [&] {
    const int error = errno;
    [[maybe_unused]] const ssize_t n = ::write(report, &error, sizeof error);
    ::_exit(127);
  };
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  if (request.new_session && ::setsid() < 0) fail();
  if (!RedirectTo(request.stdin_path.c_str(), O_RDONLY, 0)) fail();
  if (!RedirectTo(request.stdout_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 1)) fail();
  if (!RedirectTo(request.stderr_path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 2)) fail();
  if (request.group != UINT32_MAX && (::setgroups(0, nullptr) < 0 || ::setgid(request.group) < 0)) fail();
  if (request.user != UINT32_MAX && ::setuid(request.user) < 0) fail();
  if (!request.directory.empty() && ::chdir(request.directory.c_str()) < 0) fail();
  ::execve(plan.argv[0], plan.argv.data(), plan.environment.data());
  fail();
  ::_exit(127);
}

int OpenPidFd(int64_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0)); }

/// Field 22 of /proc/PID/stat, 0 when there is no such process.
uint64_t StartTicks(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  const std::string text = ReadAll(file);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream rest(text.substr(name_end + 1));
  std::string field;
  for (int i = 3; i <= 22; ++i) rest >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

/// Calls `done` on the loop once `pidfd` is readable: the process has ended.
void AwaitEnd(SocketHost& host, int pidfd, std::function<void()> done) {
  auto descriptor = std::make_shared<asio::posix::stream_descriptor>(host.context, pidfd);
  asio::posix::stream_descriptor& waiting = *descriptor;
  waiting.async_wait(asio::posix::stream_descriptor::wait_read,
                     [&host, descriptor = std::move(descriptor), done = std::move(done)](error_code error) {
                       if (error) return;
                       host.BeginTurn();
                       done();
                     });
}

env::ExitStatus Reap(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return {128 + WTERMSIG(status), WTERMSIG(status)};
  return {WEXITSTATUS(status), 0};
}

}  // namespace

base::Result<int64_t> SpawnProcess(SocketHost& host, const env::SpawnRequest& request,
                                   env::Processes::ExitHandler on_exit) {
  if (request.argv.empty()) return base::Error{"nothing to run", EINVAL};
  const ChildPlan plan = PlanChild(request);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) < 0) return Errno("pipe");
  const pid_t pid = ::fork();
  if (pid < 0) {
    const base::Error error = Errno("fork");
    ::close(report[0]);
    ::close(report[1]);
    return error;
  }
  if (pid == 0) RunChild(plan, report[1]);
  ::close(report[1]);
  int child_errno = 0;
  ssize_t n = 0;
  do {
    n = ::read(report[0], &child_errno, sizeof child_errno);
  } while (n < 0 && errno == EINTR);
  ::close(report[0]);
  if (n > 0) {
    Reap(pid);
    return base::Error{"cannot start " + request.argv[0] + ": " + std::strerror(child_errno), child_errno};
  }
  const int pidfd = OpenPidFd(pid);
  FL_CHECK(pidfd >= 0, "pidfd_open of an own child failed (Linux 5.3 or newer is needed)");
  AwaitEnd(host, pidfd, [pid, on_exit = std::move(on_exit)] { on_exit(Reap(pid)); });
  return static_cast<int64_t>(pid);
}

void WatchProcess(SocketHost& host, int64_t pid, uint64_t start_ticks, std::function<void()> on_gone) {
  const int pidfd = OpenPidFd(pid);
  const bool other = pidfd >= 0 && start_ticks != 0 && StartTicks(pid) != start_ticks;
  if (pidfd < 0 || other) {
    if (pidfd >= 0) ::close(pidfd);
    asio::post(host.context, [&host, on_gone = std::move(on_gone)] {
      host.BeginTurn();
      on_gone();
    });
    return;
  }
  AwaitEnd(host, pidfd, std::move(on_gone));
}

base::Status SignalProcess(int64_t pid, int signal) {
  // To kill() these are the caller's own group, and everybody.
  if (pid == 0 || pid == -1) return base::Error{"no process has the number " + std::to_string(pid), ESRCH};
  if (::kill(static_cast<pid_t>(pid), signal) == 0 || errno == ESRCH) return {};
  return Errno("kill " + std::to_string(pid));
}

void RaiseOpenFilesLimit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

size_t OpenFilesLimit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 1024;
}

}  // namespace fairlead::env_posix
