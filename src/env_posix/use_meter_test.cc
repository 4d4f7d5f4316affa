#include "env_posix/use_meter.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/sanitized.h"
#include "env_posix/test_directory.h"

namespace fairlead::env_posix {
namespace {

using base::Instant;
using model::MeasuredUse;

constexpr int64_t kUnknown = MeasuredUse::kUnknown;
constexpr int64_t kMiB = 1 << 20;

class MadeTree : public testing::Test {
 protected:
  void Write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  const TestDirectory directory_;
  const std::string& root_ = directory_.path();
  const KernelTree kernel_{root_ + "/proc", root_ + "/sys"};
};

TEST_F(MadeTree, TheMachine) {
  std::filesystem::create_directories(root_ + "/sys/block/vda");
  std::filesystem::create_directories(root_ + "/sys/block/loop0");
  std::filesystem::create_directories(root_ + "/sys/class/net/eth1/master");
  Write("proc/stat", "cpu  100 10 50 9999 777 5 5 0 0 0\ncpu0 1 1 1 1 1 1 1 0 0 0\n");
  Write("proc/meminfo", "MemTotal:  1000 kB\nMemFree: 10 kB\nMemAvailable:  400 kB\nCommitted_AS: 2000 kB\n");
  Write("proc/diskstats",
        " 254 0 vda 5 0 100 0 5 0 60 0 0 700 0\n 254 1 vda1 5 0 100 0 5 0 60 0 0 700 0\n"
        " 7 0 loop0 5 0 100 0 5 0 60 0 0 700 0\n");
  Write("proc/net/dev",
        "Inter-| Receive\n face |bytes\n    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n"
        "  eth0: 1000 1 0 0 0 0 0 0 24 1 0 0 0 0 0 0\n  eth1: 7 1 0 0 0 0 0 0 7 1 0 0 0 0 0 0\n");
  const UseCounters counters = CountMachine({}, kernel_);
  EXPECT_EQ(counters.cpu_us, 170 * 1'000'000 / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(counters.physical_bytes, 600 * 1024);
  EXPECT_EQ(counters.virtual_bytes, 2000 * 1024);
  EXPECT_EQ(counters.disk_bytes, 160 * 512);
  EXPECT_EQ(counters.disk_busy_ms.size(), 1);
  EXPECT_EQ(counters.network_bytes, 1024);
}

TEST_F(MadeTree, AMachineThatIsAPartOfThisOne) {
  Write("group/cpuacct.usage", "5000000\n");
  Write("group/memory.usage_in_bytes", "3000\n");
  Write("group/memory.stat", "total_inactive_file 1000\n");
  Write("proc/stat", "cpu  100 10 50 9999 777 5 5 0 0 0\n");
  Write("proc/diskstats", " 7 0 loop0 5 0 100 0 5 0 60 0 0 700 0\n 7 1 loop1 5 0 7 0 5 0 7 0 0 7 0\n");
  Write("proc/net/dev", "    lo: 9 0 0 0 0 0 0 0 9 0 0 0 0 0 0 0\n  veth1: 5 0 0 0 0 0 0 0 6 0 0 0 0 0 0 0\n");
  const UseCounters counters = CountMachine({{root_ + "/group"}, {"loop0"}, {"veth1"}}, kernel_);
  EXPECT_EQ(counters.cpu_us, 5000);
  EXPECT_EQ(counters.physical_bytes, 2000);
  EXPECT_EQ(counters.disk_bytes, 160 * 512);
  EXPECT_EQ(counters.disk_busy_ms, (std::map<std::string, int64_t>{{"loop0", 700}}));
  EXPECT_EQ(counters.network_bytes, 11);
}

TEST_F(MadeTree, LimitsOfAPart) {
  const auto limits = [&](const std::string& group) {
    const MachineLimits found = LimitsOf({{root_ + "/" + group}, {}, {}});
    return std::pair(found.cores, found.mib);
  };
  Write("v1/memory.limit_in_bytes", "1073741824\n");
  Write("v1/cpu.cfs_quota_us", "150000\n");
  Write("v1/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(limits("v1"), std::pair(int64_t{2}, int64_t{1024}));
  Write("v2/memory.max", "1073741824\n");
  Write("v2/cpu.max", "50000 100000\n");
  EXPECT_EQ(limits("v2"), std::pair(int64_t{1}, int64_t{1024}));
  Write("none1/memory.limit_in_bytes", "9223372036854771712\n");
  Write("none1/cpu.cfs_quota_us", "-1\n");
  Write("none2/memory.max", "max\n");
  Write("none2/cpu.max", "max 100000\n");
  for (const char* none : {"none1", "none2", "missing"}) EXPECT_EQ(limits(none), std::pair(int64_t{0}, int64_t{0}));
}

TEST_F(MadeTree, AMachineThatTellsNothing) { EXPECT_FALSE(UseMeter().Measure({}, CountMachine({}, kernel_)).told()); }

TEST_F(MadeTree, ControlGroupsOfVersion2) {
  Write("group/cpu.stat", "usage_usec 1500000\nuser_usec 1\n");
  Write("group/memory.current", "1000000\n");
  Write("group/memory.stat", "anon 5\ninactive_file 300000\n");
  const UseCounters counters = CountProcesses({{}, {root_ + "/group"}}, kernel_);
  EXPECT_EQ(counters.cpu_us, 1'500'000);
  EXPECT_EQ(counters.physical_bytes, 700'000);
}

TEST_F(MadeTree, ControlGroupsOfVersion1) {
  Write("memory/memory.usage_in_bytes", "1000000\n");
  Write("memory/memory.stat", "inactive_file 1\ntotal_inactive_file 300000\n");
  Write("cpu/cpuacct.usage", "1500000000\n");
  const UseCounters counters = CountProcesses({{}, {root_ + "/memory", root_ + "/cpu"}}, kernel_);
  EXPECT_EQ(counters.cpu_us, 1'500'000);
  EXPECT_EQ(counters.physical_bytes, 700'000);
}

TEST_F(MadeTree, ProcessesByThemselves) {
  const std::string stat = "7 (a) b) S 1 7 7 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 99 5000 2 0\n";
  Write("proc/7/stat", stat);
  Write("proc/7/smaps_rollup", "0-1 [rollup]\nRss: 100 kB\nPss: 60 kB\n");
  Write("proc/7/io", "rchar: 9\nwchar: 9\nsyscr: 1\nsyscw: 1\nread_bytes: 4096\nwrite_bytes: 8192\n");
  Write("proc/8/stat", stat);  // whose memory and disk may not be read
  const UseCounters one = CountProcesses({{7}, {}}, kernel_);
  EXPECT_EQ(one.cpu_us, 100 * 1'000'000 / ::sysconf(_SC_CLK_TCK));
  EXPECT_EQ(one.physical_bytes, 60 * 1024);
  EXPECT_EQ(one.virtual_bytes, 5000);
  EXPECT_EQ(one.disk_bytes, 12'288);
  EXPECT_EQ(one.network_bytes, kUnknown);
  const UseCounters both = CountProcesses({{7, 8, 9}, {}}, kernel_);  // 9 is gone
  EXPECT_EQ(both.physical_bytes, 60 * 1024 + 2 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(both.disk_bytes, kUnknown);
}

// As /proc/PID/io and smaps_rollup of another user's process: they can be opened, and reading fails.
TEST_F(MadeTree, AFileThatCannotBeReadIsUnknown) {
  Write("proc/7/stat", "7 (a) S 1 7 7 0 -1 0 0 0 0 0 10 20 30 40 20 0 1 0 99 5000 2 0\n");
  std::filesystem::create_directories(root_ + "/proc/7/io");  // reading a directory fails, too
  std::filesystem::create_directories(root_ + "/proc/7/smaps_rollup");
  const UseCounters counters = CountProcesses({{7}, {}}, kernel_);
  EXPECT_EQ(counters.physical_bytes, 2 * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(counters.disk_bytes, kUnknown);
}

TEST(UseMeter, AmountsOfAnInterval) {
  UseMeter meter;
  UseCounters counters{1'000'000, 10, 20, 1000, {{"sda", 100}, {"sdb", 0}}, 0};
  const MeasuredUse first = meter.Measure({1'000'000'000}, counters);
  EXPECT_EQ(first.milli_cores, kUnknown);
  EXPECT_EQ(first.physical_bytes, 10);
  counters = {4'000'000, 11, 21, 5000, {{"sda", 1100}, {"sdb", 1900}}, 8192};
  EXPECT_EQ(meter.Measure({3'000'000'000}, counters), (MeasuredUse{1500, 11, 21, 2000, 950, 4096}));
  counters.cpu_us = 0;  // it ran backwards
  EXPECT_EQ(meter.Measure({4'000'000'000}, counters).milli_cores, 0);
}

// ---- What was really used ----

Instant Now() {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return {time.tv_sec * 1'000'000'000 + time.tv_nsec};
}

double CpuSeconds() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// What this process and the children it has waited for have burnt, by getrusage(2).
double CpuSecondsWithChildren() {
  double sum = 0;
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    ::getrusage(who, &use);
    for (const timeval& time : {use.ru_utime, use.ru_stime})
      sum += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  }
  return sum;
}

UseCounters CountSelf() { return CountProcesses({{::getpid()}, {}}); }

/// Use times time of an interval.
double Amount(int64_t per_second, Instant from, Instant to) {
  return static_cast<double>(per_second) * static_cast<double>((to - from).ns) * 1e-9;
}

TEST(UseMeter, CpuThatWasBurntIsCounted) {
  UseMeter meter;
  const Instant from = Now();
  meter.Measure(from, CountSelf());
  const double start = CpuSecondsWithChildren();
  volatile uint64_t work = 0;
  while (CpuSecondsWithChildren() - start < 1) work = work + 1;
  const Instant to = Now();
  const double measured = Amount(meter.Measure(to, CountSelf()).milli_cores, from, to) / 1000;
  EXPECT_NEAR(measured, CpuSecondsWithChildren() - start, 0.05);
}

// Beside its own work the child costs what the machine makes its start and end cost; the kernel tells how much.
TEST(UseMeter, CpuOfAChildThatIsOverIsCounted) {
  UseMeter meter;
  const Instant from = Now();
  meter.Measure(from, CountSelf());
  const double start = CpuSecondsWithChildren();
  const pid_t child = ::fork();
  if (child == 0) {
    volatile uint64_t work = 0;
    while (CpuSeconds() < 0.6) work = work + 1;
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const Instant to = Now();
  const double measured = Amount(meter.Measure(to, CountSelf()).milli_cores, from, to) / 1000;
  EXPECT_GE(measured, 0.55);
  EXPECT_NEAR(measured, CpuSecondsWithChildren() - start, 0.05);
}

TEST(UseMeter, MemoryThatWasTouchedIsCounted) {
  if (base::kThreadsWatched) GTEST_SKIP() << "the sanitizer keeps as much again of what is touched";
  const int64_t before = CountSelf().physical_bytes;
  constexpr int64_t kBytes = 200 * kMiB;
  std::string block(kBytes, 'x');
  const int64_t after = CountSelf().physical_bytes;
  EXPECT_NEAR(static_cast<double>(after - before), static_cast<double>(kBytes), kBytes * 0.05);
  EXPECT_EQ(block.back(), 'x');
}

TEST(UseMeter, BytesWrittenToADiskAreCounted) {
  const TestDirectory directory;
  const int fd = ::open((directory / "file").c_str(), O_CREAT | O_WRONLY, 0600);
  ASSERT_GE(fd, 0);
  const int64_t before = CountSelf().disk_bytes;
  constexpr int64_t kBytes = 64 * kMiB;
  const std::string block(kMiB, 'x');
  for (int64_t i = 0; i < kBytes / kMiB; ++i) ASSERT_EQ(::write(fd, block.data(), block.size()), kMiB);
  ASSERT_EQ(::fdatasync(fd), 0);
  const int64_t after = CountSelf().disk_bytes;
  struct statfs system {};
  ASSERT_EQ(::fstatfs(fd, &system), 0);
  const bool in_memory = system.f_type == TMPFS_MAGIC;
  ::close(fd);
  ASSERT_NE(before, kUnknown);
  EXPECT_NEAR(static_cast<double>(after - before), in_memory ? 0 : static_cast<double>(kBytes), kBytes * 0.05);
}

}  // namespace
}  // namespace fairlead::env_posix
