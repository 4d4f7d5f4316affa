#include "shell/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace fairlead::shell {
namespace {

/// Lines of a log that say `sentence`.
int64_t Count(const std::string& path, const std::string& sentence) {
  std::ifstream file(path);
  int64_t count = 0;
  for (std::string line; std::getline(file, line);) count += line.find(sentence) != std::string::npos ? 1 : 0;
  return count;
}

TEST(Log, AStrangerFillsNoDiskWithWarnings) {
  const std::string path = testing::TempDir() + "fl_log_" + std::to_string(::getpid());
  {
    const auto log = MakeLog("test", path, env::LogLevel::kInfo);
    for (int i = 0; i < 5000; ++i) {
      log->Warn("a connection is closed", {{"peer", std::to_string(i)}});
      log->Info("an application is accepted", {{"id", std::to_string(i)}});
    }
    log->Warn("another sentence");
  }
  EXPECT_EQ(Count(path, "a connection is closed"), 100);
  EXPECT_EQ(Count(path, "an application is accepted"), 5000);
  EXPECT_EQ(Count(path, "another sentence"), 1);
  EXPECT_EQ(Count(path, "4900 more lines left out"), 1);
  std::filesystem::remove(path);
}

TEST(Log, LongNamesOfStrangersAreCutAndManyOfThemAreLeftOut) {
  const std::string path = testing::TempDir() + "fl_long_log_" + std::to_string(::getpid());
  {
    const auto log = MakeLog("test", path, env::LogLevel::kInfo);
    const std::string name(20'000, 'x');
    for (int i = 0; i < 5000; ++i)
      log->Info("an application registers", {{"id", std::to_string(i)}, {"name", name}, {"user", name}});
  }
  EXPECT_LT(std::filesystem::file_size(path), size_t{5} << 20);
  EXPECT_GT(Count(path, "(20000 bytes)"), 500);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fairlead::shell
