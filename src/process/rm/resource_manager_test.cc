#include "process/rm/resource_manager.h"

#include <gtest/gtest.h>

#include "env_sim/world.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

ResourceManagerOptions Options(std::vector<int64_t>& epochs) {
  ResourceManagerOptions options;
  options.client = {"rm", 8032};
  options.scheduler = {"rm", 8030};
  options.tracker = {"rm", 8031};
  options.admin = {"rm", 8033};
  options.groups_of = [](const std::string& user) { return std::vector<std::string>{user}; };
  options.rack_of = [](const std::string&) { return "/default-rack"; };
  options.make_scheduler = [&epochs](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
    epochs.push_back(epoch);
    scheduler::FairleadConfig config;
    config.epoch = epoch;
    return scheduler::MakeFairlead(config);
  };
  return options;
}

// Ids of containers carry the epoch, so two runs with the same one would give the same ids to different containers.
TEST(ResourceManager, DecidesNothingBeforeItsEpochIsStored) {
  env_sim::World world(1);
  env_sim::Machine& machine = world.AddMachine("rm");
  const auto run = [&](base::Duration time) { world.RunUntil(world.now() + time, [] { return false; }); };
  std::vector<int64_t> epochs;
  for (int64_t life = 0; life < 3; ++life) {
    world.faults().store_failure = 1;
    auto started = ResourceManager::Start(machine.loop(), machine.net(), &machine.store(), Options(epochs));
    ASSERT_TRUE(started.ok()) << started.error().message;
    ResourceManager& rm = **started;
    EXPECT_EQ(epochs.back(), life);
    model::rm::RegisterNode node;
    node.address = {"n", 1};
    node.capacity = model::Resources::Of(8192, 8);
    bool answered = false;
    rm.Ask(node, [&](const model::rm::OuterEffect&) { answered = true; });
    run(base::Duration::Seconds(3));
    EXPECT_FALSE(answered);
    world.faults().store_failure = 0;
    run(base::Duration::Seconds(2));
    EXPECT_TRUE(answered);
    machine.Crash();
    started->reset();
    machine.Restart();
  }
}

}  // namespace
}  // namespace fairlead::process::rm
