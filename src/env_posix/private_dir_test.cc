#include "env_posix/private_dir.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "env_posix/test_directory.h"

namespace fairlead::env_posix {
namespace {

namespace fs = std::filesystem;

class PrivateDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = ::umask(0);  // the worst one
  }
  void TearDown() override { ::umask(before_); }
  static unsigned ModeOf(const fs::path& path) {
    struct stat info {};
    EXPECT_EQ(::lstat(path.c_str(), &info), 0) << path;
    return info.st_mode & 07777U;
  }
  static void Write(const fs::path& path, mode_t mode) {
    std::ofstream(path) << "x";
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
  }
  /// The refusal's text; empty when there was none.
  static std::string Refusal(const fs::path& path) {
    const auto made = MakePrivateDirectory(path);
    return made.ok() ? "" : made.error().message;
  }
  const TestDirectory directory_;
  const fs::path top_ = directory_.path();
  mode_t before_ = 0;
};

TEST_F(PrivateDirectory, IsMadeClosedWithItsFilesUnderAnyUmask) {
  for (const mode_t umask : {0, 022, 0777}) {
    ::umask(umask);
    const fs::path path = top_ / std::to_string(umask) / "deep" / "state";
    const auto made = MakePrivateDirectory(path);
    ASSERT_TRUE(made.ok()) << made.error().message;
    EXPECT_TRUE(made->empty());
    EXPECT_EQ(ModeOf(path), 0700U);
    EXPECT_EQ(ModeOf(path.parent_path()), 0755U);
    ASSERT_TRUE(MakePrivateFile(path / "db").ok());
    EXPECT_EQ(ModeOf(path / "db"), 0600U);
    EXPECT_TRUE(MakePrivateDirectory(path.string() + "/").ok());
  }
}

TEST_F(PrivateDirectory, OurOwnThatIsOpenIsClosedAndTold) {
  fs::create_directories(top_ / "state" / "containers");
  ::chmod((top_ / "state").c_str(), 0755);
  ::chmod((top_ / "state" / "containers").c_str(), 0755);
  Write(top_ / "state" / "db", 0644);
  Write(top_ / "state" / "closed", 0600);
  const auto made = MakePrivateDirectory(top_ / "state");
  ASSERT_TRUE(made.ok()) << made.error().message;
  EXPECT_EQ(made->size(), 3U);
  EXPECT_EQ(ModeOf(top_ / "state"), 0700U);
  EXPECT_EQ(ModeOf(top_ / "state" / "containers"), 0700U);
  EXPECT_EQ(ModeOf(top_ / "state" / "db"), 0600U);
  EXPECT_EQ(MakePrivateDirectory(top_ / "state")->size(), 0U);
}

TEST_F(PrivateDirectory, WhatOthersMayWriteIsRefusedByName) {
  fs::create_directory(top_ / "state");
  ::chmod((top_ / "state").c_str(), 0770);
  EXPECT_NE(Refusal(top_ / "state").find("state is refused: others may write it (mode 0770)"), std::string::npos);
  ::chmod((top_ / "state").c_str(), 0700);
  Write(top_ / "state" / "db-wal", 0666);
  EXPECT_NE(Refusal(top_ / "state").find("db-wal is refused: others may write it"), std::string::npos);
  EXPECT_EQ(ModeOf(top_ / "state" / "db-wal"), 0666U) << "what is refused is left as it is";
}

TEST_F(PrivateDirectory, LinksAreRefusedByName) {
  fs::create_directories(top_ / "elsewhere");
  ::chmod((top_ / "elsewhere").c_str(), 0755);
  fs::create_symlink(top_ / "elsewhere", top_ / "state");
  EXPECT_NE(Refusal(top_ / "state").find("state is refused: it is a link"), std::string::npos);
  EXPECT_EQ(ModeOf(top_ / "elsewhere"), 0755U);
  fs::remove(top_ / "state");
  fs::create_symlink(top_ / "nothing", top_ / "state");
  EXPECT_NE(Refusal(top_ / "state").find("it is a link"), std::string::npos) << "one that leads nowhere, too";
  fs::remove(top_ / "state");
  fs::create_directory(top_ / "state");
  ::chmod((top_ / "state").c_str(), 0700);
  fs::create_symlink("/etc/passwd", top_ / "state" / "db");
  EXPECT_NE(Refusal(top_ / "state").find("db is refused: it is a link"), std::string::npos);
}

TEST_F(PrivateDirectory, AFileInItsPlaceIsRefused) {
  Write(top_ / "state", 0600);
  EXPECT_NE(Refusal(top_ / "state").find("Not a directory"), std::string::npos);
}

TEST_F(PrivateDirectory, NothingLiesBelowADirectoryThatOthersCanChange) {
  fs::create_directory(top_ / "open");
  ::chmod((top_ / "open").c_str(), 0777);
  EXPECT_NE(Refusal(top_ / "open" / "state").find("open is refused: others may write there"), std::string::npos);
  EXPECT_FALSE(fs::exists(top_ / "open" / "state"));
  ::chmod((top_ / "open").c_str(), 01777);  // as /tmp
  EXPECT_EQ(Refusal(top_ / "open" / "state"), "");
  // A link of our own among the parents is followed, and where it leads is checked.
  fs::create_directory(top_ / "target");
  ::chmod((top_ / "target").c_str(), 0755);
  fs::create_symlink(top_ / "target", top_ / "link");
  EXPECT_EQ(Refusal(top_ / "link" / "state"), "");
  ::chmod((top_ / "target").c_str(), 0777);
  EXPECT_NE(Refusal(top_ / "link" / "state").find("target is refused"), std::string::npos);
}

TEST_F(PrivateDirectory, WhatBelongsToSomebodyElseIsRefusedByName) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give files away";
  constexpr uid_t kStranger = 12345;
  fs::create_directory(top_ / "state");
  ::chmod((top_ / "state").c_str(), 0700);
  Write(top_ / "state" / "db", 0600);
  ASSERT_EQ(::chown((top_ / "state" / "db").c_str(), kStranger, kStranger), 0);
  EXPECT_NE(Refusal(top_ / "state").find("db is refused: it belongs to user 12345"), std::string::npos);
  ASSERT_EQ(::chown((top_ / "state").c_str(), kStranger, kStranger), 0);
  EXPECT_NE(Refusal(top_ / "state").find("state is refused: it belongs to user 12345"), std::string::npos);
  EXPECT_NE(Refusal(top_ / "state" / "deeper").find("state is refused: it belongs to user 12345"), std::string::npos);
  fs::create_symlink(top_, top_ / "link");
  ASSERT_EQ(::lchown((top_ / "link").c_str(), kStranger, kStranger), 0);
  EXPECT_NE(Refusal(top_ / "link" / "mine").find("link is refused: it belongs to user 12345"), std::string::npos);
}

}  // namespace
}  // namespace fairlead::env_posix
