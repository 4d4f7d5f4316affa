#include "base/dispatch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace fairlead::base {
namespace {

struct Started {
  int task = 0;
};
struct Ended {
  std::unique_ptr<int> result;
};
struct Silent {};
using Event = std::variant<Started, Ended, Silent>;

TEST(Dispatch, TheRuleOfTheAlternativeIsCalled) {
  int started = 0;
  const Event event = Started{7};
  Dispatch(
      event, [&](const Started& one) { started = one.task; }, [](const Ended&) { FAIL(); }, Ignored<Silent>{});
  EXPECT_EQ(started, 7);
}

TEST(Dispatch, AnAlternativeThatIsGivenAwayCanBeMoved) {
  Event event = Ended{std::make_unique<int>(3)};
  std::unique_ptr<int> taken;
  Dispatch(
      std::move(event), [&](Ended&& one) { taken = std::move(one.result); }, Ignored<Started, Silent>{});
  ASSERT_TRUE(taken);
  EXPECT_EQ(*taken, 3);
}

TEST(Dispatch, OthersTakeWhatNoRuleTakes) {
  const auto name = [](const Event& event) {
    return Dispatch(
        event, [](const Started&) { return std::string("started"); },
        Others{[](const auto&) { return std::string("another"); }});
  };
  EXPECT_EQ(name(Started{}), "started");
  EXPECT_EQ(name(Silent{}), "another");
}

}  // namespace
}  // namespace fairlead::base
