#include "shell/nm/helper.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/codec.h"
#include "base/rng.h"
#include "base/test_seed.h"
#include "shell/nm/errand.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kAgent = 64321;  // nobody's number
constexpr uint32_t kUser = 65534;   // nobody
constexpr int kOrders = 300;
constexpr int kAnswerMs = 20'000;

/// The helper's process with root's rights, and at its socket somebody who has taken over the agent.
class TakenOverAgent : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root has rights to misuse";
    char name[] = "/tmp/fl_helper_XXXXXX";
    root_ = ::mkdtemp(name);
    ::chmod(root_.c_str(), 0755);
    MakeDirectory("victim", 0, 0700);
    std::ofstream(root_ + "/victim/kept") << "root's";
    MakeDirectory("roots", 0, 0755);  // as the system's directories are
    MakeDirectory("local", kAgent, 0755);
    for (const char* below : {"local/usercache", "local/filecache"}) MakeDirectory(below, kAgent, 0755);
    fs::create_directory_symlink(root_ + "/victim", root_ + "/local/usercache/link");
    fs::create_directory_symlink(root_ + "/roots", root_ + "/local/roots");
    MakeDirectory("open", kAgent, 0777);
    Start();
  }
  void TearDown() override {
    if (pid_ > 0) {
      ::close(socket_);
      ::waitpid(pid_, nullptr, 0);
    }
    fs::remove_all(root_);
  }
  void MakeDirectory(const std::string& below, uint32_t user, mode_t mode) const {
    const std::string path = root_ + "/" + below;
    ASSERT_EQ(::mkdir(path.c_str(), mode), 0);
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    ASSERT_EQ(::chown(path.c_str(), user, user), 0);
  }
  void Start() {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], kHelperSocketFd);
      ::close_range(kHelperSocketFd + 1, ~0U, 0);
      ::_exit(RunHelper());
    }
    ::close(ends[1]);
    socket_ = ends[0];
    RunAs rules;
    rules.switch_user = true;
    rules.agent = {"agent", kAgent, kAgent, {}};
    std::string bytes;
    base::Encode(bytes, rules);
    Send(bytes);
  }
  /// Sends bytes as an order; gives the agent's end of its channel.
  Fd Send(const std::string& bytes) const {
    int channel[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel), 0);
    Fd ours(channel[0]);
    const Fd theirs(channel[1]);
    const int passed[2] = {theirs.get(), theirs.get()};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof passed)] = {};
    iovec text{const_cast<char*>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &text;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof passed);
    std::memcpy(CMSG_DATA(header), passed, sizeof passed);
    EXPECT_GE(::sendmsg(socket_, &message, MSG_NOSIGNAL), 0) << "the helper has gone";
    return ours;
  }
  /// The answer to an errand; "" when there is none.
  static std::string Ask(const Fd& channel, const Errand& errand) {
    std::string bytes;
    base::Encode(bytes, errand);
    const std::string frame = ErrandFrame(bytes);
    if (::send(channel.get(), frame.data(), frame.size(), MSG_NOSIGNAL) < 0) return {};
    return ReadToEnd(channel);
  }
  static std::string ReadToEnd(const Fd& channel) {
    std::string all;
    char part[4096];
    pollfd state{channel.get(), POLLIN, 0};
    while (::poll(&state, 1, kAnswerMs) > 0) {
      const ssize_t n = ::recv(channel.get(), part, sizeof part, 0);
      if (n <= 0) return all;
      all.append(part, static_cast<size_t>(n));
    }
    ADD_FAILURE() << "a process of the helper's does not end";
    return all;
  }
  std::string Bytes(const Order& order) const {
    std::string bytes;
    base::Encode(bytes, order);
    return bytes;
  }
  Order GoodOrder() const {
    Order order;
    order.submitter = "nobody";
    order.tops = {{root_ + "/local", "usercache/nobody", 0750}};
    return order;
  }
  /// What is root's: path, owner, mode, links, and here the time of change.
  std::map<std::string, std::string> OfRoot() const {
    std::map<std::string, std::string> found;
    const auto look = [&](const std::string& path, bool ours) {
      struct stat info {};
      if (::lstat(path.c_str(), &info) < 0) return;
      std::string& text = found[path];
      text = std::to_string(info.st_uid) + " " + std::to_string(info.st_mode);
      if (ours) text += " " + std::to_string(info.st_mtim.tv_sec) + "." + std::to_string(info.st_mtim.tv_nsec);
    };
    for (const char* path : {"", "/victim", "/victim/kept", "/victim/x", "/roots", "/roots/x", "/local/usercache/link"})
      look(root_ + path, true);
    // Others of this machine's change these meanwhile.
    for (const std::string path : {"/", "/etc", "/etc/", "/etc/passwd", "/etc/shadow", "/root", "/root/", "/var"}) {
      look(path, false);
      look(path + "x", false);  // the name that is tried most
    }
    return found;
  }

  std::string Draw(base::Rng& rng, const std::vector<std::string>& of) const { return of[rng.Below(of.size())]; }
  Order DrawOrder(base::Rng& rng) const {
    const std::vector<std::string> roots{root_ + "/local",
                                         root_ + "/local/",
                                         root_ + "/local/roots",
                                         root_ + "/roots",
                                         root_ + "/open",
                                         root_,
                                         "/",
                                         "/etc",
                                         "/root",
                                         "/proc/self",
                                         "/proc/self/fd",
                                         "",
                                         "local",
                                         root_ + "/local/usercache",
                                         root_ + "/victim/kept"};
    const std::vector<std::string> below{"usercache/nobody",
                                         "usercache/link",
                                         "usercache/link/x",
                                         "roots/x",
                                         "filecache/7",
                                         "application_1_0001",
                                         "../victim",
                                         "usercache/../../victim",
                                         "..",
                                         ".",
                                         "",
                                         "/",
                                         "/etc",
                                         "x",
                                         "usercache/" + std::string(300, 'x'),
                                         std::string(5000, '/'),
                                         std::string("usercache/a\0b", 13),
                                         "usercache/\n"};
    const std::vector<std::string> submitters{"nobody",
                                              "root",
                                              "daemon",
                                              "",
                                              "0",
                                              "65534",
                                              "agent",
                                              "bin",
                                              std::string("nobody\0root", 11),
                                              "../root",
                                              std::string(5000, 'u')};
    const std::vector<std::string> directories{
        root_ + "/victim",          root_ + "/roots", "/",    "/root",        "/etc", "/proc/1", "",
        root_ + "/local/usercache", "/sys/fs/cgroup", "/dev", root_ + "/open"};
    Order order;
    order.kind = rng.Below(2) == 0 ? Order::Kind::kSupervise : Order::Kind::kErrand;
    order.submitter = rng.Below(2) == 0 ? "nobody" : Draw(rng, submitters);
    order.is_public = rng.Below(4) == 0;
    for (uint64_t i = rng.Below(4); i > 0; --i) {
      const uint32_t modes[] = {0, 0750, 07777, 0, UINT32_MAX};
      const std::string name = rng.Below(2) == 0 ? "x" : Draw(rng, below);
      order.tops.push_back({Draw(rng, roots), name, modes[rng.Below(std::size(modes))]});
    }
    order.control = Draw(rng, directories);
    for (uint64_t i = rng.Below(3); i > 0; --i) order.cgroups.push_back(Draw(rng, directories));
    return order;
  }
  /// Some bytes changed, or its end lost, or more of it.
  static void Damage(base::Rng& rng, std::string& bytes) {
    for (uint64_t i = rng.Below(4); i > 0 && !bytes.empty(); --i)
      bytes[rng.Below(bytes.size())] = static_cast<char>(rng.Below(256));
    if (rng.Below(4) == 0) bytes.resize(rng.Below(bytes.size() + 1));
    if (rng.Below(4) == 0) bytes += std::string(rng.Below(200), '\xff');
    if (bytes.empty()) bytes = "x";
  }
  /// Errands that do harm where they are done with another's rights.
  Errand DrawErrand(base::Rng& rng) const {
    const Place victim{root_, "victim"};
    const Place kept{root_ + "/victim", "kept"};
    switch (rng.Below(4)) {
      case 0:
        return RemoveErrand{{victim, kept, {root_, "roots"}}, rng.Below(2) == 0};
      case 1:
        return ErrorTailsErrand{victim, 4096};
      case 2:
        return LinkErrand{victim, {{"/etc/passwd", "kept"}, {"/etc/passwd", "new"}}};
      default: {
        AggregateErrand errand;
        errand.options.root = root_ + "/victim";
        return errand;
      }
    }
  }

  std::string root_;
  pid_t pid_ = -1;
  int socket_ = -1;
};

TEST_F(TakenOverAgent, GetsNothingWithRootsRights) {
  const uint64_t seed = base::TestSeed();
  base::Rng rng(seed);
  const auto before = OfRoot();
  for (int i = 0; i < kOrders; ++i) {
    const Order order = i % 3 == 0 ? GoodOrder() : DrawOrder(rng);
    std::string bytes = Bytes(order);
    if (i % 3 == 1) Damage(rng, bytes);
    const Fd channel = Send(bytes);
    const std::string answer = Ask(channel, DrawErrand(rng));
    EXPECT_EQ(answer.find("root's"), std::string::npos) << "it read what is root's";
    ASSERT_EQ(::waitpid(pid_, nullptr, WNOHANG), 0) << "order " << i << " of seed " << seed << " ended the helper";
    std::string text;
    base::ToJson(text, order);
    ASSERT_EQ(OfRoot(), before) << "order " << i << " of seed " << seed << ": " << text;
  }
  // It still does what it is for, as that user.
  const std::string good =
      Ask(Send(Bytes(GoodOrder())), RemoveErrand{{{root_ + "/local/usercache/nobody", "x"}}, false});
  EXPECT_FALSE(good.empty());
  struct stat info {};
  ASSERT_EQ(::stat((root_ + "/local/usercache/nobody").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, kUser);
}

// A directory of root's is none that an order may name: what is made there would be a user's among the system's.
TEST_F(TakenOverAgent, HasNoDirectoryMadeAmongRoots) {
  for (const std::string& root : {root_ + "/roots", root_ + "/local/roots", std::string("/etc"), std::string("/")}) {
    Order order = GoodOrder();
    order.tops = {{root, "fairlead-test.d", 0750}};
    Ask(Send(Bytes(order)), RemoveErrand{});
    EXPECT_FALSE(fs::exists(root + "/fairlead-test.d")) << root;
    fs::remove(root + "/fairlead-test.d");
  }
}

}  // namespace
}  // namespace fairlead::shell
