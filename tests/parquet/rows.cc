// A job for tests/parquet/parquet_test.py: Parquet to lines of JSON, and rows of every type to Parquet.
#include <fairlead/engine.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace fairlead;

namespace {

/// A column of each type that another program may write.
struct Every {
  std::optional<bool> b;
  std::optional<int8_t> i8;
  std::optional<int16_t> i16;
  std::optional<int32_t> i32;
  std::optional<int64_t> i64;
  std::optional<uint8_t> u8;
  std::optional<uint16_t> u16;
  std::optional<uint32_t> u32;
  std::optional<uint64_t> u64;
  std::optional<float> f;
  std::optional<double> d;
  std::optional<std::string> s;
  std::optional<std::string> bytes;
  std::optional<std::string> four;
  std::optional<std::string> word;
  std::optional<int32_t> day;
  std::optional<int64_t> at_ms;
  std::optional<int64_t> at_us;
  std::optional<int64_t> at_ns;
  std::optional<int64_t> noon;
  std::optional<int32_t> delay;
  std::optional<std::string> city;
  std::optional<std::vector<int32_t>> stops;
  std::vector<std::optional<std::string>> notes;
  std::vector<bool> flags;
  FL_FIELDS(b, i8, i16, i32, i64, u8, u16, u32, u64, f, d, s, bytes, four, word, day, at_ms, at_us, at_ns, noon, delay,
            city, stops, notes, flags)
};

std::vector<std::string> ColumnsOfEvery() {
  std::vector<std::string> names;
  Every probe;
  Every::VisitFields(probe, [&](std::string_view name, const auto&) { names.emplace_back(name); });
  for (std::string& name : names) {
    if (name == "delay") name = "arrival.delay";
    if (name == "city") name = "arrival.place.city";
  }
  return names;
}

struct Made {
  int64_t id = 0;
  int8_t i8 = 0;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  float f = 0;
  double d = 0;
  bool even = false;
  std::string text;
  std::optional<int32_t> maybe;
  int32_t day = 0;
  std::optional<int64_t> at;
  std::vector<int64_t> numbers;
  std::optional<std::vector<std::optional<std::string>>> words;
  FL_FIELDS(id, i8, u16, u32, u64, f, d, even, text, maybe, day, at, numbers, words)
};

Made MakeRow(int64_t i) {
  Made row;
  row.id = i;
  row.i8 = static_cast<int8_t>(i);
  row.u16 = static_cast<uint16_t>(i * 7);
  row.u32 = static_cast<uint32_t>(i * 1000003);
  row.u64 = UINT64_MAX - static_cast<uint64_t>(i);
  row.f = static_cast<float>(i) / 4;
  row.d = static_cast<double>(i) * 1e100;
  row.even = i % 2 == 0;
  row.text = "text " + std::to_string(i % 1000);
  if (i % 3 != 0) row.maybe = static_cast<int32_t>(-i);
  row.day = static_cast<int32_t>(i - 1000);
  if (i % 7 != 0) row.at = (i - 1000) * 86399123457;
  for (int64_t n = 0; n < i % 4; ++n) row.numbers.push_back(i * n);
  if (i % 2 == 0) row.words = {"a", std::nullopt, std::to_string(i)};
  if (i % 5 == 0) row.words.emplace();
  return row;
}

template <class V>
struct One {
  V value{};
};
template <class V>
void PrintColumn(Context& context, const std::string& path, const std::string& column) {
  for (const auto& row : context.Parquet<One<V>>(path, {column}).Collect()) {
    std::string line;
    AppendText(line, row.value);
    std::printf("%s\n", line.c_str());
  }
}

/// KiB that this process has had in memory at most.
long PeakMemory() {
  std::ifstream status("/proc/self/status");
  long kib = -1;
  for (std::string word; kib < 0 && status >> word;) {
    if (word == "VmHWM:") status >> kib;
  }
  return kib;
}

/// Reads IN many times over, each time with some bytes changed; prints how often that failed, and the memory used.
void ReadDamaged(Context& context, const std::string& path, long tries, unsigned seed) {
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  const std::string damaged = path + ".damaged";
  std::mt19937 random(seed);
  long failed = 0;
  for (long i = 0; i < tries; ++i) {
    std::string bytes = whole;
    // Every other time in the last part, where the footer is.
    const size_t from = i % 2 == 0 ? 0 : whole.size() - std::min<size_t>(whole.size(), 4000);
    for (long flips = 0; flips <= i % 4; ++flips)
      bytes[from + random() % (whole.size() - from)] = static_cast<char>(random());
    std::remove(damaged.c_str());
    std::ofstream(damaged, std::ios::binary) << bytes;
    try {
      context.Parquet<Every>(damaged, ColumnsOfEvery()).Count();
    } catch (const JobError& error) {
      if (std::string_view(error.what()).find("cannot read " + damaged) == std::string_view::npos) throw;
      ++failed;
    }
  }
  std::printf("%ld of %ld failed, %ld KiB\n", failed, tries, PeakMemory());
}

/// rows every IN OUT | damaged IN TRIES SEED | make COUNT PARTS CODEC OUT | numbers|texts|lists IN COLUMN
void Rows(Context& context, const Arguments& arguments) {
  const std::string& what = arguments.at(0);
  if (what == "every") {
    context.Parquet<Every>(arguments.at(1), ColumnsOfEvery()).SaveJsonLines(arguments.at(2));
  } else if (what == "damaged") {
    ReadDamaged(context, arguments.at(1), arguments.Number(2, 0), static_cast<unsigned>(arguments.Number(3, 0)));
  } else if (what == "make") {
    ParquetOptions options;
    options.codec = arguments.at(3) == "zstd"     ? ParquetCodec::kZstd
                    : arguments.at(3) == "snappy" ? ParquetCodec::kSnappy
                                                  : ParquetCodec::kNone;
    options.timestamps = {"at"};
    options.dates = {"day"};
    context.Range(0, arguments.Number(1, 0), Partitions(static_cast<int32_t>(arguments.Number(2, 1))))
        .Map([](int64_t i) { return MakeRow(i); })
        .SaveParquet(arguments.at(4), {}, options);
  } else if (what == "numbers") {
    PrintColumn<int64_t>(context, arguments.at(1), arguments.at(2));
  } else if (what == "texts") {
    PrintColumn<std::string>(context, arguments.at(1), arguments.at(2));
  } else {
    PrintColumn<std::vector<int64_t>>(context, arguments.at(1), arguments.at(2));
  }
}

}  // namespace

FAIRLEAD_JOB(Rows)
