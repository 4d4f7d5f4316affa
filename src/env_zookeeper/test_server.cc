#include "env_zookeeper/test_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

namespace fairlead::env_zookeeper {

namespace {

sockaddr_in Loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// Below those that the kernel gives to clients: one that tries a port at which nobody listens yet may be given the
/// same one for its own end, and is connected with itself.
uint16_t FreePort() {
  for (auto port = static_cast<uint16_t>(20'000 + ::getpid() % 10'000);; ++port) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(port);
    const int bound = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::close(socket);
    if (bound == 0) return port;
  }
}

/// Whether it says so itself, when asked ("srvr").
bool Serves(uint16_t port) {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  const timeval patience{1, 0};  // a server that is about to begin may never answer
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  std::string answer;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::send(socket, "srvr", 4, MSG_NOSIGNAL) == 4) {
    char bytes[1024];
    for (ssize_t got = 1; got > 0;) {
      got = ::recv(socket, bytes, sizeof bytes, 0);
      if (got > 0) answer.append(bytes, static_cast<size_t>(got));
    }
  }
  ::close(socket);
  return answer.find("Mode:") != std::string::npos;
}

class JavaServer final : public TestServer {
 public:
  explicit JavaServer(std::vector<std::string> properties) : properties_(std::move(properties)) {
    char name[] = "/tmp/fairlead-zookeeper-XXXXXX";
    directory_ = ::mkdtemp(name);
    port_ = FreePort();
    address_ = "127.0.0.1:" + std::to_string(port_);
    std::ofstream(directory_ / "zoo.cfg")
        << "tickTime=100\ndataDir=" << directory_.string() << "/data\nclientPort=" << port_
        << "\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n";
    Launch();
  }
  ~JavaServer() override {
    Kill();
    std::filesystem::remove_all(directory_);
  }

  const std::string& address() const override { return address_; }
  void Stop() override { ::kill(process_, SIGSTOP); }
  void Continue() override { ::kill(process_, SIGCONT); }
  void Restart() override {
    Kill();
    Launch();
  }

 private:
  void Launch() {
    std::vector<std::string> words{"java", "-Xmx128m", "-XX:TieredStopAtLevel=1"};
    for (const std::string& property : properties_) words.push_back("-D" + property);
    for (const char* word : {"-cp", "/usr/share/java/zookeeper.jar", "org.apache.zookeeper.server.ZooKeeperServerMain"})
      words.emplace_back(word);
    words.push_back(directory_ / "zoo.cfg");
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const std::string log = directory_ / "log";
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    ::posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (::posix_spawnp(&process_, "java", &files, nullptr, arguments.data(), environ) != 0) std::abort();
    ::posix_spawn_file_actions_destroy(&files);
    while (!Serves(port_)) {
      if (::waitpid(process_, nullptr, WNOHANG) == process_) {
        std::fprintf(stderr, "ZooKeeper has ended at once: is Debian's package zookeeper installed?\n");
        std::abort();
      }
      ::poll(nullptr, 0, 20);
    }
  }

  void Kill() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }

  const std::vector<std::string> properties_;
  std::filesystem::path directory_;
  uint16_t port_ = 0;
  std::string address_;
  pid_t process_ = 0;
};

}  // namespace

std::unique_ptr<TestServer> TestServer::Start(const std::vector<std::string>& properties) {
  return std::make_unique<JavaServer>(properties);
}

}  // namespace fairlead::env_zookeeper
