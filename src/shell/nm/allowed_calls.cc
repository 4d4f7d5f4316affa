#include "shell/nm/allowed_calls.h"

#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>

#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {

constexpr int kAllowed[] = {
    // Files, by descriptor and by name.
    SCMP_SYS(read),
    SCMP_SYS(readv),
    SCMP_SYS(pread64),
    SCMP_SYS(preadv),
    SCMP_SYS(preadv2),
    SCMP_SYS(write),
    SCMP_SYS(writev),
    SCMP_SYS(pwrite64),
    SCMP_SYS(pwritev),
    SCMP_SYS(pwritev2),
    SCMP_SYS(open),
    SCMP_SYS(openat),
    SCMP_SYS(openat2),
    SCMP_SYS(creat),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(stat),
    SCMP_SYS(fstat),
    SCMP_SYS(lstat),
    SCMP_SYS(newfstatat),
    SCMP_SYS(statx),
    SCMP_SYS(statfs),
    SCMP_SYS(fstatfs),
    SCMP_SYS(access),
    SCMP_SYS(faccessat),
    SCMP_SYS(faccessat2),
    SCMP_SYS(lseek),
    SCMP_SYS(getdents),
    SCMP_SYS(getdents64),
    SCMP_SYS(getcwd),
    SCMP_SYS(chdir),
    SCMP_SYS(fchdir),
    SCMP_SYS(readlink),
    SCMP_SYS(readlinkat),
    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),
    SCMP_SYS(rmdir),
    SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),
    SCMP_SYS(rename),
    SCMP_SYS(renameat),
    SCMP_SYS(renameat2),
    SCMP_SYS(link),
    SCMP_SYS(linkat),
    SCMP_SYS(symlink),
    SCMP_SYS(symlinkat),
    SCMP_SYS(chmod),
    SCMP_SYS(fchmod),
    SCMP_SYS(fchmodat),
    SCMP_SYS(chown),
    SCMP_SYS(fchown),
    SCMP_SYS(fchownat),
    SCMP_SYS(umask),
    SCMP_SYS(utimensat),
    SCMP_SYS(truncate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(fallocate),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(fadvise64),
    SCMP_SYS(readahead),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(sendfile),
    SCMP_SYS(splice),
    SCMP_SYS(flock),
    SCMP_SYS(fcntl),
    SCMP_SYS(ioctl),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(memfd_create),
    SCMP_SYS(fgetxattr),
    SCMP_SYS(getxattr),
    // Memory.
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(mremap),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(madvise),
    SCMP_SYS(mincore),
    SCMP_SYS(membarrier),
    SCMP_SYS(rseq),
    // Threads, time, waiting.
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(getcpu),
    SCMP_SYS(nanosleep),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_getres),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(time),
    SCMP_SYS(times),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(select),
    SCMP_SYS(pselect6),
    SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd2),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(alarm),
    SCMP_SYS(setitimer),
    SCMP_SYS(getitimer),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    // Signals, its own identity and limits.
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(signalfd4),
    SCMP_SYS(kill),
    SCMP_SYS(tgkill),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(gettid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getsid),
    SCMP_SYS(getuid),
    SCMP_SYS(geteuid),
    SCMP_SYS(getgid),
    SCMP_SYS(getegid),
    SCMP_SYS(getresuid),
    SCMP_SYS(getresgid),
    SCMP_SYS(getgroups),
    SCMP_SYS(setgroups),
    SCMP_SYS(setresuid),
    SCMP_SYS(setresgid),
    SCMP_SYS(setuid),
    SCMP_SYS(setgid),
    SCMP_SYS(capget),
    SCMP_SYS(capset),
    SCMP_SYS(prctl),
    SCMP_SYS(getrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(prlimit64),
    SCMP_SYS(getrusage),
    SCMP_SYS(getpriority),
    SCMP_SYS(setpriority),
    SCMP_SYS(sysinfo),
    SCMP_SYS(uname),
    SCMP_SYS(getrandom),
    // Sockets, for resources of other machines, names of hosts and users, and the agent.
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(accept4),
    SCMP_SYS(bind),
    SCMP_SYS(connect),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(sendto),
    SCMP_SYS(recvfrom),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(shutdown),
    SCMP_SYS(seccomp),
};

/// What the kernel refuses to everybody without capabilities, in whatever namespace.
constexpr int kAdministration[] = {
    SCMP_SYS(init_module),     SCMP_SYS(finit_module), SCMP_SYS(delete_module), SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(swapon),       SCMP_SYS(swapoff),       SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),   SCMP_SYS(acct),         SCMP_SYS(vhangup),
};

using Filter = std::unique_ptr<void, void (*)(void*)>;

/// `failed`: what its rules said, 0 where all was well.
base::Result<std::vector<sock_filter>> ProgramOf(const Filter& filter, int failed) {
  const Fd file(::memfd_create("allowed-calls", MFD_CLOEXEC));
  if (!filter || !file.valid()) return ErrnoOf("seccomp");
  if (failed == 0) failed = ::seccomp_export_bpf(filter.get(), file.get());
  if (failed != 0) return base::Error{std::string("seccomp: ") + std::strerror(-failed), -failed};
  struct stat info {};
  if (::fstat(file.get(), &info) < 0) return ErrnoOf("seccomp");
  std::vector<sock_filter> program(static_cast<size_t>(info.st_size) / sizeof(sock_filter));
  if (::pread(file.get(), program.data(), static_cast<size_t>(info.st_size), 0) != info.st_size)
    return ErrnoOf("seccomp");
  return program;
}

}  // namespace

base::Result<AllowedCalls> AllowedCalls::Compile(NewProcesses new_processes) {
  const Filter filter(::seccomp_init(SCMP_ACT_KILL_PROCESS), ::seccomp_release);
  int failed = 0;
  for (const int call : kAllowed) failed |= ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, call, 0);
  // A thread, and nothing else that clone() can make. clone3's arguments cannot be seen: libc falls back to clone.
  failed |= ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  failed |= ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
  // libc's fork(): a copy of this process, in no other namespace.
  constexpr scmp_datum_t kOfFork = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
  if (new_processes == NewProcesses::kAllowed)
    failed |= ::seccomp_rule_add(filter.get(), SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, ~kOfFork, SIGCHLD));
  auto program = ProgramOf(filter, failed);
  if (!program) return program.error();
  return AllowedCalls(std::move(*program));
}

base::Result<AllowedCalls> AllowedCalls::AllButAdministration() {
  const Filter filter(::seccomp_init(SCMP_ACT_ALLOW), ::seccomp_release);
  // Containers may run programs of the machine's other architectures, too.
  int failed = ::seccomp_attr_set(filter.get(), SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
  if (::seccomp_arch_native() == SCMP_ARCH_X86_64) {
    failed |= ::seccomp_arch_add(filter.get(), SCMP_ARCH_X86);
    failed |= ::seccomp_arch_add(filter.get(), SCMP_ARCH_X32);
  }
  for (const int call : kAdministration) failed |= ::seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
  auto program = ProgramOf(filter, failed);
  if (!program) return program.error();
  return AllowedCalls(std::move(*program));
}

base::Status AllowedCalls::Impose() const {
  const sock_fprog program{static_cast<uint16_t>(program_.size()), const_cast<sock_filter*>(program_.data())};
  // SPEC_ALLOW: older kernels would slow down everything that descends from here otherwise.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) < 0)
    return ErrnoOf("seccomp");
  return {};
}

}  // namespace fairlead::shell
