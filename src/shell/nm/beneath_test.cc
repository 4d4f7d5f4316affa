#include "shell/nm/beneath.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Beneath : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/fl_beneath_XXXXXX";
    path_ = ::mkdtemp(name);
    fs::create_directories(path_ + "/root");
    fs::create_directories(path_ + "/victim/sub");
    Write("victim/file", "safe");
    root_ = *OpenRoot(path_ + "/root");
  }
  void TearDown() override { fs::remove_all(path_); }
  void Write(const std::string& name, const std::string& text) const { std::ofstream(path_ + "/" + name) << text; }
  std::string Read(const std::string& name) const {
    std::ifstream file(path_ + "/" + name);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string path_;
  Fd root_;
  Budget budget_;
};

TEST_F(Beneath, NeverFollowsALink) {
  fs::create_directory_symlink(path_ + "/victim", path_ + "/root/link");
  fs::create_symlink(path_ + "/victim/file", path_ + "/root/file");
  EXPECT_FALSE(OpenDirectory(root_.get(), "link"));
  EXPECT_FALSE(OpenDirectory(root_.get(), "link/sub"));
  EXPECT_FALSE(OpenDirectory(root_.get(), ".."));
  EXPECT_FALSE(OpenRegular(root_.get(), "file"));
  EXPECT_FALSE(OpenRegular(root_.get(), "link/file"));
  EXPECT_FALSE(ReadTail(root_.get(), "file", 10));
  // What is made takes the link's place and leaves alone where it led.
  EXPECT_TRUE(WriteFile(root_.get(), "file", "mine", 0600));
  const base::Result<Fd> made = MakeDirectories(root_.get(), "link/sub", 0700);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(WriteFile(made->get(), "x", "mine", 0600));
  EXPECT_EQ(Read("victim/file"), "safe");
  EXPECT_FALSE(fs::exists(path_ + "/victim/sub/x"));
  EXPECT_FALSE(MakeDirectories(root_.get(), "a/../../victim/new", 0700));
}

TEST_F(Beneath, ANewDirectoryHandsTheGroupDownThoughItsUserIsNotOfIt) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root makes directories of others";
  constexpr uid_t kUser = 4711;
  constexpr gid_t kAgents = 4712;
  const std::string top = path_ + "/root";
  ASSERT_EQ(::chmod(path_.c_str(), 0755), 0);
  ASSERT_EQ(::chown(top.c_str(), kUser, kAgents), 0);
  ASSERT_EQ(::chmod(top.c_str(), 02750), 0);
  const pid_t user = ::fork();
  if (user == 0) {
    ::umask(027);
    const bool became =
        ::setgroups(0, nullptr) == 0 && ::setresgid(kUser, kUser, kUser) == 0 && ::setresuid(kUser, kUser, kUser) == 0;
    ::_exit(became && MakeDirectories(root_.get(), "appcache/application", 0710) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(user, &status, 0), user);
  ASSERT_EQ(status, 0);
  struct stat made {};
  ASSERT_EQ(::stat((top + "/appcache/application").c_str(), &made), 0);
  EXPECT_EQ(made.st_gid, kAgents);
  EXPECT_EQ(made.st_mode & 07777, 02710U);
}

TEST_F(Beneath, PipesAndDevicesDoNotWait) {
  ASSERT_EQ(::mkfifo((path_ + "/root/pipe").c_str(), 0600), 0);
  EXPECT_EQ(OpenRegular(root_.get(), "pipe").error().code, EINVAL);
  EXPECT_EQ(OpenSource(path_ + "/root/pipe").error().code, EINVAL);
  EXPECT_EQ(OpenSource("/dev/zero").error().code, EINVAL);
  EXPECT_TRUE(WriteFile(root_.get(), "pipe", "text", 0600));
  EXPECT_EQ(Read("root/pipe"), "text");
}

TEST_F(Beneath, ReadsTheEnd) {
  Write("root/log", "0123456789");
  EXPECT_EQ(*ReadTail(root_.get(), "log", 3), "789");
  EXPECT_EQ(*ReadTail(root_.get(), "log", 100), "0123456789");
  EXPECT_EQ(*ReadTail(root_.get(), "log", 0), "");
}

TEST_F(Beneath, RemovesATreeAndNothingElse) {
  fs::create_directories(path_ + "/root/tree/closed");
  Write("root/tree/closed/f", "x");
  ::chmod((path_ + "/root/tree/closed").c_str(), 0);
  fs::create_directory_symlink(path_ + "/victim", path_ + "/root/tree/link");
  ASSERT_EQ(::mkfifo((path_ + "/root/tree/pipe").c_str(), 0600), 0);
  const base::Status removed = RemoveTree(root_.get(), "tree", budget_);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_FALSE(fs::exists(path_ + "/root/tree"));
  EXPECT_EQ(Read("victim/file"), "safe");
  EXPECT_TRUE(RemoveTree(root_.get(), "tree", budget_)) << "gone is success";
  fs::create_directory_symlink(path_ + "/victim", path_ + "/root/tree");
  EXPECT_TRUE(RemoveTree(root_.get(), "tree", budget_));
  EXPECT_EQ(Read("victim/file"), "safe");
}

// Deeper than descriptors would go, and than a path can say from the top.
TEST_F(Beneath, RemovesADeepTree) {
  Fd at = *MakeDirectories(root_.get(), "deep", 0700);
  for (int i = 0; i < 1200; ++i) {
    ASSERT_EQ(::mkdirat(at.get(), "d", 0700), 0);
    at = Fd(::openat(at.get(), "d", O_RDONLY | O_DIRECTORY));
  }
  const base::Status removed = RemoveTree(root_.get(), "deep", budget_);
  EXPECT_TRUE(removed) << removed.error().message;
  EXPECT_TRUE(fs::is_empty(path_ + "/root"));
}

TEST_F(Beneath, ABudgetHolds) {
  fs::create_directories(path_ + "/root/tree");
  for (int i = 0; i < 5; ++i) Write("root/tree/f" + std::to_string(i), "12345");
  const Fd tree = *OpenDirectory(root_.get(), "tree"), to = *MakeDirectories(root_.get(), "to", 0700);
  budget_.bytes = 12;
  EXPECT_THAT(CopyTree(tree.get(), to.get(), budget_, false).error().message, HasSubstr("larger than allowed"));
  budget_ = {};
  budget_.entries = 2;
  EXPECT_THAT(RemoveTree(root_.get(), "tree", budget_).error().message, HasSubstr("too many files"));
  budget_ = {};
  budget_.deadline = std::chrono::steady_clock::now();
  EXPECT_THAT(RemoveTree(root_.get(), "tree", budget_).error().message, HasSubstr("too long"));
}

TEST_F(Beneath, OnlyWhatIsBelow) {
  EXPECT_EQ(Below("/a/b", "/a/b/c/d"), "c/d");
  for (const char* path : {"/a/b", "/a/bc/d", "/a/b/../c", "/a/b/c/..", "/a/b//c", "/x", ""})
    EXPECT_EQ(Below("/a/b", path), "") << path;
}

TEST_F(Beneath, ListsByNameAndEndsSomewhere) {
  for (const char* name : {"c", "a", "b"}) Write(std::string("root/") + name, "");
  std::vector<std::string> names;
  const base::Result<std::vector<DirectoryEntry>> found = List(root_.get(), 100);
  for (const DirectoryEntry& entry : *found) names.push_back(entry.name);
  EXPECT_THAT(names, ElementsAre("a", "b", "c"));
  EXPECT_EQ(List(root_.get(), 2)->size(), 2u);
}

TEST_F(Beneath, ARootThatOthersMayChangeIsNotSafe) {
  const uint32_t me = ::geteuid(), mine = ::getegid();
  EXPECT_TRUE(CheckRootIsSafe(path_ + "/root/not/there", me, mine));
  ::chmod((path_ + "/root").c_str(), 0757);
  EXPECT_THAT(CheckRootIsSafe(path_ + "/root/x", me, mine).error().message, HasSubstr("can be written by others"));
  ::chmod((path_ + "/root").c_str(), 01777);
  EXPECT_TRUE(CheckRootIsSafe(path_ + "/root/x", me, mine));
  if (::geteuid() != 0) GTEST_SKIP() << "the rest needs root";
  ASSERT_EQ(::chown((path_ + "/root").c_str(), 65534, 0), 0);
  EXPECT_THAT(CheckRootIsSafe(path_ + "/root/x", me, mine).error().message, HasSubstr("belongs to user id 65534"));
}

}  // namespace
}  // namespace fairlead::shell
