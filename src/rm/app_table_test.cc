#include "rm/app_table.h"

#include <gtest/gtest.h>

namespace fairlead::rm {
namespace {

std::vector<uint32_t> Alive(const AppTable& table) {
  std::vector<uint32_t> found;
  table.ForEach([&](const App& app) { found.push_back(app.index.value); });
  return found;
}

TEST(AppTable, IndexesAreNeverGivenTwice) {
  AppTable table;
  for (int i = 0; i < 4; ++i) table.Add();
  table.Drop({1});
  table.Drop({3});
  EXPECT_EQ(table.Add().index.value, 4u);
  EXPECT_EQ(Alive(table), (std::vector<uint32_t>{0, 2, 4}));
  table.Drop({0});
  EXPECT_EQ(Alive(table), (std::vector<uint32_t>{2, 4}));
  EXPECT_EQ(table.Find({0}), nullptr);
  EXPECT_EQ(table.Find({2})->index.value, 2u);
  EXPECT_EQ(table.Find({5}), nullptr);
}

TEST(AppTable, TheDroppedReadAsNotAlive) {
  AppTable table;
  App& app = table.Add();
  table.Drop(app.index);
  EXPECT_FALSE(app.alive);  // until Clear() callers may hold it
  table.Clear();
  table[{0}].in_scheduler = true;
  EXPECT_FALSE(table[{0}].alive);
  EXPECT_FALSE(table[{0}].in_scheduler);  // what is written to it is lost
}

TEST(AppTable, AVisitMayDropAndAdd) {
  AppTable table;
  for (int i = 0; i < 3; ++i) table.Add();
  std::vector<uint32_t> visited;
  table.ForEach([&](App& app) {
    visited.push_back(app.index.value);
    if (app.index.value == 1) {
      table.Drop({0});
      table.Drop({1});
      table.Add();
    }
  });
  EXPECT_EQ(visited, (std::vector<uint32_t>{0, 1, 2, 3}));
}

}  // namespace
}  // namespace fairlead::rm
