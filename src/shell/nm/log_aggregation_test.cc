#include "shell/nm/log_aggregation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

TEST(LogAggregation, WritesWhereYarnLogsLooks) {
  char name[] = "/tmp/fl_logs_XXXXXX";
  const std::string root = ::mkdtemp(name);
  process::nm::AggregationPlan plan;
  plan.app = {17, 3};
  plan.user = "ann";
  plan.node = "h_1";
  plan.exclude = "\\.info$";
  plan.log_dirs = {root + "/a", root + "/b"};
  const model::ContainerId id{{plan.app, 1}, 2};
  for (const auto& [dir, file] : {std::pair{"a", "stdout"}, {"b", "stderr"}, {"a", "directory.info"}}) {
    fs::create_directories(process::nm::LogDir(root + "/" + dir, id));
    std::ofstream(process::nm::LogDir(root + "/" + dir, id) + "/" + file) << "text of " << file;
  }
  EXPECT_THAT(AggregateLogs(plan, {root + "/remote", "logs"}), HasSubstr("cannot open"));
  fs::create_directories(root + "/remote");
  EXPECT_EQ(AggregateLogs(plan, {root + "/remote", "logs"}), "");
  std::ifstream in(root + "/remote/ann/bucket-logs-tfile/0003/application_17_0003/h_1", std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), {});
  EXPECT_THAT(bytes, HasSubstr(std::string("\0\x06stdout\0\x02", 10) + "14text of stdout"));
  EXPECT_THAT(bytes, HasSubstr("text of stderr"));
  EXPECT_THAT(bytes, Not(HasSubstr("directory.info")));
  plan.user = "../x";
  EXPECT_NE(AggregateLogs(plan, {root + "/remote", "logs"}), "");
  plan.user = "ann";
  plan.app = {17, 4};
  EXPECT_EQ(AggregateLogs(plan, {root + "/remote", "logs"}), "") << "no logs, no file";
  fs::remove_all(root);
}

}  // namespace
}  // namespace fairlead::shell
