#include <gtest/gtest.h>

#include "env_sim/sim_quorum.h"
#include "env_sim/world.h"

namespace fairlead::env_sim {
namespace {

using base::Duration;
using base::Instant;

struct Collector : env::StreamHandler {
  std::unique_ptr<env::Stream> stream;
  std::string received;
  bool closed = false;
  std::string reason;
  void OnData(std::string_view bytes) override { received += bytes; }
  void OnClosed(const std::string& why) override {
    closed = true;
    reason = why;
  }
};

/// A client on "a" writes ten numbered messages to a server on "b".
struct Conversation {
  explicit Conversation(uint64_t seed) : world(seed) {
    Machine& a = world.AddMachine("a");
    Machine& b = world.AddMachine("b");
    listener = b.net()
                   .Listen({"b", 80},
                           [this](std::unique_ptr<env::Stream> stream) {
                             server.stream = std::move(stream);
                             server.stream->Start(&server);
                           })
                   .value();
    a.net().Connect({"b", 80}, Duration::Seconds(1), [this](auto connected) {
      if (!connected) return;
      client.stream = std::move(connected).value();
      client.stream->Start(&client);
      for (int i = 0; i < 10; ++i) client.stream->Write(std::to_string(i));
    });
  }
  void Run() {
    world.RunUntil(world.now() + Duration::Seconds(60), [] { return false; });
  }
  World world;
  Collector client;
  Collector server;
  std::unique_ptr<env::Listener> listener;
};

TEST(World, BytesArriveInOrder) {
  Conversation c(1);
  c.Run();
  EXPECT_EQ(c.server.received, "0123456789");
}

TEST(World, ACutIsSeenByBothEndsAndOnlyAPrefixArrives) {
  int cut = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Conversation c(seed);
    c.world.faults().cut_before_delivery = 0.1;
    c.Run();
    EXPECT_TRUE(std::string("0123456789").starts_with(c.server.received));
    if (c.server.received.size() < 10) {
      ++cut;
      EXPECT_TRUE(c.server.closed);
      EXPECT_TRUE(c.client.closed);
    }
  }
  EXPECT_GT(cut, 10);
}

TEST(World, AHalfOpenPeerIsSilent) {
  Conversation c(3);
  c.world.faults().half_open = 1;
  c.Run();
  EXPECT_EQ(c.server.received, "");
  EXPECT_FALSE(c.server.closed);
  EXPECT_FALSE(c.client.closed);
}

TEST(World, ACrashTellsThePeersAndEndsTimers) {
  Conversation c(4);
  bool fired = false;
  c.world.machine("b").loop().After(Duration::Seconds(10), [&] { fired = true; });
  c.world.Script(c.world.now() + Duration::Seconds(1), [&] {
    c.server.stream.reset();
    c.world.machine("b").Crash();
  });
  c.Run();
  EXPECT_TRUE(c.client.closed);
  EXPECT_FALSE(fired);
}

TEST(World, ADamagedStoreIsNotLoadedUntilItIsRepaired) {
  World world(1);
  Machine& a = world.AddMachine("a");
  for (const char* key : {"k1", "k2"}) a.store().Commit({{"t", key, "v"}}, [](const env::CommitStatus&) {});
  a.store().Commit({{"t", "k1", "w"}, {"t", "k2", std::nullopt}}, [](const env::CommitStatus&) {});
  world.RunUntil(world.now() + base::Duration::Seconds(1), [] { return false; });
  ASSERT_TRUE(a.store().Load("t").ok());
  world.faults().store_damage = 1;
  while (!a.store_is_damaged()) {
    a.Crash();
    a.Restart();
    world.Script(world.now() + base::Duration::Seconds(1), [] {});
    world.Step();
  }
  EXPECT_FALSE(a.store().Load("t").ok());
  a.RepairStore();
  const auto rows = a.store().Load("t");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 1U);
  EXPECT_EQ(*rows->front().value, "w");
}

TEST(World, UncommittedWritesAreLostInACrashAndCommittedOnesAreNot) {
  World world(5);
  Machine& a = world.AddMachine("a");
  bool committed = false;
  a.store().Commit({{"t", "k1", "v"}}, [&](const env::CommitStatus& status) { committed = status.ok(); });
  ASSERT_TRUE(world.RunUntil(world.now() + Duration::Seconds(1), [&] { return committed; }));
  a.store().Commit({{"t", "k2", "v"}}, [](const env::CommitStatus&) { FAIL(); });
  a.Crash();
  world.RunUntil(world.now() + Duration::Seconds(1), [] { return false; });
  a.Restart();
  const auto rows = a.store().Load("t");
  ASSERT_EQ(rows->size(), 1u);
  EXPECT_EQ((*rows)[0].key, "k1");
}

TEST(SimQuorum, ACommitAcrossAShortCutIsAnsweredWhenItHeals) {
  World world(1);
  SimQuorum quorum(world, Duration::Seconds(2));
  const std::unique_ptr<env::Elector> member = quorum.Join(world.AddMachine("rm1"), "rm1");
  std::unique_ptr<env::Store> store;
  env::Elector::Listener listener;
  listener.elected = [&](std::unique_ptr<env::Store> given) { store = std::move(given); };
  listener.deposed = [](const std::string&) { ADD_FAILURE() << "the cut is shorter than the lease"; };
  member->Start(std::move(listener));
  world.RunUntil(world.now() + Duration::Seconds(1), [&] { return store != nullptr; });
  ASSERT_TRUE(store);
  int answered = 0;
  quorum.Cut("rm1", true);
  store->Commit({{"table", "key", "value"}}, [&](env::CommitStatus status) { answered += status.ok() ? 1 : 0; });
  world.RunUntil(world.now() + Duration::Millis(500), [] { return false; });
  EXPECT_EQ(answered, 0);
  quorum.Cut("rm1", false);
  world.RunUntil(world.now() + Duration::Millis(500), [] { return false; });
  EXPECT_EQ(answered, 1);
}

TEST(World, TheSameSeedGivesTheSameRun) {
  const auto trace = [](uint64_t seed) {
    Conversation c(seed);
    c.world.faults().cut_after_delivery = 0.05;
    c.Run();
    return c.server.received + "/" + std::to_string(c.world.rng().Next());
  };
  EXPECT_EQ(trace(7), trace(7));
  EXPECT_NE(trace(7), trace(8));
}

}  // namespace
}  // namespace fairlead::env_sim
