#include "shell/nm/supervised_containers.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "env_posix/posix_loop.h"
#include "shell/nm/errands.h"
#include "shell/nm/helper.h"
#include "shell/nm/supervisor.h"
#include "shell/nm/supervisor_process_tree.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using model::nm::ContainerAbsent;
using model::nm::ContainerExited;
using model::nm::ContainerRunning;
using model::nm::EndCause;
using model::nm::LaunchFailed;
using model::nm::SignalKind;
using testing::HasSubstr;

/// Containers with a loop that turns until a wanted event comes.
class Fixture : public testing::Test, public process::nm::ContainerEvents {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fl_containers_XXXXXX";
    root_ = ::mkdtemp(name);
    for (const char* below : {"/control", "/logs", "/usercache"}) fs::create_directories(root_ + below);
    Open();
  }
  void TearDown() override {
    Close();
    fs::remove_all(root_);
  }
  void Open(base::Duration agent_away = base::Duration::Seconds(60), bool cgroups = false) {
    SupervisedOptions options;
    options.agent_away = agent_away;
    options.leftover_grace = base::Duration::Millis(20);
    options.usage_interval = base::Duration::Millis(50);
    options.warn = [this](const std::string& text) {
      if (!warning_expected_) ADD_FAILURE() << text;
    };
    if (cgroups) options.cgroups = Cgroups::Detect("/fairlead-test-" + std::to_string(::getpid()));
    has_memory_cgroup_ = options.cgroups.has_memory();
    Open(std::move(options), {});
  }
  void Open(SupervisedOptions options, RunAs run_as) {
    options.control_root = root_ + "/control";
    run_as.agent = OwnUnixUser();
    loop_ = env_posix::MakePosixLoop();
    helper_ = std::make_unique<Helper>("/proc/self/exe", options.control_root, run_as);
    ASSERT_TRUE(helper_->Start());
    errands_ = std::make_unique<Errands>(*helper_, watchdog_, Errands::Options{});
    containers_ = MakeSupervisedContainers(*loop_, *helper_, *errands_, watchdog_, std::move(options));
    containers_->Start(this);
  }
  void Close() {
    if (errands_) errands_->Stop();
    containers_.reset();
    errands_.reset();
    helper_.reset();
    loop_.reset();
    events_.clear();
  }
  void OnContainerEvent(model::nm::Event event) override {
    events_.push_back(std::move(event));
    loop_->Stop();
  }
  /// The next event of kind T for container `n`; others of its kind are kept.
  template <class T>
  T Next(int64_t n) {
    const auto guard = loop_->After(base::Duration::Seconds(20), [this] {
      late_ = true;
      loop_->Stop();
    });
    while (!late_) {
      for (size_t i = 0; i < events_.size(); ++i) {
        const T* found = std::get_if<T>(&events_[i]);
        if (!found || found->container != Id(n)) continue;
        const T event = *found;
        events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(i));
        loop_->Cancel(guard);
        return event;
      }
      loop_->Run();
    }
    ADD_FAILURE() << "no event " << T::kName;
    return {};
  }
  static model::ContainerId Id(int64_t n) { return {{{::getpid(), 1}, 1}, n}; }
  std::string Work(int64_t n) const { return root_ + "/usercache/u/appcache/app/" + std::to_string(n); }
  std::string Logs(int64_t n) const { return root_ + "/logs/app/" + std::to_string(n); }
  void Launch(int64_t n, const std::string& commands, int64_t memory_mib = 512) { Launch(n, commands, memory_mib, {}); }
  void Launch(int64_t n, const std::string& commands, int64_t memory_mib, process::nm::LaunchPlan plan,
              const std::string& user = "u") {
    plan.id = Id(n);
    plan.user = user;
    plan.resources = model::Resources::Of(memory_mib, 1);
    plan.script = "#!/bin/bash\nset -e\n" + commands;
    plan.local_dir = root_;
    plan.work_dir = Work(n);
    plan.app_dirs = {root_ + "/usercache/u/appcache/app"};
    plan.log_dirs = {Logs(n)};
    containers_->Launch(std::move(plan));
  }
  static RunAs SwitchTo(const std::string& always) {
    RunAs run_as;
    run_as.switch_user = true;
    run_as.always = always;
    return run_as;
  }
  static std::string Read(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// Blocks until something is written into a named pipe: no polling for other processes' progress.
  static std::string AwaitPipe(const std::string& path) {
    std::ifstream pipe(path);
    std::string line;
    std::getline(pipe, line);
    return line;
  }
  std::string MakePipe(const std::string& name) const {
    const std::string path = root_ + "/" + name;
    EXPECT_EQ(::mkfifo(path.c_str(), 0600), 0);
    return path;
  }
  static bool Strays(int64_t n) { return !ProcessesWithVariable("CONTAINER_ID=" + model::ToString(Id(n))).empty(); }
  /// Blocks until none of its processes is left.
  static void AwaitNoStrays(int64_t n) {
    for (;;) {
      const std::vector<int64_t> processes = ProcessesWithVariable("CONTAINER_ID=" + model::ToString(Id(n)));
      if (processes.empty()) return;
      const int process = static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(processes.front()), 0));
      if (process < 0) continue;  // it has just ended
      pollfd ended = {process, POLLIN, 0};
      ::poll(&ended, 1, -1);
      ::close(process);
    }
  }
  /// Blocks until its supervisor has written its end.
  static void AwaitEndWritten(const std::string& control) {
    const int lock = ::open((control + "/" + kSupervisorLock).c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_GE(lock, 0);
    EXPECT_EQ(::flock(lock, LOCK_EX), 0);
    ::close(lock);
  }
  model::nm::ContainerSpec Spec(int64_t n) const {
    model::nm::ContainerSpec spec;
    spec.id = Id(n);
    return spec;
  }

  std::string root_;
  Watchdog watchdog_;
  std::unique_ptr<env_posix::PosixLoop> loop_;
  std::unique_ptr<Helper> helper_;
  std::unique_ptr<Errands> errands_;
  std::unique_ptr<process::nm::Containers> containers_;
  std::vector<model::nm::Event> events_;
  bool late_ = false;
  std::atomic<bool> warning_expected_ = false;
  bool has_memory_cgroup_ = false;
};

TEST_F(Fixture, RunsAndTellsTheExitCode) {
  Launch(1, "echo hello > out; echo oops > " + Logs(1) + "/stderr; exit 3");
  EXPECT_GT(Next<ContainerRunning>(1).pid, 0);
  const ContainerExited end = Next<ContainerExited>(1);
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.cause, EndCause::kExit);
  EXPECT_THAT(end.diagnostics, HasSubstr("Container exited with a non-zero exit code 3"));
  EXPECT_THAT(end.diagnostics, HasSubstr("oops"));
  EXPECT_EQ(Read(Work(1) + "/out"), "hello\n");
  struct stat info {};
  ASSERT_EQ(::stat((Work(1) + "/container_tokens").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  containers_->Forget(Id(1));
}

TEST_F(Fixture, LinksAndDebugInformationAreThereBeforeTheScript) {
  process::nm::LaunchPlan plan;
  plan.links = {{"plain", "/etc/hostname"}, {"sub/link", "/etc/hosts"}, {"broken", "/no/such"}};
  plan.debug_info = true;
  Launch(1, "cat " + Logs(1) + "/directory.info > seen; cmp launch_container.sh " + Logs(1) + "/launch_container.sh",
         512, std::move(plan));
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 0);
  const std::string seen = Read(Work(1) + "/seen");
  EXPECT_THAT(seen, testing::ContainsRegex("^ls -l:\ntotal [0-9]+\n"));
  EXPECT_THAT(seen, testing::ContainsRegex("\nlrwxrwxrwx +1 .* broken -> /no/such\n"));
  EXPECT_THAT(seen, testing::ContainsRegex("find -L . -maxdepth 5 -ls:\n +[0-9]+ +[0-9]+ drwx.* \\.\n"));
  EXPECT_THAT(seen, testing::ContainsRegex("\n +[0-9]+ +[0-9]+ -rw.* \\./sub/link\n"));
  EXPECT_THAT(seen, testing::ContainsRegex("-type l -ls\\):\n[^\n]* \\./broken -> /no/such\n$"));
}

TEST_F(Fixture, LinksForARunningContainer) {
  const std::string go = MakePipe("go");
  Launch(1, "ln -s /etc/hosts mine; echo up > " + go +
                "; until [ -L last ]; do sleep 0.01; done; readlink mine sub/more > out");
  Next<ContainerRunning>(1);
  EXPECT_EQ(AwaitPipe(go), "up");
  containers_->Link(Id(1), "u", Work(1),
                    {{"sub/more", "/etc/hostname"}, {"mine", "/etc/hostname"}, {"last", "/etc/hostname"}});
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 0);
  EXPECT_EQ(Read(Work(1) + "/out"), "/etc/hosts\n/etc/hostname\n") << "what is there stays";
}

TEST_F(Fixture, AKilledHelperIsReplacedAndItsSupervisorsGoOn) {
  const std::string go = MakePipe("go");
  for (const bool kill_starter : {false, true}) {
    const int64_t running = kill_starter ? 3 : 1;
    Launch(running, "cat " + go);
    ProcessInfo container, supervisor, starter;
    ASSERT_TRUE(ReadProcess(Next<ContainerRunning>(running).pid, container));
    ASSERT_TRUE(ReadProcess(container.parent, supervisor));
    ASSERT_TRUE(ReadProcess(supervisor.parent, starter));
    ASSERT_EQ(::kill(static_cast<pid_t>(kill_starter ? supervisor.parent : starter.parent), SIGKILL), 0);
    siginfo_t ended{};  // without its starter it goes, too
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(starter.parent), &ended, WEXITED | WNOWAIT), 0);
    Launch(running + 1, "exit 4");
    EXPECT_EQ(Next<ContainerExited>(running + 1).exit_code, 4);
    std::ofstream(go) << "go\n";
    EXPECT_EQ(Next<ContainerExited>(running).exit_code, 0);
  }
}

TEST_F(Fixture, WhatHasRightsHasAListOfCalls) {
  const std::string go = MakePipe("go");
  Launch(1, "grep '^Seccomp:' /proc/self/status > seen; cat " + go);
  ProcessInfo container, supervisor, starter;
  ASSERT_TRUE(ReadProcess(Next<ContainerRunning>(1).pid, container));
  ASSERT_TRUE(ReadProcess(container.parent, supervisor));
  ASSERT_TRUE(ReadProcess(supervisor.parent, starter));
  const auto status = [](int64_t pid) { return Read("/proc/" + std::to_string(pid) + "/status"); };
  EXPECT_THAT(status(starter.parent), testing::AllOf(HasSubstr("fl-helper"), HasSubstr("Seccomp:\t2\n")));
  EXPECT_THAT(status(container.parent), testing::AllOf(HasSubstr("fl-supervise"), HasSubstr("Seccomp:\t2\n")));
  EXPECT_THAT(status(supervisor.parent), HasSubstr("fl-starter"));
  std::ofstream(go) << "go\n";
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 0);
  // Whatever an application wants to do: its container has the list of the test itself, none as a rule.
  EXPECT_THAT(Read("/proc/self/status"), HasSubstr("\n" + Read(Work(1) + "/seen")));
}

TEST_F(Fixture, LaunchFailureIsTold) {
  fs::remove(root_ + "/usercache");
  std::ofstream(root_ + "/usercache") << "in the way";
  Launch(1, "exit 0");
  EXPECT_THAT(Next<LaunchFailed>(1).reason, HasSubstr("Exception from container-launch"));
}

TEST_F(Fixture, TerminateThenKillEndsAStubbornTree) {
  const std::string ready = MakePipe("ready");
  // A child in a session of its own, a double-forked orphan, and a parent: all deaf to SIGTERM.
  Launch(1,
         "trap '' TERM\nsetsid bash -c 'trap \"\" TERM; sleep 1000' &\n( setsid bash -c 'sleep 1000' & )\necho up > " +
             ready + "\nwhile true; do sleep 1000; done");
  Next<ContainerRunning>(1);
  EXPECT_EQ(AwaitPipe(ready), "up");
  EXPECT_TRUE(Strays(1));
  containers_->Signal(Id(1), SignalKind::kTerminate);
  containers_->Signal(Id(1), SignalKind::kKill);
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 137);
  EXPECT_FALSE(Strays(1));
}

TEST_F(Fixture, LeftoversGoWithTheFirstProcess) {
  const std::string ready = MakePipe("ready");
  Launch(1, "( trap '' TERM; setsid bash -c 'trap \"\" TERM; echo up > " + ready + "; sleep 1000' & )\nread x < " +
                MakePipe("go") + "\nexit 7");
  Next<ContainerRunning>(1);
  EXPECT_EQ(AwaitPipe(ready), "up");
  std::ofstream(root_ + "/go") << "x\n";
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 7) << "the first process' own code";
  EXPECT_FALSE(Strays(1));
}

TEST_F(Fixture, SurvivesItsAgentAndIsFoundAgain) {
  const std::string go = MakePipe("go"), done = MakePipe("done");
  Launch(1, "read x < " + go + "\necho $x > " + done + "\nexit 5");
  Launch(2, "read x < " + go + "2\nexit 6");
  ASSERT_EQ(::mkfifo((go + "2").c_str(), 0600), 0);
  Next<ContainerRunning>(1);
  Next<ContainerRunning>(2);
  Close();  // the agent is gone, its containers are not
  std::ofstream(go) << "while away\n";
  EXPECT_EQ(AwaitPipe(done), "while away");
  Open();
  containers_->Attach(Spec(1));
  containers_->Attach(Spec(2));
  containers_->Attach(Spec(3));
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 5);
  EXPECT_GT(Next<ContainerRunning>(2).pid, 0);
  Next<ContainerAbsent>(3);
  std::ofstream(go + "2") << "x\n";
  EXPECT_EQ(Next<ContainerExited>(2).exit_code, 6);
}

TEST_F(Fixture, AStartThatEndsTheAgentAgainAndAgainIsGivenUp) {
  for (int i = 0; i < 4; ++i) {
    containers_->Attach(Spec(1));
    Next<ContainerAbsent>(1);
    Close();
    Open();
  }
  containers_->Attach(Spec(1));
  EXPECT_THAT(Next<LaunchFailed>(1).reason, HasSubstr("ended 5 times while it started this container"));
  containers_->Forget(Id(1));
  containers_->Attach(Spec(1));
  Next<ContainerAbsent>(1);
}

TEST_F(Fixture, ErrandsOfOneUserLeaveRoomForOthers) {
  // A control group's member file that never ends is what a sweep reads; here it stands for any errand that hangs.
  std::vector<int> order;
  const auto hang = [&](int number) {
    return [this, &order, number](const base::Result<std::string>& result) {
      EXPECT_FALSE(result);
      order.push_back(number);
      loop_->Stop();
    };
  };
  std::vector<uint64_t> numbers;
  Order as_u;
  as_u.submitter = "u";
  fs::create_directories(root_ + "/hang");
  ASSERT_EQ(::mkfifo((root_ + "/hang/cgroup.procs").c_str(), 0600), 0);
  for (int i = 0; i < 6; ++i)
    numbers.push_back(errands_->RunOn(*loop_, "eve", as_u, SweepErrand{"NO=1", {root_ + "/hang"}}, hang(i)));
  bool done = false;
  errands_->RunOn(*loop_, "ann", as_u, SweepErrand{"NO=1", {}}, [&](const base::Result<std::string>& result) {
    EXPECT_TRUE(result);
    done = true;
    loop_->Stop();
  });
  while (!done) loop_->Run();  // other things stop it, too
  EXPECT_TRUE(order.empty()) << "four of the other's hang";
  for (const uint64_t number : numbers) errands_->Cancel(number);  // four under way, two that wait
  while (order.size() < numbers.size()) loop_->Run();
}

TEST(Watchdog, ToldWhereAThreadHangs) {
  Watchdog watchdog(0);
  Watchdog::Post& post = watchdog.NewPost();
  EXPECT_EQ(watchdog.Report(), "");
  {
    const Watchdog::Stay stay(post, "the start of a container");
    EXPECT_THAT(watchdog.Report(), HasSubstr("the start of a container hangs for"));
  }
  EXPECT_EQ(watchdog.Report(), "");
  EXPECT_EQ(Watchdog(60'000).Report(), "");
}

// Neither the end that it had, nor a container that never ran.
TEST_F(Fixture, DamagedRecordsAreAnEndThatIsLost) {
  const std::string go = MakePipe("go");
  Launch(1, "read x < " + go + "\nexit 5");
  Next<ContainerRunning>(1);
  Close();
  std::ofstream(go) << "end\n";
  const std::string control = root_ + "/control/" + model::ToString(Id(1));
  AwaitEndWritten(control);
  for (const char* record : {"/exit", "/pid"}) {
    std::string bytes = Read(control + record);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    std::ofstream(control + record, std::ios::binary | std::ios::trunc) << bytes;
  }
  warning_expected_ = true;
  Open();
  containers_->Attach(Spec(1));
  EXPECT_EQ(Next<ContainerExited>(1).cause, EndCause::kLost);
}

TEST_F(Fixture, EndsWhenItsAgentStaysAway) {
  Close();
  Open(base::Duration::Millis(50));
  Launch(1, "sleep 1000");
  Next<ContainerRunning>(1);
  Close();
  Open(base::Duration::Millis(50));
  // The first look may still find it running; its end is told either way.
  containers_->Attach(Spec(1));
  const base::Instant until = loop_->Now() + base::Duration::Seconds(20);
  while (!fs::exists(root_ + "/control/" + model::ToString(Id(1)) + "/exit") && loop_->Now() < until &&
         events_.empty()) {
    loop_->After(base::Duration::Millis(10), [this] { loop_->Stop(); });
    loop_->Run();
  }
  if (!events_.empty() && std::holds_alternative<ContainerRunning>(events_.front())) {
    Close();
    AwaitNoStrays(1);
    Open(base::Duration::Millis(50));
    containers_->Attach(Spec(1));
  }
  const ContainerExited end = Next<ContainerExited>(1);
  EXPECT_EQ(end.cause, EndCause::kAgentAway);
  EXPECT_FALSE(Strays(1));
}

TEST_F(Fixture, AKilledSupervisorTakesItsContainerAlong) {
  const std::string ready = MakePipe("ready");
  Launch(1, "( setsid bash -c 'echo $PPID > " + ready + "; sleep 1000' & )\nsleep 1000");
  const int64_t main = Next<ContainerRunning>(1).pid;
  AwaitPipe(ready);
  ProcessInfo info;
  ASSERT_TRUE(ReadProcess(main, info));
  ASSERT_EQ(::kill(static_cast<pid_t>(info.parent), SIGKILL), 0);
  const ContainerExited end = Next<ContainerExited>(1);
  EXPECT_EQ(end.cause, EndCause::kLost);
  EXPECT_EQ(end.exit_code, 154);
  EXPECT_FALSE(Strays(1));
}

TEST_F(Fixture, MeasuresItsTree) {
  Launch(1, "sleep 1000 & sleep 1000");
  Next<ContainerRunning>(1);
  for (;;) {
    loop_->Run();
    ASSERT_FALSE(events_.empty());
    const auto* usage = std::get_if<model::nm::Usage>(&events_.back());
    if (!usage || usage->containers.empty() || usage->containers[0].use.physical_bytes <= 0) continue;
    EXPECT_GT(usage->containers[0].use.virtual_bytes, usage->containers[0].use.physical_bytes);
    EXPECT_GT(usage->node.physical_bytes, usage->containers[0].use.physical_bytes);
    break;
  }
  containers_->Signal(Id(1), SignalKind::kKill);
  Next<ContainerExited>(1);
}

TEST_F(Fixture, RunsAsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Close();
  ::chmod(root_.c_str(), 0755);
  Open({}, SwitchTo("nobody"));
  Launch(1,
         "id -un > who; cat container_tokens; ! cat /etc/shadow; grep -E '^(CapEff|CapBnd|NoNewPrivs)' "
         "/proc/self/status >> who");
  Next<ContainerRunning>(1);
  EXPECT_EQ(Next<ContainerExited>(1).exit_code, 0);
  EXPECT_EQ(Read(Work(1) + "/who"), "nobody\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\n");
  Close();
  Open({}, SwitchTo("root"));
  Launch(2, "true");
  EXPECT_THAT(Next<LaunchFailed>(2).reason, HasSubstr("do not run as root"));
  Close();
  Open({}, SwitchTo(""));
  Launch(3, "true", 512, {}, "daemon");
  EXPECT_THAT(Next<LaunchFailed>(3).reason, HasSubstr("below min.user.id 1000"));
}

TEST_F(Fixture, AnotherAgentMayRemoveTheEmptyHierarchy) {
  const Cgroups groups = Cgroups::Detect("/fairlead-test-shared-" + std::to_string(::getpid()));
  if (!groups.has_memory()) GTEST_SKIP() << "no memory control group can be written here";
  groups.RemoveHierarchy();
  CgroupLimits limits;
  limits.memory_bytes = 64 << 20;
  const base::Result<CgroupPlace> place = groups.Create("c", limits);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_TRUE(fs::exists(place->memory_directory));
  EXPECT_TRUE(CgroupRemove(*place, true));
  EXPECT_FALSE(fs::exists(fs::path(place->memory_directory).parent_path()));
}

TEST_F(Fixture, AllContainersTogetherWeighAsTheNodesCores) {
  const std::string hierarchy = "/fairlead-test-weight-" + std::to_string(::getpid());
  Cgroups groups = Cgroups::Detect(hierarchy, 6);
  if (!groups.has_cpu()) GTEST_SKIP() << "no CPU control group can be written here";
  const auto weight = [&groups] {
    CgroupLimits limits;
    limits.cpu_shares_vcores = 2;
    const base::Result<CgroupPlace> place = groups.Create("c", limits);
    std::pair<int, int> found{};
    for (const std::string& directory : place->directories) {
      const std::string file = place->is_v2 ? "/cpu.weight" : "/cpu.shares";
      if (!fs::exists(directory + file)) continue;
      found = {std::stoi(Read(directory + "/.." + file)), std::stoi(Read(directory + file))};
    }
    CgroupRemove(*place);
    return found;
  };
  const auto [all, one] = weight();
  EXPECT_EQ(all, 3 * one);
  // Another agent finds the hierarchy weighed and leaves it.
  groups = Cgroups::Detect(hierarchy, 12);
  EXPECT_EQ(weight().first, all);
  // An empty hierarchy that was removed is weighed when it is made again.
  groups.RemoveHierarchy();
  EXPECT_EQ(weight().first, 6 * one);
  groups.RemoveHierarchy();
}

TEST_F(Fixture, AContainersRateHoldsForEveryDiskOfTheNode) {
  const base::Result<std::string> disk = DiskOf("/not/there/yet");
  if (!disk) GTEST_SKIP() << disk.error().message;
  const Cgroups groups = Cgroups::Detect("/fairlead-test-disks-" + std::to_string(::getpid()), 0, {*disk});
  if (!groups.has_disks()) GTEST_SKIP() << "no control group of disks can be written here: " << groups.Description();
  CgroupLimits limits;
  limits.disk_bytes_per_second = 4 << 20;
  const base::Result<CgroupPlace> place = groups.Create("c", limits);
  ASSERT_TRUE(place) << place.error().message;
  std::string written;
  for (const std::string& directory : place->directories) {
    for (const char* file : {"/io.max", "/blkio.throttle.read_bps_device", "/blkio.throttle.write_bps_device"}) {
      if (fs::exists(directory + file)) written += Read(directory + file);
    }
  }
  const std::string line =
      place->is_v2 ? *disk + " rbps=4194304 wbps=4194304 riops=max wiops=max\n" : *disk + " 4194304\n";
  EXPECT_EQ(written, place->is_v2 ? line : line + line);
  EXPECT_TRUE(CgroupRemove(*place, true));
}

TEST(ControlGroups, WhatLiesOnNoDiskIsNamed) {
  EXPECT_NE(DiskOf("/proc").error().message.find("/proc"), std::string::npos);
}

TEST_F(Fixture, KernelHoldsTheMemoryLimit) {
  Close();
  Open(base::Duration::Seconds(60), true);
  if (!has_memory_cgroup_) GTEST_SKIP() << "no memory control group can be written here";
  // 64 MiB allowed, a helper process takes far more; the first process would go on.
  Launch(1, "setsid python3 -c 'b=bytearray(400*1024*1024)' || true\nsleep 1000", 64);
  Next<ContainerRunning>(1);
  const ContainerExited end = Next<ContainerExited>(1);
  EXPECT_EQ(end.cause, EndCause::kMemoryLimit);
  EXPECT_GE(end.peak_bytes, 60 << 20);
  EXPECT_FALSE(Strays(1));
}

}  // namespace
}  // namespace fairlead::shell

/// The test binary is its own supervisor.
int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "supervise") == 0) return fairlead::shell::RunHelper();
  testing::InitGoogleMock(&argc, argv);
  return RUN_ALL_TESTS();
}
