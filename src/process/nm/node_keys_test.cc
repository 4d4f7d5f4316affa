#include "process/nm/node_keys.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/rm_convert.h"
#include "env_sim/world.h"

namespace fairlead::process::nm {
namespace {

namespace ep = endpoints::yarn;
namespace w = wire::yarn;

class NodeKeysTest : public testing::Test {
 protected:
  static std::optional<w::MasterKeyProto> Key(int32_t id) {
    return ep::ToWire(ep::MasterKey{id, std::string(16, 'k')});
  }
  static std::optional<w::FairleadLaidOpenProto> Open(int32_t last, int64_t for_ms) {
    w::FairleadLaidOpenProto keys;
    keys.last_nm_key = last;
    keys.for_ms = for_ms;
    return keys;
  }
  void Run(base::Duration time) {
    world_.RunUntil(world_.now() + time, [] { return false; });
  }
  ep::NodeTokens::State Stored() {
    const auto rows = env::LoadRecords<ep::NodeTokens::State>(machine_.store(), NodeKeys::kTable);
    return rows.ok() && !rows->empty() ? rows->front().second : ep::NodeTokens::State{};
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("n");
  env::NullLog log_;
  StateWriter writer_{machine_.loop(), machine_.store(), log_, [](const std::string&) {}};
  NodeKeys keys_{machine_.loop(), log_, writer_};
};

TEST_F(NodeKeysTest, StoresKeysAsTheyCome) {
  keys_.Take(Key(1), Key(2));
  keys_.Take({}, Key(3));
  Run(base::Duration::Seconds(1));
  EXPECT_EQ(Stored().container_current->id, 1);
  EXPECT_EQ(Stored().nm_previous->id, 2);
  EXPECT_EQ(Stored().nm_current->id, 3);
}

TEST_F(NodeKeysTest, KeysThatLayOpenAreForgottenWhenTheirTimeIsOver) {
  keys_.Take({}, Key(2));
  keys_.Take({}, Key(3));
  keys_.NoteLaidOpen(Open(2, 1000));
  EXPECT_FALSE(keys_.IsOver(2));
  Run(base::Duration::Millis(1500));
  EXPECT_TRUE(keys_.IsOver(2));
  EXPECT_TRUE(keys_.IsOver(1));
  EXPECT_FALSE(keys_.IsOver(3));
  EXPECT_FALSE(Stored().nm_previous.has_value());
  EXPECT_EQ(Stored().nm_current->id, 3);
  keys_.NoteLaidOpen({});
  EXPECT_FALSE(keys_.IsOver(2)) << "a manager under which none lay open";
}

TEST_F(NodeKeysTest, IdsMayWrap) {
  keys_.NoteLaidOpen(Open(INT32_MIN, 0));
  Run(base::Duration::Millis(1));
  EXPECT_TRUE(keys_.IsOver(INT32_MAX));
  EXPECT_FALSE(keys_.IsOver(INT32_MIN + 1));
}

}  // namespace
}  // namespace fairlead::process::nm
