#include "shell/nm/supervised_containers.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <thread>

#include "base/codec.h"
#include "process/nm/layout.h"
#include "shell/nm/container_links.h"
#include "shell/nm/files_as.h"
#include "shell/nm/supervisor.h"
#include "shell/nm/supervisor_process_tree.h"
#include "shell/nm/supervisor_spawner.h"

namespace fairlead::shell {

namespace {

namespace fs = std::filesystem;
using model::ContainerId;
using model::nm::EndCause;
using process::nm::LaunchPlan;

constexpr int64_t kConnectMsMax = 5000;
constexpr int64_t kConnectStepMs = 5;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

base::Error Errno(const std::string& what) { return {what + ": " + std::strerror(errno), errno}; }

/// Makes one directory with this mode (the umask aside) and owner; an existing one keeps what it has.
base::Status MakeOwned(const std::string& path, mode_t mode, const UnixUser* owner) {
  if (::mkdir(path.c_str(), mode) < 0) {
    if (errno == EEXIST) return {};
    return Errno("cannot make " + path);
  }
  if (::chmod(path.c_str(), mode) < 0) return Errno("chmod " + path);
  if (owner && ::chown(path.c_str(), owner->user, owner->group) < 0) return Errno("chown " + path);
  return {};
}

base::Status WriteOwned(const std::string& path, const std::string& bytes, mode_t mode, const UnixUser* owner) {
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
  if (fd < 0) return Errno("cannot write " + path);
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<size_t>(n);
  }
  bool good = done == bytes.size() && ::fchmod(fd, mode) == 0;
  if (good && owner) good = ::fchown(fd, owner->user, owner->group) == 0;
  const base::Error error = Errno("cannot write " + path);
  ::close(fd);
  if (!good) return error;
  return {};
}

/// The last bytes of a file; "" when it cannot be read.
std::string Tail(const std::string& path, int64_t bytes_max) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const auto size = static_cast<int64_t>(file.tellg());
  file.seekg(std::max<int64_t>(0, size - bytes_max));
  return {std::istreambuf_iterator<char>(file), {}};
}

class Worker : public process::nm::Containers {
 public:
  Worker(env::Loop& loop, SupervisedOptions options)
      : loop_(loop), options_(std::move(options)), spawner_(options_.binary, options_.control_root) {
    wake_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  }
  ~Worker() override {
    stop_ = true;
    Wake();
    if (thread_.joinable()) thread_.join();
    for (auto& [id, entry] : entries_) CloseChannel(entry);
    ::close(wake_);
    options_.cgroups.RemoveHierarchy();
  }

  void Start(process::nm::ContainerEvents* events) override {
    events_ = events;
    thread_ = std::thread([this] { Run(); });
  }
  void Launch(LaunchPlan plan) override {
    Enqueue([this, plan = std::move(plan)] { DoLaunch(plan); });
  }
  void Attach(const model::nm::ContainerSpec& spec) override {
    Enqueue([this, id = spec.id, resources = spec.resources] { DoAttach(id, resources); });
  }
  void Signal(const ContainerId& id, model::nm::SignalKind kind) override {
    Enqueue([this, id, kind] { DoSignal(id, kind); });
  }
  void Link(const ContainerId& id, const std::string& user, const std::string& work_dir,
            std::vector<model::nm::Link> links) override {
    Enqueue([this, id, user, work_dir, links = std::move(links)] {
      if (base::Status linked = LinkAs(user, work_dir, links); !linked)
        Warn(model::ToString(id) + ": " + linked.error().message);
    });
  }
  void Resize(const ContainerId& id, const model::Resources& resources) override {
    Enqueue([this, id, resources] {
      const auto at = entries_.find(id);
      if (at == entries_.end()) return;
      if (base::Status set = options_.cgroups.SetLimits(at->second.place, LimitsOf(resources)); !set)
        Warn(model::ToString(id) + ": new limits: " + set.error().message);
    });
  }
  void Forget(const ContainerId& id) override {
    Enqueue([this, id] {
      if (entries_.contains(id)) return;  // it was started again
      std::error_code ignored;
      fs::remove_all(ControlDir(id), ignored);
      CgroupRemove(options_.cgroups.Find(model::ToString(id)));
    });
  }

 private:
  struct Entry {
    int channel = -1;
    int64_t supervisor = 0;  // its pid, once it has told
    bool running_told = false;
    CgroupPlace place;
    std::string log_dir;
    uint64_t cpu_ticks = 0;
    bool has_cpu_ticks = false;
  };

  // ---- The thread ----

  void Enqueue(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    Wake();
  }
  void Wake() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t n = ::write(wake_, &one, sizeof one);
  }
  void Tell(model::nm::Event event) {
    loop_.Post([events = events_, event = std::move(event)]() mutable { events->OnContainerEvent(std::move(event)); });
  }
  void Warn(const std::string& text) {
    if (options_.warn) options_.warn(text);
  }

  void Run() {
    if (base::Status ready = spawner_.Start(); !ready) Warn(ready.error().message);  // tried again with each container
    int64_t next_usage = NowMs() + options_.usage_interval.millis();
    while (!stop_) {
      std::vector<pollfd> fds{{wake_, POLLIN, 0}};
      std::vector<ContainerId> ids;
      for (const auto& [id, entry] : entries_) {
        fds.push_back({entry.channel, POLLIN, 0});
        ids.push_back(id);
      }
      ::poll(fds.data(), fds.size(), static_cast<int>(std::max<int64_t>(0, next_usage - NowMs())));
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(wake_, &count, sizeof count);
      for (size_t i = 0; i < ids.size(); ++i) {
        if (fds[i + 1].revents != 0) ReadChannel(ids[i]);
      }
      RunJobs();
      if (NowMs() >= next_usage) {
        next_usage = NowMs() + options_.usage_interval.millis();
        MeasureUsage();
      }
    }
  }
  void RunJobs() {
    std::deque<std::function<void()>> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(jobs_);
    }
    for (auto& job : jobs) job();
  }

  // ---- Launch ----

  std::string ControlDir(const ContainerId& id) const { return options_.control_root + "/" + model::ToString(id); }

  CgroupLimits LimitsOf(const model::Resources& resources) const {
    CgroupLimits limits;
    if (options_.limit_memory) limits.memory_bytes = resources.memory_mib() << 20;
    limits.cpu_shares_vcores = resources.vcores();
    if (options_.limit_cpu) limits.cpu_cores_max = static_cast<double>(resources.vcores());
    limits.processes_max = options_.processes_max;
    return limits;
  }

  void DoLaunch(const LaunchPlan& plan) {
    if (base::Status launched = TryLaunch(plan); !launched) {
      CgroupRemove(options_.cgroups.Find(model::ToString(plan.id)));
      Tell(model::nm::LaunchFailed{plan.id, -1, LaunchFailure(plan.id, -1, launched.error().message)});
    }
  }

  static std::string LaunchFailure(const ContainerId& id, int code, const std::string& why) {
    return "Exception from container-launch.\nContainer id: " + model::ToString(id) +
           "\nExit code: " + std::to_string(code) + "\nException message: " + why + "\n";
  }

  base::Status TryLaunch(const LaunchPlan& plan) {
    UnixUser user;
    const UnixUser* owner = nullptr;
    if (options_.run_as.switch_user) {
      base::Result<UnixUser> found = FindUnixUser(options_.run_as.NameFor(plan.user));
      if (!found) return found.error();
      if (found->user == 0) return base::Error{"containers do not run as root"};
      user = std::move(*found);
      owner = &user;
    }
    if (base::Status made = MakeDirectories(plan, owner); !made) return made;

    SupervisorSpec spec;
    spec.container = model::ToString(plan.id);
    spec.argv = {"/bin/bash", plan.work_dir + "/" + process::nm::kLaunchScript};
    spec.environment = {"CONTAINER_ID=" + spec.container};
    spec.work_dir = plan.work_dir;
    spec.agent_away_ms = options_.agent_away.millis();
    spec.leftover_grace_ms = options_.leftover_grace.millis();
    spec.umask = static_cast<int32_t>(std::strtol(options_.umask.c_str(), nullptr, 8));
    if (plan.debug_info) spec.debug_log_dir = plan.log_dirs.front();
    if (owner) {
      spec.switch_user = true;
      spec.user = user.user;
      spec.group = user.group;
      spec.groups = user.groups;
    }
    Entry entry;
    entry.log_dir = plan.log_dirs.empty() ? "" : plan.log_dirs.front();
    base::Result<CgroupPlace> place = options_.cgroups.Create(spec.container, LimitsOf(plan.resources));
    if (place) {
      entry.place = *place;
      spec.cgroups = place->directories;
      spec.memory_cgroup = place->memory_directory;
      spec.cgroup_v2 = place->is_v2;
    } else {
      Warn(spec.container + " runs without control group: " + place.error().message);
    }
    return Spawn(plan.id, spec, std::move(entry));
  }

  base::Status LinkAs(const std::string& submitter, const std::string& work_dir,
                      const std::vector<model::nm::Link>& links) const {
    if (!options_.run_as.switch_user) return MakeLinks(work_dir, links, false);
    const base::Result<UnixUser> user = FindUnixUser(options_.run_as.NameFor(submitter));
    if (!user) return user.error();
    const FilesAs acting(&*user);
    return MakeLinks(work_dir, links, false);
  }

  base::Status MakeDirectories(const LaunchPlan& plan, const UnixUser* owner) {
    for (const std::string& app_dir : plan.app_dirs) {
      const fs::path appcache = fs::path(app_dir).parent_path();
      const fs::path user_dir = appcache.parent_path();
      std::error_code error;
      fs::create_directories(user_dir.parent_path(), error);
      for (const auto& [path, mode] :
           {std::pair{user_dir.string(), mode_t{0750}}, {appcache.string(), mode_t{0710}}, {app_dir, mode_t{0710}}}) {
        if (base::Status made = MakeOwned(path, mode, owner); !made) return made;
      }
    }
    if (base::Status made = MakeOwned(plan.work_dir, 0710, owner); !made) return made;
    if (base::Status made = MakeOwned(plan.work_dir + "/tmp", 0710, owner); !made) return made;
    for (const std::string& log_dir : plan.log_dirs) {
      const std::string app_logs = fs::path(log_dir).parent_path();
      if (base::Status made = MakeOwned(app_logs, 0710, owner); !made) return made;
      if (base::Status made = MakeOwned(log_dir, 0710, owner); !made) return made;
    }
    const std::string script = plan.work_dir + "/" + process::nm::kLaunchScript;
    if (base::Status written = WriteOwned(script, plan.script, 0700, owner); !written) return written;
    if (base::Status written = WriteOwned(plan.work_dir + "/" + process::nm::kTokenFile, plan.tokens, 0600, owner);
        !written)
      return written;
    const FilesAs acting(owner);
    return MakeLinks(plan.work_dir, plan.links, true);
  }

  base::Status Spawn(const ContainerId& id, const SupervisorSpec& spec, Entry entry) {
    const std::string control = ControlDir(id);
    if (base::Status made = MakeOwned(control, 0700, nullptr); !made) return made;
    for (const char* old : {kSupervisorExit, kSupervisorPid, kSupervisorSocket})
      ::unlink((control + "/" + old).c_str());
    std::ofstream(control + "/logs", std::ios::binary | std::ios::trunc) << entry.log_dir;
    std::string bytes;
    base::Encode(bytes, spec);
    if (base::Status written = WriteOwned(control + "/" + kSupervisorSpec, bytes, 0600, nullptr); !written)
      return written;
    const int lock = ::open((control + "/" + kSupervisorLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (lock < 0) return Errno("lock of " + control);
    if (::flock(lock, LOCK_EX | LOCK_NB) < 0) {
      ::close(lock);
      return base::Error{"a supervisor of " + spec.container + " still runs"};
    }
    int channel[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0) {
      ::close(lock);
      return Errno("socketpair");
    }
    const base::Status spawned = spawner_.Spawn(control, channel[1], lock);
    ::close(channel[1]);
    ::close(lock);
    if (!spawned) {
      ::close(channel[0]);
      return spawned;
    }
    entry.channel = channel[0];
    entries_[id] = std::move(entry);
    return {};
  }

  // ---- Attach ----

  void DoAttach(const ContainerId& id, const model::Resources&) {
    const std::string control = ControlDir(id);
    const int lock = ::open((control + "/" + kSupervisorLock).c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0) {
      Tell(model::nm::ContainerAbsent{id});
      return;
    }
    Entry entry;
    entry.place = options_.cgroups.Find(model::ToString(id));
    std::ifstream logs(control + "/logs", std::ios::binary);
    entry.log_dir.assign(std::istreambuf_iterator<char>(logs), {});
    const int64_t deadline = NowMs() + kConnectMsMax;
    for (;;) {
      if (::flock(lock, LOCK_EX | LOCK_NB) == 0) {  // no supervisor any more
        ::close(lock);
        const bool ever_ran = ReadSupervisorPid(control).ok() || ReadSupervisorExit(control).ok();
        entries_[id] = std::move(entry);
        if (ever_ran) {
          Ended(id);
        } else {
          entries_.erase(id);
          Tell(model::nm::ContainerAbsent{id});
        }
        return;
      }
      entry.channel = Connect(control);
      if (entry.channel >= 0 || NowMs() > deadline) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(kConnectStepMs));
    }
    ::close(lock);
    if (entry.channel < 0) {
      Warn(model::ToString(id) + ": its supervisor does not answer");
      entries_[id] = std::move(entry);
      Ended(id);
      return;
    }
    entries_[id] = std::move(entry);
  }

  /// Through /proc/self/fd, since a socket's path is limited to 107 bytes.
  static int Connect(const std::string& control) {
    const int directory = ::open(control.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return -1;
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + kSupervisorSocket;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const bool connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(directory);
    if (connected) return fd;
    ::close(fd);
    return -1;
  }

  // ---- Life and end ----

  static void CloseChannel(Entry& entry) {
    if (entry.channel >= 0) ::close(entry.channel);
    entry.channel = -1;
  }

  void DoSignal(const ContainerId& id, model::nm::SignalKind kind) {
    const auto at = entries_.find(id);
    if (at == entries_.end() || at->second.channel < 0) return;
    char command = 'Q';
    if (kind == model::nm::SignalKind::kTerminate) command = 'T';
    if (kind == model::nm::SignalKind::kKill) command = 'K';
    ::send(at->second.channel, &command, 1, MSG_NOSIGNAL);
  }

  void ReadChannel(const ContainerId& id) {
    const auto at = entries_.find(id);
    if (at == entries_.end()) return;
    char text[64];
    const ssize_t n = ::recv(at->second.channel, text, sizeof text - 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      Ended(id);
      return;
    }
    text[n] = '\0';
    long long pid = 0, supervisor = 0;
    if (std::sscanf(text, "R %lld %lld", &pid, &supervisor) == 2 && !at->second.running_told) {
      at->second.running_told = true;
      at->second.supervisor = supervisor;
      Tell(model::nm::ContainerRunning{id, pid});
    }
  }

  /// The supervisor has gone (its channel is closed): what came of the container is on disk, or lost.
  void Ended(const ContainerId& id) {
    Entry entry = std::move(entries_.at(id));
    entries_.erase(id);
    CloseChannel(entry);
    const base::Result<SupervisorExit> exit = ReadSupervisorExit(ControlDir(id));
    if (!exit) {
      SweepStrays(id, entry);
      Tell(model::nm::ContainerExited{id, model::nm::kExitLost, EndCause::kLost, {}, 0});
      return;
    }
    CgroupRemove(entry.place);
    if (!exit->launch_error.empty()) {
      Tell(model::nm::LaunchFailed{id, exit->code, LaunchFailure(id, exit->code, exit->launch_error)});
      return;
    }
    Tell(model::nm::ContainerExited{id, exit->code, exit->cause, Diagnose(id, exit->code, entry.log_dir),
                                    exit->peak_bytes});
  }

  /// A supervisor that was killed itself: its first process died with it; others are found by control group and by the
  /// variable that every process of a container carries.
  void SweepStrays(const ContainerId& id, const Entry& entry) {
    const std::string mark = "CONTAINER_ID=" + model::ToString(id);
    for (int round = 0; round < 200; ++round) {
      CgroupKill(entry.place);
      const std::vector<int64_t> strays = ProcessesWithVariable(mark);
      for (const int64_t pid : strays) ::kill(static_cast<pid_t>(pid), SIGKILL);
      if (strays.empty() && CgroupProcesses(entry.place).empty()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    CgroupRemove(entry.place);
  }

  /// What Hadoop's ContainerLaunch says of an exit code, with the ends of the error files.
  std::string Diagnose(const ContainerId& id, int code, const std::string& log_dir) const {
    if (code == 0) return {};
    std::string text;
    const bool killed = code == model::nm::kExitForceKilled || code == model::nm::kExitTerminated;
    if (!killed) {
      text = "Exception from container-launch.\nContainer id: " + model::ToString(id) +
             "\nExit code: " + std::to_string(code) + "\n\n";
    }
    text += "Container exited with a non-zero exit code " + std::to_string(code) + ". ";
    if (killed || log_dir.empty()) return text;
    const std::string size = std::to_string(options_.stderr_tail_bytes);
    text += "Error file: prelaunch.err.\nLast " + size + " bytes of prelaunch.err :\n" +
            Tail(log_dir + "/prelaunch.err", options_.stderr_tail_bytes);
    const std::string error_file = LatestErrorFile(log_dir);
    if (!error_file.empty()) {
      text += "Last " + size + " bytes of " + error_file + " :\n" +
              Tail(log_dir + "/" + error_file, options_.stderr_tail_bytes) + "\n";
    }
    return text;
  }

  /// The youngest file that matches {*stderr*,*STDERR*} (yarn.nodemanager.container.stderr.pattern).
  static std::string LatestErrorFile(const std::string& log_dir) {
    std::string latest;
    fs::file_time_type when{};
    std::error_code error;
    for (const fs::directory_entry& file : fs::directory_iterator(log_dir, error)) {
      const std::string name = file.path().filename();
      if (::fnmatch("*stderr*", name.c_str(), 0) != 0 && ::fnmatch("*STDERR*", name.c_str(), 0) != 0) continue;
      const fs::file_time_type written = file.last_write_time(error);
      if (!latest.empty() && written <= when) continue;
      latest = name;
      when = written;
    }
    return latest;
  }

  // ---- Usage ----

  void MeasureUsage() {
    model::nm::Usage usage;
    const std::vector<ProcessInfo> all = ListProcesses();
    static const int64_t ticks_per_second = ::sysconf(_SC_CLK_TCK);
    for (auto& [id, entry] : entries_) {
      if (entry.supervisor <= 0) continue;
      model::nm::ContainerUsage& sample = usage.containers.emplace_back();
      sample.container = id;
      sample.enforced = options_.limit_memory && !entry.place.memory_directory.empty();
      uint64_t ticks = 0;
      for (const ProcessInfo& info : DescendantsOf(entry.supervisor, all)) {
        sample.physical_bytes += info.resident_bytes;
        sample.virtual_bytes += info.virtual_bytes;
        ticks += info.cpu_ticks;
      }
      const int64_t interval_ms = std::max<int64_t>(1, options_.usage_interval.millis());
      if (entry.has_cpu_ticks && ticks > entry.cpu_ticks) {
        sample.milli_cores = static_cast<int64_t>(ticks - entry.cpu_ticks) * 1'000'000 / ticks_per_second / interval_ms;
      }
      entry.cpu_ticks = ticks;
      entry.has_cpu_ticks = true;
    }
    for (const ProcessInfo& info : all) {
      usage.node_physical_bytes += info.resident_bytes;
      usage.node_virtual_bytes += info.virtual_bytes;
    }
    Tell(std::move(usage));
  }

  env::Loop& loop_;
  SupervisedOptions options_;
  process::nm::ContainerEvents* events_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  int wake_ = -1;
  std::mutex mutex_;
  std::deque<std::function<void()>> jobs_;
  std::map<ContainerId, Entry> entries_;  // of the thread
  SupervisorSpawner spawner_;             // of the thread
};

}  // namespace

base::Result<UnixUser> FindUnixUser(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found) != 0 || !found)
    return base::Error{"User " + name + " not found"};
  UnixUser user{entry.pw_uid, entry.pw_gid, {}};
  int count = 64;
  std::vector<gid_t> groups(static_cast<size_t>(count));
  while (::getgrouplist(name.c_str(), entry.pw_gid, groups.data(), &count) < 0 && groups.size() < 65536)
    groups.resize(static_cast<size_t>(count));
  user.groups.assign(groups.begin(), groups.begin() + count);
  return user;
}

std::unique_ptr<process::nm::Containers> MakeSupervisedContainers(env::Loop& loop, SupervisedOptions options) {
  return std::make_unique<Worker>(loop, std::move(options));
}

}  // namespace fairlead::shell
