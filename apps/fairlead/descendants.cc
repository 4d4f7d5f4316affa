#include "descendants.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <map>
#include <set>
#include <string>

#include "env_posix/posix_loop.h"

namespace fairlead::apps {
namespace {

constexpr int64_t kRoundNs = 50'000'000;

int64_t NowNs() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Field 4 of /proc/PID/stat; the name before it may hold anything.
int64_t ParentOf(env::Disk& disk, const std::string& pid) {
  const auto stat = disk.ReadFile("/proc/" + pid + "/stat", 4096);
  const size_t name_end = stat.ok() ? stat->rfind(") ") : std::string::npos;
  return name_end == std::string::npos || name_end + 4 > stat->size() ? 0 : std::atoll(stat->c_str() + name_end + 4);
}

/// Until a child ends, or for one round: grandchildren tell nobody.
void AwaitChange() {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  const timespec round{0, kRoundNs};
  ::sigtimedwait(&child, nullptr, &round);
}

}  // namespace

void AdoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<int64_t> Descendants() {
  const auto disk = env_posix::MakePosixDisk();
  std::map<int64_t, std::vector<int64_t>> children;
  if (const auto processes = disk->List("/proc"); processes.ok()) {
    for (const env::FileInfo& entry : *processes) {
      if (entry.name.find_first_not_of("0123456789") == std::string::npos) {
        children[ParentOf(*disk, entry.name)].push_back(std::stoll(entry.name));
      }
    }
  }
  std::vector<int64_t> out = children[::getpid()];
  for (size_t i = 0; i < out.size(); ++i) {
    const std::vector<int64_t>& below = children[out[i]];
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

void ReapOrphans(const std::function<bool(int64_t pid)>& is_own) {
  while (true) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid == 0) return;
    if (is_own(ended.si_pid)) return;
    ::waitpid(ended.si_pid, nullptr, 0);
  }
}

void EndDescendants(base::Duration patience) {
  sigset_t child, before;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, &before);
  const int64_t begin = NowNs();
  std::set<int64_t> asked;
  while (true) {
    ReapOrphans([](int64_t) { return false; });
    const std::vector<int64_t> left = Descendants();
    const int64_t waited = NowNs() - begin;
    if (left.empty() || waited > 2 * patience.ns) break;
    const bool late = waited > patience.ns;
    for (const int64_t pid : left) {
      if (late || asked.insert(pid).second) ::kill(static_cast<pid_t>(pid), late ? SIGKILL : SIGTERM);
    }
    AwaitChange();
  }
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace fairlead::apps
