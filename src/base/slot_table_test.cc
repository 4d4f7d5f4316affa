#include "base/slot_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/rng.h"
#include "base/test_seed.h"

namespace fairlead::base {
namespace {

/// Whatever comes and goes, it finds what a map of names finds; hashes that collide wholly or in part included.
TEST(SlotTable, FindsWhatAMapFinds) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(TestSeed() + seed);
    Rng rng(TestSeed() + seed);
    SlotTable table;
    std::vector<uint64_t> names;  // by slot
    std::map<uint64_t, uint32_t> known;
    const auto hash = [](uint64_t name) { return static_cast<uint32_t>(name % 5 ? name * 2654435761U : 7); };
    const auto find = [&](uint64_t name) {
      return table.Find(hash(name), [&](uint32_t slot) { return names[slot] == name; });
    };
    for (int round = 0; round < 4000; ++round) {
      const uint64_t name = rng.Below(200);
      const auto it = known.find(name);
      ASSERT_EQ(find(name), it == known.end() ? SlotTable::kNone : it->second);
      if (it == known.end()) {
        known[name] = static_cast<uint32_t>(names.size());
        table.Add(hash(name), static_cast<uint32_t>(names.size()));
        names.push_back(name);
      } else if (rng.Below(2) == 0) {
        ASSERT_NE(table.Likely(hash(name)), SlotTable::kNone);
        table.Remove(hash(name), it->second);
        known.erase(it);
      }
      ASSERT_EQ(table.size(), known.size());
    }
    size_t visited = 0;
    table.ForEach([&](uint32_t slot) {
      ++visited;
      EXPECT_EQ(known.at(names[slot]), slot);
    });
    EXPECT_EQ(visited, known.size());
  }
}

}  // namespace
}  // namespace fairlead::base
