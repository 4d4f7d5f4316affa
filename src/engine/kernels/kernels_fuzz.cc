#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/kernels/combine_table.h"
#include "engine/kernels/group_table.h"
#include "engine/kernels/hash_index.h"
#include "engine/kernels/sort_kernel.h"
#include "engine/run/file_task_for_test.h"
#include "engine/shuffle/shuffle_writer.h"

// Any keys and values through the tables, and through a shuffle that is grouped and sorted with so little memory that
// it spills: what comes out is what a std::map gives.

namespace {

using namespace fairlead::engine;
using Groups = std::map<std::string, std::vector<std::string>>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

void Require(bool good) {
  if (!good) std::abort();
}

/// A byte for the length of a key of up to 40 bytes, one that says how often its byte stands in the value, the key.
Pairs PairsOf(std::string_view bytes) {
  Pairs pairs;
  while (bytes.size() >= 2) {
    const size_t length = std::min<size_t>(static_cast<uint8_t>(bytes[0]) % 41, bytes.size() - 2);
    const size_t repeated = static_cast<uint8_t>(bytes[1]);
    pairs.emplace_back(std::string(bytes.substr(2, length)), std::string(repeated * 16, bytes[1]));
    bytes.remove_prefix(2 + length);
  }
  return pairs;
}

void CheckTables(const Pairs& pairs, const Groups& groups) {
  CombineTable<uint64_t> table;
  HashIndex index;
  for (const auto& [key, value] : pairs) {
    table.Upsert(
        TableKey(key), [&](uint64_t& sum) { sum += value.size(); }, [&] { return uint64_t{value.size()}; });
    index.Add(key, value);
  }
  index.Drain();
  index.Arrange();
  Require(table.size() == groups.size() && index.keys() == groups.size());
  for (const auto& [key, values] : groups) {
    uint64_t sum = 0;
    for (const std::string& value : values) sum += value.size();
    const auto* const entry = table.Find(TableKey(key));
    Require(entry != nullptr && entry->value == sum);
    const HashIndex::Key* const found = index.Find(TableKey(key));
    Require(found != nullptr);
    std::vector<std::string> got;
    index.ForEachValue(found->value, [&](std::string_view value) { got.emplace_back(value); });
    Require(got == values);
  }
}

void CheckShuffle(const Pairs& pairs, Groups groups, const std::string& directory) {
  constexpr int64_t kLittle = 16 << 10;
  {
    FileTask task({directory}, kLittle);
    ShuffleWriter by_key(task, 0, 1, task.memory_bytes), keys(task, 1, 1, task.memory_bytes);
    for (const auto& [key, value] : pairs) {
      Buffer& frame = by_key.For(0);
      AppendPart(frame, key, 0);
      AppendPart(frame, value, 0);
      AppendPart(keys.For(0), key, 0);
    }
    by_key.Finish();
    keys.Finish();
  }
  FileTask task({directory}, kLittle, 1);
  Groups got;
  const KeyedInput input{{0, 0}, 0};
  GroupInputs(task, {&input, 1}, 0, [&](std::string_view key, auto values, auto) {
    Require(got.try_emplace(std::string(key), values.begin(), values.end()).second);
  });
  for (Groups* const both : {&got, &groups}) {
    for (auto& [key, values] : *both) std::sort(values.begin(), values.end());
  }
  Require(got == groups);
  std::vector<std::string> sorted, wanted;
  SortShuffle(task, 1, 0, 0,
              {[](std::string_view) { return uint64_t{0}; },
               [](std::string_view a, std::string_view b) { return a < b; }, false},
              [&](std::string_view record) { sorted.emplace_back(record); });
  for (const auto& [key, value] : pairs) wanted.push_back(key);
  std::sort(wanted.begin(), wanted.end());
  Require(sorted == wanted);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fs = std::filesystem;
  const Pairs pairs = PairsOf({reinterpret_cast<const char*>(data), size});
  Groups groups;
  for (const auto& [key, value] : pairs) groups[key].push_back(value);
  CheckTables(pairs, groups);
  const std::string directory = fs::temp_directory_path() / ("kernels_fuzz_" + std::to_string(::getpid()));
  fs::create_directories(directory);
  CheckShuffle(pairs, std::move(groups), directory);
  fs::remove_all(directory);
  return 0;
}
