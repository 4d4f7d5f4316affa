#include "shell/base/logging.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
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
    const auto log = MakeLog("test", {path});
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

TEST(Log, AsMuchIsKeptOfAFileAsIsAskedFor) {
  const std::filesystem::path directory = testing::TempDir() + "fl_kept_" + std::to_string(::getpid());
  std::filesystem::create_directory(directory);
  {
    LogOptions options{directory / "rm.log"};
    options.file_mib = 1;
    options.files_kept = 2;
    const auto log = MakeLog("test", options);
    for (int i = 0; i < 3400; ++i) {  // a hundred of each sentence: none is left out
      log->Info("event " + std::to_string(i / 100), {{"id", std::to_string(i)}, {"text", std::string(1000, 'x')}});
    }
  }
  std::map<std::string, uintmax_t> kept;
  for (const auto& file : std::filesystem::directory_iterator(directory)) {
    kept[file.path().filename()] = file.file_size();
  }
  using testing::Key;
  EXPECT_THAT(kept, testing::UnorderedElementsAre(Key("rm.log"), Key("rm.1.log"), Key("rm.2.log")));
  for (const auto& [name, bytes] : kept) EXPECT_LE(bytes, uintmax_t{1} << 20) << name;
  std::filesystem::remove_all(directory);
}

TEST(Log, AuditLinesAreNotCountedInPlaceOfEachOtherAndFailuresHideNoSuccess) {
  const std::string path = testing::TempDir() + "fl_audit_log_" + std::to_string(::getpid());
  {
    const auto log = MakeLog("test", {path});
    const env::Audit audit = AuditIn(*log);
    for (int i = 0; i < 3; ++i) audit.Success("Auth successful for alice");
    for (int i = 0; i < 100'000; ++i) audit.Failure("Auth failed for mallory " + std::string(100, 'x'));
    audit.Success("", {{"USER", "al\tice\nRESULT=SUCCESS"}, {"RESULT", "SUCCESS"}});
    audit.Success("", {{"USER", "al "}, {"RESULT", "SUCCESS"}});
    log->Warn("another sentence");
  }
  EXPECT_EQ(Count(path, "I test audit: Auth successful for alice"), 3);
  EXPECT_GT(Count(path, "W test audit: Auth failed for mallory"), 1000);
  EXPECT_LT(std::filesystem::file_size(path), size_t{5} << 20);
  EXPECT_EQ(Count(path, "audit: USER=al\\tice\\nRESULT=SUCCESS\tRESULT=SUCCESS"), 1);
  EXPECT_EQ(Count(path, "audit: USER=al \tRESULT=SUCCESS"), 1) << "a blank at a value's end stands for no tab";
  EXPECT_EQ(Count(path, "another sentence"), 1);
  std::filesystem::remove(path);
}

TEST(Log, AFloodOfLoginsHidesNoOperation) {
  const std::string path = testing::TempDir() + "fl_operations_log_" + std::to_string(::getpid());
  {
    const auto log = MakeLog("test", {path});
    const env::Audit audit = AuditIn(*log);
    for (int i = 0; i < 100'000; ++i) {
      audit.Success("Auth successful for alice " + std::string(100, 'x'));
      audit.Failure("Auth failed for mallory " + std::string(100, 'x'));
    }
    for (int i = 0; i < 1000; ++i) {
      audit.Success("", {{"USER", "alice"}, {"RESULT", "SUCCESS"}});
      audit.Failure("", {{"USER", "bob"}, {"RESULT", "FAILURE"}});
    }
  }
  EXPECT_EQ(Count(path, "I test audit: USER=alice\tRESULT=SUCCESS"), 1000);
  EXPECT_EQ(Count(path, "W test audit: USER=bob\tRESULT=FAILURE"), 1000);
  std::filesystem::remove(path);
}

TEST(Log, LongNamesOfStrangersAreCutAndManyOfThemAreLeftOut) {
  const std::string path = testing::TempDir() + "fl_long_log_" + std::to_string(::getpid());
  {
    const auto log = MakeLog("test", {path});
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
