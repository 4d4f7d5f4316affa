#include "env_posix/own_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <vector>

namespace fairlead::env_posix {
namespace {

TEST(OwnProcess, SaysWhatThisProcessUses) {
  const auto before = ReadOwnProcess();
  ASSERT_TRUE(before);
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  EXPECT_NEAR(before->start_seconds, now, 600);
  EXPECT_GE(before->threads, 1);
  EXPECT_GT(before->open_files_max, before->open_files);
  EXPECT_GT(before->virtual_bytes, before->resident_bytes);

  std::vector<char> memory(64 << 20, 1);
  const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const auto after = ReadOwnProcess();
  ::close(file);
  EXPECT_EQ(after->open_files, before->open_files + 1);
  EXPECT_GT(after->resident_bytes, before->resident_bytes + (32 << 20));
  EXPECT_GT(memory[memory.size() / 2], 0);
  EXPECT_GE(after->cpu_seconds, before->cpu_seconds);
}

}  // namespace
}  // namespace fairlead::env_posix
