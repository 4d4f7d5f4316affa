#include "shell/nm/supervisor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>

#include "base/stored.h"
#include "env_posix/read_all.h"
#include "shell/nm/cgroup.h"
#include "shell/nm/supervisor_process_tree.h"

namespace fairlead::shell {

namespace {

using model::nm::EndCause;

constexpr int64_t kOomPollMs = 1000;
constexpr int64_t kReapPollMs = 10;
constexpr int64_t kUnkillableMs = 60'000;
constexpr unsigned kSetUpSeconds = 60;
constexpr size_t kReportBytesMax = 1024;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Whole or not at all for every reader, whoever is killed meanwhile. Not synced: the processes that it tells of do not
/// outlive the machine either.
bool WriteAtomically(const std::string& name, const std::string& bytes) {
  const std::string temporary = name + ".new";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  ::close(fd);
  return done == bytes.size() && ::rename(temporary.c_str(), name.c_str()) == 0;
}

template <class T>
bool WriteRecord(const std::string& name, const T& record) {
  return WriteAtomically(name, base::EncodeSealed(record));
}

template <class T>
base::Result<T> ReadRecord(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::Error{"cannot read " + path + ": " + std::strerror(errno), errno};
  base::Result<T> record = base::DecodeSealed<T>(env_posix::ReadAll(file));
  if (!record.ok()) return base::Error{path + ": " + record.error().message, EBADMSG};
  return record;
}

/// In the container's first process, between fork and exec; the supervisor has one thread. Never returns.
[[noreturn]] void RunContainer(const SupervisorSpec& spec, const SupervisorRights& rights, char* const* argv,
                               char* const* environment, int report) {
  const auto tell = [&](const std::string& text) {
    [[maybe_unused]] const ssize_t written = ::write(report, text.data(), std::min(text.size(), kReportBytesMax));
    ::_exit(127);
  };
  const auto fail = [&](const std::string& step) { tell(step + ": " + std::strerror(errno)); };
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::setsid() < 0) fail("setsid");
  for (const int file : rights.members) {
    if (::write(file, "0", 1) != 1) fail("cannot join the container's control group");
    ::close(file);
  }
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int signal = 1; signal < 32; ++signal) ::signal(signal, SIG_DFL);
  const int null = ::open("/dev/null", O_RDWR);
  if (null < 0 || ::dup2(null, 0) < 0 || ::dup2(null, 1) < 0 || ::dup2(null, 2) < 0) fail("/dev/null");
  ::umask(static_cast<mode_t>(spec.umask));
  if (rights.switch_user) {
    if (spec.processes_max > 0) {
      const rlimit limit{static_cast<rlim_t>(spec.processes_max), static_cast<rlim_t>(spec.processes_max)};
      ::setrlimit(RLIMIT_NPROC, &limit);
    }
    if (base::Status became = Become(rights.account); !became) tell(became.error().message);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // a change of user clears it
  }
  ::alarm(kSetUpSeconds);  // a file system that does not answer holds up this container alone
  try {
    if (base::Status ready = SetUpContainer(spec.setup); !ready) tell(ready.error().message);
  } catch (const std::exception& e) {
    tell(e.what());
  }
  ::alarm(0);
  ::execve(argv[0], argv, environment);
  fail("cannot run the launch script");
  ::_exit(127);
}

/// A running container under its supervisor; see supervisor.h.
class Supervisor {
 public:
  Supervisor(SupervisorSpec spec, const SupervisorRights& rights) : spec_(std::move(spec)), rights_(rights) {
    place_.directories = spec_.cgroups;
    place_.memory_directory = spec_.memory_cgroup;
    place_.is_v2 = spec_.cgroup_v2;
  }

  int Run() {
    Prepare();
    if (!StartContainer()) return WriteRecord(kSupervisorExit, exit_) ? 0 : 1;
    while (!tree_gone_) {
      Wait();
      Reap();
      CheckMemory();
      CheckAgent();
      if (main_ended_) EndLeftovers();
    }
    exit_.peak_bytes = CgroupPeakBytes(place_);
    const bool kept = WriteRecord(kSupervisorExit, exit_);
    ::close(kSupervisorLockFd);  // before the channel: who hears of the end may start the container again
    if (agent_ >= 0) ::send(agent_, "X", 1, MSG_NOSIGNAL);
    CgroupRemove(place_, agent_ < 0);  // nobody else may come to tidy up
    return kept ? 0 : 1;
  }

 private:
  void Prepare() {
    ::setsid();
    ::prctl(PR_SET_NAME, "fl-supervise");
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    signals_ = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
    ::fcntl(kSupervisorLockFd, F_SETFD, FD_CLOEXEC);
    if (::fcntl(kSupervisorChannelFd, F_SETFD, FD_CLOEXEC) == 0) agent_ = kSupervisorChannelFd;
    Listen();
    away_since_ = NowMs();
  }

  void Listen() {
    ::unlink(kSupervisorSocket);
    listener_ = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, kSupervisorSocket, sizeof address.sun_path - 1);
    const mode_t before = ::umask(0177);
    if (::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
        ::listen(listener_, 4) < 0) {
      ::close(listener_);
      listener_ = -1;
    }
    ::umask(before);
  }

  bool StartContainer() {
    std::vector<char*> argv, environment;
    for (std::string& text : spec_.argv) argv.push_back(text.data());
    argv.push_back(nullptr);
    for (std::string& text : spec_.environment) environment.push_back(text.data());
    environment.push_back(nullptr);
    int report[2];
    if (::pipe2(report, O_CLOEXEC) < 0) return FailLaunch("pipe");
    main_ = ::fork();
    if (main_ < 0) return FailLaunch("fork");
    if (main_ == 0) RunContainer(spec_, rights_, argv.data(), environment.data(), report[1]);
    ::close(report[1]);
    for (const int file : rights_.members) ::close(file);
    if ((rights_.switch_user && !KeepCapabilities("cap_kill")) || !rights_.calls->Impose()) ::kill(main_, SIGKILL);
    char text[kReportBytesMax];
    ssize_t n = 0;
    do {
      n = ::read(report[0], text, sizeof text);
    } while (n < 0 && errno == EINTR);
    ::close(report[0]);
    if (n > 0) {
      ::waitpid(main_, nullptr, 0);
      exit_.code = -1;
      exit_.launch_error = std::string(text, static_cast<size_t>(n));
      CgroupRemove(place_);
      return false;
    }
    ProcessInfo info;
    ReadProcess(main_, info);
    WriteRecord(kSupervisorPid, SupervisorPid{main_, info.start_ticks});
    TellRunning();
    return true;
  }

  bool FailLaunch(const char* step) {
    exit_.code = -1;
    exit_.launch_error = std::string(step) + ": " + std::strerror(errno);
    return false;
  }

  void TellRunning() {
    if (agent_ < 0) return;
    const std::string text = "R " + std::to_string(main_) + " " + std::to_string(::getpid());
    ::send(agent_, text.data(), text.size(), MSG_NOSIGNAL);
  }

  int WaitMs() const {
    if (main_ended_) return kReapPollMs;
    int64_t ms = spec_.memory_cgroup.empty() ? 60'000 : kOomPollMs;
    if (agent_ < 0 && spec_.agent_away_ms > 0)
      ms = std::min(ms, std::max<int64_t>(0, away_since_ + spec_.agent_away_ms - NowMs()));
    return static_cast<int>(ms);
  }

  void Wait() {
    pollfd fds[3] = {{signals_, POLLIN, 0}, {listener_, POLLIN, 0}, {agent_, POLLIN, 0}};
    ::poll(fds, 3, WaitMs());
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) > 0) {
    }
    if (fds[1].revents != 0) AcceptAgent();
    if (fds[2].revents != 0 && fds[2].fd == agent_) ReadCommand();
  }

  /// The newest agent wins: an old connection may be half dead.
  void AcceptAgent() {
    const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;
    if (agent_ >= 0) ::close(agent_);
    agent_ = fd;
    TellRunning();
  }

  void ReadCommand() {
    char command = 0;
    const ssize_t n = ::recv(agent_, &command, 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      ::close(agent_);
      agent_ = -1;
      away_since_ = NowMs();
      return;
    }
    if (command == 'T') SignalTree(SIGTERM);
    if (command == 'K') KillTree();
    // Hadoop's thread dump goes to the first process and its group alone: Java prints, bash would die.
    if (command == 'Q') ::kill(-main_, SIGQUIT);
  }

  void Reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = ::waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return;
      if (pid != main_) continue;
      main_ended_ = true;
      main_ended_at_ = NowMs();
      exit_.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
  }

  /// The kernel killed inside the group: then the whole container goes, as one unit.
  void CheckMemory() {
    if (exit_.cause != EndCause::kExit || CgroupOomKills(place_) <= 0) return;
    exit_.cause = EndCause::kMemoryLimit;
    KillTree();
  }

  void CheckAgent() {
    if (agent_ >= 0 || spec_.agent_away_ms <= 0 || exit_.cause == EndCause::kAgentAway) return;
    if (NowMs() < away_since_ + spec_.agent_away_ms) return;
    exit_.cause = EndCause::kAgentAway;
    KillTree();
  }

  std::vector<int64_t> Tree() const {
    std::vector<int64_t> pids = CgroupProcesses(place_);
    for (const ProcessInfo& info : DescendantsOf(::getpid(), ListProcesses())) {
      if (info.state != 'Z') pids.push_back(info.pid);
    }
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
  }

  void SignalTree(int signal) {
    for (const int64_t pid : Tree()) ::kill(static_cast<pid_t>(pid), signal);
  }

  /// Stops first, then kills, so that a tree that forks while it is walked cannot get away.
  void KillTree() {
    SignalTree(SIGSTOP);
    CgroupKill(place_);
    SignalTree(SIGKILL);
  }

  /// After the first process: what is left gets a terminate, then a kill again and again until nothing is left.
  void EndLeftovers() {
    const std::vector<int64_t> left = Tree();
    const int64_t waited = NowMs() - main_ended_at_;
    if (left.empty() || waited > kUnkillableMs) {
      tree_gone_ = true;
    } else if (waited >= spec_.leftover_grace_ms) {
      KillTree();
    } else if (!leftovers_told_) {
      leftovers_told_ = true;
      SignalTree(SIGTERM);
    }
  }

  SupervisorSpec spec_;
  const SupervisorRights rights_;
  CgroupPlace place_;
  SupervisorExit exit_;
  int signals_ = -1;
  int listener_ = -1;
  int agent_ = -1;
  pid_t main_ = -1;
  bool main_ended_ = false;
  bool tree_gone_ = false;
  bool leftovers_told_ = false;
  int64_t main_ended_at_ = 0;
  int64_t away_since_ = 0;
};

}  // namespace

int RunSupervisor(const std::string& control_dir, const SupervisorRights& rights) {
  if (::chdir(control_dir.c_str()) < 0) {
    std::fprintf(stderr, "fairlead supervise: cannot enter %s: %s\n", control_dir.c_str(), std::strerror(errno));
    return 2;
  }
  base::Result<SupervisorSpec> spec = ReadRecord<SupervisorSpec>(kSupervisorSpec);
  if (!spec) {
    std::fprintf(stderr, "fairlead supervise: %s\n", spec.error().message.c_str());
    return 2;
  }
  return Supervisor(std::move(*spec), rights).Run();
}

void FailSupervisor(const std::string& control_dir, const std::string& why) {
  SupervisorExit exit;
  exit.code = -1;
  exit.launch_error = why;
  WriteRecord(control_dir + "/" + kSupervisorExit, exit);
}

base::Result<SupervisorExit> ReadSupervisorExit(const std::string& control_dir) {
  return ReadRecord<SupervisorExit>(control_dir + "/" + kSupervisorExit);
}

base::Result<SupervisorPid> ReadSupervisorPid(const std::string& control_dir) {
  return ReadRecord<SupervisorPid>(control_dir + "/" + kSupervisorPid);
}

}  // namespace fairlead::shell
