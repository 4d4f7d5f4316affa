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

TEST(AppTable, FindsByIdWhatWasEnteredUntilItIsDropped) {
  AppTable table;
  constexpr int kApps = 100;
  for (int i = 0; i < kApps; ++i) {
    App& app = table.Add();
    app.submission.id = {1000, i + 1};
    EXPECT_EQ(table.FindById(app.submission.id), nullptr);
    if (i % 2 == 0) table.Enter(app);
  }
  for (uint32_t i = 0; i < kApps; i += 4) table.Drop({i});
  table.Clear();
  for (int i = 0; i < kApps; ++i) {
    const App* app = table.FindById({1000, i + 1});
    const bool known = i % 2 == 0 && i % 4 != 0;
    ASSERT_EQ(app != nullptr, known) << i;
    if (known) {
      EXPECT_EQ(app->index.value, static_cast<uint32_t>(i));
    }
  }
}

TEST(AppTable, TheFrontThatIsForgottenLeavesNothingBehind) {
  AppTable table;
  for (int i = 0; i < 10; ++i) {
    App& app = table.Add();
    app.submission.id = {1000, i + 1};
    table.Enter(app);
  }
  for (uint32_t i = 0; i < 9; ++i) table.Drop({i});
  EXPECT_EQ(Alive(table), (std::vector<uint32_t>{9}));
  EXPECT_EQ(table.Find({8}), nullptr);
  EXPECT_EQ(table.Find({9}), table.FindById({1000, 10}));
  EXPECT_EQ(table.Add().index.value, 10u);
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
