#include <arrow/io/file.h>
#include <gtest/gtest.h>
#include <parquet/api/reader.h>
#include <parquet/api/writer.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>

#include "engine/api/local_for_test.h"
#include "engine/history/history.h"
#include "engine/parquet/reader.h"
#include "engine/run/reading_task_for_test.h"
#include "fairlead/engine.h"

// Parquet as a program sees it, in one process. tests/parquet has files of other programs'.

namespace fairlead::engine {

namespace {

namespace fs = std::filesystem;

struct Row {
  int64_t id = 0;
  std::string name;
  std::optional<double> delay;
  bool late = false;
  std::vector<int32_t> stops;
  std::optional<std::vector<std::optional<std::string>>> notes;
  FL_FIELDS(id, name, delay, late, stops, notes)
  bool operator==(const Row&) const = default;
};

Row RowOf(int64_t i) {
  Row row{i, "name " + std::to_string(i % 100), {}, i % 2 == 0, {}, {}};
  if (i % 5 != 0) row.delay = static_cast<double>(i) / 4;
  for (int64_t stop = 0; stop < i % 4; ++stop) row.stops.push_back(static_cast<int32_t>(i - stop));
  if (i % 3 != 0) row.notes.emplace();
  if (i % 3 == 2) row.notes->assign({"one", std::nullopt, std::to_string(i)});
  return row;
}

struct IdOnly {
  int64_t id = 0;
  FL_FIELDS(id)
};
struct Small {
  int8_t i8 = 0;
  int16_t i16 = 0;
  int32_t i32 = 0;
  int64_t i64 = 0;
  uint8_t u8 = 0;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  float f = 0;
  double d = 0;
  FL_FIELDS(i8, i16, i32, i64, u8, u16, u32, u64, f, d)
  bool operator==(const Small&) const = default;
};

template <class T>
std::vector<T> ValuesOf(const std::vector<Owned<T>>& kept) {
  std::vector<T> values;
  for (const Owned<T>& one : kept) values.push_back(*one);
  return values;
}

class ParquetTest : public LocalTest {
 protected:
  std::string Path(const std::string& name) const { return (directory_ / name).string(); }
  std::string FirstPart(const std::string& name) const { return Path(name + "/part-00000.parquet"); }

  /// Rows 0 to `count` - 1 in a directory of `parts` files.
  std::string Save(Context& context, const std::string& name, int64_t count, int32_t parts,
                   ParquetOptions options = {}) {
    const int64_t saved = context.Range(0, count, Partitions(parts))
                              .Map([](int64_t i) { return RowOf(i); })
                              .SaveParquet(Path(name), {}, options);
    EXPECT_EQ(saved, count);
    return Path(name);
  }
  /// What a job fails with.
  template <class Run>
  std::string ErrorOf(Run run) {
    try {
      run();
    } catch (const std::exception& error) {
      return error.what();
    }
    return "no error";
  }
  /// Reads all rows of a file by itself; bytes that were read.
  template <class T>
  int64_t BytesRead(const std::string& path, const std::vector<std::string>& names) {
    ReadingTask task;
    const uint64_t size = fs::file_size(path);
    const auto fields = ParquetFieldsOf<T>(names);
    const auto reader = OpenParquetReader(task, {path, 0, size, size, false}, fields);
    for (ParquetRows rows; reader->Next(rows);) continue;
    return task.metrics.bytes_read;
  }
};

std::string Bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST_F(ParquetTest, WhatIsSavedIsReadAgain) {
  Context context = Start();
  for (const ParquetCodec codec : {ParquetCodec::kNone, ParquetCodec::kSnappy, ParquetCodec::kZstd}) {
    const std::string name = "out" + std::to_string(static_cast<int>(codec));
    Save(context, name, 20000, 3, {.codec = codec});
    std::vector<Row> rows = ValuesOf(context.Parquet<Row>(Path(name)).Collect());
    ASSERT_EQ(rows.size(), 20000u);
    std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.id < b.id; });
    for (int64_t i = 0; i < 20000; ++i) ASSERT_EQ(rows[static_cast<size_t>(i)], RowOf(i)) << i;
  }
}

TEST_F(ParquetTest, EachNumberKeepsItsTypeAndValue) {
  Context context = Start();
  const std::vector<Small> wanted = {
      {-128, -32768, INT32_MIN, INT64_MIN, 0, 0, 0, 0, -1.5f, -1e300},
      {127, 32767, INT32_MAX, INT64_MAX, 255, 65535, UINT32_MAX, UINT64_MAX, 1.5f, 1e300}};
  context.Parallelize(wanted, Partitions(1)).SaveParquet(Path("out"));
  EXPECT_EQ(ValuesOf(context.Parquet<Small>(Path("out")).Collect()), wanted);
  // Wider fields take them as well.
  struct Wide {
    int64_t i8 = 0;
    int64_t u32 = 0;
    double i32 = 0;
    double f = 0;
    uint64_t u8 = 0;
    bool operator==(const Wide&) const = default;
  };
  const auto wide = context.Parquet<Wide>(Path("out"), {"i8", "u32", "i32", "f", "u8"}).Collect();
  EXPECT_EQ(wide, (std::vector<Wide>{{-128, 0, INT32_MIN, -1.5, 0}, {127, UINT32_MAX, INT32_MAX, 1.5, 255}}));
}

TEST_F(ParquetTest, OtherColumnsAreNotRead) {
  Context context = Start();
  Save(context, "out", 50000, 1, {.codec = ParquetCodec::kNone});
  const std::string part = FirstPart("out");
  const int64_t one = BytesRead<IdOnly>(part, {"id"});
  const int64_t all = BytesRead<Row>(part, ColumnNames<Row>());
  EXPECT_GT(one, 10000);
  EXPECT_LT(one, all / 2);
  EXPECT_GE(all, static_cast<int64_t>(fs::file_size(part)) * 9 / 10);
}

TEST_F(ParquetTest, RowGroupsAreSplits) {
  Context context = Start(64 << 20, 4);
  Save(context, "out", 400000, 1, {.codec = ParquetCodec::kNone, .row_group_bytes = 512 << 10});
  const int groups = parquet::ParquetFileReader::OpenFile(FirstPart("out"))->metadata()->num_row_groups();
  EXPECT_GE(groups, 8);
  // Each row in one partition, whatever their number.
  for (const int32_t pieces : {1, 3, 8}) {
    const Dataset<IdOnly> ids = context.Parquet<IdOnly>(FirstPart("out"), {}, Partitions(pieces));
    EXPECT_GE(ids.partitions(), pieces);
    EXPECT_EQ(ids.Count(), 400000);
    EXPECT_EQ(ids.Map([](const IdOnly& row) { return row.id; }).Reduce([](int64_t a, int64_t b) { return a + b; }),
              int64_t{400000} * 399999 / 2);
  }
}

TEST_F(ParquetTest, DirectoriesPatternsAndSortsOfWhatWasRead) {
  Context context = Start();
  Save(context, "a", 30000, 2);
  Save(context, "b", 1000, 1);
  EXPECT_EQ(context.Parquet<IdOnly>(Path("[ab]")).Count(), 31000);
  EXPECT_EQ(context.Parquet<IdOnly>(Path("a/part-*")).Count(), 30000);
  // A sort looks at a sample first.
  const auto sorted = context.Parquet<IdOnly>(Path("a"))
                          .Map([](const IdOnly& row) { return row.id; })
                          .SortBy([](int64_t id) { return id; }, SortDirection::kDescending, Partitions(4))
                          .Collect();
  ASSERT_EQ(sorted.size(), 30000u);
  for (int64_t i = 0; i < 30000; ++i) ASSERT_EQ(sorted[static_cast<size_t>(i)], 29999 - i);
}

TEST_F(ParquetTest, ASampleIsSpreadOverARowGroup) {
  Context context = Start();
  Save(context, "out", 80000, 1);
  ReadingTask task;
  task.sample_records = 800;
  const std::string part = FirstPart("out");
  const auto fields = ParquetFieldsOf<Row>(ColumnNames<Row>());
  const auto reader = OpenParquetReader(task, {part, 0, fs::file_size(part), fs::file_size(part), false}, fields);
  std::vector<int64_t> eighths(8);
  int64_t count = 0;
  for (ParquetRows rows; reader->Next(rows);) {
    for (size_t i = 0; i < rows.count; ++i) {
      Row row;
      size_t column = 0;
      VisitColumns(row, [&](auto& field) { parquet_internal::TakeField(rows.columns[column++], i, field); });
      ASSERT_EQ(row, RowOf(row.id));  // columns with lists and without skip by the same rows
      ++eighths[static_cast<size_t>(row.id / 10000)];
      ++count;
    }
  }
  EXPECT_EQ(eighths, (std::vector<int64_t>(8, 100)));
}

TEST_F(ParquetTest, NamesOfColumnsAreChecked) {
  Context context = Start();
  Save(context, "out", 10, 1);
  const auto error = ErrorOf([&] { context.Parquet<IdOnly>(Path("out"), {"none"}); });
  EXPECT_NE(error.find("part-00000.parquet as Parquet: there is no column none; there are: id, name, delay"),
            std::string::npos)
      << error;
  EXPECT_EQ(ErrorOf([&] {
              context.Parquet<IdOnly>(Path("out"), {"id", "name"});
            }),
            "Parquet " + Path("out") + ": 2 columns are named for a record of 1 fields");
  const auto pairs = context.Parallelize(std::vector<std::pair<int64_t, int64_t>>{{1, 2}});
  EXPECT_EQ(ErrorOf([&] { pairs.SaveParquet(Path("p")); }),
            "SaveParquet: 0 columns are named for a record of 2 fields");
  EXPECT_EQ(ErrorOf([&] { pairs.SaveParquet(Path("p"), {"a", "a"}); }), "SaveParquet: two columns are named a");
  EXPECT_EQ(ErrorOf([&] {
              pairs.SaveParquet(Path("p"), {"a", "b.c"});
            }),
            "SaveParquet: structs are not written, so a column cannot be named b.c");
  EXPECT_EQ(ErrorOf([&] {
              pairs.SaveParquet(Path("p"), {"a", "b"}, {.timestamps = {"c"}});
            }),
            "SaveParquet: there is no column c for timestamps, which are int64_t");
  EXPECT_EQ(ErrorOf([&] {
              pairs.SaveParquet(Path("p"), {"a", "b"}, {.dates = {"a"}});
            }),
            "SaveParquet: column a cannot hold dates, which are int32_t");
  EXPECT_EQ(pairs.SaveParquet(Path("p"), {"a", "b"}), 1);
}

TEST_F(ParquetTest, TypesThatDoNotFitFailTheJobByName) {
  Context context = Start();
  Save(context, "out", 10, 1);
  struct Narrow {
    int32_t id = 0;
  };
  struct TextId {
    std::string id;
  };
  struct OneStop {
    int32_t stops = 0;
  };
  struct Ids {
    std::vector<int64_t> id;
  };
  struct Delay {
    double delay = 0;
  };
  const auto fails = [&]<class T>(const std::string& column, const std::string& wanted, T) {
    const std::string error = ErrorOf([&] { context.Parquet<T>(Path("out"), {column}).Count(); });
    EXPECT_NE(error.find(wanted), std::string::npos) << error;
    EXPECT_NE(error.find("part-00000.parquet"), std::string::npos) << error;
  };
  fails("id", "column id is INT64, which does not fit a field of type int32_t", Narrow());
  fails("id", "column id is INT64, which does not fit a field of type std::string", TextId());
  fails("stops", "column stops is a list of INT32, which does not fit a field of type int32_t", OneStop());
  fails("id", "column id is INT64, which does not fit a field of type std::vector<int64_t>", Ids());
  fails("delay", "column delay has a null, which a field of type double does not take; std::optional does", Delay());
}

TEST_F(ParquetTest, LittleMemoryIsEnoughForLongRowGroups) {
  Context context = Start(256 << 20, 1);
  // One row group of 24 MB.
  const std::string path = Path("out");
  context.Range(0, 300000, Partitions(1))
      .Map([](int64_t i) { return std::pair(i, std::string(72, static_cast<char>('a' + i % 26)) + std::to_string(i)); })
      .SaveParquet(path, {"id", "text"}, {.codec = ParquetCodec::kNone});
  ASSERT_EQ(parquet::ParquetFileReader::OpenFile(FirstPart("out"))->metadata()->num_row_groups(), 1);
  ASSERT_GT(fs::file_size(FirstPart("out")), 20u << 20);
  struct Text {
    int64_t id = 0;
    std::string_view text;
  };
  ReadingTask task;
  task.memory_bytes = 8 << 20;  // Arrow may take no more
  const uint64_t size = fs::file_size(FirstPart("out"));
  const auto fields = ParquetFieldsOf<Text>({"id", "text"});
  const auto reader = OpenParquetReader(task, {FirstPart("out"), 0, size, size, false}, fields);
  size_t count = 0;
  for (ParquetRows rows; reader->Next(rows);) count += rows.count;
  EXPECT_EQ(count, 300000u);
}

TEST_F(ParquetTest, AProgramThatWritesWithLittleMemoryEndsRowGroupsEarlier) {
  Context context = Start(8 << 20, 1);
  Save(context, "out", 100000, 1, {.codec = ParquetCodec::kNone});
  EXPECT_GT(parquet::ParquetFileReader::OpenFile(FirstPart("out"))->metadata()->num_row_groups(), 1);
  EXPECT_EQ(context.Parquet<Row>(Path("out")).Count(), 100000);
}

TEST_F(ParquetTest, DamagedFilesFailWithFileAndReason) {
  Context context = Start();
  Save(context, "out", 3000, 1);
  const std::string whole = Bytes(FirstPart("out"));
  const std::string bad = Path("bad.parquet");
  const auto error_of = [&](const std::string& bytes) {
    fs::remove(bad);  // some file systems wait for the disk when a file is written over
    std::ofstream(bad, std::ios::binary) << bytes;
    ReadingTask task;
    task.memory_bytes = 32 << 20;
    const std::string error = ErrorOf([&] {
      const auto fields = ParquetFieldsOf<Row>(ColumnNames<Row>());
      const auto reader = OpenParquetReader(task, {bad, 0, bytes.size(), bytes.size(), false}, fields);
      for (ParquetRows rows; reader->Next(rows);) continue;
    });
    return error;
  };
  EXPECT_EQ(error_of(whole), "no error");
  EXPECT_EQ(error_of("no such thing"), "cannot read " + bad + " as Parquet: it does not end with PAR1");
  EXPECT_EQ(error_of("PAR1"), "cannot read " + bad + " as Parquet: it has 4 bytes");
  EXPECT_EQ(error_of("PAR1____\xff\xff\xff\x7fPAR1"),
            "cannot read " + bad + " as Parquet: its footer is longer than the file");
  std::string encrypted("PAR1________");
  encrypted += std::string("\x04\0\0\0PARE", 8);
  EXPECT_EQ(error_of(encrypted), "cannot read " + bad + " as Parquet: it is encrypted");
  // Cut at each of many places: the footer is gone, so nothing is read.
  for (size_t cut = 1; cut < whole.size(); cut += whole.size() / 200 + 1) {
    EXPECT_TRUE(error_of(whole.substr(0, cut)).starts_with("cannot read " + bad)) << cut;
  }
}

/// Flipped bits: an error or, where Parquet has no checksum, other values; never a crash or gigabytes.
TEST_F(ParquetTest, FlippedBytesNeverCrash) {
  Context context = Start();
  Save(context, "out", 3000, 1, {.codec = ParquetCodec::kZstd});
  const std::string whole = Bytes(FirstPart("out"));
  const std::string bad = Path("bad.parquet");
  std::mt19937 random(7);
  int failed = 0;
  const int tries = 2000;
  for (int i = 0; i < tries; ++i) {
    std::string bytes = whole;
    // Half of them in the footer, which has no checksum.
    const size_t from = i % 2 == 0 ? 0 : whole.size() - std::min<size_t>(whole.size(), 3000);
    for (int flips = 0; flips <= i % 3; ++flips) {
      bytes[from + random() % (whole.size() - from)] = static_cast<char>(random());
    }
    fs::remove(bad);  // some file systems wait for the disk when a file is written over
    std::ofstream(bad, std::ios::binary) << bytes;
    ReadingTask task;
    task.memory_bytes = 32 << 20;
    try {
      const auto fields = ParquetFieldsOf<Row>(ColumnNames<Row>());
      const auto reader = OpenParquetReader(task, {bad, 0, bytes.size(), bytes.size(), false}, fields);
      int64_t rows_read = 0;
      for (ParquetRows rows; reader->Next(rows);) {
        Row row;
        for (size_t r = 0; r < rows.count; ++r) {
          size_t column = 0;
          VisitColumns(row, [&](auto& field) { parquet_internal::TakeField(rows.columns[column++], r, field); });
        }
        rows_read += static_cast<int64_t>(rows.count);
        ASSERT_LT(rows_read, 1000000);
      }
    } catch (const TaskError& error) {
      ASSERT_TRUE(std::string(error.what()).starts_with("cannot read " + bad)) << error.what();
      ++failed;
    }
  }
  EXPECT_GT(failed, tries / 2);
}

TEST_F(ParquetTest, AJobThatFailsInTheMiddleLeavesNothing) {
  Context context = Start();
  const auto rows = context.Range(0, 20000, Partitions(1)).Map([](int64_t i) {
    if (i == 19000) throw std::runtime_error("row 19000 is wrong");
    return RowOf(i);
  });
  const std::string error = ErrorOf([&] { rows.SaveParquet(Path("out"), {}, {.row_group_bytes = 100000}); });
  EXPECT_NE(error.find("row 19000 is wrong"), std::string::npos) << error;
  EXPECT_FALSE(fs::exists(Path("out")));
}

TEST_F(ParquetTest, AnEmptyPartitionIsAFileWithoutRows) {
  Context context = Start();
  EXPECT_EQ(context.Range(0, 2, Partitions(4)).Map([](int64_t i) { return RowOf(i); }).SaveParquet(Path("out")), 2);
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_ / "out"), {}), 5);  // and _SUCCESS
  EXPECT_EQ(context.Parquet<Row>(Path("out")).Count(), 2);
}

}  // namespace

}  // namespace fairlead::engine
