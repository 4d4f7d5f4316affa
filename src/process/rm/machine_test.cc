#include "process/rm/machine.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "base/codec.h"
#include "base/rng.h"
#include "base/stored.h"
#include "process/rm/reports.h"
#include "process/rm/summary.h"
#include "scheduler/fairlead/fairlead.h"

namespace fairlead::process::rm {
namespace {

namespace m = model::rm;

std::unique_ptr<ResourceMachine> MakeMachine() {
  fairlead::rm::Config config;
  config.web_base = "http://rm";
  config.minimum = model::Resources::Of(256, 1);
  config.increment = model::Resources::Of(256, 1);
  config.max_completed_apps = 5;
  config.max_stored_apps = 5;
  scheduler::FairleadConfig fair;
  fair.minimum_allocation = config.minimum;
  fair.increment = config.increment;
  fair.maximum_allocation = config.maximum;
  return std::make_unique<ResourceMachine>(config, scheduler::MakeFairlead(fair));
}

struct Step {
  base::Instant now;
  base::WallTime wall;
  std::vector<m::OuterEvent> events;
  std::string effects;  // encoded
};

/// A random outside world: clients, masters, nodes and a store that mostly works, acting on what it was answered.
class World {
 public:
  explicit World(uint64_t seed) : rng_(seed), machine_(MakeMachine()) { Do({m::Started{1000, 0, {}, {}}}); }

  void Run(int steps) {
    for (int i = 0; i < steps && failure_.empty(); ++i) Act();
  }
  const std::vector<Step>& history() const { return history_; }
  const std::string& failure() const { return failure_; }
  const ResourceMachine& machine() const { return *machine_; }
  int granted() const { return granted_; }
  int finished() const { return finished_; }

 private:
  struct NodeState {
    bool registered = false;
    int32_t response_id = 0;
    std::set<model::ContainerId> running;
  };
  struct Master {
    bool registered = false;
    int32_t response_id = 0;
    std::set<model::ContainerId> held;
  };

  void Act() {
    now_ = now_ + base::Duration::Millis(rng_.Between(0, 400));
    wall_.ms = 100'000 + now_.ns / 1'000'000;
    switch (rng_.Below(10)) {
      case 0:
        return Submit();
      case 1:
        return Register();
      case 2:
      case 3:
      case 4:
        return Beat();
      case 5:
      case 6:
      case 7:
        return CallOfMaster();
      case 8:
        return rng_.Chance(0.2) ? Kill() : Do({m::Tick{}});
      default:
        return Do({m::Tick{}});
    }
  }
  void Submit() {
    m::Submit event;
    event.call = ++call_;
    event.submission.id = {1000, ++apps_};
    event.submission.user = rng_.Chance(0.5) ? "ann" : "bob";
    event.submission.queue = rng_.Chance(0.5) ? "alpha" : "beta";
    event.submission.max_attempts = 2;
    model::Ask ask;
    ask.name = "*";
    ask.capability = model::Resources::Of(256, 1);
    ask.count = 1;
    event.submission.master_asks = {ask};
    Do({std::move(event)});
  }
  std::string AnyHost() { return "n" + std::to_string(rng_.Below(3)); }
  void Register() {
    const std::string host = AnyHost();
    NodeState& node = nodes_[host];
    if (node.registered && !rng_.Chance(0.05)) return Beat();
    m::RegisterNode event;
    event.call = ++call_;
    event.address = {host, 1};
    event.rack = "/r";
    event.capacity = model::Resources::Of(4096, 4);
    node = {true, 0, {}};
    Do({std::move(event)});
  }
  void Beat() {
    const std::string host = AnyHost();
    NodeState& node = nodes_[host];
    if (!node.registered) return Register();
    m::Heartbeat event;
    event.call = ++call_;
    event.address = {host, 1};
    event.response_id = node.response_id;
    for (auto it = node.running.begin(); it != node.running.end();) {
      m::NodeContainer status;
      status.id = *it;
      if (rng_.Chance(0.2)) {
        status.state = m::NodeContainerState::kComplete;
        status.exit_status = rng_.Chance(0.7) ? 0 : 1;
        it = node.running.erase(it);
      } else {
        ++it;
      }
      event.containers.push_back(std::move(status));
    }
    beating_ = host;
    Do({std::move(event)});
  }
  void CallOfMaster() {
    if (masters_.empty()) return Submit();
    auto it = masters_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(rng_.Below(masters_.size())));
    const model::ApplicationAttemptId attempt = it->first;
    Master& master = it->second;
    if (!master.registered) {
      master.registered = true;
      return Do({m::RegisterMaster{++call_, attempt, "h", 1, ""}});
    }
    if (rng_.Chance(0.03)) return Do({m::FinishMaster{++call_, attempt, m::FinalStatus::kSucceeded, "", ""}});
    m::AllocateCall event;
    event.call = ++call_;
    event.attempt = attempt;
    event.response_id = master.response_id;
    if (rng_.Chance(0.6)) {
      model::Ask ask;
      ask.name = "*";
      ask.priority = 1;
      ask.capability = model::Resources::Of(rng_.Between(1, 1500), 1);
      ask.count = static_cast<int32_t>(rng_.Below(6));
      event.asks = {ask};
    }
    if (!master.held.empty() && rng_.Chance(0.3)) {
      event.releases = {*master.held.begin()};
      master.held.erase(master.held.begin());
    }
    Do({std::move(event)});
  }
  void Kill() { Do({m::KillApp{++call_, {1000, static_cast<int32_t>(rng_.Between(1, apps_ + 1))}, "killed"}}); }

  void Do(std::vector<m::OuterEvent> events) {
    std::vector<m::OuterEffect> effects;
    machine_->Step(now_, wall_, events, effects);
    Step step{now_, wall_, std::move(events), ""};
    base::Encode(step.effects, effects);
    history_.push_back(std::move(step));
    failure_ = machine_->CheckInvariants();
    if (failure_.empty() && rng_.Chance(0.5)) {
      summary_.Refresh(*machine_, wall_);
      failure_ = summary_.Check(*machine_, wall_);
    }
    if (!failure_.empty()) return;
    std::vector<m::OuterEvent> follow;
    for (const m::OuterEffect& effect : effects) React(effect, follow);
    if (!follow.empty()) Do(std::move(follow));
  }
  void React(const m::OuterEffect& effect, std::vector<m::OuterEvent>& follow) {
    if (const auto* persist = std::get_if<m::Persist>(&effect)) {
      const bool ok = !rng_.Chance(0.03);
      follow.push_back(m::Persisted{persist->txn, ok, ok ? "" : "disk full"});
    } else if (const auto* launch = std::get_if<m::LaunchMaster>(&effect)) {
      const bool ok = !rng_.Chance(0.05);
      follow.push_back(m::MasterLaunched{launch->attempt, ok ? "" : "refused"});
      if (!ok) return;
      masters_[launch->attempt] = {};
      nodes_[launch->container.address.host].running.insert(launch->container.id);
    } else if (const auto* answer = std::get_if<m::AllocateAnswer>(&effect)) {
      Master& master = masters_[answer->attempt];
      master.response_id = answer->response_id;
      for (const m::ContainerInfo& container : answer->granted) {
        ++granted_;
        if (!ever_.insert(container.id).second) failure_ = "granted twice: " + ToString(container.id);
        master.held.insert(container.id);
        if (rng_.Chance(0.8)) nodes_[container.address.host].running.insert(container.id);
      }
      for (const m::ContainerEnd& end : answer->completed) {
        if (!ended_.insert(end.id).second) failure_ = "ended twice: " + ToString(end.id);
      }
    } else if (const auto* finish = std::get_if<m::FinishMasterAnswer>(&effect)) {
      finished_ += finish->unregistered ? 1 : 0;
    } else if (const auto* beat = std::get_if<m::HeartbeatAnswer>(&effect)) {
      NodeState& node = nodes_[beating_];
      if (beat->action != m::NodeAction::kNormal) node = {};
      node.response_id = beat->response_id;
      for (const model::ContainerId& id : beat->cleanup) node.running.erase(id);
    }
  }

  base::Rng rng_;
  std::unique_ptr<ResourceMachine> machine_;
  base::Instant now_;
  base::WallTime wall_{100'000};
  uint64_t call_ = 0;
  int32_t apps_ = 0;
  int granted_ = 0;
  int finished_ = 0;
  std::map<std::string, NodeState> nodes_;
  std::map<model::ApplicationAttemptId, Master> masters_;
  std::set<model::ContainerId> ever_, ended_;
  std::string beating_;
  std::string failure_;
  std::vector<Step> history_;
  Summary summary_{[](const App&) { return LogStatuses{}; }};
};

class MachineProperty : public ::testing::TestWithParam<uint64_t> {};

TEST_P(MachineProperty, KeepsItsInvariantsAndReplays) {
  World world(GetParam());
  world.Run(400);
  EXPECT_EQ(world.failure(), "");
  std::unique_ptr<ResourceMachine> again = MakeMachine();
  std::unique_ptr<ResourceMachine> left;  // from which this one went on
  std::string left_in;
  for (size_t i = 0; i < world.history().size(); ++i) {
    const Step& step = world.history()[i];
    if (i % 37 == GetParam()) {  // another machine goes on from the state of this one
      std::unique_ptr<ResourceMachine> other = MakeMachine();
      const std::string state = again->State();
      ASSERT_TRUE(other->ReadState(state)) << "step " << i;
      ASSERT_EQ(other->State(), state) << "step " << i;
      ASSERT_EQ(other->StateHash(), again->StateHash()) << "step " << i;
      ASSERT_EQ(other->CheckInvariants(), "") << "step " << i;
      again = std::move(other);
    } else if (i % 37 == GetParam() + 1) {  // a copy goes on, and what was copied stays
      if (left) {
        ASSERT_EQ(left->State(), left_in) << "step " << i;
      }
      left = std::exchange(again, again->Fork());
      left_in = left->State();
      ASSERT_EQ(again->State(), left_in) << "step " << i;
      ASSERT_EQ(again->StateHash(), left->StateHash()) << "step " << i;
      ASSERT_EQ(again->CheckInvariants(), "") << "step " << i;
    }
    std::vector<m::OuterEffect> effects;
    again->Step(step.now, step.wall, step.events, effects);
    std::string encoded;
    base::Encode(encoded, effects);
    ASSERT_EQ(encoded, step.effects) << "step " << i;
  }
  EXPECT_EQ(again->StateHash(), world.machine().StateHash());
}

INSTANTIATE_TEST_SUITE_P(Seeds, MachineProperty, ::testing::Range<uint64_t>(1, 21));

TEST(MachineTest, RandomWorldsReachTheRareBranches) {
  int granted = 0;
  int finished = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    World world(seed);
    world.Run(400);
    EXPECT_EQ(world.failure(), "") << seed;
    granted += world.granted();
    finished += world.finished();
  }
  EXPECT_GT(granted, 100);
  EXPECT_GT(finished, 3);
}

/// A machine whose store always works and whose masters start at once.
class Quiet {
 public:
  std::vector<m::OuterEffect> Do(std::vector<m::OuterEvent> events) {
    std::vector<m::OuterEffect> all;
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_->Step({}, {1}, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) {
        if (const auto* persist = std::get_if<m::Persist>(&effect))
          events.push_back(m::Persisted{persist->txn, true, ""});
        if (const auto* launch = std::get_if<m::LaunchMaster>(&effect)) {
          events.push_back(m::MasterLaunched{launch->attempt, ""});
        }
        all.push_back(effect);
      }
    }
    return all;
  }

 private:
  std::unique_ptr<ResourceMachine> machine_ = MakeMachine();
};

TEST(MachineTest, NodeThatGoesIsGivenNothingFromTheVeryStepThatSaysSo) {
  Quiet world;
  world.Do({m::Started{1000, 0, {}, {}}});
  m::RegisterNode node;
  node.capacity = model::Resources::Of(4096, 4);
  for (const char* host : {"stays", "goes"}) {
    node.address = {host, 1};
    world.Do({node});
  }
  model::Ask ask;
  ask.name = "*";
  ask.capability = model::Resources::Of(256, 1);
  ask.count = 1;
  m::Submit submit;
  submit.submission.id = {1000, 1};
  submit.submission.user = "ann";
  submit.submission.queue = "alpha";
  submit.submission.master_asks = {ask};
  world.Do({submit});
  const model::ApplicationAttemptId attempt{{1000, 1}, 1};
  world.Do({m::RegisterMaster{1, attempt, "host", 1, ""}});
  m::RefreshNodes refresh;
  refresh.exclude = {"goes"};
  refresh.graceful = true;
  m::AllocateCall call;
  call.attempt = attempt;
  ask.count = 8;
  call.asks = {ask};
  int granted = 0;
  for (const m::OuterEffect& effect : world.Do({refresh, call})) {
    const auto* answer = std::get_if<m::AllocateAnswer>(&effect);
    if (!answer) continue;
    for (const m::ContainerInfo& container : answer->granted) EXPECT_EQ(container.address.host, "stays");
    granted += static_cast<int>(answer->granted.size());
  }
  EXPECT_GE(granted, 3);  // all but what the master may take of that node
}

TEST(MachineTest, EventsSurviveTheJournal) {
  World world(7);
  world.Run(200);
  for (const Step& step : world.history()) {
    std::string bytes;
    base::Encode(bytes, step.events);
    std::vector<m::OuterEvent> read;
    base::Budget budget(base::kStoredKind, bytes.size());
    base::ByteReader in(bytes, budget);
    base::Decode(in, read);
    ASSERT_TRUE(in.done());
    std::string again;
    base::Encode(again, read);
    ASSERT_EQ(again, bytes);
  }
}

TEST(ReportsTest, TimesAreJavas) {
  EXPECT_EQ(Iso8601({1795252007084}), "2026-11-21T09:06:47.084+0000");
  const auto parsed = ParseIso8601("2026-11-21T10:06:47.084+0100");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->ms, 1795252007084);
  EXPECT_FALSE(ParseIso8601("tomorrow").ok());
  EXPECT_FALSE(ParseIso8601("2026-13-21T10:06:47.084+0100").ok());
  for (const char* zone : {"+9999", "+1900", "+0060", "+1a00", "+-100", "+01"}) {
    EXPECT_FALSE(ParseIso8601(std::string("2026-11-21T10:06:47.084") + zone).ok()) << zone;
  }
}

}  // namespace
}  // namespace fairlead::process::rm
