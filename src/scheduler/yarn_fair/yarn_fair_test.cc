#include "scheduler/yarn_fair/yarn_fair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>

#include "base/rng.h"
#include "scheduler/yarn_fair/order.h"
#include "scheduler/yarn_fair/shares.h"

namespace fairlead::scheduler::yarn_fair {
namespace {

namespace ms = model::scheduler;
using model::Resources;
using testing::ElementsAre;
using testing::HasSubstr;

// ---- fair shares: the vectors of the reference page -----------------------------------------------------------------

std::vector<int64_t> Shares(int64_t total, std::vector<Sharer> sharers, bool round_up = true) {
  ComputeShares(sharers, total, round_up);
  std::vector<int64_t> shares;
  for (const Sharer& s : sharers) shares.push_back(s.share);
  return shares;
}
Sharer W(float weight, int64_t min = 0, int64_t max = INT64_MAX) { return {weight, min, max, true, 0}; }

TEST(FairShares, VectorsOfTheReference) {
  EXPECT_THAT(Shares(100, {W(1), W(1), W(1)}), ElementsAre(34, 34, 34));
  EXPECT_THAT(Shares(100, {W(1), W(2), W(1)}), ElementsAre(25, 50, 25));
  EXPECT_THAT(Shares(100, {W(1), W(1), W(1, 60)}), ElementsAre(20, 20, 60));
  EXPECT_THAT(Shares(100, {W(1, 0, 10), W(1), W(1)}), ElementsAre(10, 45, 45));
  EXPECT_THAT(Shares(100, {W(1), {1, 50, INT64_MAX, false, 0}, W(1)}), ElementsAre(50, 0, 50));
  EXPECT_THAT(Shares(100, {W(0, 20), W(1), W(3)}), ElementsAre(20, 20, 60));
  EXPECT_THAT(Shares(100, {W(1, 80), W(1, 80)}), ElementsAre(80, 80));
  EXPECT_THAT(Shares(100, {W(1, 0, 10), W(1, 0, 20)}), ElementsAre(10, 20));
  EXPECT_THAT(Shares(10'240'000, {W(1), W(1), W(1)}), ElementsAre(3'413'334, 3'413'334, 3'413'334));
  EXPECT_THAT(Shares(10'240'000, {W(1, 4'096'000), W(2), W(3, 0, 3'072'000)}),
              ElementsAre(4'096'000, 3'072'000, 3'072'000));
}

TEST(FairShares, WithoutTheQuirkTheSumStaysBelowTheTotal) {
  base::Rng rng(7);
  for (int round = 0; round < 500; ++round) {
    std::vector<Sharer> sharers;
    for (uint64_t i = 0; i < 1 + rng.Below(9); ++i) sharers.push_back(W(0.5F * static_cast<float>(1 + rng.Below(8))));
    const auto total = static_cast<int64_t>(rng.Below(100'000));
    int64_t sum = 0;
    for (const int64_t share : Shares(total, sharers, false)) sum += share;
    EXPECT_LE(sum, total);
    int64_t rounded_up = 0;
    for (const int64_t share : Shares(total, sharers, true)) rounded_up += share;
    EXPECT_GE(rounded_up, total);
    EXPECT_LT(rounded_up, total + static_cast<int64_t>(sharers.size()) + 1);
  }
}

TEST(FairShares, MoreWeightNeverGivesLess) {
  base::Rng rng(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<Sharer> sharers;
    for (uint64_t i = 0; i < 2 + rng.Below(9); ++i) sharers.push_back(W(0.5F * static_cast<float>(1 + rng.Below(8))));
    const auto total = static_cast<int64_t>(1 + rng.Below(1'000'000));
    const int64_t before = Shares(total, sharers).front();
    sharers.front().weight *= 2;
    EXPECT_GE(Shares(total, sharers).front(), before);
  }
}

TEST(FairShares, OneSharerForManyEqualOnes) {
  base::Rng rng(13);
  for (int round = 0; round < 500; ++round) {
    const Sharer one = W(0.5F * static_cast<float>(rng.Below(4)), static_cast<int64_t>(rng.Below(2) * 1000));
    const size_t times = 1 + rng.Below(300);
    const auto total = static_cast<int64_t>(rng.Below(1'000'000));
    std::vector<Sharer> alone{one};
    ComputeShares(alone, total, round % 2 == 0, times);
    EXPECT_EQ(Shares(total, std::vector<Sharer>(times, one), round % 2 == 0),
              std::vector<int64_t>(times, alone[0].share));
  }
}

TEST(FairShares, HugeAndOddWeightsEnd) {
  EXPECT_THAT(Shares(INT64_MAX, {W(1e-30F), W(1e30F)}), testing::SizeIs(2));
  EXPECT_THAT(Shares(100, {W(std::numeric_limits<float>::quiet_NaN(), 5), W(1)}), ElementsAre(5, 95));
}

// ---- comparators: the vectors of the reference page -----------------------------------------------------------------

struct Side {
  int64_t demand = 0;
  Resources used;
  Resources min;
  float weight = 1;
};

int CompareSides(const CompareContext& context, const Side& a, const Side& b) {
  const Resources demand_a = Resources::Of(a.demand, 1);
  const Resources demand_b = Resources::Of(b.demand, 1);
  const Subject x{a.used, demand_a, a.min, a.weight, 0, {0, 1}};
  const Subject y{b.used, demand_b, b.min, b.weight, 0, {0, 2}};
  const int order = Compare(context, x, y);
  const OrderKey key_x = KeyOf(context, x);
  const OrderKey key_y = KeyOf(context, y);
  if (key_x.exact && key_y.exact) {
    EXPECT_EQ(key_x < key_y, order < 0);
  }
  return order;
}
Side Fair(int64_t d, int64_t u, int64_t m, float w) { return {d, Resources::Of(u, 0), Resources::Of(m, 0), w}; }

TEST(Comparators, FairVectorsOfTheReference) {
  const CompareContext fair{Policy::kFair, Resources::Of(100, 100), 2, false};
  EXPECT_GT(CompareSides(fair, Fair(0, 0, 100, 1), Fair(10, 50, 0, 1)), 0);
  EXPECT_LT(CompareSides(fair, Fair(10, 4, 8, 1), Fair(10, 3, 0, 1)), 0);
  EXPECT_GT(CompareSides(fair, Fair(10, 4, 8, 1), Fair(10, 1, 4, 1)), 0);
  EXPECT_GT(CompareSides(fair, Fair(3, 3, 8, 1), Fair(10, 4, 0, 2)), 0);
  EXPECT_GT(CompareSides(fair, Fair(10, 2, 4, 1), Fair(10, 4, 8, 4)), 0);
  EXPECT_GT(CompareSides(fair, Fair(10, 6, 0, 0), Fair(10, 9, 0, 1)), 0);
}

TEST(Comparators, DrfVectorsOfTheReference) {
  const CompareContext drf{Policy::kDrf, Resources::Of(100 << 10, 100), 2, false};
  const Side a{1, Resources::Of(20 << 10, 10), {}, 1};
  EXPECT_GT(CompareSides(drf, a, {1, Resources::Of(10 << 10, 30), {}, 2}), 0);
  EXPECT_GT(CompareSides(drf, a, {1, Resources::Of(5 << 10, 20), {}, 1}), 0);
}

TEST(Comparators, KeysOrderAsComparatorsDo) {
  base::Rng rng(3);
  const auto side = [&] {
    const auto small = [&](uint64_t n) { return static_cast<int64_t>(rng.Below(n)); };
    return Side{small(6), Resources::Of(small(6), small(6)), Resources::Of(small(4), small(4)),
                static_cast<float>(rng.Below(3))};
  };
  for (const Policy policy : {Policy::kFair, Policy::kDrf, Policy::kFifo}) {
    const CompareContext context{policy, Resources::Of(6, 6), 2, false};
    for (int i = 0; i < 20'000; ++i) CompareSides(context, side(), side());
  }
}

// ---- the scheduler --------------------------------------------------------------------------------------------------

class Cluster {
 public:
  explicit Cluster(YarnFairConfig config = {}, model::QueueTree tree = {})
      : core_(MakeYarnFair(Untimed(config), tree)) {}
  Cluster(const YarnFairConfig& config, const model::QueueTree& tree, bool) : core_(MakeYarnFair(config, tree)) {}

  static YarnFairConfig Untimed(YarnFairConfig config) {
    config.timed_passes = false;
    return config;
  }
  EffectSink Send(ms::Event event) {
    EffectSink out;
    core_->Step(base::Instant{now_ms * 1'000'000}, std::span<const ms::Event>(&event, 1), out);
    EXPECT_EQ(core_->CheckInvariants(), "");
    return out;
  }
  EffectSink Step() {
    EffectSink out;
    core_->Step(base::Instant{now_ms * 1'000'000}, {}, out);
    EXPECT_EQ(core_->CheckInvariants(), "");
    return out;
  }
  void AddNode(uint32_t n, int64_t mb, int64_t vcores) {
    Send(ms::NodeAdded{{n}, "n" + std::to_string(n), 1, "/r" + std::to_string(n % 2), Resources::Of(mb, vcores), {}});
  }
  /// Gives the queue, or "refused: why".
  std::string AddApp(uint32_t a, const std::string& queue, const std::string& user = "u", bool place = false,
                     bool unmanaged = true, std::vector<std::string> groups = {}) {
    ms::AppAdded added;
    added.app = {a};
    added.id = {1, static_cast<int32_t>(a)};
    added.queue = queue;
    added.user = user;
    added.groups = std::move(groups);
    added.place = place;
    added.unmanaged = unmanaged;
    const EffectSink out = Send(added);
    if (const auto* refused = std::get_if<ms::CallRefused>(&out.at(0))) return "refused: " + ToString(refused->refused);
    Send(ms::AttemptAdded{{a}, 1, false});
    return std::get<ms::AppAccepted>(out.at(0)).queue;
  }
  EffectSink Ask(uint32_t a, int32_t priority, int64_t mb, int64_t vcores, int32_t count, const std::string& name = "*",
                 bool relax = true) {
    ms::Allocate call;
    call.app = {a};
    model::Ask ask;
    ask.priority = priority;
    ask.name = name;
    ask.relax_locality = relax;
    ask.capability = Resources::Of(mb, vcores);
    ask.count = count;
    call.asks = {ask};
    return Send(call);
  }
  void Update() { Send(ms::Pass{ms::PassKind::kUpdate}); }
  EffectSink Beat(uint32_t n) { return Send(ms::NodeUpdated{{n}, {}, {}}); }
  ms::PendingReason WhyFirst(uint32_t a) const {
    const std::vector<ms::Pending> all = core_->Why({a}, {});
    if (all.empty()) return ms::PendingReason::kNone;
    EXPECT_NE(all.front().detail, "");
    EXPECT_NE(all.front().remedy, "");
    return all.front().reason;
  }
  YarnFairScheduler& core() { return *core_; }

  int64_t now_ms = 0;

 private:
  std::unique_ptr<YarnFairScheduler> core_;
};

model::QueueConfig Queue(const std::string& name) {
  model::QueueConfig queue;
  queue.name = name;
  return queue;
}

size_t Grants(const EffectSink& out) {
  return static_cast<size_t>(std::count_if(out.begin(), out.end(),
                                           [](const ms::Effect& e) { return std::holds_alternative<ms::Granted>(e); }));
}

TEST(YarnFair, PassesRunByTimeInProduction) {
  YarnFairConfig config;
  Cluster cluster(config, {}, true);
  EXPECT_EQ(cluster.core().NextDeadline(), base::Instant{500'000'000});
  cluster.AddNode(0, 4096, 4);  // wakes the update thread
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 1024, 1, 5);
  EXPECT_EQ(Grants(cluster.Beat(0)), 0U) << "the ask counts from the next update pass on";
  cluster.now_ms = 500;
  cluster.Step();
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
  EXPECT_EQ(cluster.core().NextDeadline(), base::Instant{1'000'000'000});
}

TEST(YarnFair, ContinuousRoundsRunByTime) {
  YarnFairConfig config;
  config.continuous = true;
  Cluster cluster(config, {}, true);
  cluster.AddNode(0, 4096, 4);
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 1024, 1, 5);
  cluster.now_ms = 500;
  EXPECT_EQ(Grants(cluster.Step()), 1U);
  EXPECT_EQ(cluster.core().NextDeadline(), base::Instant{505'000'000});
}

TEST(YarnFair, ForksGoTheirOwnWay) {
  Cluster cluster;
  cluster.AddNode(0, 8192, 8);
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 1024, 1, 5);
  cluster.Update();
  const uint64_t before = cluster.core().StateHash();
  const std::unique_ptr<Scheduler> fork = cluster.core().Fork();
  EXPECT_EQ(fork->StateHash(), before);
  EffectSink out;
  const ms::Event beat = ms::NodeUpdated{{0}, {}, {}};
  fork->Step({}, std::span(&beat, 1), out);
  EXPECT_EQ(Grants(out), 1U);
  EXPECT_NE(fork->StateHash(), before);
  EXPECT_EQ(cluster.core().StateHash(), before);
  EXPECT_EQ(fork->CheckInvariants(), "");
}

TEST(YarnFair, AccessListsAdmitOnQueueOrAbove) {
  model::QueueTree tree;
  tree.queues = {Queue("root"), Queue("root.a"), Queue("root.b")};
  tree.queues[0].parent_type = true;
  tree.queues[0].submit_acl = model::AccessList{};
  tree.queues[0].administer_acl = model::AccessList{false, {"admin"}, {}};
  tree.queues[1].submit_acl = model::AccessList{false, {"bob"}, {"staff"}};
  Cluster cluster({}, tree);
  EXPECT_EQ(cluster.AddApp(0, "root.a", "bob"), "root.a");
  EXPECT_EQ(cluster.AddApp(1, "root.a", "eve", false, true, {"people", "staff"}), "root.a");
  EXPECT_EQ(cluster.AddApp(2, "root.a", "admin"), "root.a");
  EXPECT_THAT(cluster.AddApp(3, "root.a", "zed"), HasSubstr("USER_ACCESS"));
  EXPECT_THAT(cluster.AddApp(4, "root.b", "bob"), HasSubstr("USER_ACCESS"));
  EXPECT_EQ(cluster.AddApp(5, "root.b", "admin"), "root.b");
  tree.queues[0].submit_acl->everybody = true;
  cluster.Send(ms::QueuesReloaded{tree});
  EXPECT_EQ(cluster.AddApp(6, "root.b", "zed"), "root.b");
}

TEST(YarnFair, AFileOfManyQueuesIsTakenInTimeThatGrowsWithIt) {
  model::QueueTree tree;
  for (int i = 0; i < 8000; ++i) tree.queues.push_back(Queue("root.q" + std::to_string(i * 7919 % 8000)));
  const std::clock_t begin = std::clock();
  const auto core = MakeYarnFair(Cluster::Untimed({}), tree);
  const std::clock_t took = std::clock() - begin;
  EXPECT_EQ(core->CheckInvariants(), "");
  EXPECT_LT(took, 2 * CLOCKS_PER_SEC) << "it was ten seconds while siblings were ranked for each that came";
}

TEST(YarnFair, PlacementRulesInOrder) {
  model::QueueTree tree;
  tree.queues = {Queue("root.a"), Queue("root.p"), Queue("root.staff")};
  tree.queues[1].parent_type = true;
  tree.placement = std::vector<model::PlacementRule>{{"specified", false, "", {}},
                                                     {"secondaryGroupExistingQueue", true, "", {}},
                                                     {"nestedUserQueue", true, "", {{"default", true, "p", {}}}},
                                                     {"reject", true, "", {}}};
  Cluster cluster({}, tree);
  EXPECT_EQ(cluster.AddApp(0, "a", "bob", true, true, {"g"}), "root.a");
  EXPECT_EQ(cluster.AddApp(1, "nowhere", "bob", true, true, {"g", "staff"}), "root.staff");
  EXPECT_EQ(cluster.AddApp(2, "default", "b.ob", true, true, {"g"}), "root.p.b_dot_ob");
  EXPECT_THAT(cluster.AddApp(3, ".bad", "bob", true, true, {"g"}), HasSubstr("BAD_PLACEMENT"));
  EXPECT_THAT(cluster.AddApp(4, "default", "bob", true, true, {}), HasSubstr("NO_GROUPS"));
}

TEST(YarnFair, WithoutNodesWhyBlamesNoSetting) {
  model::QueueTree tree;
  tree.queues = {Queue("root.a")};
  tree.queues[0].max_am_share = 0.1;
  Cluster cluster({}, tree);
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 1024, 1, 1);
  const ms::Pending none = cluster.core().Why({0}, {}).at(0);
  EXPECT_EQ(none.reason, ms::PendingReason::kNoNodes);
  EXPECT_EQ(none.detail, "no node is registered");
  EXPECT_EQ(none.remedy, "start node agents");
}

TEST(YarnFair, WhyNamesTheBindingReason) {
  model::QueueTree tree;
  tree.queues = {Queue("root.a"), Queue("root.b"), Queue("root.c"), Queue("root.d")};
  Cluster cluster({}, tree);
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 2048, 1, 3);
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kNoNodes);
  cluster.AddNode(0, 1024, 8);
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kLargerThanAnyNode);
  cluster.AddNode(1, 2048, 8);
  cluster.Update();
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kFairShare);
  EXPECT_EQ(Grants(cluster.Beat(1)), 1U);
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kClusterFull);
}

TEST(YarnFair, WhyFollowsTheOrderOfThePass) {
  model::QueueTree tree;
  tree.queues = {Queue("root.a"), Queue("root.b"), Queue("root.c"), Queue("root.d")};
  tree.queues[1].max_resources = model::ConfiguredResources{{{"memory-mb", 2048}, {"vcores", 2}}, {}, 0};
  tree.queues[2].max_running_apps = 1;
  tree.queues[3].max_am_share = 0.1;
  tree.user_max_apps["few"] = 0;
  YarnFairConfig config;
  config.cap_at_largest_node = false;
  config.locality_threshold_node = config.locality_threshold_rack = 1.0F;
  Cluster cluster(config, tree);
  cluster.AddNode(0, 4096, 4);
  cluster.AddNode(1, 4096, 4);
  cluster.AddApp(0, "root.a");
  cluster.Ask(0, 1, 6144, 1, 1);
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kLargerThanAnyNode);
  cluster.Ask(0, 1, 6144, 1, 0);
  cluster.AddApp(1, "root.b");
  cluster.Ask(1, 1, 3072, 1, 1);
  EXPECT_EQ(cluster.WhyFirst(1), ms::PendingReason::kQueueMaximum);
  EXPECT_EQ(cluster.core().Why({1}, {}).at(0).remedy, "raise its maxResources, or ask for less: it never fits");
  cluster.AddApp(2, "root.c");
  cluster.AddApp(3, "root.c");
  cluster.Ask(3, 1, 1024, 1, 1);
  EXPECT_EQ(cluster.WhyFirst(3), ms::PendingReason::kMaxRunningApps);
  cluster.AddApp(4, "root.a", "few");
  cluster.Ask(4, 1, 1024, 1, 1);
  EXPECT_EQ(cluster.WhyFirst(4), ms::PendingReason::kUserLimit);
  cluster.AddApp(5, "root.d", "u", false, false);
  cluster.Ask(5, 0, 2048, 1, 1);
  cluster.Update();
  EXPECT_EQ(cluster.WhyFirst(5), ms::PendingReason::kMasterShare);
  cluster.Ask(0, 1, 1024, 1, 2, "n0");
  cluster.Ask(0, 1, 1024, 1, 2, "/r0");
  cluster.Ask(0, 1, 1024, 1, 2);
  cluster.Update();
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kFairShare);
  const uint64_t before = cluster.core().StateHash();
  cluster.WhyFirst(0);
  EXPECT_EQ(cluster.core().StateHash(), before) << "asking why changes nothing";
  EXPECT_EQ(Grants(cluster.Beat(1)), 0U);
  cluster.Send(ms::NodeSchedulable{{0}, false});
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kWaitingForLocality);
  ms::Allocate blacklist;
  blacklist.app = {0};
  blacklist.blacklist_add = {"n1"};
  cluster.Send(blacklist);
  EXPECT_EQ(cluster.WhyFirst(0), ms::PendingReason::kNodesExcluded);
}

TEST(YarnFair, HostileInputLeavesTheOthersAlone) {
  Cluster cluster;
  cluster.AddNode(0, 8192, 8);
  EXPECT_THAT(cluster.AddApp(0, "root..x"), HasSubstr("refused"));
  EXPECT_THAT(cluster.AddApp(1, " "), HasSubstr("refused"));
  EXPECT_THAT(cluster.AddApp(2, ""), HasSubstr("refused"));
  EXPECT_EQ(cluster.AddApp(3, std::string("root.\xff\x01\"'<>")), std::string("root.\xff\x01\"'<>"));
  EXPECT_EQ(cluster.AddApp(4, "root.a"), "root.a");
  cluster.Ask(3, 1, INT64_MAX, INT64_MAX, INT32_MAX);
  cluster.Ask(3, 2, -5, -5, INT32_MAX);
  cluster.Ask(3, 3, 0, 0, -7);
  cluster.Ask(3, INT32_MIN, 1, 1, 1, std::string(1000, 'x'));
  ms::Allocate odd;
  odd.app = {3};
  odd.releases = {{{{9, 9}, 9}, INT64_MIN}, {{{1, 3}, 1}, INT64_MAX}, {{{1, 4}, 1}, 1}};
  odd.blacklist_remove = {"never added"};
  cluster.Send(odd);
  cluster.Send(ms::NodeUpdated{{77}, {}, {}});
  cluster.Send(ms::NodeUpdated{{0}, {{{{5, 5}, 5}, 5}}, {{{{{5, 5}, 5}, 5}, 0}}});
  cluster.Send(ms::Allocate{{99}, 1, {}, {}, {}, {}});
  cluster.Send(ms::AppRemoved{{99}});
  cluster.Send(ms::AppMoved{{99}, 1, "root.a"});
  cluster.Ask(4, 1, 1024, 1, 1);
  cluster.Update();
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
}

TEST(YarnFair, KeysAndLinesOfOneApplicationAreBounded) {
  Cluster cluster;
  cluster.AddNode(0, 8192, 8);
  cluster.AddApp(0, "root.a");
  ms::Allocate call;
  call.app = {0};
  const auto refused = [&] {
    const EffectSink out = cluster.Send(call);
    const auto* effect = std::get_if<ms::CallRefused>(&out.at(0));
    return effect ? effect->refused.why : model::Refusal::kNone;
  };
  model::Ask ask;
  ask.name = "*";
  ask.capability = Resources::Of(1024, 1);
  ask.count = 1;
  for (int32_t i = 0; i < 200'000; ++i) {
    ask.priority = 200'000 - i;
    call.asks.push_back(ask);
  }
  EXPECT_EQ(refused(), model::Refusal::kTooManyKeys);
  EXPECT_TRUE(cluster.core().Why({0}, {}).empty());
  for (size_t i = 0; i < call.asks.size(); ++i) call.asks[i].name = i == 0 ? "*" : "h" + std::to_string(i);
  for (model::Ask& one : call.asks) one.priority = 1;
  EXPECT_EQ(refused(), model::Refusal::kTooManyPlaces);
  call.asks.resize(4'096);
  for (size_t i = 0; i < call.asks.size(); ++i) call.asks[i].priority = static_cast<int32_t>(4'096 - i);
  for (model::Ask& one : call.asks) one.name = "*";
  EXPECT_EQ(refused(), model::Refusal::kNone);
  EXPECT_EQ(refused(), model::Refusal::kNone) << "the same again replaces what is there";
  ms::Allocate one_more = call;
  one_more.asks.resize(1);
  one_more.asks[0].priority = 5'000;
  std::swap(call, one_more);
  EXPECT_EQ(refused(), model::Refusal::kTooManyKeys);
  std::swap(call, one_more);
  cluster.Update();
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
  for (model::Ask& gone : call.asks) gone.count = 0;
  EXPECT_EQ(refused(), model::Refusal::kNone);
  EXPECT_TRUE(cluster.core().Why({0}, {}).empty());
}

TEST(YarnFair, TheMastersShareAdmitsSmallerMastersFirstAndLargerOnesWhenThereIsRoom) {
  model::QueueTree tree;
  tree.queue_max_am_share_default = 0.5;  // of 8192 MiB
  Cluster cluster({}, tree);
  cluster.AddNode(0, 8192, 8);
  const auto submit = [&](uint32_t app, int64_t mb) {
    cluster.AddApp(app, "root.a", "u", false, false);
    cluster.Ask(app, 0, mb, 1, 1);
    cluster.Update();
  };
  submit(0, 3072);
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
  submit(1, 2048);
  EXPECT_EQ(Grants(cluster.Beat(0)), 0U) << "3072 + 2048 is more than 4096";
  EXPECT_EQ(cluster.WhyFirst(1), ms::PendingReason::kMasterShare);
  submit(2, 1024);
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
  EXPECT_EQ(Grants(cluster.Beat(0)), 0U);
  cluster.Ask(1, 0, 2048, 1, 0);
  cluster.Ask(1, 1, 512, 1, 1);
  cluster.Update();
  EXPECT_EQ(Grants(cluster.Beat(0)), 0U) << "3072 + 1024 + 512 is still more";
  cluster.Send(ms::AttemptRemoved{{2}, 1, false});
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U) << "the smaller ask of application 1";
  submit(3, 1024);
  cluster.Send(ms::AttemptRemoved{{0}, 1, false});
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U);
}

TEST(YarnFair, ANodeTooSmallForAllIsOfferedAgainAsSoonAsSomebodyCouldTakeIt) {
  Cluster cluster;
  cluster.AddNode(0, 8192, 8);
  cluster.AddNode(1, 8192, 8);
  cluster.AddApp(0, "root.a");
  cluster.AddApp(1, "root.b");
  cluster.Ask(0, 1, 3072, 1, 9);
  cluster.Update();
  std::vector<ms::Granted> granted;
  for (const uint32_t node : {0U, 0U, 1U, 1U}) {
    const EffectSink out = cluster.Beat(node);
    ASSERT_EQ(Grants(out), 1U);
    granted.push_back(std::get<ms::Granted>(out.at(0)));
  }
  EXPECT_TRUE(cluster.Beat(0).empty()) << "3072 do not fit in 2048, and application 0 has more than its share";
  EXPECT_TRUE(cluster.Beat(1).empty());
  cluster.Ask(0, 2, 1024, 1, 1);
  EXPECT_EQ(Grants(cluster.Beat(0)), 0U) << "the larger ask is more urgent";
  cluster.Ask(0, 0, 1024, 1, 1);
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U) << "a smaller ask, without an update pass";
  EXPECT_TRUE(cluster.Beat(1).empty());
  cluster.Ask(1, 1, 3072, 1, 1);
  EXPECT_TRUE(cluster.Beat(1).empty()) << "no pending demand is known before the next update pass";
  cluster.Update();
  const EffectSink starved = cluster.Beat(1);
  ASSERT_EQ(starved.size(), 1U);
  EXPECT_EQ(std::get<ms::Reserved>(starved[0]).app, model::AppIndex{1}) << "below its share, it may wait for this node";
  cluster.Send(ms::Acquired{{0}, {granted[0].container, granted[2].container}});
  cluster.Send(ms::ContainerEnded{granted[2].container, 0});
  EXPECT_EQ(Grants(cluster.Beat(1)), 1U) << "the reservation";
  cluster.Send(ms::ContainerEnded{granted[0].container, 0});
  EXPECT_EQ(Grants(cluster.Beat(0)), 1U) << "room for the ask that was too large";
}

/// Random events: sums stay right, and the same events give the same effects, also from a fork in the middle.
TEST(YarnFair, RandomEventsKeepTheBooks) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    base::Rng rng(seed);
    YarnFairConfig config;
    config.preemption = true;
    config.preemption_utilization_threshold = 0.1F;
    config.wait_before_kill_ms = 1000;
    config.assign_multiple = seed % 2 == 0;
    config.locality_threshold_node = config.locality_threshold_rack = seed % 3 == 0 ? 0.5F : -1.0F;
    model::QueueTree tree;
    tree.default_policy = seed % 2 == 0 ? "drf" : "fair";
    tree.default_fair_share_preemption_timeout = base::Duration::Millis(0);
    tree.queues = {Queue("root.a"), Queue("root.b"), Queue("root.c")};
    tree.queues[0].weight = 0.0;
    Cluster cluster(config, tree);
    for (uint32_t n = 0; n < 5; ++n) cluster.AddNode(n, 8192, 8);
    std::vector<ms::Granted> granted;
    uint32_t apps = 0;
    for (int step = 0; step < 400; ++step) {
      cluster.now_ms += static_cast<int64_t>(rng.Below(300));
      EffectSink out;
      switch (rng.Below(8)) {
        case 0:
          cluster.AddApp(apps++, "root." + std::string(1, static_cast<char>('a' + rng.Below(4))), "u", false, false);
          break;
        case 1:
          if (apps > 0) {
            cluster.Ask(static_cast<uint32_t>(rng.Below(apps)), static_cast<int32_t>(rng.Below(4)),
                        512 * static_cast<int64_t>(1 + rng.Below(9)), 1, static_cast<int32_t>(rng.Below(9)));
          }
          break;
        case 2:
          cluster.Update();
          break;
        case 3:
          cluster.Send(ms::Pass{ms::PassKind::kPreempt});
          break;
        case 4:
          out = cluster.Send(ms::Pass{ms::PassKind::kTimers});
          break;
        case 5:
          if (!granted.empty()) {
            const ms::Granted& g = granted[rng.Below(granted.size())];
            ms::NodeUpdated report{g.node, {g.container}, {}};
            if (rng.Below(2) == 0) report.completed.push_back({g.container, 0});
            cluster.Send(ms::Acquired{g.app, {g.container}});
            out = cluster.Send(report);
          }
          break;
        default:
          out = cluster.Beat(static_cast<uint32_t>(rng.Below(5)));
      }
      for (const ms::Effect& effect : out) {
        if (const auto* g = std::get_if<ms::Granted>(&effect)) granted.push_back(*g);
      }
      if (HasFailure()) return;
    }
    EXPECT_GT(granted.size(), 20U) << "seed " << seed;
  }
}

TEST(Config, ReadsHadoopsKeysAndRefusesWrongOnes) {
  std::map<std::string, std::string> keys = {{"yarn.scheduler.minimum-allocation-mb", "512"},
                                             {"yarn.scheduler.fair.locality.threshold.node", "0.5f"},
                                             {"yarn.scheduler.fair.am.preemption.root.a", "false"},
                                             {"yarn.resource-types.memory-mb.increment-allocation", "2Gi"}};
  const auto read = [&] {
    return ReadConfig(
        [&](const std::string& key) -> std::optional<std::string> {
          const auto it = keys.find(key);
          return it == keys.end() ? std::nullopt : std::optional(it->second);
        },
        "3.4.3", keys);
  };
  base::Result<YarnFairConfig> config = read();
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->minimum_allocation[0], 512);
  EXPECT_EQ(config->increment[0], 2048);
  EXPECT_EQ(config->locality_threshold_node, 0.5F);
  EXPECT_FALSE(config->am_preemption_of.at("root.a"));
  keys["yarn.scheduler.increment-allocation-vcores"] = "0";
  EXPECT_THAT(read().error().message, HasSubstr("increment-allocation-vcores"));
  keys["yarn.scheduler.fair.max.assign"] = "many";
  EXPECT_THAT(read().error().message, HasSubstr("max.assign is 'many'; write"));
  EXPECT_FALSE(QuirksOf("2.7").has_value());
}

}  // namespace
}  // namespace fairlead::scheduler::yarn_fair
