#include "shell/nm/allowed_calls.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>

namespace fairlead::shell {
namespace {

using enum AllowedCalls::NewProcesses;

/// The end of a process that does `work` under the list.
int StatusUnder(const base::Result<AllowedCalls>& calls, const std::function<void()>& work) {
  EXPECT_TRUE(calls);
  const pid_t pid = ::fork();
  if (pid == 0) {
    if (!calls->Impose()) ::_exit(99);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

int StatusOf(AllowedCalls::NewProcesses new_processes, const std::function<void()>& work) {
  return StatusUnder(AllowedCalls::Compile(new_processes), work);
}

TEST(AllowedCalls, WhatErrandsNeedGoes) {
  const int status = StatusOf(kForbidden, [] {
    char byte = 0;
    const int fd = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::read(fd, &byte, 1) != 1) ::_exit(1);
    ::close(fd);
    if (::setresuid(::geteuid(), ::geteuid(), ::geteuid()) < 0) ::_exit(2);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(AllowedCalls, AnyOtherCallEndsTheProcess) {
  char shell[] = "/bin/true";
  char* argv[] = {shell, nullptr};
  const std::pair<const char*, std::function<void()>> calls[] = {
      {"execve", [&] { ::execve(shell, argv, argv); }},
      {"old fork", [] { ::syscall(SYS_fork); }},
      {"vfork", [] { ::syscall(SYS_vfork); }},
      {"namespace", [] { ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr); }},
      {"unshare", [] { ::unshare(CLONE_NEWNS); }},
      {"mount", [] { ::mount("none", "/", "tmpfs", 0, nullptr); }},
      {"chroot", [] { [[maybe_unused]] const int n = ::chroot("/"); }},
      {"ptrace", [] { ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr); }},
      {"mknod", [] { ::syscall(SYS_mknodat, AT_FDCWD, "/tmp/x", 0600, 0); }},
      {"bpf", [] { ::syscall(SYS_bpf, 0, nullptr, 0); }},
      {"init_module", [] { ::syscall(SYS_init_module, nullptr, 0, nullptr); }},
  };
  for (const auto& [name, call] : calls) {
    for (const auto new_processes : {kAllowed, kForbidden}) {
      const int status = StatusOf(new_processes, call);
      EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << name << " " << status;
    }
  }
}

TEST(AllowedCalls, OnlyTheHelperForks) {
  const auto fork_one = [] {
    const pid_t pid = ::fork();
    if (pid == 0) ::_exit(0);
    int status = 0;
    if (pid < 0 || ::waitpid(pid, &status, 0) != pid || status != 0) ::_exit(1);
  };
  EXPECT_EQ(StatusOf(kAllowed, fork_one), 0);
  const int status = StatusOf(kForbidden, fork_one);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS) << status;
}

TEST(AllowedCalls, WhatContainersDescendFromCannotAdministerTheMachine) {
  const auto calls = AllowedCalls::AllButAdministration();
  const std::pair<const char*, std::function<long()>> refused[] = {
      {"swap", [] { return ::syscall(SYS_swapoff, "/nowhere"); }},
      {"module", [] { return ::syscall(SYS_delete_module, "nothing", 0); }},
      {"kexec", [] { return ::syscall(SYS_kexec_load, 0, 0, nullptr, 0xff); }},
      {"clock", [] { return ::syscall(SYS_clock_settime, -1, nullptr); }},
      {"accounts", [] { return ::syscall(SYS_acct, "/nowhere/accounts"); }},
  };
  for (const auto& [name, call] : refused) {
    EXPECT_EQ(StatusUnder(calls, [&] { ::_exit(call() < 0 && errno == EPERM ? 0 : 1); }), 0) << name;
    // As root and without the list the kernel looks at what is asked.
    if (::geteuid() == 0) {
      EXPECT_FALSE(call() == 0 || errno == EPERM) << name;
    }
  }
  EXPECT_EQ(StatusUnder(calls,
                        [] {  // what a container may do
                          char shell[] = "/bin/true";
                          char* argv[] = {shell, nullptr};
                          if (::fork() == 0) ::execve(shell, argv, argv);
                          int status = 1;
                          ::wait(&status);
                          ::_exit(status == 0 && ::syscall(SYS_personality, ~0U) >= 0 ? 0 : 1);
                        }),
            0);
}

}  // namespace
}  // namespace fairlead::shell
