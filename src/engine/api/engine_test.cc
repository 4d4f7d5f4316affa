#include "fairlead/engine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "engine/api/local_for_test.h"
#include "engine/history/history.h"
#include "engine/plan/shared_values.h"
#include "engine/run/reading_task_for_test.h"

// The engine as a program sees it, in one process: every operator against a plain computation, with ample memory and
// with so little that everything spills; failures; output directories.

namespace fairlead::engine {
/// Counts what was copied: an accumulator that is folded in place is moved from step to step.
struct Gathered {
  std::vector<int64_t> values;
  static inline std::atomic<int64_t> copied = 0;
  Gathered() = default;
  Gathered(const Gathered& other) : values(other.values) { copied += static_cast<int64_t>(values.size()); }
  Gathered(Gathered&&) = default;
  Gathered& operator=(const Gathered& other) {
    values = other.values;
    copied += static_cast<int64_t>(values.size());
    return *this;
  }
  Gathered& operator=(Gathered&&) = default;
};

template <>
struct Serde<Gathered> {
  static constexpr size_t kFixed = 0;
  static constexpr bool kHoldsViews = false;
  static void Write(Buffer& out, const Gathered& v) { Serde<std::vector<int64_t>>::Write(out, v.values); }
  static bool Read(Cursor& in, Gathered& v) { return Serde<std::vector<int64_t>>::Read(in, v.values); }
};

namespace {

namespace fs = std::filesystem;

class EngineTest : public LocalTest {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::ofstream(directory_ / name, std::ios::binary) << text;
    return directory_ / name;
  }
  static std::string Read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<fs::path> FilesBelow(const fs::path& root, const std::string& suffix) {
    std::vector<fs::path> found;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().string().ends_with(suffix)) found.push_back(entry.path());
    }
    return found;
  }
};

template <class T>
std::vector<T> Sorted(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  return values;
}

std::string RandomText(int lines, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  for (int i = 0; i < lines; ++i) {
    for (int j = 0; j < 8; ++j) {
      const unsigned r = random() % 5000;
      text += "w" + std::to_string(r * r / 5000) + (j == 7 ? "\n" : " ");
    }
  }
  return text;
}

/// This test is such a program.
TEST_F(EngineTest, AProgramWithoutTheComponentSaysHowParquetIsHad) {
  Context context = Start();
  struct Row {
    int64_t id = 0;
  };
  const std::string path = Write("a.parquet", "PAR1");
  const auto error_of = [](const auto& run) -> std::string {
    try {
      run();
      return "no error";
    } catch (const JobError& error) {
      return error.what();
    }
  };
  constexpr const char* kWords =
      "this program cannot read or write Parquet: link Fairlead::parquet, which is built where Apache Arrow is found "
      "(tools/setup --parquet fetches it)";
  EXPECT_EQ(error_of([&] { context.Parquet<Row>(path, {"id"}); }), kWords);
  EXPECT_EQ(error_of([&] { context.Range(0, 3).SaveParquet(directory_ / "out", {"id"}); }), kWords);
  EXPECT_FALSE(fs::exists(directory_ / "out"));
}

TEST_F(EngineTest, WordCountEqualsAPlainCount) {
  const std::string text = RandomText(20'000, 1);
  std::map<std::string, int64_t> wanted;
  for (const std::string_view word : Words(text)) ++wanted[std::string(word)];
  Context context = Start();
  const auto counts = context.Text(Write("text", text))
                          .FlatMap([](std::string_view line) { return Words(line); })
                          .Map([](std::string_view word) { return std::pair(word, int64_t{1}); })
                          .ReduceByKey([](int64_t a, int64_t b) { return a + b; }, Partitions(7))
                          .Collect();
  EXPECT_EQ(Sorted(counts), (std::vector<std::pair<std::string, int64_t>>(wanted.begin(), wanted.end())));
}

TEST_F(EngineTest, NarrowOperators) {
  Context context = Start();
  const auto numbers = context.Range(0, 1000, Partitions(4));
  const auto even = numbers.Filter([](int64_t x) { return x % 2 == 0; });
  EXPECT_EQ(even.Count(), 500);
  const auto twice = numbers.FlatMap<int64_t>([](int64_t x, auto& emit) {
    emit(x);
    emit(x);
  });
  EXPECT_EQ(twice.Count(), 2000);
  EXPECT_EQ(*twice.Reduce([](int64_t a, int64_t b) { return a + b; }), 999 * 1000);
  const auto both = even.Union(numbers.Map([](int64_t x) { return -x; }));
  EXPECT_EQ(both.partitions(), 8);
  EXPECT_EQ(both.Count(), 1500);
  EXPECT_EQ(both.Take(3), (std::vector<int64_t>{0, 2, 4}));
  const auto sums = numbers.MapPartitions<int64_t>([](auto& records, auto& emit) {
    int64_t sum = 0;
    records.ForEach([&](int64_t x) { sum += x; });
    emit(sum);
  });
  EXPECT_EQ(sums.Count(), 4);
  EXPECT_EQ(numbers.Top(3), (std::vector<int64_t>{999, 998, 997}));
  const int64_t sampled = context.Range(0, 100'000).Sample(0.1).Count();
  EXPECT_GT(sampled, 9'000);
  EXPECT_LT(sampled, 11'000);
  EXPECT_EQ(context.Parallelize(std::vector<int64_t>{3, 1, 3, 2, 1}, Partitions(2)).Distinct().Count(), 3);
}

struct Scale {
  double by = 1;
  double operator()(int64_t x) const { return static_cast<double>(x) * by; }
};

TEST_F(EngineTest, FunctionsCarryTheirState) {
  Context context = Start();
  EXPECT_EQ(context.Range(1, 4, Partitions(2)).Map(Scale{0.5}).Collect(), (std::vector<double>{0.5, 1.0, 1.5}));
  const auto sums = context.Range(0, 10, Partitions(3))
                        .Map([](int64_t x) { return std::pair(x % 2, x); })
                        .AggregateByKey(
                            double{100}, [](double sum, int64_t x) { return sum + static_cast<double>(x); },
                            [](double a, double b) { return a + b - 100; })
                        .Collect();
  EXPECT_EQ(Sorted(sums), (std::vector<std::pair<int64_t, double>>{{0, 120}, {1, 125}}));
}

struct Point {
  int32_t x = 0;
  std::string label;
  std::vector<int64_t> more;
  bool operator==(const Point&) const = default;
};

TEST_F(EngineTest, AggregatesTravel) {
  Context context = Start();
  const std::vector<Point> points{{1, "a", {}}, {2, std::string(300, 'b'), {1, 2}}, {3, "", {-1}}};
  EXPECT_EQ(context.Parallelize(points, Partitions(2)).Collect(), points);
  const auto grouped = context.Parallelize(points, Partitions(3))
                           .KeyBy([](const Point& p) { return p.x % 2; })
                           .GroupByKey(Partitions(2))
                           .Collect();
  ASSERT_EQ(grouped.size(), 2u);
  for (const auto& [key, group] : grouped) EXPECT_EQ(group.size(), key == 1 ? 2u : 1u);
}

/// The operators that hold or spill what they get, with the memory as parameter.
class Spilling : public EngineTest, public testing::WithParamInterface<int64_t> {
 protected:
  static std::vector<std::pair<int64_t, std::string>> Rows(int count, int64_t keys, unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<std::pair<int64_t, std::string>> rows;
    for (int i = 0; i < count; ++i) {
      rows.emplace_back(static_cast<int64_t>(random() % static_cast<uint64_t>(keys)),
                        "value-" + std::to_string(i) + std::string(random() % 20, '.'));
    }
    return rows;
  }
};
INSTANTIATE_TEST_SUITE_P(Memory, Spilling, testing::Values(int64_t{256} << 20, int64_t{600} << 10),
                         [](const auto& value) { return value.param > (10 << 20) ? "Ample" : "Short"; });

TEST_P(Spilling, ReduceByKey) {
  Context context = Start(GetParam());
  std::map<std::string, int64_t> wanted;
  for (int64_t i = 0; i < 60'000; ++i) wanted["some-longer-key-" + std::to_string(i % 20'000)] += i;
  const auto sums = context.Range(0, 60'000, Partitions(5))
                        .Map([](int64_t x) { return std::pair("some-longer-key-" + std::to_string(x % 20'000), x); })
                        .ReduceByKey([](int64_t a, int64_t b) { return a + b; }, Partitions(2))
                        .Collect();
  EXPECT_EQ(Sorted(sums), (std::vector<std::pair<std::string, int64_t>>(wanted.begin(), wanted.end())));
}

TEST_P(Spilling, GroupByKey) {
  const auto rows = Rows(12'000, 1'500, 2);
  std::map<int64_t, std::vector<std::string>> wanted;
  for (const auto& [key, value] : rows) wanted[key].push_back(value);
  for (auto& [key, values] : wanted) std::sort(values.begin(), values.end());
  Context context = Start(GetParam());
  std::map<int64_t, std::vector<std::string>> got;
  for (auto& [key, values] : context.Parallelize(rows, Partitions(4)).GroupByKey(Partitions(2)).Collect()) {
    EXPECT_TRUE(got.emplace(key, Sorted(values)).second) << key;
  }
  EXPECT_EQ(got, wanted);
}

TEST_P(Spilling, JoinsAndCoGroup) {
  const auto left = Rows(9'000, 3'000, 3), right = Rows(4'000, 4'000, 4);
  using Joined = std::pair<int64_t, std::pair<std::string, std::string>>;
  std::multimap<int64_t, std::string> index(right.begin(), right.end());
  std::vector<Joined> wanted;
  int64_t without = 0;
  for (const auto& [key, value] : left) {
    const auto [from, to] = index.equal_range(key);
    without += from == to;
    for (auto it = from; it != to; ++it) wanted.push_back({key, {value, it->second}});
  }
  Context context = Start(GetParam());
  const auto l = context.Parallelize(left, Partitions(4)), r = context.Parallelize(right, Partitions(3));
  EXPECT_EQ(Sorted(l.Join(r, Partitions(3)).Collect()), Sorted(wanted));
  int64_t absent = 0, present = 0;
  for (const auto& row : l.LeftJoin(r, Partitions(3)).Collect()) ++(row.second.second ? present : absent);
  EXPECT_EQ(absent, without);
  EXPECT_EQ(present, static_cast<int64_t>(wanted.size()));
  std::set<int64_t> keys;
  for (const auto& [key, value] : left) keys.insert(key);
  for (const auto& [key, value] : right) keys.insert(key);
  int64_t lefts = 0, rights = 0;
  const auto groups = l.CoGroup(r, Partitions(3)).Collect();
  for (const auto& group : groups) {
    EXPECT_EQ(keys.erase(group.first), 1u);
    lefts += static_cast<int64_t>(group.second.first.size());
    rights += static_cast<int64_t>(group.second.second.size());
  }
  EXPECT_TRUE(keys.empty());
  EXPECT_EQ(lefts, 9'000);
  EXPECT_EQ(rights, 4'000);
}

// Each with its counterpart that has to shuffle because its partitions are of another number.
TEST_P(Spilling, PairsThatLieByKeyAreNotShuffledAgain) {
  const auto rows = Rows(9'000, 3'000, 6);
  Context context = Start(GetParam());
  const auto longest = [](const std::string& a, const std::string& b) { return a.size() < b.size() ? b : a; };
  const auto left = context.Parallelize(rows, Partitions(4)).GroupByKey(Partitions(3)).Cache();
  const auto right = context.Parallelize(Rows(4'000, 4'000, 7), Partitions(3))
                         .ReduceByKey(longest, Partitions(3))
                         .Filter([](const auto& row) { return row.first % 5 != 0; });
  const auto sizes = left.MapValues([](const std::vector<std::string>& values) { return values.size(); });
  const auto shuffles = [](const auto& dataset) { return dataset.node()->shuffles.size(); };
  const auto equal = [](const auto& here, const auto& elsewhere) {
    EXPECT_EQ(here.node()->shuffles.size(), 0u);
    auto got = here.Collect(), wanted = elsewhere.Collect();
    EXPECT_FALSE(got.empty());
    EXPECT_EQ(Sorted(std::move(got)), Sorted(std::move(wanted)));
  };
  EXPECT_EQ(shuffles(sizes.Join(right, Partitions(5))), 2u);
  equal(sizes.Join(right), sizes.Join(right, Partitions(5)));
  equal(sizes.LeftJoin(right), sizes.LeftJoin(right, Partitions(5)));
  equal(sizes.CoGroup(right), sizes.CoGroup(right, Partitions(5)));
  equal(sizes.Join(right).GroupByKey(), sizes.Join(right, Partitions(5)).GroupByKey(Partitions(4)));
  const auto sum = [](size_t a, size_t b) { return a + b; };
  equal(sizes.ReduceByKey(sum), sizes.ReduceByKey(sum, Partitions(5)));
  // One side only: the other comes to it.
  const auto loose = context.Parallelize(rows, Partitions(4));
  EXPECT_EQ(shuffles(loose.Join(right)), 1u);
  EXPECT_EQ(Sorted(loose.Join(right).Collect()), Sorted(loose.Join(right, Partitions(5)).Collect()));
  EXPECT_EQ(Sorted(right.Join(loose).Collect()), Sorted(right.Join(loose, Partitions(5)).Collect()));
  // What changes keys loses the place.
  const auto moved = right.Map([](const auto& row) { return std::pair(row.first + 1, row.second); });
  EXPECT_EQ(shuffles(moved.Join(right)), 1u);
  EXPECT_EQ(Sorted(moved.Join(right).Collect()), Sorted(moved.Join(right, Partitions(5)).Collect()));
}

TEST_P(Spilling, Sort) {
  auto rows = Rows(15'000, 1'000'000, 5);
  for (size_t i = 0; i < rows.size(); i += 3) rows[i].first = -rows[i].first;
  Context context = Start(GetParam());
  const auto data = context.Parallelize(rows, Partitions(4));
  const auto up = data.SortByKey(SortDirection::kAscending, Partitions(3)).Collect();
  ASSERT_EQ(up.size(), rows.size());
  EXPECT_TRUE(std::is_sorted(up.begin(), up.end(), [](const auto& a, const auto& b) { return a.first < b.first; }));
  EXPECT_EQ(Sorted(up), Sorted(rows));
  const auto down = data.SortBy([](const auto& row) { return std::string_view(row.second); },
                                SortDirection::kDescending, Partitions(5))
                        .Collect();
  ASSERT_EQ(down.size(), rows.size());
  EXPECT_TRUE(
      std::is_sorted(down.begin(), down.end(), [](const auto& a, const auto& b) { return a.second > b.second; }));
}

TEST_F(EngineTest, SortsOtherKeys) {
  Context context = Start();
  const std::vector<double> doubles{2.5, -1e300, 0.0, -0.5, 1e-300, 7, -7, 1e300};
  EXPECT_EQ(context.Parallelize(doubles, Partitions(3)).SortBy([](double x) { return x; }).Collect(), Sorted(doubles));
  const std::vector<std::string> strings{"", "a", "ab", "abcdefgh", "abcdefghi", "abcdefgha", "\xff", "b"};
  EXPECT_EQ(context.Parallelize(strings, Partitions(2)).SortBy([](const std::string& s) { return s; }).Collect(),
            Sorted(strings));
  using Pair = std::pair<std::string, int64_t>;
  const std::vector<Pair> pairs{{"b", 1}, {"a", 2}, {"a", 1}, {"abcdefghij", 3}, {"abcdefghij", -3}};
  EXPECT_EQ(context.Parallelize(pairs, Partitions(2)).SortBy([](const Pair& p) { return p; }).Collect(), Sorted(pairs));
  EXPECT_EQ(context.Range(0, 0).SortBy([](int64_t x) { return x; }).Count(), 0);
}

std::string MessageOf(const std::function<void()>& run) {
  try {
    run();
  } catch (const JobError& error) {
    return error.what();
  }
  return "no error";
}

struct Row {
  std::string_view name;
  int64_t count = 0;
  std::optional<double> price;
};

TEST_F(EngineTest, Csv) {
  Context context = Start();
  const std::string path = Write("t.csv", "id,name,price,count\r\n1,\"a, \"\"b\"\"\",1.5,10\r\n2,c,,20\n3,d,NA,30\n");
  const auto rows = context.Csv<Row>(path, {"name", "count", "price"}).Map([](const Row& row) {
    return std::tuple(std::string(row.name), row.count, row.price.value_or(-1));
  });
  EXPECT_EQ(rows.Collect(), (std::vector<std::tuple<std::string, int64_t, double>>{
                                {"a, \"b\"", 10, 1.5}, {"c", 20, -1}, {"d", 30, -1}}));
  EXPECT_THROW(context.Csv<Row>(path, {"name", "nothing", "price"}), JobError);
  const std::string bad = Write("bad.csv", "name,count,price\nx,1,2\ny,2\nz,three,4\nw,4,5\n");
  try {
    context.Csv<Row>(bad, {"name", "count", "price"}).Count();
    FAIL() << "a row of wrong width passed";
  } catch (const JobError& error) {
    EXPECT_NE(std::string(error.what()).find("2 fields instead of 3: y,2"), std::string::npos) << error.what();
  }
  CsvOptions counted;
  counted.bad_rows = BadRows::kCount;
  EXPECT_EQ(context.Csv<Row>(bad, {"name", "count", "price"}, counted).Count(), 2);
  const std::string empty = Write("empty.csv", "");
  EXPECT_NE(MessageOf([&] { context.Csv<Row>(empty); }).find("is empty and so has no header"), std::string::npos);
  CsvOptions headless;
  headless.header = false;
  EXPECT_EQ(context.Csv<Row>(empty, {}, headless).Count(), 0);
}

struct Sale {
  std::string name;
  int64_t count = 0;
  std::optional<double> price;
  std::vector<int> marks;
  FL_FIELDS(name, count, price, marks)
  bool operator==(const Sale&) const = default;
};

TEST_F(EngineTest, JsonLines) {
  Context context = Start();
  const std::string path =
      Write("t.json",
            "{\"count\": 10, \"what\": {\"name\": \"a \\\"b\\\" \\u00e9\"}, \"price\": 1.5}\n\n"
            "{\"what\": {\"name\": \"c\"}, \"count\": 20}\r\n{\"price\":null,\"what.name\":\"d\",\"count\":30}");
  const auto rows = context.JsonLines<Row>(path, {"what.name", "count", "price"}).Map([](const Row& row) {
    return std::tuple(std::string(row.name), row.count, row.price.value_or(-1));
  });
  EXPECT_EQ(rows.Collect(), (std::vector<std::tuple<std::string, int64_t, double>>{
                                {"a \"b\" \xc3\xa9", 10, 1.5}, {"c", 20, -1}, {"d", 30, -1}}));
  const auto read = [&](const std::string& name, const std::string& text) {
    const std::string bad = Write(name, "{\"name\":\"x\",\"count\":1,\"price\":2}\n" + text + "\n");
    BadRows counted = BadRows::kCount;
    EXPECT_EQ(context.JsonLines<Row>(bad, {"name", "count", "price"}, counted).Count(), 1) << text;
    return MessageOf([&] { context.JsonLines<Row>(bad, {"name", "count", "price"}).Count(); });
  };
  EXPECT_NE(read("1.json", R"({"name":"y","count":"2"})").find("2 is no value for count"), std::string::npos);
  EXPECT_NE(read("2.json", R"({"name":"y","count":2.5})").find("2.5 is no value for count"), std::string::npos);
  EXPECT_NE(read("3.json", R"({"count":2})").find("there is no name"), std::string::npos);
  EXPECT_NE(read("4.json", "[1]").find("it is no JSON object: [1]"), std::string::npos);
  EXPECT_NE(read("5.json", "{\"name\":").find("5.json, line 2 of the part at byte 0: "), std::string::npos);
  EXPECT_NE(read("6.json", std::string(1000, '[')).find("line 2"), std::string::npos);
  EXPECT_NE(MessageOf([&] { context.JsonLines<Row>(path, {"name"}); }).find("1 columns are named for a record of 3"),
            std::string::npos);
}

TEST_F(EngineTest, RowsAreSavedAndReadAgain) {
  Context context = Start();
  const std::vector<Sale> sales = {{"a, \"b\"", 1, 1.5, {1, 2}}, {"c\td", -2, std::nullopt, {}}, {"", 3, 1e300, {7}}};
  const auto data = context.Parallelize(sales, Partitions(1));
  const fs::path csv = directory_ / "csv", json = directory_ / "json";
  EXPECT_EQ(data.SaveCsv(csv, {"name", "count", "price", "marks"}), 3);
  EXPECT_EQ(Read(csv / "part-00000"),
            "name,count,price,marks\n\"a, \"\"b\"\"\",1,1.5,\"1,2\"\nc\td,-2,,\n,3,1e+300,7\n");
  EXPECT_EQ(context.Csv<Row>(csv, {"name", "count", "price"}).Count(), 3);
  EXPECT_EQ(data.SaveJsonLines(json), 3);
  EXPECT_EQ(Read(json / "part-00000"),
            "{\"name\":\"a, \\\"b\\\"\",\"count\":1,\"price\":1.5,\"marks\":[1,2]}\n"
            "{\"name\":\"c\\td\",\"count\":-2,\"price\":null,\"marks\":[]}\n"
            "{\"name\":\"\",\"count\":3,\"price\":1e+300,\"marks\":[7]}\n");
  const auto names = context.JsonLines<Row>(json, {"name", "count", "price"}).Map([](const Row& row) {
    return std::tuple(std::string(row.name), row.count, row.price.value_or(-1));
  });
  EXPECT_EQ(names.Collect(), (std::vector<std::tuple<std::string, int64_t, double>>{
                                 {"a, \"b\"", 1, 1.5}, {"c\td", -2, -1}, {"", 3, 1e300}}));
  const auto pairs = context.Range(0, 2, Partitions(1)).Map([](int64_t x) {
    return std::pair(x, std::tuple(x == 0, 0.0 / static_cast<double>(x)));
  });
  EXPECT_EQ(pairs.SaveJsonLines(directory_ / "pairs", {"x", "y"}), 2);
  EXPECT_EQ(Read(directory_ / "pairs/part-00000"), "{\"x\":0,\"y\":[true,null]}\n{\"x\":1,\"y\":[false,0]}\n");
  EXPECT_EQ(context.Range(0, 2, Partitions(1)).SaveCsv(directory_ / "numbers"), 2);
  EXPECT_EQ(Read(directory_ / "numbers/part-00000"), "0\n1\n");
  EXPECT_THROW(pairs.SaveCsv(directory_ / "never", {"x"}), JobError);
  EXPECT_THROW(pairs.SaveJsonLines(directory_ / "never"), JobError);
}

TEST_F(EngineTest, AggregatesFoldInPlace) {
  Context context = Start();
  const auto pairs = context.Range(0, 20'000, Partitions(4)).Map([](int64_t x) { return std::pair(x % 5, x); });
  const auto check = [](const auto& lists) {
    ASSERT_EQ(lists.size(), 5u);
    for (const auto& [key, list] : lists) {
      EXPECT_EQ(list.values.size(), 4000u);
      for (const int64_t x : list.values) EXPECT_EQ(x % 5, key);
    }
  };
  const auto merge = [](Gathered a, const Gathered& b) {
    a.values.insert(a.values.end(), b.values.begin(), b.values.end());
    return a;
  };
  Gathered::copied = 0;
  check(pairs
            .AggregateByKey(
                Gathered(), [](Gathered& list, int64_t x) { list.values.push_back(x); }, merge)
            .Collect());
  // A few copies for each partial list, not one for each record.
  EXPECT_LT(Gathered::copied, 10 * 20'000);
  Gathered::copied = 0;
  check(pairs
            .AggregateByKey(
                Gathered(),
                [](Gathered list, int64_t x) {
                  list.values.push_back(x);
                  return list;
                },
                merge)
            .Collect());
  EXPECT_LT(Gathered::copied, 10 * 20'000);
  // Where records lie by key already there is no shuffle, and the same result.
  const auto lying = pairs.GroupByKey(Partitions(3)).MapValues([](const std::vector<int64_t>& all) {
    return static_cast<int64_t>(all.size());
  });
  const auto sums = lying.AggregateByKey(
      int64_t{7}, [](int64_t sum, int64_t x) { return sum + x; }, [](int64_t a, int64_t b) { return a + b; },
      Partitions(3));
  EXPECT_EQ(sums.node()->shuffles.size(), 0u);
  EXPECT_EQ(Sorted(sums.Values().Collect()), std::vector<int64_t>(5, 4007));
}

TEST_F(EngineTest, SavesWholeOrNotAtAll) {
  Context context = Start();
  const fs::path out = directory_ / "out";
  EXPECT_EQ(context.Range(0, 5, Partitions(2)).SaveText(out), 5);
  EXPECT_TRUE(fs::exists(out / "_SUCCESS"));
  EXPECT_FALSE(fs::exists(out / "_temporary"));
  EXPECT_EQ(Read(out / "part-00000") + Read(out / "part-00001"), "0\n1\n2\n3\n4\n");
  EXPECT_THROW(context.Range(0, 5).SaveText(out), JobError);
  EXPECT_EQ(context.Text(out).Count(), 5);  // names that begin with _ are no input

  const fs::path failed = directory_ / "failed";
  EXPECT_THROW(context.Range(0, 5, Partitions(2))
                   .Map([](int64_t x) {
                     if (x == 4) throw std::runtime_error("four");
                     return x;
                   })
                   .SaveText(failed),
               JobError);
  EXPECT_FALSE(fs::exists(failed));
}

TEST_F(EngineTest, AnAbortLeavesNothingWhileAttemptsBeginThatNeverEnd) {
  for (int save = 0; save < 200; ++save) {
    SavePlan plan;
    plan.directory = directory_ / "aborted";
    plan.job = "app-" + std::to_string(save);
    ASSERT_FALSE(PrepareSave(plan, "app"));
    std::atomic<int64_t> begun = 0;
    std::deque<PartFile> killed[3];  // the killed clean up no more: these outlive what is looked at
    std::vector<std::thread> executors;
    for (std::deque<PartFile>& attempts : killed) {
      executors.emplace_back([&] {
        ReadingTask task;
        try {
          while (attempts.size() < 100) {  // each keeps a file open
            task.task_id = ++begun;
            attempts.emplace_back(task, plan);
          }
        } catch (const TaskError&) {
          // The save is gone.
        }
      });
    }
    while (begun < 10) std::this_thread::yield();
    AbortSave(plan);
    for (std::thread& executor : executors) executor.join();
    ASSERT_FALSE(fs::exists(plan.directory)) << "save " << save << ", attempts " << begun;
  }
}

TEST_F(EngineTest, APoisonTaskFailsWithItsOwnWords) {
  Context context = Start();
  try {
    context.Range(0, 100, Partitions(4))
        .Map([](int64_t x) {
          if (x == 77) throw std::runtime_error("cannot stand 77");
          return x;
        })
        .Named("picky")
        .Count();
    FAIL() << "no error";
  } catch (const JobError& error) {
    EXPECT_NE(std::string(error.what()).find("cannot stand 77"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("picky"), std::string::npos) << error.what();
  }
  EXPECT_EQ(context.Range(0, 10).Count(), 10);  // others go on
}

std::atomic<int> failures_left;

TEST_F(EngineTest, FailedTasksAreTriedAgain) {
  Context context = Start();
  failures_left = 3;
  EXPECT_EQ(context.Range(0, 10, Partitions(1))
                .Map([](int64_t x) {
                  if (x == 5 && failures_left-- > 0) throw std::runtime_error("not yet");
                  return x;
                })
                .Count(),
            10);
}

TEST_F(EngineTest, LostMapOutputsAreComputedAgain) {
  Context context = Start();
  const auto sums = context.Range(0, 1000, Partitions(4))
                        .Map([](int64_t x) { return std::pair(x % 10, x); })
                        .ReduceByKey([](int64_t a, int64_t b) { return a + b; }, Partitions(3));
  const auto first = Sorted(sums.Collect());
  const auto files = FilesBelow(directory_, ".data");
  ASSERT_EQ(files.size(), 4u);
  fs::remove(files[1]);
  EXPECT_EQ(Sorted(sums.Collect()), first);
  // Damaged, not lost.
  const auto again = FilesBelow(directory_, ".data");
  {
    std::fstream file(again[0], std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(30);
    file.put('\x55');
  }
  EXPECT_EQ(Sorted(sums.Collect()), first);
}

std::atomic<int> computed;

TEST_F(EngineTest, CachedPartitionsAreComputedOnce) {
  Context context = Start();
  computed = 0;
  {
    const auto kept = context.Range(0, 100, Partitions(4))
                          .Map([](int64_t x) {
                            ++computed;
                            return std::pair(x % 7, std::to_string(x));
                          })
                          .Cache();
    EXPECT_EQ(kept.Count(), 100);
    EXPECT_EQ(kept.CountByKey().Count(), 7);
    EXPECT_EQ(Sorted(kept.Collect())[0], (std::pair<int64_t, std::string>{0, "0"}));
    EXPECT_EQ(computed, 100);
  }
  // No room in memory: on disk, or computed again.
  Context small = Start(64 << 10, 1);
  computed = 0;
  const auto large = small.Range(0, 20, Partitions(4)).Map([](int64_t x) {
    ++computed;
    return std::string(10'000, static_cast<char>('a' + x));
  });
  const auto on_disk = large.Persist();
  EXPECT_EQ(on_disk.Count(), 20);
  EXPECT_EQ(on_disk.Count(), 20);
  EXPECT_EQ(computed, 20);
  const auto in_memory = large.Cache();
  EXPECT_EQ(in_memory.Count(), 20);
  EXPECT_EQ(in_memory.Count(), 20);
  EXPECT_GT(computed, 40);
}

struct Lookup {
  Broadcast<std::vector<std::string>> names;
  Counter misses;
  std::string operator()(int64_t i) const {
    if (i < static_cast<int64_t>(names->size())) return (*names)[static_cast<size_t>(i)];
    misses.Add();
    return "?";
  }
};

TEST_F(EngineTest, ABroadcastGoesWithItsLastUser) {
  Context context = Start();
  const auto id_of = [](const Lookup& lookup) { return lookup.names.id; };
  const auto there = [](int64_t id) { return DecodedBroadcasts::Find(id) != nullptr; };
  int64_t id = -1;
  {
    std::optional<Dataset<std::string>> named;
    {
      const Lookup lookup{context.MakeBroadcast(std::vector<std::string>{"zero", "one"}), context.MakeCounter()};
      id = id_of(lookup);
      named = context.Range(0, 4, Partitions(2)).Map(lookup);
    }
    EXPECT_EQ(named->Collect(), (std::vector<std::string>{"zero", "one", "?", "?"}));
    const auto further = named->Filter([](const std::string& name) { return name != "?"; });
    named.reset();
    EXPECT_TRUE(there(id));
    EXPECT_EQ(further.Count(), 2);
  }
  EXPECT_FALSE(there(id));
}

TEST_F(EngineTest, BroadcastsAndCounters) {
  Context context = Start();
  const Counter misses = context.MakeCounter();
  const Lookup lookup{context.MakeBroadcast(std::vector<std::string>{"zero", "one"}), misses};
  EXPECT_EQ(context.Range(0, 4, Partitions(2)).Map(lookup).Collect(),
            (std::vector<std::string>{"zero", "one", "?", "?"}));
  EXPECT_EQ(context.ValueOf(misses), 2);
}

TEST_F(EngineTest, BadInputIsNamed) {
  Context context = Start();
  const auto message = [&](auto run) -> std::string {
    try {
      run();
    } catch (const JobError& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(message([&] { context.Text(directory_ / "nothing"); }).find("no such file"), std::string::npos);
  EXPECT_NE(message([&] { context.Text(directory_ / "*.none"); }).find("no file matches"), std::string::npos);
  const std::string shrinks = Write("shrinks", RandomText(10'000, 9));
  const auto lines = context.Text(shrinks);
  fs::resize_file(shrinks, 1000);
  EXPECT_NE(message([&] { lines.Count(); }).find("shorter"), std::string::npos);
  const std::string odd = Write("odd", std::string(150, 'x'));
  EXPECT_NE(message([&] { context.FixedRecords(odd, 100); }).find("no multiple"), std::string::npos);
}

TEST_F(EngineTest, DirectoriesAndFilesThatCannotBeRead) {
  Context context = Start();
  fs::create_directories(directory_ / "in" / "deeper");
  Write("in/a", "1\n");
  Write("in/deeper/b", "2\n");
  EXPECT_NE(MessageOf([&] { context.Text(directory_ / "in"); }).find("deeper is a directory"), std::string::npos);
  EXPECT_NE(MessageOf([&] { context.Text(directory_ / "in/*"); }).find("no error"), std::string::npos);
  EXPECT_EQ(context.Text(directory_ / "in/*").Collect(), (std::vector<std::string>{"1", "2"}));
  EXPECT_NE(MessageOf([&] { context.Csv<Row>(directory_ / "in"); }).find("is a directory"), std::string::npos);
  fs::create_symlink(directory_ / "gone", directory_ / "dangling");
  EXPECT_NE(MessageOf([&] { context.Text(directory_ / "dangling"); }).find("dangling"), std::string::npos);
  EXPECT_NE(MessageOf([&] { context.Text("hdfs://node/x"); }).find("hdfs://"), std::string::npos);
  EXPECT_NE(MessageOf([&] { context.Range(0, 1).SaveText(directory_ / "in/a"); }).find("it is a file"),
            std::string::npos);
  EXPECT_NE(MessageOf([&] { context.Range(0, 1).SaveText(directory_ / "in/a/out"); }).find("cannot save"),
            std::string::npos);
  EXPECT_EQ(Read(directory_ / "in/a"), "1\n");
}

TEST_F(EngineTest, BytesThatAreNoUtf8PassUnchanged) {
  Context context = Start();
  const std::string bytes("caf\xe9 \xff\xfe\0x \xc3\xa9\n\xed\xa0\x80 end\n", 21);
  const auto words = context.Text(Write("latin1", bytes)).FlatMap([](std::string_view line) { return Words(line); });
  std::vector<std::string> wanted;
  for (const std::string_view word : Words(bytes)) wanted.emplace_back(word);
  EXPECT_EQ(words.Collect(), wanted);
  EXPECT_EQ(context.Text(directory_ / "latin1").SaveText(directory_ / "copy"), 2);
  std::string copy;
  for (const auto& part : FilesBelow(directory_ / "copy", "")) {
    if (part.filename().string().starts_with("part-")) copy += Read(part);
  }
  EXPECT_EQ(copy, bytes);
}

TEST_F(EngineTest, ARecordAboveTheBudgetIsNamed) {
  Context context = Start(int64_t{600} << 10, 1);
  const std::string path = Write("long", "short\n" + std::string(2 << 20, 'x') + "\nshort\n");
  const std::string error = MessageOf([&] { context.Text(path).Count(); });
  EXPECT_NE(error.find("longer than the task's memory"), std::string::npos) << error;
  EXPECT_NE(error.find("long"), std::string::npos) << error;
  EXPECT_EQ(context.Range(0, 10).Count(), 10);
}

TEST_F(EngineTest, ASaveThatAnEarlierDriverAttemptCommittedIsNotDoneAgain) {
  const SavePlan plan{directory_ / "out", "app-7", "app-7-1"};
  EXPECT_FALSE(PrepareSave(plan, "app"));
  for (int i = 0; i < 2; ++i) {
    std::ofstream(directory_ / ("out/_temporary/app-7-1/committed/part-0000" + std::to_string(i))) << i << "\n";
  }
  // The driver dies here, and once more amid its renames: the next attempt begins again.
  fs::rename(directory_ / "out/_temporary/app-7-1/committed/part-00000", directory_ / "out/part-00000");
  SavePlan second = plan;
  second.job = "app-7-2";
  EXPECT_FALSE(PrepareSave(second, "app"));
  EXPECT_FALSE(fs::exists(directory_ / "out/part-00000"));
  EXPECT_FALSE(fs::exists(directory_ / "out/_temporary/app-7-1"));
  std::ofstream(directory_ / "out/_temporary/app-7-2/committed/part-00000") << "0\n1\n";
  CommitSave(second, 1, 2);
  // A third attempt finds it done; another save of the same application, and another application, find it taken.
  SavePlan third = plan;
  third.job = "app-7-3";
  EXPECT_EQ(PrepareSave(third, "app"), 2);
  EXPECT_EQ(Read(directory_ / "out/part-00000"), "0\n1\n");
  third.save = "app-8";
  EXPECT_THROW(PrepareSave(third, "app"), JobError);
  third.save = "else-7";
  EXPECT_THROW(PrepareSave(third, "else"), JobError);
}

TEST_F(EngineTest, TheEventLogTellsTheStory) {
  const std::string log = directory_ / "events.jsonl";
  {
    LocalOptions options;
    options.slots = 2;
    options.directory = directory_;
    options.event_log = log;
    Local local(options);
    Context context(local.session());
    const auto sums = context.Range(0, 100, Partitions(4))
                          .Map([](int64_t x) { return std::pair(x % 3, x); })
                          .CountByKey(Partitions(2));
    EXPECT_EQ(sums.Count(), 3);
    const auto broken = [&] {
      context.Range(0, 1, Partitions(1))
          .Map([](int64_t x) {
            if (x == 0) throw std::runtime_error("no zeros");
            return x;
          })
          .Count();
    };
    EXPECT_NE(MessageOf(broken).find("no zeros"), std::string::npos);
    local.End("");
  }
  const auto story = history::ReadLog(Read(log));
  ASSERT_TRUE(story.ok()) << story.error().message;
  ASSERT_TRUE(story->ended());
  ASSERT_EQ(story->jobs().size(), 2u);
  EXPECT_EQ(story->jobs().at(0).error, "");
  EXPECT_NE(story->jobs().at(1).error.find("no zeros"), std::string::npos);
  ASSERT_EQ(story->stages().size(), 3u);
  int64_t done = 0, failed = 0, shuffled = 0;
  for (const auto& [key, stage] : story->stages()) {
    done += stage.done;
    failed += stage.failed;
    shuffled += story->Summarize(stage).shuffle_written_bytes;
    EXPECT_NE(stage.ended_ms, 0);
  }
  EXPECT_EQ(done, 6);
  EXPECT_EQ(failed, 4);
  EXPECT_GT(shuffled, 0);
}

TEST_F(EngineTest, NothingStaysBehind) {
  {
    Context context = Start(int64_t{600} << 10);
    const auto sorted = context.Range(0, 50'000).SortBy([](int64_t x) { return -x; });
    EXPECT_EQ(sorted.Take(1)[0], 49'999);
  }
  local_.reset();
  EXPECT_TRUE(fs::is_empty(directory_ / "scratch"));
}

TEST_F(EngineTest, ShuffleFilesGoWithTheirDatasets) {
  Context context = Start();
  {
    const auto counts = context.Range(0, 100, Partitions(2))
                            .Map([](int64_t x) { return std::pair(x % 3, x); })
                            .CountByKey(Partitions(2));
    EXPECT_EQ(counts.Count(), 3);
    EXPECT_EQ(FilesBelow(directory_, ".data").size(), 2u);
  }
  EXPECT_EQ(context.Range(0, 1).Count(), 1);
  // The driver's message went before that job; one more turn of its loop and it has been carried out.
  local_->session().OnLoop([] {});
  EXPECT_TRUE(FilesBelow(directory_, ".data").empty());
}

}  // namespace
}  // namespace fairlead::engine
