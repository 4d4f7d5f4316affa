#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "engine/io/sources.h"
#include "engine/kernels/combine_table.h"
#include "engine/kernels/hash_index.h"
#include "engine/records/errors.h"
#include "engine/records/frame.h"
#include "engine/records/serde.h"
#include "engine/records/text.h"

// Bytes: serialization, frames, Spark's paths, lines of splits, CSV rows, words.

namespace fairlead::engine {
namespace {

namespace fs = std::filesystem;

struct Inner {
  int32_t a = 0;
  std::string b;
  bool operator==(const Inner&) const = default;
};
struct Outer {
  std::vector<Inner> list;
  std::optional<double> maybe;
  std::array<int16_t, 3> three{};
  std::tuple<bool, std::string> pair;
  bool operator==(const Outer&) const = default;
};

TEST(Serde, RoundTripAndEveryTruncationFails) {
  Outer value{{{1, "x"}, {-5, std::string(200, 'y')}}, 2.5, {1, -2, 3}, {true, "end"}};
  const std::string bytes = ToBytes(value);
  Outer back;
  ASSERT_TRUE(FromBytes(bytes, back));
  EXPECT_EQ(back, value);
  for (size_t n = 0; n < bytes.size(); ++n) {
    Outer part;
    EXPECT_FALSE(FromBytes(std::string_view(bytes).substr(0, n), part)) << n;
  }
  EXPECT_FALSE(FromBytes(bytes + "z", back));
}

TEST(Serde, FixedSizes) {
  static_assert(Serde<std::pair<int32_t, double>>::kFixed == 12);
  static_assert(Serde<std::pair<int32_t, std::string>>::kFixed == 0);
  struct Fixed {
    int64_t a;
    float b;
  };
  static_assert(Serde<Fixed>::kFixed == 12);
  EXPECT_EQ(ToBytes(Fixed{1, 2}).size(), 12u);
}

TEST(Frames, WholeOnesAreFoundInAPieceOfABlock) {
  Buffer block, scratch;
  std::vector<size_t> ends;
  for (const size_t size : {10, 300, 0, 70}) {
    Buffer frame;
    frame.Resize(kFrameHeader + size);
    std::memset(frame.data(), 'x', frame.size());
    block.Append(SealFrame(frame, Compression::kNone, scratch));
    ends.push_back(block.size());
  }
  for (size_t length = 0; length <= block.size(); ++length) {
    size_t whole = 0;
    for (const size_t end : ends) whole = end <= length ? end : whole;
    EXPECT_EQ(WholeFrames(block.view().substr(0, length)), whole) << length;
  }
  block.data()[ends[0]] ^= 1;  // a damaged header ends it
  EXPECT_EQ(WholeFrames(block.view()), ends[0]);
}

TEST(Frames, CompressedOrNotAndDamageIsFound) {
  for (const Compression codec : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    Buffer frame, scratch;
    frame.Resize(kFrameHeader);
    const std::string records(10'000, 'r');
    frame.Append(records);
    std::string block(SealFrame(frame, codec, scratch));
    if (codec != Compression::kNone) {
      EXPECT_LT(block.size(), 1000u);
    }
    block += block;
    FrameReader reader(block);
    std::string_view got;
    Buffer out;
    ASSERT_TRUE(reader.Next(got, out));
    EXPECT_EQ(got, records);
    ASSERT_TRUE(reader.Next(got, out));
    EXPECT_FALSE(reader.Next(got, out));
    EXPECT_TRUE(reader.error().empty());
    for (size_t at = 0; at < block.size() / 2; at += at < 40 ? 1 : 997) {
      if (at >= 5 && at < 8) continue;  // not used
      std::string damaged = block;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
      FrameReader bad(damaged);
      EXPECT_FALSE(bad.Next(got, out) && got == records) << at;
    }
    FrameReader cut(std::string_view(block).substr(0, block.size() - 1));
    ASSERT_TRUE(cut.Next(got, out));
    EXPECT_FALSE(cut.Next(got, out));
    EXPECT_FALSE(cut.error().empty());
  }
}

TEST(ShortBytes, StandForTheirBytesAlone) {
  std::map<std::pair<uint64_t, uint64_t>, std::string> seen[ShortBytes::kMax + 1];
  std::mt19937 random(11);
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random() % (ShortBytes::kMax + 1), '\0');
    for (char& c : bytes) c = static_cast<char>(random() % 3);
    const ShortBytes words = ShortBytes::Of(bytes.data(), bytes.size());
    const auto [known, fresh] = seen[bytes.size()].emplace(std::pair(words.a, words.b), bytes);
    ASSERT_EQ(known->second, bytes);
    char restored[ShortBytes::kMax];
    words.Restore(restored, bytes.size());
    ASSERT_EQ(std::string_view(restored, bytes.size()), bytes);
  }
}

TEST(HashIndex, KeepsValuesByKeyInTheOrderOfTheirArrival) {
  std::map<std::string, std::vector<std::string>> wanted;
  std::vector<std::pair<std::string, std::string>> pairs;
  std::mt19937 random(12);
  for (int i = 0; i < 50'000; ++i) {
    pairs.emplace_back(std::string(random() % 3, 'k') + std::to_string(random() % 9'000), std::to_string(i));
    wanted[pairs.back().first].push_back(pairs.back().second);
  }
  HashIndex index;
  for (const auto& [key, value] : pairs) index.Add(key, value);
  index.Arrange();
  EXPECT_EQ(index.keys(), wanted.size());
  for (const auto& [key, values] : wanted) {
    const HashIndex::Key* const found = index.Find(TableKey(key));
    ASSERT_NE(found, nullptr);
    std::vector<std::string> got;
    index.ForEachValue(found->value, [&](std::string_view value) { got.emplace_back(value); });
    EXPECT_EQ(got, values);
  }
  EXPECT_EQ(index.Find(TableKey("absent")), nullptr);
}

TEST(CombineTable, CountsAcrossGrowthAndKeySizes) {
  CombineTable<int64_t> table;
  std::map<std::string, int64_t> wanted;
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const std::string key(random() % 40, static_cast<char>('a' + random() % 20));
    const std::string unique = key + std::to_string(random() % 3000);
    for (const std::string& k : {key, unique}) {
      ++wanted[k];
      table.Upsert(
          TableKey(k), [](int64_t& v) { ++v; }, [] { return int64_t{1}; });
    }
  }
  EXPECT_EQ(table.size(), wanted.size());
  size_t seen = 0;
  char buffer[ShortBytes::kMax];
  table.ForEach([&](const auto& entry) {
    ++seen;
    const std::string key(entry.key(buffer));
    EXPECT_EQ(entry.hash(), HashBytes(key));
    EXPECT_EQ(wanted[key], entry.value);
  });
  EXPECT_EQ(seen, wanted.size());
}

/// A context for sources alone.
class SourceContext : public TaskContext {
 public:
  std::unique_ptr<ShuffleInput> OpenShuffle(int32_t, int32_t) override { return nullptr; }
  std::string LocalPath(const std::string& name) override { return name; }
  std::string ScratchPath() override { return ""; }
  bool MayCommit() override { return true; }
  std::shared_ptr<const std::string> FetchBroadcast(int64_t) override { return nullptr; }
};

class Lines : public testing::Test {
 protected:
  Lines() : path_(fs::temp_directory_path() / ("fairlead-lines-" + std::to_string(::getpid()))) {}
  ~Lines() override {
    for (const char* suffix : {"", ".gz", ".zst"}) fs::remove(path_ + suffix);
  }
  std::vector<std::string> ReadCut(const std::string& text, uint64_t step) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << text;
    std::vector<std::string> lines;
    for (uint64_t at = 0; at < text.size(); at += step) {
      SourceContext task;
      ReadLines(task, {path_, at, std::min<uint64_t>(step, text.size() - at), text.size(), false},
                [&](std::string_view line) { lines.emplace_back(line); });
    }
    return lines;
  }
  std::string path_;
};

TEST_F(Lines, EveryCutGivesEveryLineOnce) {
  const std::string texts[] = {"a\nbb\n\nccc\r\ndd", "\n\n\n", "one line without end", "x\n", "\r\n\r\n", "a\n\nb\n"};
  for (const std::string& text : texts) {
    const std::vector<std::string> whole = ReadCut(text, text.size());
    for (uint64_t step = 1; step < text.size(); ++step) EXPECT_EQ(ReadCut(text, step), whole) << text << " / " << step;
  }
  EXPECT_EQ(ReadCut(texts[0], 100), (std::vector<std::string>{"a", "bb", "", "ccc", "dd"}));
}

TEST_F(Lines, LongLinesAndTheLimit) {
  const std::string text = std::string(3 << 20, 'l') + "\nshort\n";
  EXPECT_EQ(ReadCut(text, 1 << 20).size(), 2u);
  SourceContext task;
  task.memory_bytes = 1 << 20;
  EXPECT_THROW(ReadLines(task, {path_, 0, text.size(), text.size(), false}, [](std::string_view) {}), TaskError);
}

TEST_F(Lines, Compressed) {
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "line " + std::to_string(i) + "\n";
  gzFile gz = gzopen((path_ + ".gz").c_str(), "wb");
  gzwrite(gz, text.data(), static_cast<unsigned>(text.size() / 2));
  gzclose(gz);
  gz = gzopen((path_ + ".gz").c_str(), "ab");  // a second member
  gzwrite(gz, text.data() + text.size() / 2, static_cast<unsigned>(text.size() - text.size() / 2));
  gzclose(gz);
  std::string zstd(ZSTD_compressBound(text.size()), '\0');
  zstd.resize(ZSTD_compress(zstd.data(), zstd.size(), text.data(), text.size(), 1));
  std::ofstream(path_ + ".zst", std::ios::binary) << zstd;
  for (const char* suffix : {".gz", ".zst"}) {
    const std::string path = path_ + suffix;
    const auto splits = PlanSplits(path, 8);
    ASSERT_EQ(splits.size(), 1u);
    SourceContext task;
    int64_t count = 0;
    ReadLines(task, splits[0], [&](std::string_view line) { EXPECT_EQ(line, "line " + std::to_string(count++)); });
    EXPECT_EQ(count, 50'000);
    fs::resize_file(path, fs::file_size(path) - 20);
    EXPECT_THROW(ReadLines(task, splits[0], [](std::string_view) {}), TaskError);
  }
}

TEST(CsvRow, QuotesAndSeparators) {
  std::vector<std::string_view> fields;
  std::string scratch;
  const auto split = [&](std::string_view row) {
    EXPECT_TRUE(SplitCsvRow(row, ',', fields, scratch)) << row;
    return std::vector<std::string>(fields.begin(), fields.end());
  };
  using Fields = std::vector<std::string>;
  EXPECT_EQ(split("a,b,c"), (Fields{"a", "b", "c"}));
  EXPECT_EQ(split(""), (Fields{""}));
  EXPECT_EQ(split(",,"), (Fields{"", "", ""}));
  EXPECT_EQ(split("\"a,b\",\"c\"\"d\",\"\""), (Fields{"a,b", "c\"d", ""}));
  EXPECT_EQ(split("x,\"y\""), (Fields{"x", "y"}));
  EXPECT_EQ(split("\"x\","), (Fields{"x", ""}));
  EXPECT_FALSE(SplitCsvRow("a,\"b", ',', fields, scratch));
}

TEST(WordsOfAText, EveryLengthAndAlignment) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::vector<std::string> wanted;
    while (text.size() < 200) {
      text.append(random() % 3, " \t\n"[random() % 3]);
      const std::string word(1 + random() % 40, static_cast<char>(random() % 2 ? 'x' : '\xc3'));
      if (!wanted.empty() && !text.empty() && static_cast<unsigned char>(text.back()) > 0x20) {
        wanted.back() += word;
      } else {
        wanted.push_back(word);
      }
      text += word;
    }
    std::vector<std::string> got;
    for (const std::string_view word : Words(text)) got.emplace_back(word);
    EXPECT_EQ(got, wanted);
  }
}

TEST(Text, Values) {
  std::string out;
  AppendText(out, std::pair(std::string_view("k"), std::tuple(1, 2.5, true)));
  AppendText(out, Outer{{{1, "x"}}, {}, {1, 2, 3}, {false, "s"}});
  EXPECT_EQ(out,
            "k\t1\t2.5\ttrue"
            "1\tx\t\t1\t2\t3\tfalse\ts");
}

}  // namespace
}  // namespace fairlead::engine
