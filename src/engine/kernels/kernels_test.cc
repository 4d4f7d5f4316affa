#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "engine/kernels/combine_table.h"
#include "engine/kernels/grace.h"
#include "engine/kernels/group_table.h"
#include "engine/kernels/hash_index.h"
#include "engine/kernels/sort_kernel.h"
#include "engine/run/file_task_for_test.h"
#include "engine/shuffle/shuffle_writer.h"

// The kernels against std::map: tables and indexes by RapidCheck; what reads a shuffle over the files that
// ShuffleWriter wrote, with plenty of memory and with so little that it spills.

namespace fairlead::engine {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kPlenty = int64_t{64} << 20;
constexpr int64_t kLittle = 128 << 10;
constexpr int32_t kPartitions = 3;

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Groups = std::map<std::string, std::vector<std::string>>;

Groups GroupsOf(const Pairs& pairs) {
  Groups groups;
  for (const auto& [key, value] : pairs) groups[key].push_back(value);
  return groups;
}

Groups Sorted(Groups groups) {
  for (auto& [key, values] : groups) std::sort(values.begin(), values.end());
  return groups;
}

/// Few different keys, on both sides of the length up to which tables hold them as words; zeros that count.
rc::Gen<std::string> Keys() {
  return rc::gen::map(rc::gen::pair(rc::gen::inRange(0, 40), rc::gen::inRange(0, 5)), [](std::pair<int, int> of) {
    return std::string(static_cast<size_t>(of.first), static_cast<char>(of.second));
  });
}

TEST(CombineTableTest, CountsAsAMap) {
  const bool held = rc::check("a table of counts", [] {
    const auto keys = *rc::gen::container<std::vector<std::string>>(Keys());
    CombineTable<int64_t> table;
    for (const bool again : {false, true}) {  // a cleared table is as good as a new one
      std::map<std::string, int64_t> counts;
      std::vector<std::string> arrival;
      for (const std::string& key : keys) {
        const uint32_t number = table.Upsert(
            TableKey(key), [](int64_t& n) { ++n; }, [] { return int64_t{1}; });
        if (++counts[key] == 1) arrival.push_back(key);
        RC_ASSERT(table.At(number).value == counts[key]);
      }
      RC_ASSERT(table.size() == arrival.size());
      char buffer[ShortBytes::kMax];
      uint32_t at = 0;
      table.ForEach([&](CombineTable<int64_t>::Entry& entry) { RC_ASSERT(entry.key(buffer) == arrival[at++]); });
      for (const auto& [key, count] : counts) {
        const auto* const entry = table.Find(TableKey(key));
        RC_ASSERT(entry != nullptr && entry->value == count);
        RC_ASSERT((table.Find(TableKey(key + "x")) != nullptr) == (counts.count(key + "x") != 0));
      }
      if (!again) table.Clear();
    }
  });
  EXPECT_TRUE(held);
}

TEST(CombineTableTest, GrowsAndSaysItsMemory) {
  CombineTable<int64_t> table;
  size_t coming = table.coming_bytes();
  for (int64_t i = 0; i < 100'000; ++i) {
    const std::string key = "k" + std::to_string(i);  // long keys are copied into an arena besides
    table.Upsert(
        TableKey(key), [](int64_t&) { FAIL() << "all are new"; }, [&] { return i; });
    ASSERT_LE(table.memory_bytes(), coming) << "after " << i << " keys it holds more than it had said";
    coming = table.coming_bytes();
  }
  EXPECT_EQ(table.Find(TableKey("k99998"))->value, 99'998);
  EXPECT_EQ(table.Find(TableKey("k100000")), nullptr);
}

TEST(HashIndexTest, GroupsAsAMap) {
  const bool held = rc::check("an index of pairs", [] {
    const auto pairs = *rc::gen::container<Pairs>(rc::gen::pair(Keys(), Keys()));
    HashIndex index;
    for (const auto& [key, value] : pairs) index.Add(key, value);
    index.Drain();
    Pairs drained;
    char buffer[ShortBytes::kMax];
    index.ForEachPair([&](const HashIndex::Key& key, std::string_view value) {
      drained.emplace_back(std::string(key.key(buffer)), std::string(value));
    });
    RC_ASSERT(drained == pairs);
    index.Arrange();
    const Groups groups = GroupsOf(pairs);
    RC_ASSERT(index.keys() == groups.size());
    for (const auto& [key, values] : groups) {
      const HashIndex::Key* const found = index.Find(TableKey(key));
      RC_ASSERT(found != nullptr);
      std::vector<std::string> got;
      index.ForEachValue(found->value, [&](std::string_view value) { got.emplace_back(value); });
      RC_ASSERT(got == values);
    }
  });
  EXPECT_TRUE(held);
}

struct Shape {
  RecordShape record;
  int64_t memory;
  Compression compression;
};

class ShuffleKernelsTest : public testing::TestWithParam<Shape> {
 protected:
  ShuffleKernelsTest() : directory_(testing::TempDir() + "kernels_test_" + std::to_string(::getpid())) {
    fs::remove_all(directory_);
    fs::create_directories(directory_);
    SetShuffleCompression(GetParam().compression);
  }
  ~ShuffleKernelsTest() override { fs::remove_all(directory_); }

  std::string Part(uint32_t fixed, int64_t number) {
    std::string text = std::to_string(number * 7919);
    if (fixed != 0) {
      text.resize(fixed, '.');
    } else if (number % 3 == 0) {
      text += std::string(static_cast<size_t>(number % 50), 'x');  // beyond two words, and the empty ones below
    }
    return number == 0 && fixed == 0 ? "" : text;
  }
  Pairs RandomPairs(size_t count, int64_t keys) {
    Pairs pairs;
    for (size_t i = 0; i < count; ++i) {
      pairs.emplace_back(
          Part(GetParam().record.key_fixed, static_cast<int64_t>(rng_.Below(static_cast<uint64_t>(keys)))),
          Part(GetParam().record.value_fixed, static_cast<int64_t>(rng_.Below(1000))));
    }
    return pairs;
  }
  /// As `maps` tasks, each with an equal share of the pairs.
  void Write(int32_t shuffle, const Pairs& pairs, int32_t maps) {
    for (int32_t map = 0; map < maps; ++map) {
      FileTask task({directory_}, GetParam().memory);
      task.task_id = map;
      ShuffleWriter writer(task, shuffle, kPartitions, task.memory_bytes);
      int64_t written = 0;
      for (size_t i = static_cast<size_t>(map); i < pairs.size(); i += static_cast<size_t>(maps)) {
        Buffer& frame = writer.For(PartitionOf(HashBytes(pairs[i].first), kPartitions));
        AppendPart(frame, pairs[i].first, GetParam().record.key_fixed);
        AppendPart(frame, pairs[i].second, GetParam().record.value_fixed);
        ++written;
      }
      writer.Finish();
      EXPECT_EQ(task.metrics.shuffle_records_written, written);
      EXPECT_EQ(task.output.block_sizes.size(), static_cast<size_t>(kPartitions));
      spilled_ += task.metrics.spilled_bytes;
    }
  }
  /// With little memory the test has spilled, with plenty it has not; no scratch file is left.
  void ExpectSpills(const std::vector<std::string>& scratch, int64_t spilled) {
    EXPECT_EQ(spilled > 0, GetParam().memory == kLittle);
    for (const std::string& path : scratch) EXPECT_FALSE(fs::exists(path)) << path;
  }

  const std::string directory_;
  base::Rng rng_{17};
  int64_t spilled_ = 0;
};

TEST_P(ShuffleKernelsTest, GroupsByKey) {
  const Pairs pairs = RandomPairs(60'000, 5000);
  Write(0, pairs, 4);
  EXPECT_EQ(spilled_ > 0, GetParam().memory == kLittle) << "the writers";
  FileTask task({directory_}, GetParam().memory, 4);
  Groups got;
  const KeyedInput input{GetParam().record, 0};
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    GroupInputs(task, {&input, 1}, partition, [&](std::string_view key, auto first, auto second) {
      std::vector<std::string>& values = got[std::string(key)];
      EXPECT_TRUE(values.empty()) << "a key came twice";
      EXPECT_TRUE(second.empty());
      values.assign(first.begin(), first.end());
    });
  }
  EXPECT_EQ(Sorted(got), Sorted(GroupsOf(pairs)));
  EXPECT_EQ(task.metrics.shuffle_records_read, 60'000);
  ExpectSpills(task.scratch(), task.metrics.spilled_bytes);
}

TEST_P(ShuffleKernelsTest, GroupsTwoInputs) {
  const Pairs left = RandomPairs(16'000, 3000), right = RandomPairs(8'000, 4500);
  Write(0, left, 3);
  Write(1, right, 3);
  FileTask task({directory_}, GetParam().memory, 3);
  Groups lefts, rights;
  bool fresh = true;
  const std::vector<KeyedInput> inputs{{GetParam().record, 0}, {GetParam().record, 1}};
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    GroupInputs(task, inputs, partition, [&](std::string_view key, auto first, auto second) {
      EXPECT_TRUE(!first.empty() || !second.empty());
      if (!first.empty()) fresh &= lefts.try_emplace(std::string(key), first.begin(), first.end()).second;
      if (!second.empty()) fresh &= rights.try_emplace(std::string(key), second.begin(), second.end()).second;
    });
  }
  EXPECT_EQ(Sorted(lefts), Sorted(GroupsOf(left)));
  EXPECT_TRUE(fresh) << "a key came twice";
  EXPECT_EQ(Sorted(rights), Sorted(GroupsOf(right)));
  ExpectSpills(task.scratch(), task.metrics.spilled_bytes);
}

TEST_P(ShuffleKernelsTest, JoinsTwoInputs) {
  const Pairs left = RandomPairs(20'000, 6000), right = RandomPairs(20'000, 4000);
  Write(0, left, 2);
  Write(1, right, 2);
  const Groups rights = Sorted(GroupsOf(right));
  FileTask task({directory_}, GetParam().memory, 2);
  Groups lefts;
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    ProbeInputs(task, {GetParam().record, 0}, {GetParam().record, 1}, partition,
                [&](std::string_view key, std::string_view value, const HashIndex& index, const HashIndex::Key* found) {
                  lefts[std::string(key)].emplace_back(value);
                  const auto wanted = rights.find(std::string(key));
                  ASSERT_EQ(found != nullptr, wanted != rights.end()) << key;
                  if (found == nullptr) return;
                  ASSERT_EQ(found->value.count, wanted->second.size());
                  if (lefts[std::string(key)].size() > 1) return;  // looked at already
                  std::vector<std::string> values;
                  index.ForEachValue(found->value, [&](std::string_view one) { values.emplace_back(one); });
                  std::sort(values.begin(), values.end());
                  EXPECT_EQ(values, wanted->second);
                });
  }
  EXPECT_EQ(Sorted(lefts), Sorted(GroupsOf(left)));
  ExpectSpills(task.scratch(), task.metrics.spilled_bytes);
}

uint64_t FirstBytes(std::string_view record) {
  uint64_t prefix = 0;
  for (size_t i = 0; i < 8; ++i) prefix = prefix << 8 | (i < record.size() ? static_cast<uint8_t>(record[i]) : 0);
  return prefix;
}
bool ByAllBytes(std::string_view a, std::string_view b) { return a < b; }

TEST_P(ShuffleKernelsTest, Sorts) {
  // One part a record: what is a pair elsewhere is here a record of its key alone.
  const uint32_t fixed = GetParam().record.key_fixed;
  for (const bool descending : {false, true}) {
    std::vector<std::string> records;
    FileTask writing({directory_}, GetParam().memory);
    ShuffleWriter writer(writing, 5, 1, writing.memory_bytes);
    for (int i = 0; i < 60'000; ++i) {
      records.push_back(Part(fixed, static_cast<int64_t>(rng_.Below(20'000))));
      AppendPart(writer.For(0), records.back(), fixed);
    }
    writer.Finish();
    FileTask task({directory_}, GetParam().memory, 1);
    std::vector<std::string> got;
    SortShuffle(task, 5, 0, fixed, {FirstBytes, ByAllBytes, descending},
                [&](std::string_view record) { got.emplace_back(record); });
    std::sort(records.begin(), records.end());
    if (descending) std::reverse(records.begin(), records.end());
    EXPECT_EQ(got, records);
    ExpectSpills(task.scratch(), task.metrics.spilled_bytes);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, ShuffleKernelsTest,
                         testing::Values(Shape{{0, 0}, kPlenty, Compression::kNone},
                                         Shape{{0, 0}, kLittle, Compression::kLz4},
                                         Shape{{8, 8}, kPlenty, Compression::kZstd},
                                         Shape{{8, 0}, kLittle, Compression::kNone},
                                         Shape{{0, 8}, kLittle, Compression::kZstd}));

TEST(GraceFilesTest, EachPartGivesWhatWasPutThereInOrder) {
  const std::string directory = testing::TempDir() + "grace_test_" + std::to_string(::getpid());
  fs::create_directories(directory);
  for (int level = 0; level < GraceFiles::kLevelsMax; ++level) {
    FileTask task({directory}, kLittle);
    Pairs pairs;
    {
      GraceFiles files(task, {}, level);
      for (int i = 0; i < 20'000; ++i) {
        pairs.emplace_back("key " + std::to_string(i % 700), std::to_string(i));
        files.Add(HashBytes(pairs.back().first), pairs.back().first, pairs.back().second);
      }
      files.Finish();
      Groups got;
      std::map<std::string, uint32_t> part_of;
      for (uint32_t part = 0; part < GraceFiles::kParts; ++part) {
        files.ReadPart(part, [&](std::string_view frame) {
          Cursor in(frame);
          std::string_view key, value;
          while (!in.done()) {
            ASSERT_TRUE(TakePart(in, 0, key) && TakePart(in, 0, value));
            got[std::string(key)].emplace_back(value);
            EXPECT_EQ(part_of.try_emplace(std::string(key), part).first->second, part) << "a key in two parts";
          }
        });
      }
      EXPECT_EQ(got, GroupsOf(pairs)) << "level " << level;
    }
    for (const std::string& path : task.scratch()) EXPECT_FALSE(fs::exists(path)) << path;
  }
  fs::remove_all(directory);
}

}  // namespace
}  // namespace fairlead::engine
