#include "process/rm/key_ring.h"

#include <gtest/gtest.h>

#include "base/stored.h"
#include "env_sim/world.h"

namespace fairlead::process::rm {
namespace {

using base::Duration;
using endpoints::yarn::MasterKeys;

/// On a clock that the test moves; rows are stored when it says so.
class KeyRingTest : public ::testing::Test {
 protected:
  KeyRingTest() {
    times_.amrm_roll = Duration::Seconds(100);
    times_.node_roll = Duration::Seconds(70);
    times_.container_roll = Duration::Seconds(50);
    times_.master_activation = Duration::Seconds(30);
    times_.node_activation = Duration::Seconds(20);
    Begin({});
  }
  void Begin(KeyRing::Stored stored) {
    keys_ = std::make_unique<KeyRing>(machine_.loop(), core_, times_);
    Keep(keys_->Start(std::move(stored), {}, false,
                      [this](std::vector<env::Row> rows, std::function<void()> stored_now) {
                        if (!stores_) return;
                        Keep(rows);
                        stored_now();
                      }));
  }
  void Keep(const std::vector<env::Row>& rows) {
    for (const env::Row& row : rows) rows_[row.key] = *row.value;
  }
  /// What a later run finds.
  KeyRing::Stored Found() const {
    KeyRing::Stored stored;
    for (const auto& [kind, value] : rows_) stored.keys.emplace_back(kind, *base::DecodeStored<MasterKeys>(value));
    return stored;
  }
  void PassTo(int64_t second) {
    bool over = false;  // time goes to the next thing that happens
    const base::Instant until = begin_ + Duration::Seconds(second);
    machine_.loop().At(until, [&over] { over = true; });
    world_.RunUntil(until, [&over] { return over; });
  }
  /// How often a kind has rolled, and whether its next key is not alone yet.
  struct Rolls {
    int32_t amrm, node, container;
    bool operator==(const Rolls&) const = default;
  };
  Rolls Rolled() const {
    return {keys_->amrm().newest().id - first_.amrm, keys_->node().newest().id - first_.node,
            keys_->container().newest().id - first_.container};
  }
  Rolls Waiting() const {
    return {keys_->amrm().next.has_value(), keys_->node().next.has_value(), keys_->container().next.has_value()};
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  const base::Instant begin_ = world_.now();
  const fairlead::rm::Core core_{{}};
  KeyTimes times_;
  bool stores_ = true;
  std::map<std::string, std::string> rows_;
  std::unique_ptr<KeyRing> keys_;
  Rolls first_{};
};

TEST_F(KeyRingTest, EachKindRollsByItsOwnTimeAndIsAloneAfterItsOwn) {
  first_ = Rolled();
  PassTo(49);
  EXPECT_EQ(Rolled(), (Rolls{0, 0, 0}));
  PassTo(51);
  EXPECT_EQ(Rolled(), (Rolls{0, 0, 1}));
  EXPECT_EQ(Waiting(), (Rolls{0, 0, 1}));
  PassTo(72);
  EXPECT_EQ(Rolled(), (Rolls{0, 1, 1}));
  EXPECT_EQ(Waiting(), (Rolls{0, 1, 0})) << "20 seconds after its roll the new key of containers is alone";
  PassTo(101);
  EXPECT_EQ(Rolled(), (Rolls{1, 1, 2}));
  PassTo(122);
  EXPECT_EQ(Waiting(), (Rolls{1, 0, 0})) << "a key of masters takes 30 seconds";
  PassTo(131);
  EXPECT_EQ(Waiting(), (Rolls{0, 0, 0}));
}

TEST_F(KeyRingTest, AKeyIsUsedOnceItIsStoredAndNextRunsGoOnFromThere) {
  first_ = Rolled();
  stores_ = false;
  PassTo(71);
  EXPECT_EQ(Rolled(), (Rolls{0, 0, 0}));
  Begin(Found());
  EXPECT_EQ(Rolled(), (Rolls{0, 0, 0}));
  stores_ = true;
  PassTo(71 + 51);
  EXPECT_EQ(Waiting(), (Rolls{0, 0, 1}));
  Begin(Found());
  EXPECT_EQ(Rolled(), (Rolls{0, 0, 1}));
  EXPECT_EQ(Waiting(), (Rolls{0, 0, 1}));
  PassTo(71 + 51 + 21);
  EXPECT_EQ(Waiting(), (Rolls{0, 0, 0}));
}

}  // namespace
}  // namespace fairlead::process::rm
