#include "shell/nm/supervisor_process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

namespace fairlead::shell {

namespace {

constexpr int64_t kKernelThreads = 2;

/// The whole of a small /proc file; "" when it cannot be read.
std::string ReadSmall(const std::string& path, size_t bytes_max) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  std::string text(bytes_max, '\0');
  size_t used = 0;
  while (used < text.size()) {
    const ssize_t n = ::read(fd, text.data() + used, text.size() - used);
    if (n <= 0) break;
    used += static_cast<size_t>(n);
  }
  ::close(fd);
  text.resize(used);
  return text;
}

template <class F>
void ForEachPid(F&& f) {
  DIR* dir = ::opendir("/proc");
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir)) {
    char* end = nullptr;
    const int64_t pid = std::strtoll(entry->d_name, &end, 10);
    if (pid > 0 && *end == '\0') f(pid);
  }
  ::closedir(dir);
}

/// In the middle of an exec a process has neither arguments nor an environment. Neither have zombies and the kernel's
/// own threads, which are children of process 2.
bool IsInExec(int64_t pid) {
  ProcessInfo info;
  return ReadSmall("/proc/" + std::to_string(pid) + "/cmdline", 1).empty() && ReadProcess(pid, info) &&
         info.state != 'Z' && info.state != 'X' && pid != kKernelThreads && info.parent != kKernelThreads;
}

}  // namespace

bool ReadProcess(int64_t pid, ProcessInfo& info) {
  const std::string text = ReadSmall("/proc/" + std::to_string(pid) + "/stat", 4096);
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return false;
  long long parent = 0, group = 0, session = 0;
  unsigned long long start = 0;
  char state = '?';
  const int n = std::sscanf(text.c_str() + name_end + 1,
                            " %c %lld %lld %lld %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                            &state, &parent, &group, &session, &start);
  if (n != 5) return false;
  info = {pid, parent, group, session, state, start};
  return true;
}

std::vector<ProcessInfo> ListProcesses() {
  std::vector<ProcessInfo> all;
  ForEachPid([&](int64_t pid) {
    ProcessInfo info;
    if (ReadProcess(pid, info)) all.push_back(info);
  });
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.pid < b.pid; });
  return all;
}

std::vector<ProcessInfo> DescendantsOf(int64_t root, const std::vector<ProcessInfo>& all) {
  std::multimap<int64_t, const ProcessInfo*> children;
  for (const ProcessInfo& info : all) children.emplace(info.parent, &info);
  std::vector<ProcessInfo> found;
  std::vector<int64_t> open{root};
  for (size_t i = 0; i < open.size(); ++i) {
    const auto [begin, end] = children.equal_range(open[i]);
    for (auto at = begin; at != end; ++at) {
      found.push_back(*at->second);
      open.push_back(at->second->pid);
    }
  }
  return found;
}

std::vector<int64_t> ProcessesWithVariable(const std::string& assignment, bool* not_known) {
  std::vector<int64_t> found;
  ForEachPid([&](int64_t pid) {
    const std::string text = ReadSmall("/proc/" + std::to_string(pid) + "/environ", 1 << 20);
    if (not_known && text.empty() && IsInExec(pid)) *not_known = true;
    for (size_t at = text.find(assignment); at != std::string::npos; at = text.find(assignment, at + 1)) {
      const size_t end = at + assignment.size();
      if ((at == 0 || text[at - 1] == '\0') && (end == text.size() || text[end] == '\0')) {
        found.push_back(pid);
        return;
      }
    }
  });
  return found;
}

}  // namespace fairlead::shell
