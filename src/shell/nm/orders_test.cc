#include "shell/nm/orders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uint32_t kOwner = 65534;

/// A local directory of root's, and an account that is not root.
class Tops : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root gives directories away";
    char name[] = "/tmp/fl_orders_XXXXXX";
    root_ = ::mkdtemp(name);
    fs::create_directories(root_ + "/usercache");
    ::chmod(root_.c_str(), 0755);
    ::chmod((root_ + "/usercache").c_str(), 0755);
    policy_.switch_user = true;
    owner_.name = "nobody";
    owner_.user = kOwner;
    owner_.group = kOwner;
  }
  void TearDown() override { fs::remove_all(root_); }

  void MakeAs(uint32_t user, mode_t mode) const {
    ASSERT_EQ(::mkdir(path().c_str(), mode), 0);
    ASSERT_EQ(::chmod(path().c_str(), mode), 0);
    ASSERT_EQ(::chown(path().c_str(), user, user), 0);
  }
  std::string path() const { return root_ + "/" + top().below; }
  Top top() const { return {root_, "usercache/nobody", 0750}; }
  uint32_t owner() const {
    struct stat info {};
    return ::stat(path().c_str(), &info) == 0 ? info.st_uid : 0;
  }

  std::string root_;
  RunAs policy_;
  UnixUser owner_;
};

TEST_F(Tops, AreMadeForTheirOwnerAndFoundAgain) {
  for (int time = 0; time < 2; ++time) {
    const base::Status made = MakeTop(top(), owner_, policy_);
    ASSERT_TRUE(made) << made.error().message;
    EXPECT_EQ(owner(), kOwner);
  }
}

// Two orders of a user's first application make his directory at the same moment.
TEST_F(Tops, ThatAnotherOrderHasNotGivenAwayYetAreNotRefused) {
  MakeAs(0, 0700);
  const base::Status made = MakeTop(top(), owner_, policy_);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(owner(), kOwner);
}

TEST_F(Tops, OfSomebodyElseAreRefused) {
  MakeAs(1, 0700);
  EXPECT_THAT(MakeTop(top(), owner_, policy_).error().message, HasSubstr("belongs to user id 1 instead of nobody"));
}

TEST_F(Tops, OfRootsOwnFromBeforeAreRefused) {
  MakeAs(0, 0755);
  EXPECT_THAT(MakeTop(top(), owner_, policy_).error().message, HasSubstr("belongs to user id 0 instead of nobody"));
}

}  // namespace
}  // namespace fairlead::shell
