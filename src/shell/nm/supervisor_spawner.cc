#include "shell/nm/supervisor_spawner.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "shell/nm/supervisor.h"

namespace fairlead::shell {

namespace {

constexpr int kAboveFixed = 10;  // beyond all descriptors with a fixed number

/// The channel and the lock of one supervisor, in a control message.
struct Passed {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> room{};
  void AttachTo(msghdr& message) {
    message.msg_control = room.data();
    message.msg_controllen = room.size();
  }
};

bool SendRequest(int socket, const std::string& control, int channel, int lock) {
  iovec text{const_cast<char*>(control.data()), control.size()};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message);
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int descriptors[2] = {channel, lock};
  std::memcpy(CMSG_DATA(header), descriptors, sizeof descriptors);
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(control.size());
}

struct Request {
  std::string control;
  int channel = -1;
  int lock = -1;
};

/// False when the agent has gone.
bool ReceiveRequest(Request& request) {
  char path[PATH_MAX];
  iovec text{path, sizeof path};
  msghdr message{};
  message.msg_iov = &text;
  message.msg_iovlen = 1;
  Passed passed;
  passed.AttachTo(message);
  ssize_t n = 0;
  do {
    n = ::recvmsg(kSpawnerSocketFd, &message, MSG_CMSG_CLOEXEC);
  } while (n < 0 && errno == EINTR);
  const cmsghdr* header = n > 0 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(2 * sizeof(int))) return false;
  int descriptors[2];
  std::memcpy(descriptors, CMSG_DATA(header), sizeof descriptors);
  request = {std::string(path, static_cast<size_t>(n)), descriptors[0], descriptors[1]};
  return true;
}

[[noreturn]] void BecomeSupervisor(const Request& request) {
  ::signal(SIGCHLD, SIG_DFL);
  const int errors =
      ::open((request.control + "/supervisor.err").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (errors >= 0) ::dup2(errors, STDERR_FILENO);
  // Both beyond the fixed numbers first, so that dup2 never meets its own source.
  const int channel = ::fcntl(request.channel, F_DUPFD_CLOEXEC, kAboveFixed);
  const int lock = ::fcntl(request.lock, F_DUPFD_CLOEXEC, kAboveFixed);
  ::dup2(channel, kSupervisorChannelFd);
  ::dup2(lock, kSupervisorLockFd);
  ::close_range(kSupervisorLockFd + 1, ~0U, 0);
  ::_exit(RunSupervisor(request.control));
}

}  // namespace

base::Status SupervisorSpawner::Start() {
  Stop();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
    return base::Error{std::string("socketpair: ") + std::strerror(errno), errno};
  const int theirs = ::fcntl(ends[1], F_DUPFD_CLOEXEC, kAboveFixed);
  ::close(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, 0, 1);
  ::posix_spawn_file_actions_adddup2(&actions, theirs, kSpawnerSocketFd);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, kSpawnerSocketFd + 1);
  std::string binary = binary_, word = "supervise", directory = directory_;
  char* argv[] = {binary.data(), word.data(), directory.data(), nullptr};
  char* environment[] = {nullptr};
  const int error = ::posix_spawn(&pid_, binary.c_str(), &actions, nullptr, argv, environment);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(theirs);
  socket_ = ends[0];
  if (error == 0) return {};
  pid_ = -1;
  Stop();
  return base::Error{std::string("cannot run ") + binary_ + " supervise: " + std::strerror(error), error};
}

void SupervisorSpawner::Stop() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

base::Status SupervisorSpawner::Spawn(const std::string& control, int channel, int lock) {
  if (socket_ >= 0 && SendRequest(socket_, control, channel, lock)) return {};
  if (base::Status started = Start(); !started) return started;  // it was killed, or never ran
  if (SendRequest(socket_, control, channel, lock)) return {};
  return base::Error{std::string("cannot start the supervisor: ") + std::strerror(errno), errno};
}

int RunSupervisorSpawner() {
  ::setsid();
  ::prctl(PR_SET_NAME, "fl-spawner");
  ::signal(SIGCHLD, SIG_IGN);  // nobody waits for supervisors
  Request request;
  while (ReceiveRequest(request)) {
    const pid_t pid = ::fork();
    if (pid == 0) BecomeSupervisor(request);
    if (pid < 0) FailSupervisor(request.control, std::string("fork: ") + std::strerror(errno));
    ::close(request.channel);
    ::close(request.lock);
  }
  return 0;
}

}  // namespace fairlead::shell
