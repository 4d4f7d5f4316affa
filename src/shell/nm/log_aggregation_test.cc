#include "shell/nm/log_aggregation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "process/nm/layout.h"
#include "shell/nm/tfile.h"

namespace fairlead::shell {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string VLong(int64_t value) {
  std::string out;
  TFileWriter::PutVLong(out, value);
  return out;
}

TEST(TFile, NumbersAsHadoopWritesThem) {
  // From Utils.writeVLong of Hadoop 3.3.6.
  EXPECT_EQ(VLong(0), std::string("\0", 1));
  EXPECT_EQ(VLong(127), "\x7f");
  EXPECT_EQ(VLong(-32), "\xe0");
  EXPECT_EQ(VLong(128), "\xcc\x80");
  EXPECT_EQ(VLong(-33), "\xcb\xdf");
  EXPECT_EQ(VLong(50851), "\xa8\xc6\xa3");  // seen in a file that Hadoop wrote
  EXPECT_EQ(VLong(-1048576), std::string("\x98\x00\x00", 3));
  EXPECT_EQ(VLong(0x7fffffff), std::string("\x83\x7f\xff\xff\xff", 5));
  EXPECT_EQ(VLong(0x123456789aLL), std::string("\x84\x12\x34\x56\x78\x9a", 6));
}

/// The framing that was seen in a log aggregated by Hadoop's own node manager, around the shortest content.
TEST(TFile, FramingOfARealFile) {
  std::string bytes;
  TFileWriter writer([&](std::string_view more) {
    bytes += more;
    return base::Status();
  });
  std::string key;
  TFileWriter::PutUtf(key, "VERSION");
  ASSERT_TRUE(writer.Begin());
  ASSERT_TRUE(writer.Append(key, std::string("\0\0\0\1", 4)));
  ASSERT_TRUE(writer.Finish());
  const std::string magic("\xd1\x11\xd3\x68\x91\xb5\xd7\xb6\x39\xdf\x41\x40\x92\xba\xe1\x50", 16);
  const std::string block = std::string("\x09\0\x07VERSION\x04\0\0\0\x01", 15);
  const std::string meta("\0\x01\0\0\x01\0", 6);
  const std::string index = std::string("\x0a\x09\0\x07VERSION", 11) + std::string("\x0b\x09\0\x07VERSION\x01", 12);
  const std::string data_index = std::string("\x04none\x01\x10\x0f\x0f", 9);
  const std::string directory = std::string("\x03\x11") + "data:BCFile.index\x04none\x3c\x09\x09" +
                                "\x10"
                                "data:TFile.index\x04none\x25\x17\x17" +
                                "\x0f"
                                "data:TFile.meta\x04none\x1f\x06\x06";
  EXPECT_EQ(bytes, magic + block + meta + index + data_index + directory +
                       std::string("\0\0\0\0\0\0\0\x45\0\x01\0\0", 12) + magic);
}

TEST(TFile, LongValuesGoInChunksAndBlocks) {
  std::string bytes;
  TFileWriter writer([&](std::string_view more) {
    bytes += more;
    return base::Status();
  });
  ASSERT_TRUE(writer.Begin());
  ASSERT_TRUE(writer.Append("k", std::string(TFileWriter::kChunkBytes + 5, 'x')));
  ASSERT_TRUE(writer.Append("l", "short"));
  ASSERT_TRUE(writer.Finish());
  const std::string first = std::string("\x01k") + VLong(-static_cast<int64_t>(TFileWriter::kChunkBytes));
  EXPECT_EQ(bytes.substr(16, first.size()), first);
  EXPECT_EQ(bytes.substr(16 + first.size() + TFileWriter::kChunkBytes, 6), "\x05xxxxx");
  EXPECT_THAT(bytes, HasSubstr(std::string("\x04none\x02", 6))) << "the long value ends its block";
}

TEST(TFile, CompressedBlocksAreZlibStreams) {
  std::string bytes;
  TFileWriter writer(
      [&](std::string_view more) {
        bytes += more;
        return base::Status();
      },
      true);
  ASSERT_TRUE(writer.Begin());
  ASSERT_TRUE(writer.Append("k", std::string(1000, 'x')));
  ASSERT_TRUE(writer.Finish());
  EXPECT_EQ(bytes.substr(16, 1), "\x78") << "deflate with a window of 32 KiB";
  EXPECT_THAT(bytes, HasSubstr(std::string("\x02gz\x01", 4)));
  EXPECT_LT(bytes.size(), 400U);
}

/// An application's logs on a node, and the place where they are gathered.
class LogAggregationTest : public testing::Test {
 protected:
  LogAggregationTest() {
    char name[] = "/tmp/fl_logs_XXXXXX";
    root_ = ::mkdtemp(name);
    fs::create_directories(root_ + "/remote");
    options_.root = root_ + "/remote";
    plan_.app = {17, 3};
    plan_.user = "ann";
    plan_.node_id = "h:1";
    plan_.log_dirs = {root_ + "/a", root_ + "/b"};
  }
  ~LogAggregationTest() override { fs::remove_all(root_); }

  static model::ContainerId Id(int64_t number) { return {{{17, 3}, 1}, number}; }
  std::string LogDirOf(const std::string& dir, int64_t container) const {
    return process::nm::LogDir(root_ + "/" + dir, Id(container));
  }
  void Log(const std::string& dir, int64_t container, const std::string& file) const {
    fs::create_directories(LogDirOf(dir, container));
    std::ofstream(LogDirOf(dir, container) + "/" + file) << "text of " << file;
  }
  /// As the node agent asks while the application runs.
  void Roll(int64_t now) {
    plan_.rolls = true;
    plan_.is_over = false;
    plan_.rolled = {"\\.[0-9]$", "secret"};
    plan_.now = {now};
  }
  std::string Aggregate() const {
    const base::Result<std::string> note = AggregateLogs(plan_, options_);
    return note ? *note : note.error().message;
  }
  /// The files that were gathered, each with the names of the logs in it.
  std::map<std::string, std::set<std::string>> Gathered() const {
    std::map<std::string, std::set<std::string>> out;
    for (const auto& entry : fs::recursive_directory_iterator(root_ + "/remote")) {
      if (!entry.is_regular_file()) continue;
      std::ifstream in(entry.path(), std::ios::binary);
      const std::string bytes((std::istreambuf_iterator<char>(in)), {});
      std::set<std::string>& logs = out[entry.path().filename()];
      for (const char* log : {"stdout", "stderr", "directory.info", "syslog.1", "syslog.2", "secret.1"}) {
        if (bytes.find("text of " + std::string(log)) != std::string::npos) logs.insert(log);
      }
    }
    return out;
  }
  /// Below the application's log directories.
  std::set<std::string> Here() const {
    std::set<std::string> out;
    for (const std::string& logs : plan_.log_dirs) {
      const std::string app = process::nm::AppLogDir(logs, plan_.app);
      if (!fs::exists(app)) continue;
      for (const auto& entry : fs::recursive_directory_iterator(app)) {
        if (entry.is_regular_file()) out.insert(fs::relative(entry.path(), app));
      }
    }
    return out;
  }

  using Files = std::map<std::string, std::set<std::string>>;
  std::string root_;
  process::nm::AggregationPlan plan_;
  LogAggregationOptions options_;
};

const std::string kSecond = "container_17_0003_01_000002";

TEST_F(LogAggregationTest, WritesWhereYarnLogsLooks) {
  Log("a", 2, "stdout");
  Log("b", 2, "stderr");
  Log("a", 2, "directory.info");
  plan_.at_end.exclude = "\\.info$";
  fs::remove(root_ + "/remote");
  EXPECT_THAT(Aggregate(), HasSubstr("cannot open"));
  fs::create_directories(root_ + "/remote");
  EXPECT_EQ(Aggregate(), "");
  std::ifstream in(root_ + "/remote/ann/bucket-logs-tfile/0003/application_17_0003/h_1", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(bytes, HasSubstr(std::string("\0\x06stdout\0\x02", 10) + "14text of stdout"));
  EXPECT_THAT(bytes, HasSubstr("text of stderr"));
  EXPECT_THAT(bytes, Not(HasSubstr("directory.info")));
  plan_.user = "../x";
  EXPECT_NE(Aggregate(), "");
  plan_.user = "ann";
  plan_.app = {17, 4};
  EXPECT_EQ(Aggregate(), "") << "no logs, no file";
}

TEST_F(LogAggregationTest, AnIFileHasLogsOfOneNameAfterTheOther) {
  Log("a", 2, "stdout");
  Log("a", 3, "stdout");
  options_.format = LogFileFormat::kIFile;
  options_.suffix = "logs-ifile";
  EXPECT_EQ(Aggregate(), "");
  std::ifstream in(root_ + "/remote/ann/bucket-logs-ifile/0003/application_17_0003/h_1", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_EQ(bytes.substr(32, 28), "text of stdouttext of stdout");
  EXPECT_EQ(bytes.substr(0, 32), bytes.substr(bytes.size() - 32)) << "the application's mark begins and ends the file";
}

TEST_F(LogAggregationTest, ThePolicyLeavesContainersOut) {
  Log("a", 2, "stdout");
  Log("a", 3, "stderr");
  plan_.left_out = {Id(2)};
  EXPECT_EQ(Aggregate(), "");
  EXPECT_EQ(Gathered(), (Files{{"h_1", {"stderr"}}}));
}

TEST_F(LogAggregationTest, ARollTakesOfRunningContainersWhatMayGoAndOfEndedOnesAll) {
  for (const char* file : {"stdout", "syslog.1", "secret.1"}) Log("a", 2, file);
  Log("b", 3, "stderr");
  Roll(5);
  plan_.live = {Id(2)};
  EXPECT_EQ(Aggregate(), "");
  EXPECT_EQ(Gathered(), (Files{{"h_1_5", {"stderr", "syslog.1"}}}));
  EXPECT_EQ(Here(), (std::set<std::string>{kSecond + "/secret.1", kSecond + "/stdout"}))
      << "what has left is gone here";
  Log("a", 2, "syslog.1");  // the program begins a file of this name again
  Log("a", 2, "syslog.2");
  plan_.now = {6};
  EXPECT_EQ(Aggregate(), "");
  plan_.now = {7};
  EXPECT_EQ(Aggregate(), "") << "nothing to take, no file";
  plan_.is_over = true;
  plan_.now = {8};
  EXPECT_EQ(Aggregate(), "");
  EXPECT_EQ(Gathered(), (Files{{"h_1_5", {"stderr", "syslog.1"}},
                               {"h_1_6", {"syslog.1", "syslog.2"}},
                               {"h_1_8", {"secret.1", "stdout"}}}));
}

TEST_F(LogAggregationTest, ARollThatWasCutOffIsNeitherLostNorTakenTwice) {
  Log("a", 2, "syslog.1");
  Log("b", 2, "syslog.2");
  Roll(5);
  plan_.live = {Id(2)};
  fs::rename(options_.root, root_ + "/away");
  EXPECT_NE(Aggregate(), "") << "the cluster's place is not there: the files wait between";
  EXPECT_EQ(Here(), (std::set<std::string>{"rolled-5/" + kSecond + "/syslog.1", "rolled-5/" + kSecond + "/syslog.2"}));
  fs::rename(root_ + "/away", options_.root);
  const std::string copy = root_ + "/copy";
  fs::copy(process::nm::AppLogDir(root_ + "/a", plan_.app), copy, fs::copy_options::recursive);
  plan_.now = {6};
  EXPECT_EQ(Aggregate(), "");
  const Files once{{"h_1_5", {"syslog.1", "syslog.2"}}};
  EXPECT_EQ(Gathered(), once) << "under the time of their own roll";
  // As a crash leaves it that came between the file's arrival and the end of the files here.
  fs::remove_all(process::nm::AppLogDir(root_ + "/a", plan_.app));
  fs::rename(copy, process::nm::AppLogDir(root_ + "/a", plan_.app));
  plan_.now = {7};
  EXPECT_EQ(Aggregate(), "");
  EXPECT_EQ(Gathered(), once);
  EXPECT_EQ(Here(), std::set<std::string>{});
}

TEST_F(LogAggregationTest, WhatCannotLeaveAtTheEndGoesBackToItsPlace) {
  Log("a", 2, "stdout");
  Roll(5);
  plan_.is_over = true;
  fs::remove(options_.root);
  EXPECT_NE(Aggregate(), "");
  EXPECT_EQ(Here(), (std::set<std::string>{kSecond + "/stdout"}));
}

TEST_F(LogAggregationTest, ANodeKeepsItsNewestTFiles) {
  options_.files_max = 2;
  for (const int64_t now : {5, 6, 7, 8}) {
    Log("a", 2, "syslog.1");
    Roll(now);
    EXPECT_EQ(Aggregate(), "");
  }
  EXPECT_EQ(Gathered(), (Files{{"h_1_7", {"syslog.1"}}, {"h_1_8", {"syslog.1"}}}));
}

TEST_F(LogAggregationTest, APatternThatCannotBeReadDecidesNothingAtTheEndAndIsNamed) {
  Log("a", 2, "stdout");
  Log("a", 2, "stderr");
  plan_.at_end = {"(?!x)", "stderr"};
  const base::Result<std::string> note = AggregateLogs(plan_, options_);
  ASSERT_TRUE(note.ok()) << note.error().message;
  EXPECT_THAT(*note, testing::MatchesRegex(
                         "the pattern \\(\\?!x\\) of the log aggregation context: .* \\(it decides nothing\\)"));
  EXPECT_EQ(Gathered(), (Files{{"h_1", {"stdout"}}}));
}

TEST_F(LogAggregationTest, APatternThatCannotBeReadTakesNoFileOfARunningContainer) {
  Log("a", 2, "stdout");
  Roll(5);
  plan_.live = {Id(2)};
  plan_.rolled = {"(?!x)", ""};
  EXPECT_THAT(Aggregate(), HasSubstr("the pattern (?!x) of the log aggregation context"));
  EXPECT_EQ(Here(), (std::set<std::string>{kSecond + "/stdout"}));
}

}  // namespace
}  // namespace fairlead::shell
