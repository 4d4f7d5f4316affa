#include "shell/rm/past_teller.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "env_posix/test_directory.h"

namespace fairlead::shell {
namespace {

class PastTeller : public testing::Test {
 protected:
  /// What the process does instead of reading a journal.
  base::Result<std::string> Tell(const std::string& commands, const std::function<bool()>& given_up) {
    const std::string program = directory_ / "program";
    std::ofstream(program) << "#!/bin/sh\n" << commands << "\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    return TellPast("journal", {17}, "nodes", given_up, program);
  }
  env_posix::TestDirectory directory_;
};

TEST_F(PastTeller, GivesWhatTheProcessSays) {
  const auto told = Tell("echo \"$@\"", [] { return false; });
  ASSERT_TRUE(told.ok()) << told.error().message;
  EXPECT_EQ(*told, "replay journal --at 17 --document=nodes\n");
  const auto missing = Tell("echo 'is not kept' >&2; exit 4", [] { return false; });
  EXPECT_EQ(missing.error().code, ENOENT);
  EXPECT_EQ(missing.error().message, "is not kept");
}

TEST_F(PastTeller, TheProcessEndsWhenItIsGivenUp) {
  int looks = 0;
  const auto told =
      Tell("mkfifo " + (directory_ / "never") + "; read line < " + (directory_ / "never"), [&] { return ++looks > 2; });
  ASSERT_FALSE(told.ok());
  EXPECT_EQ(looks, 3);
  EXPECT_NE(told.error().message.find("longer than a question may"), std::string::npos) << told.error().message;
}

}  // namespace
}  // namespace fairlead::shell
