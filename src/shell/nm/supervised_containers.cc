#include "shell/nm/supervised_containers.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/container_end.h"
#include "shell/nm/container_start.h"
#include "shell/nm/container_usage.h"
#include "shell/nm/supervisor.h"

namespace fairlead::shell {

namespace {

using model::ContainerId;
using model::nm::EndCause;
using process::nm::LaunchPlan;

constexpr int64_t kConnectMsMax = 5000;
constexpr int64_t kConnectStepMs = 5;
constexpr int64_t kLostStartsMax = 5;

int64_t NowMs() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class Worker : public process::nm::Containers {
 public:
  Worker(env::Loop& loop, Helper& helper, Errands& errands, Watchdog& watchdog, SupervisedOptions options)
      : loop_(loop),
        helper_(helper),
        errands_(errands),
        post_(watchdog.NewPost()),
        options_(std::move(options)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~Worker() override {
    stop_ = true;
    Wake();
    if (thread_.joinable()) thread_.join();
    ::close(wake_);
    options_.cgroups.RemoveHierarchy();
  }

  void Start(process::nm::ContainerEvents* events) override {
    events_ = events;
    thread_ = std::thread([this] { Run(); });
  }
  void Launch(LaunchPlan plan) override {
    Enqueue("the start of a container", [this, plan = std::move(plan)] { DoLaunch(plan); });
  }
  void Attach(const model::nm::ContainerSpec& spec) override {
    Enqueue("the search for a container", [this, id = spec.id, user = spec.user] { DoAttach(id, user); });
  }
  void Signal(const ContainerId& id, model::nm::SignalKind kind) override {
    Enqueue("a signal to a container", [this, id, kind] { DoSignal(id, kind); });
  }
  void Link(const ContainerId& id, const std::string& user, const std::string& work_dir,
            std::vector<model::nm::Link> links) override {
    LaunchPlan plan;
    plan.work_dir = work_dir;
    Order order;
    order.submitter = user;
    errands_.Run("links " + user, std::move(order), LinkErrand{SetupOf(plan).work_dir, std::move(links)},
                 [this, id](const base::Result<std::string>& result) {
                   if (!result) Warn(model::ToString(id) + ": " + result.error().message);
                 });
  }
  void Resize(const ContainerId& id, const model::Resources& resources) override {
    Enqueue("new limits of a container", [this, id, resources] {
      const auto at = entries_.find(id);
      if (at == entries_.end()) return;
      Entry& entry = at->second;
      entry.network_class = HoldNetwork(id, resources, entry.network_class);
      if (base::Status set = options_.cgroups.SetLimits(entry.place, LimitsOf(resources, entry)); !set)
        Warn(model::ToString(id) + ": new limits: " + set.error().message);
    });
  }
  void Forget(const ContainerId& id) override {
    Enqueue("the removal of a container's records", [this, id] {
      if (entries_.contains(id)) return;  // it was started again
      Budget budget;
      const base::Result<Fd> root = OpenRoot(options_.control_root);
      const base::Status removed =
          root ? RemoveTree(root->get(), model::ToString(id), budget) : base::Status(root.error());
      if (!removed) Warn(model::ToString(id) + ": " + removed.error().message);
      CgroupRemove(options_.cgroups.Find(model::ToString(id)));
    });
  }

 private:
  struct Entry {
    std::string user;  // who submitted it
    Fd channel;
    int64_t supervisor = 0;  // its pid, once it has told
    bool running_told = false;
    CgroupPlace place;
    uint32_t network_class = 0;  // of NetworkRates; 0: without limit
    std::string log_dir;
  };
  /// A container of an earlier run whose supervisor does not answer yet.
  struct Search {
    Entry entry;
    Fd lock;
    int64_t until_ms = 0;
    std::vector<model::nm::SignalKind> signals;  // for when it is found
  };
  struct Job {
    const char* what;
    std::function<void()> run;
  };

  // ---- The thread ----

  void Enqueue(const char* what, std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({what, std::move(job)});
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
    int64_t next_usage = NowMs() + options_.usage_interval.millis();
    while (!stop_) {
      std::vector<pollfd> fds{{wake_, POLLIN, 0}};
      std::vector<ContainerId> ids;
      for (const auto& [id, entry] : entries_) {
        fds.push_back({entry.channel.get(), POLLIN, 0});
        ids.push_back(id);
      }
      const int64_t wait = std::max<int64_t>(0, next_usage - NowMs());
      ::poll(fds.data(), fds.size(), static_cast<int>(searches_.empty() ? wait : std::min(wait, kConnectStepMs)));
      const Watchdog::Stay stay(post_, "the life of containers");
      uint64_t count = 0;
      [[maybe_unused]] const ssize_t n = ::read(wake_, &count, sizeof count);
      for (size_t i = 0; i < ids.size(); ++i) {
        if (fds[i + 1].revents != 0) ReadChannel(ids[i]);
      }
      RunJobs();
      GoOnSearching();
      if (NowMs() >= next_usage) {
        next_usage = NowMs() + options_.usage_interval.millis();
        MeasureUsage();
      }
    }
  }
  void RunJobs() {
    std::deque<Job> jobs;
    {
      const std::lock_guard lock(mutex_);
      jobs.swap(jobs_);
    }
    for (Job& job : jobs) {
      post_.Enter(job.what);
      job.run();
    }
  }

  // ---- Launch ----

  std::string ControlDir(const ContainerId& id) const { return options_.control_root + "/" + model::ToString(id); }

  CgroupLimits LimitsOf(const model::Resources& resources, const Entry& entry) const {
    CgroupLimits limits;
    if (options_.limit_memory) limits.memory_bytes = resources.memory_mib() << 20;
    limits.cpu_shares_vcores = resources.vcores();
    if (options_.limit_cpu) limits.cpu_cores_max = static_cast<double>(resources.vcores());
    limits.processes_max = options_.processes_max;
    if (const size_t type = options_.disk_rate_type; type != 0)
      limits.disk_bytes_per_second = std::min(resources[type], INT64_MAX >> 20) << 20;
    limits.network_class = entry.network_class;
    return limits;
  }

  /// The class for what the container sends, at the rate that it has booked; `held`: the one that it has.
  uint32_t HoldNetwork(const ContainerId& id, const model::Resources& resources, uint32_t held) {
    const int64_t rate = options_.network ? resources[options_.network_rate_type] : 0;
    if (rate <= 0) return 0;
    const uint32_t network_class = held > 0 ? held : FreeNetworkClass();
    const base::Status set = options_.network->Set(network_class, rate);
    if (!set) Warn(model::ToString(id) + " sends without limit: " + set.error().message);
    return set ? network_class : 0;
  }

  uint32_t FreeNetworkClass() const {
    std::set<uint32_t> used;
    for (const auto& [id, entry] : entries_) used.insert(entry.network_class);
    for (const auto& [id, search] : searches_) used.insert(search.entry.network_class);
    uint32_t free = 1;
    while (used.contains(free)) ++free;
    return free;
  }

  void DoLaunch(const LaunchPlan& plan) {
    if (base::Status launched = TryLaunch(plan); !launched) {
      CgroupRemove(options_.cgroups.Find(model::ToString(plan.id)));
      Tell(model::nm::LaunchFailed{plan.id, -1, LaunchFailureText(plan.id, -1, launched.error().message)});
    }
  }

  base::Status TryLaunch(const LaunchPlan& plan) {
    SupervisorSpec spec;
    spec.container = model::ToString(plan.id);
    spec.argv = {"/bin/bash", plan.work_dir + "/" + process::nm::kLaunchScript};
    spec.environment = {"CONTAINER_ID=" + spec.container};
    spec.setup = SetupOf(plan);
    spec.agent_away_ms = options_.agent_away.millis();
    spec.leftover_grace_ms = options_.leftover_grace.millis();
    spec.umask = static_cast<int32_t>(std::strtol(options_.umask.c_str(), nullptr, 8));
    Order order = OrderOf(plan);
    order.control = ControlDir(plan.id);
    Entry entry;
    entry.user = plan.user;
    entry.log_dir = plan.log_dirs.empty() ? "" : plan.log_dirs.front();
    entry.network_class = HoldNetwork(plan.id, plan.resources, 0);
    base::Result<CgroupPlace> place = options_.cgroups.Create(spec.container, LimitsOf(plan.resources, entry));
    if (place) {
      entry.place = *place;
      order.cgroups = spec.cgroups = place->directories;
      spec.memory_cgroup = place->memory_directory;
      spec.cgroup_v2 = place->is_v2;
    } else {
      Warn(spec.container + " runs without control group: " + place.error().message);
    }
    if (!place || !options_.cgroups.has_processes()) spec.processes_max = options_.processes_max;
    return Spawn(plan.id, spec, std::move(order), std::move(entry));
  }

  base::Status Spawn(const ContainerId& id, const SupervisorSpec& spec, Order order, Entry entry) {
    const base::Result<Fd> lock = PrepareControl(order.control, spec, entry.log_dir);
    if (!lock) return lock.error();
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
    entry.channel = Fd(ends[0]);
    const Fd theirs(ends[1]);
    if (base::Status sent = helper_.Supervise(std::move(order), theirs.get(), lock->get()); !sent) return sent;
    entries_[id] = std::move(entry);
    return {};
  }

  // ---- Attach ----

  void DoAttach(const ContainerId& id, const std::string& user) {
    base::Result<Fd> lock = OpenControlLock(ControlDir(id));
    if (!lock) return NeverRan(id);
    Search search;
    search.lock = std::move(*lock);
    search.until_ms = NowMs() + kConnectMsMax;
    search.entry.user = user;
    search.entry.place = options_.cgroups.Find(model::ToString(id));
    search.entry.network_class = options_.cgroups.NetworkClassOf(search.entry.place);
    search.entry.log_dir = RememberedLogDir(ControlDir(id));
    searches_[id] = std::move(search);
  }

  /// It is started again, unless its start may be what ends the agent.
  void NeverRan(const ContainerId& id) {
    if (CountLostStart(ControlDir(id)) < kLostStartsMax) return Tell(model::nm::ContainerAbsent{id});
    const std::string why = "the node agent ended " + std::to_string(kLostStartsMax) +
                            " times while it started this container; it is given up";
    Tell(model::nm::LaunchFailed{id, -1, LaunchFailureText(id, -1, why)});
  }

  /// A supervisor that has just been forked, or is about to go, does not answer for a moment.
  void GoOnSearching() {
    for (auto at = searches_.begin(); at != searches_.end();) {
      const ContainerId id = at->first;
      at = Found(id, at->second) ? searches_.erase(at) : std::next(at);
    }
  }

  bool Found(const ContainerId& id, Search& search) {
    const std::string control = ControlDir(id);
    if (::flock(search.lock.get(), LOCK_EX | LOCK_NB) == 0) {  // no supervisor any more
      search.lock = Fd();
      // A damaged record says that it ran, too.
      const auto is_there = [](const auto& record) { return record.ok() || record.error().code != ENOENT; };
      if (is_there(ReadSupervisorPid(control)) || is_there(ReadSupervisorExit(control))) {
        Ended(id, std::move(search.entry));
      } else {
        NeverRan(id);
      }
      return true;
    }
    base::Result<Fd> channel = ConnectToSupervisor(control);
    if (channel) {
      search.entry.channel = std::move(*channel);
      entries_[id] = std::move(search.entry);
      for (const model::nm::SignalKind kind : search.signals) DoSignal(id, kind);
      return true;
    }
    if (NowMs() <= search.until_ms) return false;
    Warn(model::ToString(id) + ": its supervisor does not answer");
    Ended(id, std::move(search.entry));
    return true;
  }

  // ---- Life and end ----

  void DoSignal(const ContainerId& id, model::nm::SignalKind kind) {
    const auto at = entries_.find(id);
    if (at == entries_.end()) {
      if (const auto search = searches_.find(id); search != searches_.end()) search->second.signals.push_back(kind);
      return;
    }
    char command = 'Q';
    if (kind == model::nm::SignalKind::kTerminate) command = 'T';
    if (kind == model::nm::SignalKind::kKill) command = 'K';
    ::send(at->second.channel.get(), &command, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  void ReadChannel(const ContainerId& id) {
    const auto at = entries_.find(id);
    if (at == entries_.end()) return;
    char text[64];
    const ssize_t n = ::recv(at->second.channel.get(), text, sizeof text - 1, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0) {
      Entry entry = std::move(at->second);
      entries_.erase(at);
      return Ended(id, std::move(entry));
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
  void Ended(const ContainerId& id, Entry entry) {
    entry.channel = Fd();
    const base::Result<SupervisorExit> exit = ReadSupervisorExit(ControlDir(id));
    if (!exit) return Lost(id, entry);
    CgroupRemove(entry.place);
    if (!exit->launch_error.empty()) {
      Tell(model::nm::LaunchFailed{id, exit->code, LaunchFailureText(id, exit->code, exit->launch_error)});
      return;
    }
    const auto tell = [this, id, exit = *exit](const std::string& tails) {
      Tell(model::nm::ContainerExited{id, exit.code, exit.cause, ExitText(id, exit.code, tails), exit.peak_bytes});
    };
    if (!WantsErrorTails(exit->code) || entry.log_dir.empty()) return tell("");
    Order order;
    order.submitter = entry.user;
    errands_.Run("ends " + entry.user, std::move(order),
                 ErrorTailsErrand{LogPlace(entry.log_dir), options_.stderr_tail_bytes},
                 [tell](const base::Result<std::string>& tails) { tell(tails ? *tails : ""); });
  }

  /// A supervisor that was killed itself: its first process died with it; others are found by control group and by the
  /// variable that every process of a container carries.
  void Lost(const ContainerId& id, const Entry& entry) {
    CgroupKill(entry.place);
    Order order;
    order.submitter = entry.user;
    errands_.Run("sweep " + entry.user, std::move(order),
                 SweepErrand{"CONTAINER_ID=" + model::ToString(id), entry.place.directories},
                 [this, id, place = entry.place](const base::Result<std::string>&) {
                   CgroupRemove(place);
                   Tell(model::nm::ContainerExited{id, model::kExitLost, EndCause::kLost, {}, 0});
                 });
  }

  // ---- Usage ----

  void MeasureUsage() {
    std::vector<UsageMeter::Tree> trees;
    for (const auto& [id, entry] : entries_) {
      if (entry.supervisor <= 0) continue;
      trees.push_back({id, entry.supervisor, entry.place.directories,
                       options_.limit_memory && !entry.place.memory_directory.empty()});
    }
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    Tell(meter_.Measure({std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()}, trees));
  }

  env::Loop& loop_;
  Helper& helper_;
  Errands& errands_;
  Watchdog::Post& post_;
  SupervisedOptions options_;
  process::nm::ContainerEvents* events_ = nullptr;
  std::thread thread_;
  std::atomic<bool> stop_ = false;
  UsageMeter meter_{options_.machine};  // of the thread, as the next two
  std::map<ContainerId, Entry> entries_;
  std::map<ContainerId, Search> searches_;
  int wake_ = -1;
  std::mutex mutex_;
  std::deque<Job> jobs_;
};

}  // namespace

std::unique_ptr<process::nm::Containers> MakeSupervisedContainers(env::Loop& loop, Helper& helper, Errands& errands,
                                                                  Watchdog& watchdog, SupervisedOptions options) {
  return std::make_unique<Worker>(loop, helper, errands, watchdog, std::move(options));
}

}  // namespace fairlead::shell
