#include "shell/nm/gathered_logs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/log_files.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Keeps what it reads, without logs of the name "skipped".
class KeepingReader final : public LogReader {
 public:
  bool Wants(const GatheredLog& log) override {
    if (log.name == "skipped") return false;
    text_ = &logs[log.container + " " + log.name];
    return true;
  }
  void Read(std::string_view bytes) override { *text_ += bytes; }
  void Ended() override { ++ended; }

  std::map<std::string, std::string> logs;
  int ended = 0;

 private:
  std::string* text_ = nullptr;
};

class GatheredLogsTest : public testing::TestWithParam<std::pair<LogFileFormat, bool>> {
 protected:
  GatheredLogsTest() {
    char name[] = "/tmp/fl_gathered_XXXXXX";
    root_ = ::mkdtemp(name);
    for (const int64_t container : {1, 2}) {
      const std::string directory = process::nm::LogDir(root_, {{{17, 3}, 1}, container});
      fs::create_directories(directory);
      for (const auto& [file, text] : Texts()) std::ofstream(directory + "/" + file) << text;
    }
  }
  ~GatheredLogsTest() override { fs::remove_all(root_); }

  static std::map<std::string, std::string> Texts() {
    std::string large;
    for (int i = 0; large.size() < (3 << 20); ++i) large += std::to_string(i) + "\n";
    return {{"stdout", "text\n"}, {"empty", ""}, {"large", large}, {"skipped", "a"}, {"z", "last"}};
  }
  std::string Write() const {
    process::nm::AggregationPlan plan;
    plan.app = {17, 3};
    plan.user = "ann";
    plan.view_acl = "bob";
    plan.node_id = "h:1";
    plan.log_dirs = {root_};
    LogAggregationOptions options;
    std::tie(options.format, options.compress) = GetParam();
    const Fd file(::memfd_create("logs", MFD_CLOEXEC));
    EXPECT_TRUE(WriteLogFile(file.get(), plan, FindLogs(plan, "", {}), options));
    return *ReadRange(file.get(), 0, ::lseek(file.get(), 0, SEEK_END));
  }
  static base::Status ReadAll(std::string_view bytes, KeepingReader& reader) {
    const Fd file(::memfd_create("logs", MFD_CLOEXEC));
    EXPECT_TRUE(WriteAll(file.get(), bytes));
    return ReadGatheredLogs(file.get(), reader);
  }

  std::string root_;
};

TEST_P(GatheredLogsTest, WhatWasWrittenIsRead) {
  KeepingReader reader;
  const base::Status read = ReadAll(Write(), reader);
  EXPECT_TRUE(read.ok()) << read.error().message;
  std::map<std::string, std::string> expected;
  for (const char* container : {"container_17_0003_01_000001", "container_17_0003_01_000002"}) {
    for (const auto& [file, text] : Texts()) {
      if (file != "skipped") expected[std::string(container) + " " + file] = text;
    }
  }
  EXPECT_TRUE(reader.logs == expected) << reader.logs.size();
  EXPECT_EQ(reader.ended, 8);
}

TEST_P(GatheredLogsTest, ABrokenFileIsSaidToBe) {
  for (const int64_t container : {1, 2}) fs::remove(process::nm::LogDir(root_, {{{17, 3}, 1}, container}) + "/large");
  const std::string whole = Write();
  for (const size_t length : {size_t{0}, size_t{20}, whole.size() / 2, whole.size() - 1}) {
    KeepingReader reader;
    EXPECT_THAT(ReadAll(std::string_view(whole).substr(0, length), reader).error().message, HasSubstr("is broken"))
        << length;
  }
  // A byte that is not what it was, one after the other.
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string other = whole;
    other[at] = static_cast<char>(~other[at]);
    KeepingReader reader;
    (void)ReadAll(other, reader);
    EXPECT_LE(reader.logs.size(), 20U) << at;
  }
}

/// Two containers of ann's, by the file controllers of Hadoop 3.4.3.
TEST(GatheredLogs, FilesOfHadoopsOwnAreRead) {
  for (const char* name : {"tfile", "tfile-gz", "ifile", "ifile-gz"}) {
    std::ifstream in(std::string(FAIRLEAD_SOURCE_DIR "/tests/corpus/shell_nm_gathered_logs_fuzz/") + name,
                     std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), {});
    const Fd file(::memfd_create("logs", MFD_CLOEXEC));
    ASSERT_TRUE(WriteAll(file.get(), bytes));
    KeepingReader reader;
    const base::Status read = ReadGatheredLogs(file.get(), reader);
    EXPECT_TRUE(read.ok()) << name << ": " << read.error().message;
    EXPECT_THAT(reader.logs,
                testing::ElementsAre(
                    testing::Pair("container_1700000000000_0007_01_000001 stdout", "text of the master\n"),
                    testing::Pair("container_1700000000000_0007_01_000002 syslog.1", std::string(100, 'k') + "\n")))
        << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, GatheredLogsTest,
                         testing::Values(std::pair{LogFileFormat::kTFile, false},
                                         std::pair{LogFileFormat::kTFile, true},
                                         std::pair{LogFileFormat::kIFile, false},
                                         std::pair{LogFileFormat::kIFile, true}));

}  // namespace
}  // namespace fairlead::shell
