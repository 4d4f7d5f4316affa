#include <gtest/gtest.h>

#include <algorithm>
#include <compare>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/local.h"
#include "fairlead/engine.h"

// Records that hold views, alone and as fields of structs, through every operator and action: what is kept longer than
// one push must own its bytes. The address sanitizer sees what does not; the comparisons see what was overwritten.

namespace fairlead::engine {
namespace {

namespace fs = std::filesystem;

struct Row {
  std::string_view name;
  int64_t amount = 0;
  std::string_view city;
  friend auto operator<=>(const Row&, const Row&) = default;
};
/// A struct with a struct of views, and views in containers.
struct Nested {
  Row row;
  std::vector<std::string_view> words;
  std::optional<std::string_view> last;
};

std::string Text(std::string_view text) { return std::string(text); }
std::string Text(int64_t number) { return std::to_string(number); }
std::string Text(const Row& row) { return Text(row.name) + " " + Text(row.amount) + " " + Text(row.city); }
template <class A, class B>
std::string Text(const std::pair<A, B>& pair);
template <class T>
std::string Text(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) text += Text(value) + ";";
  return text;
}
template <class T>
std::string Text(const std::optional<T>& value) {
  return value ? Text(*value) : "-";
}
std::string Text(const Nested& nested) { return Text(nested.row) + "|" + Text(nested.words) + "|" + Text(nested.last); }
template <class T>
std::string Text(const Owned<T>& kept) {
  return Text(*kept);
}
template <class A, class B>
std::string Text(const std::pair<A, B>& pair) {
  return Text(pair.first) + "=" + Text(pair.second);
}

template <class T>
std::vector<std::string> Texts(const std::vector<T>& values) {
  std::vector<std::string> texts;
  for (const T& value : values) texts.push_back(Text(value));
  std::sort(texts.begin(), texts.end());
  return texts;
}

/// The line "NAME AMOUNT CITY" as a Row of views into it.
Row RowOf(std::string_view line) {
  const size_t first = line.find(' '), second = line.find(' ', first + 1);
  Row row{line.substr(0, first), 0, line.substr(second + 1)};
  ParseField(line.substr(first + 1, second - first - 1), row.amount);
  return row;
}
const Row& Larger(const Row& a, const Row& b) {
  return std::pair(a.amount, a.name) < std::pair(b.amount, b.name) ? b : a;
}

/// With a task's memory in bytes: ample, or so little that tables, joins and sorts spill.
class ViewsTest : public testing::TestWithParam<int64_t> {
 protected:
  ViewsTest() : directory_(fs::temp_directory_path() / ("fairlead-views-test-" + std::to_string(::getpid()))) {
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "scratch");
    LocalOptions options;
    options.slots = 2;
    options.memory_bytes = GetParam();
    options.directory = directory_ / "scratch";
    local_ = std::make_unique<Local>(options);
    std::ofstream file(directory_ / "lines");
    for (int64_t i = 0; i < kRows; ++i) {
      const std::string line = "a-rather-long-name-" + std::to_string(i % kNames) + " " +
                               std::to_string(i * 7919 % kRows) + " city-of-" + std::to_string(i % 3);
      lines_.push_back(line);
      file << line << "\n";
    }
  }
  ~ViewsTest() override {
    local_.reset();
    fs::remove_all(directory_);
  }
  Dataset<Row> Rows() {
    return Context(local_->session()).Text(directory_ / "lines", Partitions(3)).Map([](std::string_view line) {
      return RowOf(line);
    });
  }
  std::vector<Row> PlainRows() const {
    std::vector<Row> rows;
    for (const std::string& line : lines_) rows.push_back(RowOf(line));
    return rows;
  }
  auto ByName() {
    return Rows().KeyBy([](const Row& row) { return row.name; });
  }

  static constexpr int64_t kRows = 3000, kNames = 50;
  const fs::path directory_;
  std::vector<std::string> lines_;
  std::unique_ptr<Local> local_;
};
INSTANTIATE_TEST_SUITE_P(Memory, ViewsTest, testing::Values(64 << 20, 16 << 10));

TEST_P(ViewsTest, CollectAndTake) {
  EXPECT_EQ(Texts(Rows().Collect()), Texts(PlainRows()));
  const auto some = Rows().Take(20);
  ASSERT_EQ(some.size(), 20U);
  for (size_t i = 0; i < some.size(); ++i) EXPECT_EQ(Text(some[i]), lines_[i]);
}

TEST_P(ViewsTest, Top) {
  const auto top = Rows().Top(5, [](const Row& row) { return row.amount; });
  ASSERT_EQ(top.size(), 5U);
  for (size_t i = 0; i < top.size(); ++i) {
    const auto& row = *std::find_if(lines_.begin(), lines_.end(), [&](const std::string& line) {
      return RowOf(line).amount == kRows - 1 - static_cast<int64_t>(i);
    });
    EXPECT_EQ(Text(top[i]), row);
  }
  auto plain = PlainRows();
  std::sort(plain.begin(), plain.end(), std::greater<>());
  EXPECT_EQ(Text(Rows().Top(1)[0]), Text(plain[0]));
}

TEST_P(ViewsTest, Reduce) {
  auto plain = PlainRows();
  const auto largest = Rows().Reduce([](const Row& a, const Row& b) { return Larger(a, b); });
  EXPECT_EQ(Text(*largest), Text(*std::max_element(plain.begin(), plain.end(),
                                                   [](const Row& a, const Row& b) { return a.amount < b.amount; })));
  // Views of a pair that change places: none may be read after it was written over.
  const auto swapped =
      Rows()
          .Map([](const Row& row) { return std::pair(row.name, row.city); })
          .Reduce([](const std::pair<std::string_view, std::string_view>& a,
                     const std::pair<std::string_view, std::string_view>&) { return std::pair(a.second, a.first); });
  EXPECT_TRUE(Text(*swapped) == "a-rather-long-name-0=city-of-0" || Text(*swapped) == "city-of-0=a-rather-long-name-0");
}

TEST_P(ViewsTest, ReduceByKey) {
  std::map<std::string, Row> wanted;
  const auto plain = PlainRows();
  for (const Row& row : plain) {
    const auto [place, is_new] = wanted.emplace(row.name, row);
    if (!is_new) place->second = Larger(place->second, row);
  }
  std::vector<std::string> texts;
  for (const auto& [name, row] : wanted) texts.push_back(name + "=" + Text(row));
  std::sort(texts.begin(), texts.end());
  const auto reduced = ByName().ReduceByKey([](const Row& a, const Row& b) { return Larger(a, b); });
  EXPECT_EQ(Texts(reduced.Collect()), texts);
  EXPECT_EQ(Texts(reduced.Cache().Collect()), texts);
  // A struct of views as the key; two keys' views stand in one record.
  const auto counts = Rows()
                          .Map([](const Row& row) {
                            return std::pair(Row{row.city, 1, row.name}, int64_t{1});
                          })
                          .ReduceByKey([](int64_t a, int64_t b) { return a + b; });
  int64_t sum = 0;
  for (const auto& [key, count] : counts.Collect()) sum += count;
  EXPECT_EQ(sum, kRows);
  EXPECT_EQ(counts.Count(), kNames * 3);
}

TEST_P(ViewsTest, AggregateByKeyAndDistinct) {
  const auto firsts = ByName().AggregateByKey(
      Row{"zero", -1, "zero"}, [](const Row& a, const Row& b) { return Larger(a, b); },
      [](const Row& a, const Row& b) { return Larger(a, b); });
  EXPECT_EQ(Texts(firsts.Collect()),
            Texts(ByName().ReduceByKey([](const Row& a, const Row& b) { return Larger(a, b); }).Collect()));
  EXPECT_EQ(Rows().Union(Rows()).Distinct().Count(), kRows);
  EXPECT_EQ(Texts(Rows().Union(Rows()).Distinct().Collect()), Texts(PlainRows()));
}

TEST_P(ViewsTest, GroupsAndJoins) {
  std::vector<std::string> grouped;
  for (const auto& [name, rows] : ByName().GroupByKey().Collect()) {
    for (const std::string& row : Texts(rows)) grouped.push_back(row);
  }
  std::sort(grouped.begin(), grouped.end());
  EXPECT_EQ(grouped, Texts(PlainRows()));

  const auto one_each = ByName().ReduceByKey([](const Row& a, const Row& b) { return Larger(a, b); });
  const auto joined = ByName().Join(one_each).Collect();
  ASSERT_EQ(joined.size(), static_cast<size_t>(kRows));
  for (const auto& [name, rows] : joined) {
    EXPECT_EQ(rows.first->name, name);
    EXPECT_EQ(rows.second->name, name);
    EXPECT_GE(rows.second->amount, rows.first->amount);
  }
  const auto outer = ByName().LeftJoin(one_each.Filter([](const auto& pair) { return pair.second.amount < 0; }));
  for (const auto& [name, rows] : outer.Collect()) EXPECT_FALSE(rows.second);
  int64_t members = 0;
  for (const auto& [name, both] : ByName().CoGroup(one_each).Collect()) {
    members += static_cast<int64_t>(both.first.size());
    ASSERT_EQ(both.second.size(), 1U);
    for (const auto& row : both.first) EXPECT_EQ(row->name, name);
  }
  EXPECT_EQ(members, kRows);
}

TEST_P(ViewsTest, Sorts) {
  const auto by_amount = Rows().SortBy([](const Row& row) { return row.amount; }).Collect();
  for (size_t i = 0; i < by_amount.size(); ++i) ASSERT_EQ(by_amount[i]->amount, static_cast<int64_t>(i));
  EXPECT_EQ(Texts(by_amount), Texts(PlainRows()));
  // Keys that are views, pairs of views and structs of views.
  auto plain = PlainRows();
  std::sort(plain.begin(), plain.end());
  const auto by_pair = Rows()
                           .SortBy([](const Row& row) { return std::pair(row.name, row.amount); },
                                   SortDirection::kAscending, Partitions(4))
                           .Collect();
  const auto whole =
      Rows().SortBy([](const Row& row) { return row; }, SortDirection::kAscending, Partitions(4)).Collect();
  ASSERT_EQ(whole.size(), plain.size());
  ASSERT_EQ(by_pair.size(), plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    ASSERT_EQ(Text(whole[i]), Text(plain[i]));
    ASSERT_EQ(Text(by_pair[i]), Text(plain[i]));
  }
}

TEST_P(ViewsTest, StructsWithinStructsAndContainers) {
  const auto nested = Rows().Map([](const Row& row) {
    return Nested{row, {row.name, row.city}, row.amount % 2 == 0 ? std::optional(row.city) : std::nullopt};
  });
  std::vector<std::string> wanted;
  for (const Row& row : PlainRows()) {
    wanted.push_back(Text(row) + "|" + Text(row.name) + ";" + Text(row.city) + ";|" +
                     (row.amount % 2 == 0 ? Text(row.city) : "-"));
  }
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(Texts(nested.Collect()), wanted);
  EXPECT_EQ(Texts(nested.Persist().Collect()), wanted);
  const auto last = nested.Reduce([](const Nested& a, const Nested& b) { return Text(a) < Text(b) ? b : a; });
  EXPECT_EQ(Text(*last), wanted.back());
  const auto lists = Rows().Map([](const Row& row) { return std::vector{row, row}; }).Collect();
  EXPECT_EQ(lists.size(), static_cast<size_t>(kRows));
  for (const auto& list : lists) EXPECT_EQ(list[0], list[1]);
}

/// Functions and shared values with views in them.
struct Named {
  std::string_view name;
  bool operator()(const Row& row) const { return row.name == name; }
};
struct AmongThem {
  Broadcast<std::vector<Row>> rows;
  bool operator()(const Row& row) const { return std::find(rows->begin(), rows->end(), row) != rows->end(); }
};

TEST_P(ViewsTest, WhatFunctionsCarry) {
  Context context(local_->session());
  auto name = std::make_unique<std::string>("a-rather-long-name-7");
  const auto named = Rows().Filter(Named{*name});
  auto values = std::make_unique<std::vector<std::string>>(lines_.begin(), lines_.begin() + 10);
  std::vector<Row> rows;
  for (const std::string& line : *values) rows.push_back(RowOf(line));
  const auto among = Rows().Filter(AmongThem{context.MakeBroadcast(rows)});
  const auto made = context.Parallelize(rows, Partitions(2));
  name.reset();
  values.reset();
  EXPECT_EQ(named.Count(), kRows / kNames);
  EXPECT_EQ(among.Count(), 10);
  EXPECT_EQ(Text(made.Collect()[9]), lines_[9]);
}

TEST_P(ViewsTest, WhatAProgramKeepsItself) {
  const auto longest = Rows().MapPartitions<Row>([](auto& records, auto& emit) {
    std::optional<Owned<Row>> kept;
    records.ForEach([&](const Row& row) {
      if (!kept || (*kept)->amount < row.amount) kept = Keep(row);
    });
    emit(**kept);
  });
  EXPECT_EQ(longest.Count(), longest.partitions());
  const auto rows = longest.Collect();
  for (const auto& row : rows) EXPECT_EQ(row->name.substr(0, 19), "a-rather-long-name-");
}

TEST(Owned, CopiesMovesAndCompares) {
  auto line = std::make_unique<std::string>("a 1 b");
  Owned<Row> first(RowOf(*line));
  line.reset();
  Owned<Row> second = first;
  EXPECT_EQ(first, second);
  EXPECT_NE(first->name.data(), second->name.data());
  const Owned<Row> third = std::move(first);
  EXPECT_EQ(*third, *second);
  second = Owned<Row>(RowOf("a 2 b"));
  EXPECT_LT(third, second);
  second = third;
  EXPECT_EQ(Text(second), "a 1 b");
  Owned<Row> none;
  EXPECT_EQ(none->name, "");
  EXPECT_TRUE(FromBytes(ToBytes(third), none));
  EXPECT_EQ(none, third);
}

}  // namespace
}  // namespace fairlead::engine
