#include "shell/spark/rolling_log.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "env_posix/read_all.h"
#include "env_posix/test_directory.h"

namespace fairlead::shell {
namespace {

namespace sw = process::spark_worker;

constexpr base::WallTime kStart{1'800'000'000'123};

class RollingLogTest : public ::testing::Test {
 protected:
  RollingLogTest() { ::setenv("TZ", "UTC", 1); }
  std::string Path(const std::string& name = "stderr") const { return directory_.path() + "/" + name; }
  std::string Text(const std::string& name) const {
    std::ifstream file(Path(name));
    return env_posix::ReadAll(file);
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory_.path()))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }
  env_posix::TestDirectory directory_;
};

TEST_F(RollingLogTest, BySizeBetweenTwoReadsAndOldOnesGo) {
  sw::LogRolling rolling;
  rolling.bytes_max = 10;
  rolling.retained_max = 2;
  RollingLog log(Path(), rolling, kStart);
  log.Append("0123456789", kStart);  // full, not above
  for (const char* text : {"a", "bbbbbbbbbb", "cccccccccc"}) log.Append(text, kStart);
  log.Append("dd", {kStart.ms + 1000});
  EXPECT_EQ(Text("stderr"), "dd");
  EXPECT_EQ(Names(), (std::vector<std::string>{"stderr", "stderr--2027-01-15--08-00-00--0123--1",
                                               "stderr--2027-01-15--08-00-01--0123"}));
  EXPECT_EQ(Text("stderr--2027-01-15--08-00-01--0123"), "cccccccccc");
}

TEST_F(RollingLogTest, ByTimeAtWholeIntervals) {
  sw::LogRolling rolling;
  rolling.interval_ms = 3'600'000;
  rolling.named = true;
  RollingLog log(Path(), rolling, kStart);
  log.Append("one", {kStart.ms + 3'000'000});
  log.Append("two", {kStart.ms + 3'600'000});
  EXPECT_EQ(Text("stderr--2027-01-15--09"), "one");
  EXPECT_EQ(Text("stderr"), "two");
}

// One throw in the supervisor would end what all others run.
TEST_F(RollingLogTest, ALinkInTheWayIsPassedOver) {
  sw::LogRolling rolling;
  rolling.bytes_max = 4;
  const std::string taken = "stderr--2027-01-15--08-00-00--0123";
  std::filesystem::create_symlink(taken, Path(taken));  // leads to itself
  RollingLog log(Path(), rolling, kStart);
  for (const char* text : {"one", "two"}) log.Append(text, kStart);
  EXPECT_EQ(Text(taken + "--0"), "one");
  EXPECT_EQ(Text("stderr"), "two");
}

TEST_F(RollingLogTest, CompressedOnesKeepTheirBytes) {
  sw::LogRolling rolling;
  rolling.bytes_max = 4;
  rolling.compress = true;
  RollingLog log(Path(), rolling, kStart);
  log.Append("first", kStart);
  log.Append("second", kStart);
  const std::vector<std::string> names = Names();
  ASSERT_EQ(names.size(), 3u) << "the first read was above the size already: an empty file was rolled";
  EXPECT_TRUE(names[1].ends_with(".gz")) << names[1];
  EXPECT_EQ(Text("stderr"), "second");
}

}  // namespace
}  // namespace fairlead::shell
