#include "shell/nm/helper.h"

#include <fcntl.h>
#include <grp.h>
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
#include <cstring>
#include <vector>

#include "base/codec.h"
#include "shell/nm/allowed_calls.h"
#include "shell/nm/errand.h"
#include "shell/nm/supervisor.h"

namespace fairlead::shell {

namespace {

constexpr char kHelperCapabilities[] =
    "cap_setuid,cap_setgid,cap_setpcap,cap_kill,cap_chown,cap_fowner,cap_fsetid,cap_dac_override";
constexpr int kAboveFixed = 10;  // beyond all descriptors with a fixed number

/// Two descriptors in a control message.
struct Passed {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  void AttachTo(msghdr& message) {
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
};

bool SendPacket(int socket, const std::string& bytes, const int (&descriptors)[2]) {
  iovec text{const_cast<char*>(bytes.data()), bytes.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

struct Packet {
  std::string bytes;
  Fd first = Fd(), second = Fd();
};

/// False when the agent has gone.
bool ReceivePacket(Packet& packet) {
  std::string bytes(kOrderBytesMax, '\0');
  iovec text{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message);
  ssize_t n = 0;
  do {
    n = ::recvmsg(kHelperSocketFd, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  const cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(2 * sizeof(int))) return false;
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  bytes.resize(static_cast<size_t>(n));
  packet = {std::move(bytes), Fd(descriptors[0]), Fd(descriptors[1])};
  return true;
}

template <class T>
bool DecodeWhole(const std::string& bytes, T& value) {
  base::ByteReader in(bytes);
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
      Fd file(::open((directory + members).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
      struct statfs found {};
      if (!file.valid() || ::fstatfs(file.get(), &found) < 0) continue;
      if (found.f_type != CGROUP_SUPER_MAGIC && found.f_type != CGROUP2_SUPER_MAGIC) continue;
      files.push_back(std::move(file));
      break;
    }
  }
  return files;
}

[[noreturn]] void BecomeSupervisor(const Order& order, const RunAs& policy, Packet packet) {
  ::signal(SIGCHLD, SIG_DFL);
  // Both beyond the fixed numbers first, so that dup2 never meets its own source.
  const int channel = ::fcntl(packet.first.get(), F_DUPFD_CLOEXEC, kAboveFixed);
  const int lock = ::fcntl(packet.second.get(), F_DUPFD_CLOEXEC, kAboveFixed);
  ::dup2(channel, kSupervisorChannelFd);
  ::dup2(lock, kSupervisorLockFd);
  ::close_range(kSupervisorLockFd + 1, ~0U, 0);
  const base::Result<UnixUser> account = PrepareAccount(order, policy);
  const std::vector<Fd> members = account ? OpenMemberFiles(order) : std::vector<Fd>();
  std::string error = account ? "" : account.error().message;
  if (error.empty() && members.size() < order.cgroups.size()) error = "cannot join the container's control group";
  if (policy.switch_user) {
    // From here on its files are the agent's; what it keeps is the right to become the user and to end him.
    ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    const UnixUser& agent = policy.agent;
    const std::vector<gid_t> groups(agent.groups.begin(), agent.groups.end());
    if (agent.user != 0 &&
        (::setgroups(groups.size(), groups.data()) < 0 || ::setresgid(agent.group, agent.group, agent.group) < 0 ||
         ::setresuid(agent.user, agent.user, agent.user) < 0))
      ::_exit(1);
    if (!KeepCapabilities("cap_setuid,cap_setgid,cap_kill")) ::_exit(1);
  }
  const int errors =
      ::open((order.control + "/supervisor.err").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  if (!error.empty()) {
    FailSupervisor(order.control, error);
    ::_exit(1);
  }
  SupervisorRights rights;
  rights.switch_user = policy.switch_user;
  rights.account = *account;
  for (const Fd& file : members) rights.members.push_back(file.get());
  ::_exit(RunSupervisor(order.control, rights));
}

[[noreturn]] void DoErrand(const Order& order, const RunAs& policy, Packet packet) {
  ::signal(SIGCHLD, SIG_DFL);
  const int channel = ::fcntl(packet.first.get(), F_DUPFD_CLOEXEC, kAboveFixed);
  ::dup2(channel, kErrandChannelFd);
  ::close_range(kErrandChannelFd + 1, ~0U, 0);
  ::prctl(PR_SET_NAME, "fl-errand");
  const base::Result<UnixUser> account = AllowErrandCalls() ? PrepareAccount(order, policy) : ErrnoOf("seccomp");
  if (!account) {
    AnswerErrand({}, account.error());
    ::_exit(1);
  }
  if (policy.switch_user) {
    if (base::Status became = Become(*account); !became) {
      AnswerErrand({}, became.error());
      ::_exit(1);
    }
  }
  ::_exit(RunErrand());
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
    const bool sent = rules.size() <= kOrderBytesMax && SendPacket(socket_, rules, {theirs, theirs});
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

base::Status Helper::Send(const Order& order, const int (&descriptors)[2]) {
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
  return Send(order, {channel, lock});
}

base::Result<Fd> Helper::Errand(Order order) {
  order.kind = Order::Kind::kErrand;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) return ErrnoOf("socketpair");
  Fd ours(ends[0]);
  const Fd theirs(ends[1]);
  if (base::Status sent = Send(order, {theirs.get(), theirs.get()}); !sent) return sent.error();
  return ours;
}

int RunHelper() {
  ::setsid();
  ::prctl(PR_SET_NAME, "fl-helper");
  ::signal(SIGCHLD, SIG_IGN);  // nobody waits for what it forks
  Packet packet;
  RunAs policy;
  if (!ReceivePacket(packet) || !DecodeWhole(packet.bytes, policy)) return 2;
  packet = Packet();
  if (policy.switch_user && !KeepCapabilities(kHelperCapabilities)) return 2;
  while (ReceivePacket(packet)) {
    Order order;
    if (!DecodeWhole(packet.bytes, order)) continue;
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (order.kind == Order::Kind::kSupervise) BecomeSupervisor(order, policy, std::move(packet));
      DoErrand(order, policy, std::move(packet));
    }
    // Where there was no fork the channel closes without a word, and the order counts as lost.
    packet = Packet();
  }
  return 0;
}

}  // namespace fairlead::shell
