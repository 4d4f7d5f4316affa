#include "process/spark_master/standalone_ids.h"

#include <gtest/gtest.h>

namespace fairlead::process::spark_master {
namespace {

constexpr base::WallTime kNow{1'700'000'000'000};

std::string Tail(const std::string& id) { return id.substr(id.rfind('-') + 1); }

TEST(StandaloneIds, NumbersGoOnAndIdsInUseArePassedOver) {
  StandaloneIds ids({});
  const std::string first = ids.NewApplication("job", kNow, 7);
  EXPECT_EQ(Tail(first), "0000");
  EXPECT_EQ(ids.Application(first), 7u);
  EXPECT_EQ(ids.Driver(first), std::nullopt);

  StandaloneIds again({});  // after a restart
  again.TakeApplication(first, 7);
  EXPECT_EQ(Tail(again.NewApplication("job", kNow, 8)), "0001");
  EXPECT_EQ(Tail(again.NewDriver(kNow, 1)), "0000");
}

TEST(StandaloneIds, NumbersBeginAgainAndGoBeyondWhereAllAreInUse) {
  IdSettings settings;
  settings.application_numbers = 2;
  StandaloneIds ids(settings);
  EXPECT_EQ(Tail(ids.NewApplication("job", kNow, 0)), "0000");
  EXPECT_EQ(Tail(ids.NewApplication("job", kNow, 1)), "0001");
  EXPECT_EQ(Tail(ids.NewApplication("job", kNow, 2)), "0002");
  ids.Drop({0}, {});
  EXPECT_EQ(Tail(ids.NewApplication("job", kNow, 3)), "0003") << "numbers begin again behind it";
  EXPECT_EQ(Tail(ids.NewApplication("job", kNow, 4)), "0000") << "it is free again";
}

TEST(StandaloneIds, NamesAreIdsWhereTheyCanNameADirectory) {
  IdSettings settings;
  settings.names_as_ids = true;
  StandaloneIds ids(settings);
  EXPECT_EQ(ids.NewApplication("My Job", kNow, 0), "myjob");
  EXPECT_NE(ids.NewApplication("My Job", kNow, 1), "myjob") << "in use";
  for (const char* name : {"", "..", ".hidden", "a/b", "\x01"}) {
    EXPECT_TRUE(ids.NewApplication(name, kNow, 2).starts_with("app-")) << name;
  }
}

}  // namespace
}  // namespace fairlead::process::spark_master
