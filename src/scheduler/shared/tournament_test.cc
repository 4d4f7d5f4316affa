#include "scheduler/shared/tournament.h"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "base/rng.h"

namespace fairlead::scheduler {
namespace {

struct Child {
  uint32_t name = 0;
  OrderKey key;
  uint64_t classes = 0;
};

OrderKey RandomKey(base::Rng& rng, uint32_t tie) {
  OrderKey key;
  key.tier = static_cast<int32_t>(rng.Below(2));
  key.num = rng.Below(6);
  key.den = 1 + rng.Below(3);
  key.tie = tie;
  return key;
}

/// The first in order with one of the classes, by looking at all.
uint32_t FirstOf(const std::vector<std::optional<Child>>& children, uint64_t servable) {
  uint32_t first = Tournament::kNone;
  for (uint32_t slot = 0; slot < children.size(); ++slot) {
    if (!children[slot] || !(children[slot]->classes & servable)) continue;
    if (first == Tournament::kNone || children[slot]->key < children[first]->key) first = slot;
  }
  return first;
}

TEST(Tournament, FindsTheFirstThatCanBeServed) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    base::Rng rng(seed);
    Tournament order;
    std::vector<std::optional<Child>> children;  // by slot
    uint32_t names = 0;
    for (int step = 0; step < 2000; ++step) {
      const auto slot = static_cast<uint32_t>(rng.Below(children.size() + 1));
      if (slot == children.size() || !children[slot]) {
        const uint32_t added = order.Add(names);
        if (added >= children.size()) children.resize(added + 1);
        children[added] = Child{names++, {}, 0};
      } else if (rng.Below(8) == 0) {
        order.Remove(slot);
        children[slot].reset();
      } else {
        // Most want nothing that can be served: whole subtrees are passed over.
        children[slot] =
            Child{children[slot]->name, RandomKey(rng, slot), rng.Below(4) == 0 ? rng.Below(16) : uint64_t{1} << 9};
        order.Update(slot, children[slot]->key, children[slot]->classes);
      }
      const uint64_t servable = rng.Below(16);
      const uint32_t first = FirstOf(children, servable);
      ASSERT_EQ(order.First(servable), first == Tournament::kNone ? first : children[first]->name);
    }
    EXPECT_TRUE(order.Consistent());
  }
}

}  // namespace
}  // namespace fairlead::scheduler
