#include "wire/spark_shuffle/layout.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "base/bytes.h"

namespace fairlead::wire::spark_shuffle {
namespace {

std::string ReadGzip(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string out;
  char buffer[65536];
  int n = 0;
  while (file != nullptr && (n = gzread(file, buffer, sizeof buffer)) > 0) out.append(buffer, static_cast<size_t>(n));
  if (file != nullptr) gzclose(file);
  return out;
}

// Each line was written by ExecutorDiskUtils.getFilePath of Spark 3.5.5 and 4.3.0.
TEST(Layout, FilePathsAreSparks) {
  const std::string table = ReadGzip(FAIRLEAD_SOURCE_DIR "/tests/oracles/shuffle/file-paths.tsv.gz");
  size_t lines = 0;
  for (size_t at = table.find('\n') + 1; at < table.size();) {
    const size_t end = table.find('\n', at);
    const std::string line = table.substr(at, end - at);
    at = end + 1;
    const size_t a = line.find('\t'), b = line.find('\t', a + 1), c = line.find('\t', b + 1);
    std::vector<std::string> dirs(std::stoul(line.substr(0, a)));
    for (size_t i = 0; i < dirs.size(); ++i) dirs[i] = "/d" + std::to_string(i);
    EXPECT_EQ(FilePath(dirs, std::stoi(line.substr(a + 1, b - a - 1)), line.substr(b + 1, c - b - 1)),
              line.substr(c + 1));
    ++lines;
  }
  EXPECT_EQ(lines, 1000u);
}

TEST(Layout, PathsAreNormalizedAsJavaIoFile) {
  EXPECT_EQ(NormalizedPath("/a//b///c/"), "/a/b/c");
  EXPECT_EQ(NormalizedPath("/"), "/");
  EXPECT_EQ(NormalizedPath("a/../b"), "a/../b");
}

TEST(Layout, BlockIds) {
  const auto single = ParseShuffleBlockId("shuffle_1_4294967303_3");
  ASSERT_TRUE(single);
  EXPECT_EQ(single->map_id, 4294967303);
  EXPECT_EQ(single->start, 3);
  EXPECT_EQ(single->end, 4);
  const auto batch = ParseShuffleBlockId("shuffle_1_2_3_9");
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->end, 9);
  ASSERT_TRUE(ParseRddBlockId("rdd_3_1"));
  for (const char* bad : {"", "shuffle_1_2", "shuffle_1_2_3_4_5", "shuffle_x_2_3", "shuffle_1_2_2147483647", "rdd_1_2",
                          "shuffle_1_2_99999999999"}) {
    EXPECT_FALSE(ParseShuffleBlockId(bad)) << bad;
  }
  for (const char* bad : {"rdd_1", "rdd_../../x_1", "rdd_1_2_3", "rdd_1_"}) EXPECT_FALSE(ParseRddBlockId(bad)) << bad;
}

TEST(Layout, IndexRanges) {
  std::string bytes;
  base::ByteWriter writer(bytes);
  for (const int64_t offset : {0, 5, 5, 305, 316}) writer.I64(offset);
  EXPECT_TRUE(ValidateIndex(bytes, 316).ok());
  EXPECT_FALSE(ValidateIndex(bytes, 315).ok());
  EXPECT_FALSE(ValidateIndex(bytes.substr(8), std::nullopt).ok());
  EXPECT_FALSE(ValidateIndex(bytes.substr(0, 13), std::nullopt).ok());
  const IndexFile index(bytes);
  EXPECT_EQ(index.Range(2, 3)->offset, 5);
  EXPECT_EQ(index.Range(2, 3)->length, 300);
  EXPECT_EQ(index.Range(0, 4)->length, 316);
  EXPECT_EQ(index.Range(3, 1)->length, -300);
  EXPECT_FALSE(index.Range(4, 5));
  EXPECT_FALSE(index.Range(-1, 0));
  EXPECT_FALSE(IndexFile(bytes.substr(0, 13)).Range(0, 1));
}

}  // namespace
}  // namespace fairlead::wire::spark_shuffle
