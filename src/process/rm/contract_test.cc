#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/check.h"
#include "base/rng.h"
#include "base/test_seed.h"
#include "process/rm/machine.h"
#include "process/rm/summary.h"
#include "scheduler/fairlead/fairlead.h"
#include "scheduler/spark_standalone/standalone.h"
#include "scheduler/tdw/tdw.h"
#include "scheduler/yarn_capacity/from_tree.h"
#include "scheduler/yarn_capacity/yarn_capacity.h"
#include "scheduler/yarn_fair/yarn_fair.h"

// The contract between the two cores: a call is answered once, done or refused, and of a refused one nothing applies
// on either side. In every profile.

namespace fairlead::process::rm {
namespace {

using model::Refusal;
using model::Resources;
namespace m = model::rm;

/// root.a has room, root.full runs one application at most, root.none has nothing of vcores.
model::QueueTree Queues() {
  model::QueueTree tree;
  for (const char* name : {"root.a", "root.full", "root.none", "root.small"}) {
    tree.queues.emplace_back();
    tree.queues.back().name = name;
  }
  tree.queues[1].max_running_apps = 1;
  tree.queues[2].max_resources.emplace();
  tree.queues[2].max_resources->absolute = {{"memory-mb", 0}, {"vcores", 0}};
  tree.queues[3].max_resources.emplace();
  tree.queues[3].max_resources->absolute = {{"memory-mb", 512}, {"vcores", 1}};
  return tree;
}

struct Profile {
  const char* name;
  std::function<std::unique_ptr<scheduler::Scheduler>()> make;
  /// As in Hadoop (FiCaSchedulerApp.apply) a container keeps the size that it was reserved with, and counts with the
  /// size that is asked for when it is granted: books agree where sizes of asks stay.
  bool asks_keep_their_size = false;
};

scheduler::FairleadConfig Books() {
  scheduler::FairleadConfig config;
  config.queues = Queues();
  config.minimum_allocation = config.increment = Resources::Of(1, 1);
  config.maximum_allocation = Resources::Of(8192, 4);
  return config;
}

const Profile kProfiles[] = {
    {"fairlead", [] { return scheduler::MakeFairlead(Books()); }},
    {"tdw", [] { return scheduler::MakeTdw({.base = Books(), .round_interval = {}}); }},
    {"spark_standalone", [] { return scheduler::MakeStandalone({.base = Books()}); }},
    {"yarn_fair",
     [] {
       scheduler::yarn_fair::YarnFairConfig config;
       config.minimum_allocation = config.increment = Resources::Of(1, 1);
       return std::unique_ptr<scheduler::Scheduler>(scheduler::yarn_fair::MakeYarnFair(config, Queues()));
     }},
    {"yarn_capacity",
     [] {
       scheduler::yarn_capacity::YarnCapacityConfig config;
       config.minimum_allocation = Resources::Of(1, 1);
       config.max_application_priority = 10;
       const model::CapacityQueues queues = scheduler::yarn_capacity::CapacityQueuesFrom(Queues());
       auto made = scheduler::yarn_capacity::MakeYarnCapacity(config, queues);
       FL_CHECK(made.ok(), "queues of the test");
       return std::unique_ptr<scheduler::Scheduler>(std::move(*made));
     },
     true},
};

model::Ask AskFor(int64_t mib, int32_t count, int32_t priority = 1) {
  model::Ask ask;
  ask.name = "*";
  ask.priority = priority;
  ask.capability = Resources::Of(mib, 1);
  ask.count = count;
  return ask;
}

/// A machine with nodes and masters that register; its store always works.
class Cluster {
 public:
  explicit Cluster(const Profile& profile) : machine_(Config(), profile.make()) {
    Do(m::Started{1000, 0, {}, {}});
    for (int node = 0; node < 3; ++node) {
      m::RegisterNode event;
      event.call = ++call_;
      event.address = {"n" + std::to_string(node), 1};
      event.rack = "/r";
      event.capacity = Resources::Of(8192, 16);
      Do(event);
    }
    Pass(base::Duration::Seconds(20));
  }
  static fairlead::rm::Config Config() {
    fairlead::rm::Config config;
    config.minimum = config.increment = Resources::Of(1, 1);
    config.master_expiry = config.node_expiry = config.grant_expiry = base::Duration::Seconds(1'000'000);
    return config;
  }

  void Pass(base::Duration time) {
    now_ = now_ + time;
    Do(m::Tick{});
  }
  /// All nodes report what they run; what they are told to clean up has ended by the next time.
  void Beat() {
    for (int index = 0; index < 3; ++index) {
      Node& node = nodes_[index];
      m::Heartbeat event;
      event.call = ++call_;
      event.address = {"n" + std::to_string(index), 1};
      event.response_id = node.response_id;
      for (const model::ContainerId& id : node.over) {
        m::NodeContainer status;
        status.id = id;
        status.state = m::NodeContainerState::kComplete;
        status.exit_status = 0;
        event.containers.push_back(status);
        node.running.erase(id);
      }
      node.over.clear();
      event.running.assign(node.running.begin(), node.running.end());
      beating_ = &node;
      Do(event);
    }
  }
  /// The effects, with those that followed. The books must agree afterwards.
  std::vector<m::OuterEffect> Do(m::OuterEvent event) {
    std::vector<m::OuterEffect> all;
    std::vector<m::OuterEvent> events = {std::move(event)};
    while (!events.empty()) {
      std::vector<m::OuterEffect> effects;
      machine_.Step(now_, {100'000 + now_.millis()}, events, effects);
      events.clear();
      for (const m::OuterEffect& effect : effects) React(effect, events);
      all.insert(all.end(), effects.begin(), effects.end());
    }
    EXPECT_EQ(machine_.CheckInvariants(), "");
    CheckBooks();
    if (call_ % 3 == 0) {
      summary_.Refresh(machine_, {100'000 + now_.millis()});
      EXPECT_EQ(summary_.Check(machine_, {100'000 + now_.millis()}), "");
    }
    return all;
  }
  /// That its master lives is what even a refused call says: so does its last one, repeated, and changes nothing else.
  void HearOf(const m::AllocateCall& call) {
    m::AllocateCall last;
    last.call = ++call_;
    last.attempt = call.attempt;
    last.response_id = call.response_id - 1;
    std::vector<m::OuterEffect> answer;
    machine_.Step(now_, {100'000 + now_.millis()}, std::vector<m::OuterEvent>{last}, answer);
  }
  /// Why the call was refused, and that nothing of it was applied; kNone: it was not.
  Refusal Refused(m::OuterEvent event) {
    if (const auto* call = std::get_if<m::AllocateCall>(&event)) HearOf(*call);
    const uint64_t before = machine_.StateHash();
    Refusal why = Refusal::kNone;
    for (const m::OuterEffect& effect : Do(std::move(event))) {
      if (const auto* refused = std::get_if<m::CallRefused>(&effect)) why = refused->refused.why;
    }
    if (why != Refusal::kNone) {
      EXPECT_EQ(machine_.StateHash(), before) << EnumName(why);
    }
    return why;
  }
  m::Submit Submission(const std::string& queue) {
    m::Submit event;
    event.call = ++call_;
    event.submission.id = {1000, ++apps_};
    event.submission.user = "ann";
    event.submission.queue = queue;
    event.submission.master_asks = {AskFor(128, 1, 0)};
    return event;
  }
  m::AllocateCall Call(const model::ApplicationAttemptId& attempt) {
    m::AllocateCall event;
    event.call = ++call_;
    event.attempt = attempt;
    event.response_id = core().FindAttempt(attempt)->response_id;
    return event;
  }
  /// An application whose master has registered and holds `containers` running ones.
  model::ApplicationAttemptId Running(const std::string& queue, int32_t containers) {
    Do(Submission(queue));
    const model::ApplicationAttemptId attempt{{1000, apps_}, 1};
    for (int beat = 0; beat < 3; ++beat) NextBeat();
    EXPECT_TRUE(masters_.contains(attempt));
    if (containers == 0) return attempt;
    m::AllocateCall call = Call(attempt);
    call.asks = {AskFor(256, containers)};
    Do(call);
    for (int beat = 0; beat < 4; ++beat) {
      NextBeat();
      Do(Call(attempt));
    }
    EXPECT_EQ(HeldBy(attempt).size(), static_cast<size_t>(containers));
    return attempt;
  }
  void NextBeat() {
    Pass(base::Duration::Seconds(1));
    Beat();
  }
  std::vector<model::ContainerId> HeldBy(const model::ApplicationAttemptId& attempt) const {
    std::vector<model::ContainerId> held;
    for (const fairlead::rm::Container* one : fairlead::rm::InOrder(core().FindApp(attempt.app)->containers)) {
      if (!one->is_master) held.push_back(one->id);
    }
    return held;
  }
  const fairlead::rm::Core& core() const { return machine_.core(); }
  uint64_t NextCall() { return ++call_; }
  int32_t apps() const { return apps_; }
  const std::set<model::ApplicationAttemptId>& masters() const { return masters_; }
  /// It ends by itself before the next heartbeat.
  void EndLater(const model::ContainerId& id) {
    for (auto& [index, node] : nodes_) {
      if (node.running.contains(id)) node.over.insert(id);
    }
  }

 private:
  struct Node {
    int32_t response_id = 0;
    std::set<model::ContainerId> running, over;
  };

  void React(const m::OuterEffect& effect, std::vector<m::OuterEvent>& follow) {
    if (const auto* persist = std::get_if<m::Persist>(&effect)) {
      follow.push_back(m::Persisted{persist->txn, true, ""});
    } else if (const auto* launch = std::get_if<m::LaunchMaster>(&effect)) {
      follow.push_back(m::MasterLaunched{launch->attempt, ""});
      follow.push_back(m::RegisterMaster{++call_, launch->attempt, "host", 1, ""});
      masters_.insert(launch->attempt);
      Start(launch->container);
    } else if (const auto* answer = std::get_if<m::AllocateAnswer>(&effect)) {
      for (const m::ContainerInfo& container : answer->granted) Start(container);
    } else if (const auto* beat = std::get_if<m::HeartbeatAnswer>(&effect)) {
      beating_->response_id = beat->response_id;
      for (const model::ContainerId& id : beat->cleanup) beating_->over.insert(id);
    }
  }
  void Start(const m::ContainerInfo& container) {
    nodes_[container.address.host[1] - '0'].running.insert(container.id);
  }
  /// Both cores count the same containers and the same use for each application.
  void CheckBooks() const {
    for (const scheduler::AppView& view : machine_.scheduler().GetView().apps) {
      const fairlead::rm::App* app = core().AppAt(view.app);
      ASSERT_NE(app, nullptr);
      Resources used;
      int32_t containers = 0;
      app->containers.ForEach([&](const fairlead::rm::Container& container) {
        used += container.resources;
        ++containers;
      });
      EXPECT_EQ(view.used, used) << ToString(app->submission.id);
      EXPECT_EQ(view.containers, containers) << ToString(app->submission.id);
    }
  }

  ResourceMachine machine_;
  Summary summary_{[](const fairlead::rm::App&) { return LogStatuses{}; }};
  base::Instant now_;
  uint64_t call_ = 0;
  int32_t apps_ = 0;
  std::map<int, Node> nodes_;
  Node* beating_ = nullptr;
  std::set<model::ApplicationAttemptId> masters_;
};

class Contract : public ::testing::TestWithParam<Profile> {
 protected:
  bool capacity() const { return GetParam().name == std::string("yarn_capacity"); }
  bool hadoop() const { return capacity() || GetParam().name == std::string("yarn_fair"); }
};

TEST_P(Contract, RefusedAllocateAppliesNothing) {
  Cluster cluster(GetParam());
  const model::ApplicationAttemptId attempt = cluster.Running("a", 2);
  const model::ContainerId held = cluster.HeldBy(attempt).front();
  m::AllocateCall call = cluster.Call(attempt);
  call.releases = {held};
  call.blacklist_add = {"n1"};
  call.updates = {{held, 0, m::UpdateType::kIncrease, Resources::Of(512, 1)}};
  for (int32_t i = 0; i < 5'000; ++i) call.asks.push_back(AskFor(100 + i % 300, 1, i));
  const Refusal why = cluster.Refused(call);
  EXPECT_TRUE(why == Refusal::kTooManyKeys || why == Refusal::kTooManySizes) << EnumName(why);
  const fairlead::rm::Container* container = cluster.core().FindContainer(held);
  ASSERT_NE(container, nullptr);
  EXPECT_EQ(container->state, m::ContainerState::kRunning);
  EXPECT_EQ(container->diagnostics, "");
  EXPECT_EQ(cluster.core().FindAttempt(attempt)->response_id, call.response_id);
  // The same number again, with a call that can be done.
  call.call = cluster.NextCall();
  call.asks = {AskFor(100, 1)};
  EXPECT_EQ(cluster.Refused(call), Refusal::kNone);
  EXPECT_EQ(cluster.core().FindContainer(held), nullptr);
  EXPECT_EQ(cluster.core().FindAttempt(attempt)->response_id, call.response_id + 1);
}

TEST_P(Contract, RefusedMoveAndPriorityApplyNothing) {
  if (capacity()) GTEST_SKIP() << "no maximum refuses a move there, and priorities may change";
  Cluster cluster(GetParam());
  const model::ApplicationAttemptId first = cluster.Running("a", 1);
  cluster.Running("full", 0);
  EXPECT_EQ(cluster.Refused(m::MoveApp{cluster.NextCall(), first.app, "root"}), Refusal::kMoveToNoLeaf);
  EXPECT_EQ(cluster.Refused(m::MoveApp{cluster.NextCall(), first.app, "full"}), Refusal::kMoveQueueFull);
  EXPECT_EQ(cluster.Refused(m::MoveApp{cluster.NextCall(), first.app, "none"}), Refusal::kMoveQueueMaximum);
  EXPECT_EQ(cluster.core().FindApp(first.app)->submission.queue, "root.a");
  const Refusal why = cluster.Refused(m::SetPriority{cluster.NextCall(), first.app, 7});
  EXPECT_EQ(why, hadoop() ? Refusal::kPriorityIsFixed : Refusal::kNone);
  EXPECT_EQ(cluster.core().FindApp(first.app)->submission.priority, hadoop() ? 0 : 7);
}

TEST_P(Contract, RefusedResizeIsAnErrorOfItsUpdateAlone) {
  Cluster cluster(GetParam());
  const bool waits = capacity();  // larger sizes, for their node's heartbeat
  const bool fixed = hadoop() && !waits;
  const model::ApplicationAttemptId attempt = cluster.Running("a", 6);  // two on each node
  const auto held = cluster.HeldBy(attempt);
  m::AllocateCall call = cluster.Call(attempt);
  call.updates = {{held[0], 0, m::UpdateType::kIncrease, Resources::Of(8192, 1)},
                  {held[1], 0, m::UpdateType::kIncrease, Resources::Of(300, 1)}};
  std::vector<m::AllocateAnswer> answers;
  for (const m::OuterEffect& effect : cluster.Do(call)) {
    if (const auto* answer = std::get_if<m::AllocateAnswer>(&effect)) answers.push_back(*answer);
  }
  ASSERT_EQ(answers.size(), 1u) << "one answer, with what became of all updates";
  ASSERT_EQ(answers[0].update_errors.size(), waits ? 0u : fixed ? 2u : 1u);
  if (waits) {
    EXPECT_TRUE(answers[0].updated.empty());
    for (const model::ContainerId& id : {held[0], held[1]})
      EXPECT_EQ(cluster.core().FindContainer(id)->resources, Resources::Of(256, 1));
    return;
  }
  EXPECT_EQ(answers[0].update_errors[0].refused.why, fixed ? Refusal::kResizeFixed : Refusal::kResizeNodeFull);
  EXPECT_EQ(answers[0].update_errors[0].update.type, m::UpdateType::kIncrease);
  ASSERT_EQ(answers[0].updated.size(), fixed ? 0u : 1u);
  EXPECT_EQ(cluster.core().FindContainer(held[0])->resources, Resources::Of(256, 1));
  EXPECT_EQ(cluster.core().FindContainer(held[1])->resources, fixed ? Resources::Of(256, 1) : Resources::Of(300, 1));
}

TEST_P(Contract, RefusedReloadKeepsTheQueues) {
  if (hadoop()) GTEST_SKIP() << "Hadoop's scheduler takes every tree";
  Cluster cluster(GetParam());
  cluster.Running("a", 0);
  m::ReloadQueues reload{Queues(), cluster.NextCall()};
  reload.tree.queues[0].name = "root.a.below";
  EXPECT_EQ(cluster.Refused(reload), Refusal::kBadQueues);
  EXPECT_EQ(cluster.core().config().queues.queues.size(), 0u);
  reload.tree = Queues();
  reload.tree.queues.pop_back();
  EXPECT_EQ(cluster.Refused(reload), Refusal::kNone);
  EXPECT_EQ(cluster.core().config().queues.queues.size(), 3u);
}

/// What is recovered is told in one step: the application, its attempt and its asks, before a refusal is heard.
TEST_P(Contract, ARecoveredApplicationWhoseQueueIsNoLeafAnyMoreFails) {
  ResourceMachine machine(Cluster::Config(), GetParam().make());
  m::Started started{1000, 1, {}, {}};
  m::AppRecord& record = started.apps.emplace_back();
  record.submission.id = {1000, 1};
  record.submission.user = "ann";
  record.submission.queue = "root";
  record.submission.master_asks = {AskFor(256, 1)};
  m::AttemptRecord& attempt = started.attempts.emplace_back();
  attempt.id = {{1000, 1}, 1};
  std::vector<m::OuterEffect> effects;
  machine.Step({}, {}, {{started}}, effects);
  const fairlead::rm::App* app = machine.core().FindApp({1000, 1});
  ASSERT_NE(app, nullptr);
  EXPECT_EQ(fairlead::rm::IsEnding(app->state), capacity() || !hadoop()) << EnumName(app->state);
  EXPECT_EQ(machine.scheduler().CheckInvariants(), "");
}

/// Calls at random, half of them such that they must be refused.
class Callers {
 public:
  Callers(const Profile& profile, uint64_t seed)
      : cluster_(profile), rng_(seed), one_size_(profile.asks_keep_their_size) {}

  void Run(int calls) {
    for (int i = 0; i < calls && !::testing::Test::HasFailure(); ++i) {
      if (rng_.Chance(0.2)) cluster_.NextBeat();
      Act();
    }
  }
  int refused() const { return refused_; }
  int done() const { return done_; }

 private:
  void Act() {
    const bool bad = rng_.Chance(0.5);
    if (cluster_.masters().empty() || (cluster_.apps() < 12 && rng_.Chance(0.1))) {
      m::Submit submit = cluster_.Submission(AnyQueue());
      if (bad) submit.submission.lifetime_s = 0;
      return Count(std::move(submit), bad);
    }
    const model::ApplicationAttemptId attempt = AnyMaster();
    switch (rng_.Below(6)) {
      case 0:
        return Count(m::MoveApp{cluster_.NextCall(), attempt.app, bad ? "nowhere" : AnyQueue()}, bad);
      case 1:
        return Count(m::SetPriority{cluster_.NextCall(), bad ? model::ApplicationId{1, 1} : attempt.app,
                                    static_cast<int32_t>(rng_.Below(3))},
                     bad);
      default:
        return Count(Allocate(attempt, bad), bad);
    }
  }
  m::AllocateCall Allocate(const model::ApplicationAttemptId& attempt, bool bad) {
    m::AllocateCall call = cluster_.Call(attempt);
    if (rng_.Chance(0.6)) {
      const int64_t size = rng_.Between(1, 900);
      call.asks = {AskFor(one_size_ ? 300 : size, static_cast<int32_t>(rng_.Below(4)))};
    }
    for (const model::ContainerId& id : cluster_.HeldBy(attempt)) {
      if (rng_.Chance(0.2)) {
        call.releases.push_back(id);
      } else if (rng_.Chance(0.2)) {
        const bool more = rng_.Chance(0.5);
        call.updates.push_back({id, cluster_.core().FindContainer(id)->version,
                                more ? m::UpdateType::kIncrease : m::UpdateType::kDecrease,
                                Resources::Of(rng_.Between(1, 4000), 1)});
      } else if (rng_.Chance(0.1)) {
        cluster_.EndLater(id);
      }
    }
    if (rng_.Chance(0.2)) call.blacklist_add = {"n" + std::to_string(rng_.Below(3))};
    if (rng_.Chance(0.3)) call.blacklist_remove = {"n" + std::to_string(rng_.Below(3))};
    if (bad) Spoil(call);
    return call;
  }
  void Spoil(m::AllocateCall& call) {
    switch (rng_.Below(5)) {
      case 0:
        call.asks.push_back(AskFor(1 << 20, 1));
        return;
      case 1:
        call.asks.push_back(AskFor(-1, 1));
        return;
      case 2:
        call.blacklist_add.emplace_back("*");
        return;
      case 3:
        call.releases.push_back({{{1000, 77}, 1}, 1});
        return;
      default:
        for (int32_t i = 0; i < 5'000; ++i) call.asks.push_back(AskFor(100 + i % 300, 1, i));
    }
  }
  void Count(m::OuterEvent event, bool bad) {
    const Refusal why = cluster_.Refused(std::move(event));
    if (bad) {
      EXPECT_NE(why, Refusal::kNone);
    }
    ++(why == Refusal::kNone ? done_ : refused_);
  }
  model::ApplicationAttemptId AnyMaster() {
    auto it = cluster_.masters().begin();
    std::advance(it, static_cast<std::ptrdiff_t>(rng_.Below(cluster_.masters().size())));
    return *it;
  }
  std::string AnyQueue() {
    static const char* const kNames[] = {"a", "small", "full"};
    return kNames[rng_.Below(3)];
  }

  Cluster cluster_;
  base::Rng rng_;
  const bool one_size_;
  int refused_ = 0;
  int done_ = 0;
};

TEST_P(Contract, BooksAgreeAfterRandomCallsOfWhichHalfAreRefused) {
  int refused = 0;
  int done = 0;
  for (uint64_t seed = base::TestSeed(); seed < base::TestSeed() + 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Callers callers(GetParam(), seed);
    callers.Run(200);
    if (HasFailure()) return;
    refused += callers.refused();
    done += callers.done();
  }
  EXPECT_GT(refused, 800);
  EXPECT_GT(done, 500);
}

INSTANTIATE_TEST_SUITE_P(Profiles, Contract, ::testing::ValuesIn(kProfiles),
                         [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace fairlead::process::rm
