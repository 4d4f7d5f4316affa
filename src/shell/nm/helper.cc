#include "shell/nm/helper.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

#include "base/codec.h"
#include "shell/nm/allowed_calls.h"
#include "shell/nm/errand.h"
#include "shell/nm/supervisor.h"

namespace fairlead::shell {

namespace {

constexpr char kHelperCapabilities[] =
    "cap_setuid,cap_setgid,cap_setpcap,cap_kill,cap_chown,cap_fowner,cap_fsetid,cap_dac_override";
constexpr char kStarterCapabilities[] = "cap_setuid,cap_setgid,cap_kill";
constexpr int kAboveFixed = 10;  // beyond all descriptors with a fixed number
constexpr size_t kDescriptorsMax = 16;

/// Descriptors in a control message.
struct Passed {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> room{};
  void AttachTo(msghdr& message, size_t count) {
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  }
};

bool SendPacket(int socket, const std::string& bytes, std::span<const int> descriptors) {
  if (bytes.size() > kOrderBytesMax || descriptors.size() > kDescriptorsMax) return false;
  iovec text{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message, descriptors.size());
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size_bytes());
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

/// Two descriptors at least: for a container its channel and its lock, then what it joins control groups by.
struct Packet {
  std::string bytes;
  std::vector<Fd> descriptors;
};

/// False when the other end has gone.
bool ReceivePacket(Packet& packet) {
  std::string bytes(kOrderBytesMax, '\0');
  iovec text{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message, kDescriptorsMax);
  ssize_t n = 0;
  do {
    n = ::recvmsg(kHelperSocketFd, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  const cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len < CMSG_LEN(2 * sizeof(int))) return false;
  std::vector<int> numbers((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
  std::memcpy(numbers.data(), CMSG_DATA(header), numbers.size() * sizeof(int));
  bytes.resize(static_cast<size_t>(n));
  packet = {std::move(bytes), {}};
  for (const int number : numbers) packet.descriptors.emplace_back(number);
  return true;
}

template <class T>
bool DecodeWhole(const std::string& bytes, T& value) {
  base::Budget budget(kErrandKind, bytes.size());
  base::ByteReader in(bytes, budget);
  base::Decode(in, value);
  return in.done();
}

/// The files by which a container joins its control groups, opened with the rights that this takes.
std::vector<Fd> OpenMemberFiles(const Order& order) {
  std::vector<Fd> files;
  for (const std::string& directory : order.cgroups) {
    // A thread that moves itself alone needs none of the kernel's global locks, whose grace period takes 10 to 20 ms;
    // version 2 knows only whole processes here.
    for (const char* members : {"/tasks", "/cgroup.procs"}) {
      Fd file(::open((directory + members).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
      struct statfs found {};
      if (!file.valid() || ::fstatfs(file.get(), &found) < 0) continue;
      if (found.f_type != CGROUP_SUPER_MAGIC && found.f_type != CGROUP2_SUPER_MAGIC) continue;
      files.push_back(std::move(file));
      break;
    }
  }
  return files;
}

/// What is left of an order to supervise once it was checked: this goes from the helper's process to the starter.
struct Start {
  std::string control;
  UnixUser account;
  std::string error;  // not empty: there will be no container, for this reason
  FL_FIELDS(control, account, error)
};

/// Lets go of every descriptor but these, which get the numbers 3, 4, ...
void KeepDescriptors(std::span<const Fd> descriptors) {
  std::vector<int> kept;  // beyond the fixed numbers first, so that dup2 never meets its own source
  for (const Fd& fd : descriptors) kept.push_back(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kAboveFixed));
  int number = kHelperSocketFd;
  for (const int fd : kept) ::dup2(fd, number++);
  ::close_range(static_cast<unsigned>(number), ~0U, 0);
}

/// What the helper's process keeps.
struct Rules {
  RunAs policy;
  AllowedCalls calls;                // its own
  AllowedCalls calls_of_one;         // of a process that starts no other: an errand, a supervisor whose container runs
  AllowedCalls calls_of_containers;  // and of their ancestors
  Fd starter = Fd();                 // connected to RunStarter
};

[[noreturn]] void BecomeSupervisor(const Start& start, const Rules& rules, std::span<const Fd> descriptors) {
  ::signal(SIGCHLD, SIG_DFL);
  KeepDescriptors(descriptors);
  const int errors =
      ::open((start.control + "/supervisor.err").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  if (!start.error.empty()) {
    FailSupervisor(start.control, start.error);
    ::_exit(1);
  }
  SupervisorRights rights;
  rights.switch_user = rules.policy.switch_user;
  rights.account = start.account;
  rights.calls = &rules.calls_of_one;
  for (size_t i = 2; i < descriptors.size(); ++i) rights.members.push_back(kHelperSocketFd + static_cast<int>(i));
  ::_exit(RunSupervisor(start.control, rights));
}

/// Forks a supervisor for each Start. Containers descend from this process and have its list of calls, so it is one
/// that takes nothing from them. It hears from the helper's processes alone, not from the agent, and ends with them.
[[noreturn]] void RunStarter(const Rules& rules) {
  ::prctl(PR_SET_NAME, "fl-starter");
  if (rules.policy.switch_user &&
      !(BecomeWith(rules.policy.agent, kStarterCapabilities).ok() && rules.calls_of_containers.Impose()))
    ::_exit(2);
  Packet packet;
  while (ReceivePacket(packet)) {
    if (::fork() == 0) {
      Start start;
      if (DecodeWhole(packet.bytes, start)) BecomeSupervisor(start, rules, packet.descriptors);
      ::_exit(1);
    }
    packet = Packet();
  }
  ::_exit(0);
}

void DoSupervise(const Order& order, const Rules& rules, const Packet& packet) {
  Start start{order.control, {}, {}};
  std::vector<Fd> members;
  if (base::Result<UnixUser> account = PrepareAccount(order, rules.policy)) {
    start.account = std::move(*account);
    members = OpenMemberFiles(order);
    if (members.size() < order.cgroups.size()) start.error = "cannot join the container's control group";
  } else {
    start.error = account.error().message;
  }
  std::string bytes;
  base::Encode(bytes, start);
  std::vector<int> descriptors{packet.descriptors[0].get(), packet.descriptors[1].get()};
  for (const Fd& file : members) descriptors.push_back(file.get());
  SendPacket(rules.starter.get(), bytes, descriptors);
}

void DoErrand(const Order& order, const Rules& rules, const Packet& packet) {
  ::signal(SIGCHLD, SIG_DFL);
  KeepDescriptors(std::span(packet.descriptors).first(1));
  ::prctl(PR_SET_NAME, "fl-errand");
  base::Status ready = rules.calls_of_one.Impose();
  if (ready) {
    const base::Result<UnixUser> account = PrepareAccount(order, rules.policy);
    if (!account) {
      ready = account.error();
    } else if (rules.policy.switch_user) {
      ready = Become(*account);
    }
  }
  if (ready) ::_exit(RunErrand());
  AnswerErrand({}, ready.error());
}

/// In a process of its own, which is the first to look at what the agent has sent.
[[noreturn]] void DoOrder(const Rules& rules, const Packet& packet) {
  Order order;
  if (DecodeWhole(packet.bytes, order)) {
    if (order.kind == Order::Kind::kSupervise) DoSupervise(order, rules, packet);
    if (order.kind == Order::Kind::kErrand) DoErrand(order, rules, packet);
  }
  ::_exit(1);
}

base::Status ForkStarter(Rules& rules) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
  rules.starter = Fd(ends[0]);
  const Fd theirs(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return ErrnoOf("fork");
  if (pid > 0) return {};
  KeepDescriptors({&theirs, 1});
  RunStarter(rules);
}

base::Result<Rules> TakeRules() {
  Rules rules;
  Packet packet;
  if (!ReceivePacket(packet) || !DecodeWhole(packet.bytes, rules.policy))
    return base::Error{"the agent gives no rules"};
  auto calls = AllowedCalls::Compile(AllowedCalls::NewProcesses::kAllowed);
  auto calls_of_one = AllowedCalls::Compile(AllowedCalls::NewProcesses::kForbidden);
  auto calls_of_containers = AllowedCalls::AllButAdministration();
  if (!calls) return calls.error();
  if (!calls_of_one) return calls_of_one.error();
  if (!calls_of_containers) return calls_of_containers.error();
  rules.calls = std::move(*calls);
  rules.calls_of_one = std::move(*calls_of_one);
  rules.calls_of_containers = std::move(*calls_of_containers);
  return rules;
}

/// From here on the helper is what docs/privileges.md says.
base::Status GiveUpRights(Rules& rules) {
  if (rules.policy.switch_user) {
    if (base::Status kept = KeepCapabilities(kHelperCapabilities); !kept) return kept;
  }
  if (base::Status forked = ForkStarter(rules); !forked) return forked;
  return rules.calls.Impose();
}

/// False when the agent or the starter has gone.
bool AwaitOrder(const Rules& rules, Packet& packet) {
  std::array<pollfd, 2> ends{pollfd{kHelperSocketFd, POLLIN, 0}, pollfd{rules.starter.get(), 0, 0}};
  while (::poll(ends.data(), ends.size(), -1) < 0) {
    if (errno != EINTR) return false;
  }
  return ends[1].revents == 0 && ReceivePacket(packet);
}

}  // namespace

base::Status Helper::Start() {
  const std::lock_guard lock(mutex_);
  return StartLocked();
}

base::Status Helper::StartLocked() {
  Stop();
  if (policy_.switch_user && ::geteuid() != 0)
    return base::Error{"the process that starts containers has gone; restart the node agent"};
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveFixed);
  ::close(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs, kHelperSocketFd);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kHelperSocketFd + 1);
  std::string binary = binary_, word = "supervise", directory = directory_;
  char* argv[] = {binary.data(), word.data(), directory.data(), nullptr};
  char* environment[] = {nullptr};
  const int error = ::posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  socket_ = ends[0];
  if (error == 0) {
    std::string rules;
    base::Encode(rules, policy_);
    const bool sent = SendPacket(socket_, rules, std::array{theirs, theirs});
    ::close(theirs);
    if (sent) return {};
    Stop();
    return base::Error{"the process that starts containers does not take its rules"};
  }
  ::close(theirs);
  pid_ = -1;
  Stop();
  return base::Error{"cannot run " + binary_ + " supervise: " + std::strerror(error), error};
}

void Helper::Stop() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

bool Helper::usable() {
  const std::lock_guard lock(mutex_);
  if (!policy_.switch_user) return true;
  pollfd state{socket_, POLLIN, 0};
  return socket_ >= 0 && ::poll(&state, 1, 0) >= 0 && (state.revents & (POLLHUP | POLLERR)) == 0;
}

base::Status Helper::Send(const Order& order, std::span<const int> descriptors) {
  std::string bytes;
  base::Encode(bytes, order);
  if (bytes.size() > kOrderBytesMax) return base::Error{"there are too many directories for one order"};
  const std::lock_guard lock(mutex_);
  if (socket_ >= 0 && SendPacket(socket_, bytes, descriptors)) return {};
  if (base::Status started = StartLocked(); !started) return started;  // it was killed, or never ran
  if (SendPacket(socket_, bytes, descriptors)) return {};
  return ErrnoOf("cannot start a process");
}

base::Status Helper::Supervise(Order order, int channel, int lock) {
  order.kind = Order::Kind::kSupervise;
  return Send(order, std::array{channel, lock});
}

base::Result<Fd> Helper::Errand(Order order) {
  order.kind = Order::Kind::kErrand;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (base::Status sent = Send(order, std::array{theirs.get(), theirs.get()}); !sent) return sent.error();
  return ours;
}

int RunHelper() {
  ::setsid();
  ::prctl(PR_SET_NAME, "fl-helper");
  ::signal(SIGCHLD, SIG_IGN);  // nobody waits for what it forks
  base::Result<Rules> rules = TakeRules();
  const base::Status ready = rules ? GiveUpRights(*rules) : rules.error();
  if (!ready) {
    std::fprintf(stderr, "fairlead supervise: %s\n", ready.error().message.c_str());
    return 2;
  }
  Packet packet;
  while (AwaitOrder(*rules, packet)) {
    if (::fork() == 0) DoOrder(*rules, packet);
    // Where there was no fork the channel closes without a word, and the order counts as lost.
    packet = Packet();
  }
  return 0;
}

}  // namespace fairlead::shell
