#include "rm/core.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "base/stored.h"

namespace fairlead::rm {
namespace {

using model::Refusal;
using model::Resources;
using model::rm::AppState;
using model::rm::AttemptState;
using model::rm::NodeContainerState;
namespace m = model::rm;
namespace s = model::scheduler;

/// First fit over nodes in order: just enough of a scheduler to give the core its other half.
class FirstFit {
 public:
  std::vector<s::Effect> Step(std::span<const s::Event> events) {
    out_.clear();
    for (const s::Event& event : events) {
      std::visit([this](const auto& e) { On(e); }, event);
    }
    Place();
    for (const s::Allocate& call : calls_) {
      s::AllocateAnswered answer;
      answer.app = call.app;
      answer.token = call.token;
      answer.cluster_nodes = static_cast<int32_t>(nodes_.size());
      out_.push_back(answer);
    }
    calls_.clear();
    return out_;
  }
  std::optional<model::Refused> reject;
  int64_t epoch = 0;
  std::vector<model::LearnedUse> learned;  // is told with the next node
  bool sizes_wait = false;                 // larger sizes come with the next report of a node

 private:
  struct NodeBook {
    Resources free;
  };
  struct AppBook {
    model::ApplicationId id;
    int32_t attempt = 0;
    std::deque<model::Ask> asks;
    bool in = false;
    int64_t last = 0;
  };
  struct Held {
    model::AppIndex app;
    model::NodeIndex node;
    Resources size;
  };

  template <class E>
  void On(const E&) {}
  void On(const s::NodeAdded& e) {
    nodes_[e.node].free = e.capacity;
    if (!learned.empty()) out_.push_back(s::UseLearned{std::exchange(learned, {})});
  }
  void On(const s::NodeRemoved& e) {
    nodes_.erase(e.node);
    std::vector<model::ContainerId> gone;
    for (const auto& [id, held] : held_) {
      if (held.node == e.node) gone.push_back(id);
    }
    for (const auto& id : gone) End(id, model::kExitAborted);
  }
  void On(const s::NodeUpdated& e) {
    for (const s::Granted& grown : std::exchange(growing_, {})) out_.push_back(grown);
    for (const auto& done : e.completed) End(done.container, done.exit_status);
  }
  void On(const s::AppAdded& e) {
    if (reject) {
      out_.push_back(s::CallRefused{e.token, *reject});
      return;
    }
    apps_[e.app] = {e.id, 0, {}, true, 0};
    out_.push_back(s::AppAccepted{e.app, "root." + e.queue, true, e.token});
  }
  void On(const s::AttemptAdded& e) {
    apps_[e.app].attempt = e.attempt;
    apps_[e.app].last = 0;
  }
  void On(const s::AttemptRemoved& e) {
    apps_[e.app].asks.clear();
    if (!e.keep_containers) EndAll(e.app);
  }
  void On(const s::AppRemoved& e) {
    EndAll(e.app);
    apps_.erase(e.app);
  }
  void On(const s::Allocate& e) {
    for (const auto& ask : e.asks) apps_[e.app].asks.push_back(ask);
    for (const auto& id : e.releases) End(id, model::kExitAborted, "Container released by application");
    calls_.push_back(e);
  }
  void On(const s::ContainerEnded& e) { End(e.container, e.exit_status); }
  void On(const s::ContainerRecovered& e) {
    held_[e.container] = {e.app, e.node, e.resources};
    nodes_[e.node].free -= e.resources;
  }
  void On(const s::AppMoved& e) { out_.push_back(s::MoveAnswered{e.app, e.token, "root." + e.queue}); }
  void On(const s::AppPriority& e) { out_.push_back(s::PriorityAnswered{e.token}); }
  void On(const s::ContainerResized& e) {
    if (!sizes_wait) return out_.push_back(s::ResizeAnswered{e.token});
    out_.push_back(s::CallRefused{e.token, {Refusal::kUpdateOutstanding, {}, {}, {}}});
    s::Granted& grown = growing_.emplace_back();
    grown.app = held_.at(e.container).app;
    grown.container = e.container;
    grown.node = held_.at(e.container).node;
    grown.resources = e.resources;
  }
  void On(const s::QueuesReloaded& e) { out_.push_back(s::ReloadAnswered{e.token}); }

  void EndAll(model::AppIndex app) {
    std::vector<model::ContainerId> all;
    for (const auto& [id, held] : held_) {
      if (held.app == app) all.push_back(id);
    }
    for (const auto& id : all) End(id, model::kExitAborted);
  }
  void End(const model::ContainerId& id, int32_t exit, const char* diagnostics = "") {
    const auto it = held_.find(id);
    if (it == held_.end()) return;
    if (const auto node = nodes_.find(it->second.node); node != nodes_.end()) node->second.free += it->second.size;
    out_.push_back(s::Finished{it->second.app, id, it->second.node, exit, true, diagnostics, false});
    held_.erase(it);
  }
  void Place() {
    for (auto& [index, app] : apps_) {
      for (auto& ask : app.asks) {
        for (auto& [node, book] : nodes_) {
          while (ask.count > 0 && ask.capability.FitsIn(book.free)) {
            book.free -= ask.capability;
            --ask.count;
            const model::ContainerId id{{app.id, app.attempt}, (epoch << 40) + ++app.last};
            held_[id] = {index, node, ask.capability};
            s::Granted granted;
            granted.app = index;
            granted.container = id;
            granted.node = node;
            granted.priority = ask.priority;
            granted.resources = ask.capability;
            out_.push_back(granted);
          }
        }
      }
      std::erase_if(app.asks, [](const model::Ask& ask) { return ask.count == 0; });
    }
  }

  std::map<model::NodeIndex, NodeBook> nodes_;
  std::map<model::AppIndex, AppBook> apps_;
  std::map<model::ContainerId, Held> held_;
  std::vector<s::Allocate> calls_;
  std::vector<s::Granted> growing_;
  std::vector<s::Effect> out_;
};

class World : public ::testing::Test {
 protected:
  World() : World(Config{}) {}
  explicit World(Config config) : config_(config) { Restart({}, {}); }

  void Restart(std::vector<m::AppRecord> apps, std::vector<m::AttemptRecord> attempts) {
    config_.web_base = "http://rm:8088";
    core_.emplace(config_);
    scheduler_ = FirstFit{};
    scheduler_.epoch = epoch_;
    Do(m::Started{1000, epoch_, std::move(apps), std::move(attempts), draining_, std::exchange(learned_, {})});
    ++epoch_;
  }
  /// Reads the store back, as a daemon does after a crash.
  void Crash() {
    std::vector<m::AppRecord> apps;
    std::vector<m::AttemptRecord> attempts;
    for (const auto& [key, value] : store_) {
      if (key.first == "rm/app") {
        apps.push_back(*base::DecodeStored<m::AppRecord>(value));
      } else if (key.first == kLearnedUseTable) {
        learned_.push_back(*base::DecodeStored<model::LearnedUse>(value));
      } else {
        attempts.push_back(*base::DecodeStored<m::AttemptRecord>(value));
      }
    }
    now_ = base::Instant{};
    pending_.clear();
    last_txn_seen_ = 0;
    Restart(std::move(apps), std::move(attempts));
  }

  void Do(m::OuterEvent event) {
    effects_.clear();
    StepOnce({std::move(event)});
    while (store_works_ && !pending_.empty()) {
      const m::Persist persist = pending_.front();
      pending_.pop_front();
      for (const m::StoreRow& row : persist.rows) {
        if (row.remove) {
          store_.erase({row.table, row.key});
        } else {
          store_[{row.table, row.key}] = row.value;
        }
      }
      StepOnce({m::Persisted{persist.txn, true, ""}});
    }
    EXPECT_EQ(core_->CheckInvariants(), "");
  }
  void Pass(base::Duration time) {
    now_ = now_ + time;
    wall_.ms += time.millis();
    Do(m::Tick{});
  }
  void StepOnce(std::vector<m::OuterEvent> events) {
    std::vector<s::Event> to_scheduler;
    core_->StepOuter(now_, wall_, events, {effects_, to_scheduler});
    while (!to_scheduler.empty()) {
      for (const s::Event& event : to_scheduler) {
        if (const auto* measured = std::get_if<s::NodeMeasured>(&event)) told_measures_.push_back(*measured);
        if (const auto* call = std::get_if<s::Allocate>(&event)) {
          for (const s::Loss& loss : call->losses) told_losses_.push_back(loss.container);
        }
        if (const auto* recalled = std::get_if<s::UseRecalled>(&event)) told_recalled_.push_back(*recalled);
        const auto* update = std::get_if<s::NodeUpdated>(&event);
        if (!update) continue;
        for (const auto& end : update->completed) told_ends_.push_back(end.container);
      }
      const std::vector<s::Effect> decided = scheduler_.Step(to_scheduler);
      to_scheduler.clear();
      core_->StepScheduler(now_, wall_, decided, {effects_, to_scheduler});
    }
    core_->EndStep(now_, wall_, {effects_, to_scheduler});
    for (const auto& effect : effects_) {
      if (const auto* persist = std::get_if<m::Persist>(&effect); persist && persist->txn > last_txn_seen_) {
        last_txn_seen_ = persist->txn;
        pending_.push_back(*persist);
      }
    }
  }
  template <class E>
  std::vector<E> Got() const {
    std::vector<E> found;
    for (const auto& effect : effects_) {
      if (const E* e = std::get_if<E>(&effect)) found.push_back(*e);
    }
    return found;
  }
  Refusal Why() const {
    const auto refused = Got<m::CallRefused>();
    return refused.empty() ? Refusal::kNone : refused[0].refused.why;
  }

  m::Submission AnApp(int32_t number) const {
    m::Submission submission;
    submission.id = {1000, number};
    submission.user = "ann";
    submission.queue = "alpha";
    submission.name = "test";
    submission.context = "context";
    model::Ask ask;
    ask.name = "*";
    ask.capability = Resources::Of(1024, 1);
    ask.count = 1;
    submission.master_asks = {ask};
    return submission;
  }
  void AddNode(const std::string& host, std::vector<m::NodeContainer> containers = {},
               std::vector<model::ApplicationId> apps = {}) {
    m::RegisterNode event;
    event.call = 900;
    event.address = {host, 4000};
    event.http_port = 8042;
    event.rack = "/default-rack";
    event.capacity = Resources::Of(8192, 8);
    event.containers = std::move(containers);
    event.running_apps = std::move(apps);
    Do(event);
    beat_[host] = 0;
  }
  m::HeartbeatAnswer Beat(const std::string& host, std::vector<m::NodeContainer> containers = {}) {
    m::Heartbeat event;
    event.call = 901;
    event.address = {host, 4000};
    event.response_id = beat_[host];
    for (m::NodeContainer& container : containers) {
      if (container.state == NodeContainerState::kComplete) {
        event.containers.push_back(std::move(container));
      } else {
        event.running.push_back(container.id);
      }
    }
    Do(event);
    const auto answers = Got<m::HeartbeatAnswer>();
    EXPECT_EQ(answers.size(), 1u);
    if (answers.empty()) return {};
    if (answers[0].action == m::NodeAction::kNormal) beat_[host] = answers[0].response_id;
    return answers[0];
  }
  static m::NodeContainer Runs(const model::ContainerId& id) {
    m::NodeContainer status;
    status.id = id;
    status.resources = Resources::Of(1024, 1);
    return status;
  }
  static m::NodeContainer Ended(const model::ContainerId& id, int32_t exit, std::string diagnostics = "") {
    m::NodeContainer status;
    status.id = id;
    status.state = NodeContainerState::kComplete;
    status.exit_status = exit;
    status.diagnostics = std::move(diagnostics);
    return status;
  }
  /// Submits, launches and registers the master of application `number`.
  model::ApplicationAttemptId Running(int32_t number) {
    const m::Submission submission = AnApp(number);
    Do(m::Submit{1, submission});
    const model::ApplicationAttemptId attempt{submission.id, 1};
    Do(m::MasterLaunched{attempt, ""});
    Do(m::RegisterMaster{2, attempt, "host", 1234, "http://am:1"});
    EXPECT_EQ(Got<m::RegisterMasterAnswer>().size(), 1u);
    return attempt;
  }
  m::AllocateAnswer Ask(const model::ApplicationAttemptId& attempt, int32_t count,
                        std::vector<model::ContainerId> releases = {}) {
    m::AllocateCall call;
    call.call = 3;
    call.attempt = attempt;
    call.response_id = core_->FindAttempt(attempt)->response_id;
    if (count > 0) {
      model::Ask ask;
      ask.priority = 5;
      ask.name = "*";
      ask.capability = Resources::Of(1024, 1);
      ask.count = count;
      call.asks = {ask};
    }
    call.releases = std::move(releases);
    Do(call);
    const auto answers = Got<m::AllocateAnswer>();
    EXPECT_EQ(answers.size(), 1u);
    return answers.empty() ? m::AllocateAnswer{} : answers[0];
  }
  AppState StateOf(int32_t number) const { return core_->FindApp({1000, number})->state; }
  const Attempt& AttemptOf(int32_t app, int32_t number) const { return *core_->FindAttempt({{1000, app}, number}); }

  Config config_;
  std::optional<Core> core_;
  FirstFit scheduler_;
  base::Instant now_;
  base::WallTime wall_{5000};
  int32_t epoch_ = 0;
  std::map<std::string, int64_t> draining_;  // as the store has it
  bool store_works_ = true;
  uint64_t last_txn_seen_ = 0;
  std::deque<m::Persist> pending_;
  std::map<std::pair<std::string, std::string>, std::string> store_;
  std::map<std::string, int32_t> beat_;
  std::vector<m::OuterEffect> effects_;
  std::vector<model::ContainerId> told_ends_;  // to the scheduler, by nodes
  std::vector<s::NodeMeasured> told_measures_;
  std::vector<s::UseRecalled> told_recalled_;
  std::vector<model::ContainerId> told_losses_;
  std::vector<model::LearnedUse> learned_;  // read back from the store
};

TEST_F(World, ApplicationGoesFromSubmissionToEnd) {
  AddNode("n1");
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(Got<m::CallDone>().size(), 1u);
  ASSERT_EQ(Got<m::LaunchMaster>().size(), 1u);
  const auto launch = Got<m::LaunchMaster>()[0];
  EXPECT_EQ(ToString(launch.container.id), "container_1000_0001_01_000001");
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kAllocated);
  Do(m::MasterLaunched{launch.attempt, ""});
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kLaunched);
  Do(m::RegisterMaster{2, launch.attempt, "host", 1234, ""});
  EXPECT_EQ(Got<m::RegisterMasterAnswer>()[0].queue, "root.alpha");
  EXPECT_EQ(StateOf(1), AppState::kRunning);
  const auto answer = Ask(launch.attempt, 3);
  ASSERT_EQ(answer.granted.size(), 3u) << "the grant rides on the reply to the call that asked";
  EXPECT_EQ(answer.new_nodes.size(), 1u);
  EXPECT_EQ(answer.granted[0].priority, 5);
  Beat("n1", {Runs(launch.container.id), Runs(answer.granted[0].id)});
  Beat("n1", {Runs(launch.container.id), Ended(answer.granted[0].id, 3, "boom")});
  const auto ends = Ask(launch.attempt, 0).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].exit_status, 3);
  EXPECT_EQ(ends[0].diagnostics, "boom");
  EXPECT_TRUE(Ask(launch.attempt, 0).completed.empty());
  EXPECT_EQ(Beat("n1", {Runs(launch.container.id)}).forget, std::vector{answer.granted[0].id});
  Do(m::FinishMaster{4, launch.attempt, m::FinalStatus::kSucceeded, "done", "http://history"});
  ASSERT_EQ(Got<m::FinishMasterAnswer>().size(), 1u);
  EXPECT_TRUE(Got<m::FinishMasterAnswer>()[0].unregistered);
  EXPECT_EQ(StateOf(1), AppState::kFinishing);
  const auto last = Beat("n1", {Ended(launch.container.id, 0)});
  EXPECT_EQ(StateOf(1), AppState::kFinished);
  EXPECT_EQ(last.finished_apps, std::vector{launch.attempt.app});
  EXPECT_EQ(Core::VisibleFinalStatus(*core_->FindApp({1000, 1})), m::FinalStatus::kSucceeded);
  EXPECT_EQ(AttemptOf(1, 1).original_url, "http://history");
}

TEST_F(World, SubmissionIsAnsweredAfterTheStoreHasIt) {
  store_works_ = false;
  Do(m::Submit{1, AnApp(1)});
  EXPECT_TRUE(Got<m::CallDone>().empty());
  ASSERT_EQ(pending_.size(), 1u);
  StepOnce({m::Persisted{pending_[0].txn, true, ""}});
  EXPECT_EQ(Got<m::CallDone>().size(), 1u);
}

TEST_F(World, SubmissionThatCannotBeStoredIsRefused) {
  store_works_ = false;
  Do(m::Submit{1, AnApp(1)});
  StepOnce({m::Persisted{pending_[0].txn, false, "disk full"}});
  EXPECT_EQ(Why(), Refusal::kNotStored);
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
}

TEST_F(World, RejectedApplicationFailsAtOnce) {
  scheduler_.reject = {Refusal::kNotPlaced, {}, {}, {}};
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(Got<m::CallDone>().size(), 1u);
  EXPECT_EQ(StateOf(1), AppState::kFailed);
  EXPECT_EQ(Core::VisibleDiagnostics(*core_->FindApp({1000, 1})),
            "Reject application application_1000_0001 submitted by user ann application rejected by placement rules.");
}

TEST_F(World, WhatIsRejectedBeforehandFailsWithoutAnAttempt) {
  m::Submit submit{1, AnApp(1)};
  submit.rejected = "Failed to renew token: Kind: HDFS_DELEGATION_TOKEN";
  Do(submit);
  EXPECT_EQ(Got<m::CallDone>().size(), 1u);
  EXPECT_EQ(StateOf(1), AppState::kFailed);
  EXPECT_EQ(Core::VisibleDiagnostics(*core_->FindApp({1000, 1})), submit.rejected);
  EXPECT_TRUE(core_->FindApp({1000, 1})->attempts.empty());
}

TEST_F(World, EachRejectionSaysItsReason) {
  const auto says = [this](int32_t number, model::Refused why) {
    scheduler_.reject = std::move(why);
    Do(m::Submit{static_cast<uint64_t>(number), AnApp(number)});
    return Core::VisibleDiagnostics(*core_->FindApp({1000, number}));
  };
  EXPECT_EQ(says(1, {Refusal::kUserAccess, {"ann", "application_1000_0001", "root.q"}, {}, {}}),
            "User ann does not have permission to submit application_1000_0001 to queue root.q");
  EXPECT_EQ(says(2, {Refusal::kQueueLacksType, {"application_1000_0002", "root.q", "vcores"}, {}, {}}),
            "Cannot submit application application_1000_0002 to queue root.q because it has zero amount of resource "
            "for a requested resource! Invalid requested AM resources: vcores");
  EXPECT_EQ(says(3, {Refusal::kUnknownQueue, {"root.q"}, {}, {}}), "Application submitted to unknown queue: root.q");
}

TEST_F(World, WhoseGroupsAreUnknownIsRefusedAtOnce) {
  scheduler_.reject = {Refusal::kNoGroups, {"ann"}, {}, {}};
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(Why(), Refusal::kNoGroups);
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
}

// RMAppManager throws over the submission's own priority, and rejects over that of its workflow later.
TEST_F(World, APriorityThatAUserMayNotHaveIsRefusedAtOnceAndThatOfAWorkflowFailsTheApplication) {
  scheduler_.reject = {Refusal::kPriorityAccess, {"ann", "application_1000_0001"}, {}, {4}};
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(Why(), Refusal::kPriorityAccess);
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
  scheduler_.reject = {Refusal::kWorkflowPriorityAccess, {"ann", "application_1000_0001"}, {}, {4}};
  Do(m::Submit{2, AnApp(1)});
  EXPECT_EQ(StateOf(1), AppState::kFailed);
  EXPECT_EQ(Core::VisibleDiagnostics(*core_->FindApp({1000, 1})),
            "Failed to submit application application_1000_0001 submitted by user ann reason: "
            "org.apache.hadoop.security.AccessControlException: User ann (auth:SIMPLE) does not have permission to "
            "submit/update application_1000_0001 for {Priority: 4}");
}

TEST_F(World, SecondSubmissionOfAnIdIsSilentlyFine) {
  Do(m::Submit{1, AnApp(1)});
  Do(m::Submit{2, AnApp(1)});
  ASSERT_EQ(Got<m::CallDone>().size(), 1u);
  EXPECT_EQ(Got<m::CallDone>()[0].call, 2u);
}

TEST_F(World, ListsOfTheQueueDecideWhoSubmits) {
  config_.acls = true;
  model::QueueTree& tree = config_.queues;
  tree.queues.resize(2);
  tree.queues[0].name = "root";
  tree.queues[0].submit_acl = tree.queues[0].administer_acl = model::AccessList{};
  tree.queues[1].name = "root.alpha";
  tree.queues[1].submit_acl = model::AccessList{false, {"bob"}, {}};
  last_txn_seen_ = 0;
  Restart({}, {});
  Do(m::Submit{1, AnApp(1)});
  const auto refused = Got<m::CallRefused>();
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(
      refused[0].refused,
      (model::Refused{Refusal::kAccessLists, {"ann", "application_1000_0001", "root.alpha", "root.alpha"}, {}, {}}));
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
  m::ReloadQueues reload{tree, 2};
  reload.tree.queues[1].submit_acl->users.push_back("ann");
  Do(reload);
  Do(m::Submit{2, AnApp(1)});
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
}

// FairScheduler asks them always, CapacityScheduler where yarn.acl.enable says so.
TEST_F(World, ListsOfAFairSchedulerFileHoldWithoutAclEnable) {
  model::QueueTree& tree = config_.queues;
  tree.queues.resize(1);
  tree.queues[0].name = "root";
  tree.queues[0].submit_acl = tree.queues[0].administer_acl = model::AccessList{};
  last_txn_seen_ = 0;
  Restart({}, {});
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(Why(), Refusal::kAccessLists);
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
  m::ReloadQueues reload{tree, 2};
  reload.tree.capacity.emplace();
  Do(reload);
  Do(m::Submit{2, AnApp(1)});
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
}

TEST_F(World, MasterLargerThanTheMaximumIsRefused) {
  auto submission = AnApp(1);
  submission.master_asks[0].capability = Resources::Of(1 << 20, 1);
  Do(m::Submit{1, submission});
  EXPECT_EQ(Why(), Refusal::kAboveMaximum);
}

class LabelledMasters : public World {
 protected:
  LabelledMasters() : World(Labelled()) { Do(m::AddLabels{.call = 1, .labels = {{"masters", true}, {"fast", true}}}); }
  static Config Labelled() {
    Config config;
    config.node_labels = true;
    config.master_label = "masters";
    return config;
  }
  std::string LabelOf(m::Submission submission) {
    const model::ApplicationId id = submission.id;
    Do(m::Submit{2, std::move(submission)});
    const App* app = core_->FindApp(id);
    return app == nullptr || app->master_asks.empty() ? "none" : app->master_asks[0].label;
  }
};

TEST_F(LabelledMasters, AMasterThatAsksForNoneHasTheirLabelBeforeThatOfItsApplication) {
  EXPECT_EQ(LabelOf(AnApp(1)), "masters");
  m::Submission labelled = AnApp(2);
  labelled.label = "fast";
  EXPECT_EQ(LabelOf(labelled), "masters");
  labelled = AnApp(3);
  labelled.master_asks[0].label = "fast";
  EXPECT_EQ(LabelOf(labelled), "fast");
}

TEST_F(World, TheQueuesOwnMaximumHoldsForMastersAndAsks) {
  model::QueueTree& tree = config_.queues;
  tree.queues.emplace_back().name = "root.alpha";
  tree.queues.back().max_container_allocation.emplace().absolute = {{"memory-mb", 2048}, {"vcores", 1}};
  last_txn_seen_ = 0;
  Restart({}, {});
  AddNode("n1");
  auto submission = AnApp(1);
  submission.master_asks[0].capability = Resources::Of(3072, 1);
  Do(m::Submit{1, submission});
  EXPECT_EQ(Why(), Refusal::kAboveMaximum);
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
  const auto attempt = Running(1);
  EXPECT_EQ(Got<m::RegisterMasterAnswer>()[0].maximum, Resources::Of(2048, 1));
  m::AllocateCall call;
  call.call = 9;
  call.attempt = attempt;
  call.asks.emplace_back().name = "*";
  call.asks[0].capability = Resources::Of(2049, 1);
  call.asks[0].count = 1;
  Do(call);
  EXPECT_EQ(Why(), Refusal::kAboveMaximum);
  call.asks[0].capability = Resources::Of(2048, 1);
  Do(call);
  EXPECT_EQ(Got<m::AllocateAnswer>().size(), 1u);
  m::ReloadQueues reload{tree, 2};
  reload.tree.queues.back().max_container_allocation->absolute["memory-mb"] = 1024;
  Do(reload);
  ++call.response_id;
  Do(call);
  EXPECT_EQ(Why(), Refusal::kAboveMaximum);
}

TEST_F(World, MasterThatDiesIsStartedAgainUntilTheLimit) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto first = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(first)});
  Beat("n1", {Ended(first, 1, "segfault")});
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kFailed);
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
  const auto second = AttemptOf(1, 2).master.id;
  EXPECT_EQ(ToString(second), "container_1000_0001_02_000001");
  EXPECT_FALSE(core_->AttemptIsKnown(attempt));
  EXPECT_TRUE(core_->AttemptIsKnown({{1000, 1}, 2}));
  Do(m::MasterLaunched{{{1000, 1}, 2}, ""});
  Beat("n1", {Runs(second)});
  Beat("n1", {Ended(second, 1, "segfault")});
  EXPECT_EQ(StateOf(1), AppState::kFailed);
  const std::string& diagnostics = Core::VisibleDiagnostics(*core_->FindApp({1000, 1}));
  EXPECT_NE(diagnostics.find("Application application_1000_0001 failed 2 times due to AM Container for "
                             "appattempt_1000_0001_000002 exited with  exitCode: 1"),
            std::string::npos)
      << diagnostics;
}

TEST_F(World, PreemptedMasterDoesNotCount) {
  AddNode("n1");
  Running(1);
  for (int32_t i = 1; i <= 4; ++i) {
    const auto master = AttemptOf(1, i).master.id;
    Beat("n1", {Runs(master)});
    Beat("n1", {Ended(master, model::kExitPreempted, "preempted")});
    EXPECT_EQ(StateOf(1), AppState::kAccepted) << i;
  }
}

TEST_F(World, ResponseIdsFollowHadoop) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto first = Ask(attempt, 1);
  m::AllocateCall again;
  again.call = 7;
  again.attempt = attempt;
  again.response_id = 0;
  Do(again);
  ASSERT_EQ(Got<m::AllocateAnswer>().size(), 1u);
  EXPECT_EQ(Got<m::AllocateAnswer>()[0].granted.size(), 1u);
  EXPECT_EQ(Got<m::AllocateAnswer>()[0].response_id, first.response_id);
  again.response_id = 5;
  Do(again);
  EXPECT_EQ(Why(), Refusal::kResponseId);
}

TEST_F(World, CallsOfMastersAreRefusedAsHadoopRefusesThem) {
  AddNode("n1");
  Do(m::Submit{1, AnApp(1)});
  const model::ApplicationAttemptId attempt{{1000, 1}, 1};
  m::AllocateCall call;
  call.attempt = attempt;
  Do(call);
  EXPECT_EQ(Why(), Refusal::kMasterNotRegistered);
  Do(m::FinishMaster{1, attempt, m::FinalStatus::kSucceeded, "", ""});
  EXPECT_EQ(Why(), Refusal::kMasterFinishesTooEarly);
  Do(m::MasterLaunched{attempt, ""});
  Do(m::RegisterMaster{2, attempt, "h", 1, ""});
  Do(m::RegisterMaster{3, attempt, "h", 1, ""});
  EXPECT_EQ(Why(), Refusal::kMasterRegistered);
  call.releases = {{{{1000, 9}, 1}, 1}};
  Do(call);
  EXPECT_EQ(Why(), Refusal::kForeignContainer);
  call.releases.clear();
  call.blacklist_add = {"*"};
  Do(call);
  EXPECT_EQ(Why(), Refusal::kBlacklistAnywhere);
  call.blacklist_add.clear();
  model::Ask ask;
  ask.name = "*";
  ask.capability = Resources::Of(1 << 20, 1);
  ask.count = 1;
  call.asks = {ask};
  Do(call);
  EXPECT_EQ(Why(), Refusal::kAboveMaximum);
  call.attempt.attempt = 2;
  Do(call);
  EXPECT_EQ(Why(), Refusal::kAttemptNotServed);
}

TEST_F(World, AMasterSaysWhatIsLostOfItsOwnContainersAlone) {
  AddNode("n1");
  const auto first = Running(1);
  const auto second = Running(2);
  const auto master_of = [&](const model::ApplicationAttemptId& attempt) {
    return core_->FindApp(attempt.app)->attempts.at(attempt.attempt).master.id;
  };
  m::AllocateCall call;
  call.call = 7;
  call.attempt = first;
  call.response_id = core_->FindApp(first.app)->attempts.at(1).response_id;
  call.losses = {{master_of(first), base::Duration::Seconds(5)}, {master_of(second), {}}};
  Do(call);
  EXPECT_EQ(told_losses_, std::vector{master_of(first)});
}

TEST_F(World, KillIsAnsweredWhenItIsStored) {
  AddNode("n1");
  Running(1);
  Do(m::KillApp{9, {1000, 1}, "killed by bob"});
  ASSERT_EQ(Got<m::KillAnswer>().size(), 1u);
  EXPECT_TRUE(Got<m::KillAnswer>()[0].completed);
  EXPECT_EQ(StateOf(1), AppState::kKilled);
  EXPECT_EQ(Core::VisibleDiagnostics(*core_->FindApp({1000, 1})), "killed by bob");
  EXPECT_EQ(Got<m::StopContainers>().empty(), false) << "a kill reaches the node at once";
  Do(m::KillApp{10, {1000, 77}, ""});
  EXPECT_EQ(Why(), Refusal::kUnknownApplicationToKill);
}

TEST_F(World, SilentMasterExpires) {
  AddNode("n1");
  Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(master)});
  for (int i = 0; i < 30; ++i) {
    Pass(base::Duration::Seconds(21));
    Beat("n1", {Runs(master)});
  }
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kFailed);
  EXPECT_EQ(AttemptOf(1, 1).diagnostics, "ApplicationMaster for attempt appattempt_1000_0001_000001 timed out");
}

TEST_F(World, UnusedGrantExpires) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(master)});
  const auto granted = Ask(attempt, 1).granted;
  for (int i = 0; i < 29; ++i) {
    Pass(base::Duration::Seconds(20));
    Beat("n1", {Runs(master)});
    EXPECT_TRUE(Ask(attempt, 0).completed.empty());
  }
  Pass(base::Duration::Seconds(30));
  const auto ends = Ask(attempt, 0).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].id, granted[0].id);
  EXPECT_EQ(ends[0].diagnostics, "Container expired since it was unused");
}

TEST_F(World, LostNodeEndsItsContainers) {
  AddNode("n1");
  AddNode("n2");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master;
  const std::string other = master.address.host == "n1" ? "n2" : "n1";
  Beat(master.address.host, {Runs(master.id)});
  const auto granted = Ask(attempt, 12).granted;
  ASSERT_EQ(granted.size(), 12u);
  for (int i = 0; i < 31; ++i) {
    Pass(base::Duration::Seconds(20));
    std::vector<m::NodeContainer> running;
    for (const auto& c : granted) {
      if (c.address.host == master.address.host) running.push_back(Runs(c.id));
    }
    running.push_back(Runs(master.id));
    Beat(master.address.host, running);
    if (i < 29) Ask(attempt, 0);
  }
  EXPECT_EQ(core_->FindNode({other, 4000})->state, m::NodeState::kLost);
  const auto answer = Ask(attempt, 0);
  EXPECT_FALSE(answer.completed.empty());
  for (const auto& end : answer.completed) EXPECT_EQ(end.exit_status, model::kExitAborted);
  ASSERT_EQ(answer.nodes.size(), 1u);
  EXPECT_EQ(answer.nodes[0].change, m::NodeChange::kUnusable);
  EXPECT_EQ(Beat(other).action, m::NodeAction::kResync);
}

TEST_F(World, RunningContainerThatANodeForgetsIsLost) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id)});
  Beat("n1", {Runs(master)});
  const auto ends = Ask(attempt, 0).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_NE(ends[0].diagnostics.find("was running but not reported from n1:4000"), std::string::npos);
}

TEST_F(World, HeartbeatIdsFollowHadoop) {
  AddNode("n1");
  Beat("n1");
  m::Heartbeat event;
  event.address = {"n1", 4000};
  event.response_id = 0;
  Do(event);
  EXPECT_EQ(Got<m::HeartbeatAnswer>()[0].response_id, 1);
  event.response_id = 9;
  Do(event);
  EXPECT_EQ(Got<m::HeartbeatAnswer>()[0].action, m::NodeAction::kResync);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRebooted);
}

TEST_F(World, ReleasedContainerIsCleanedUpAndReported) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto granted = Ask(attempt, 1).granted;
  const auto ends = Ask(attempt, 0, {granted[0].id}).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].exit_status, model::kExitAborted);
  EXPECT_EQ(ends[0].diagnostics, "Container released by application");
  EXPECT_EQ(Beat("n1", {Runs(AttemptOf(1, 1).master.id)}).cleanup, std::vector{granted[0].id});
}

// The scheduler keeps the room of a container that its application gave back until the node says that it is gone.
TEST_F(World, SchedulerHearsOfAnEndThatAReturningNodeReports) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 2).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id), Runs(granted[1].id)});
  Ask(attempt, 0, {granted[0].id});
  told_ends_.clear();
  AddNode("n1", {Runs(master), Ended(granted[0].id, 143), Runs(granted[1].id)}, {attempt.app});
  EXPECT_EQ(told_ends_, std::vector{granted[0].id});
  EXPECT_TRUE(Beat("n1", {Runs(master), Runs(granted[1].id)}).forget.empty());
  Ask(attempt, 0);
  EXPECT_EQ(Beat("n1", {Runs(master), Runs(granted[1].id)}).forget, std::vector{granted[0].id});
  EXPECT_EQ(told_ends_.size(), 1u);
}

// The end was decided here (given back, lost node), and the node reports it before the master has confirmed it.
TEST_F(World, EndDecidedHereIsNotForgottenBeforeItsMasterKnows) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id)});
  EXPECT_EQ(Ask(attempt, 0, {granted[0].id}).completed.size(), 1u);
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(granted[0].id, 143)}).forget.empty());
  Crash();
  AddNode("n1", {Runs(master), Ended(granted[0].id, 143)}, {attempt.app});
  Do(m::RegisterMaster{2, attempt, "host", 1, ""});
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u) << "the next run tells it, too";
  Ask(attempt, 0);
  EXPECT_EQ(Beat("n1", {Runs(master)}).forget, std::vector{granted[0].id});
}

TEST_F(World, SchedulerHearsOfAGivenBackContainerThatANodeForgets) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id)});
  Ask(attempt, 0, {granted[0].id});
  told_ends_.clear();
  AddNode("n1", {Runs(master)}, {attempt.app});
  Beat("n1", {Runs(master)});
  EXPECT_EQ(told_ends_, std::vector{granted[0].id});
}

TEST_F(World, EndThatItsMasterDoesNotKnowYetIsNotForgotten) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id)});
  Beat("n1", {Runs(master), Ended(granted[0].id, 3)});
  AddNode("n1", {Runs(master), Ended(granted[0].id, 3)}, {attempt.app});  // the answer before was lost with the agent
  EXPECT_TRUE(Beat("n1", {Runs(master)}).forget.empty());
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  EXPECT_TRUE(Ask(attempt, 0).completed.empty());
  EXPECT_EQ(Beat("n1", {Runs(master)}).forget, std::vector{granted[0].id});
}

TEST_F(World, EndReportedOverAndOverIsForgottenOnceItsMasterKnows) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto id = Ask(attempt, 1).granted.at(0).id;
  Beat("n1", {Runs(master), Runs(id)});
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(id, 3), Ended(id, 4)}).forget.empty());
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(id, 5)}).forget.empty());
  const auto ends = Ask(attempt, 0).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].exit_status, 3) << "what it said first";
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(id, 3)}).forget.empty()) << "told, and not acknowledged";
  EXPECT_TRUE(Ask(attempt, 0).completed.empty());
  EXPECT_EQ(Beat("n1", {Runs(master)}).forget, std::vector{id});
  EXPECT_TRUE(Beat("n1", {Runs(master)}).forget.empty());
  EXPECT_EQ(Beat("n1", {Runs(master), Ended(id, 3)}).forget, std::vector{id}) << "the answer was lost with the agent";
}

TEST_F(World, EndsOfAnApplicationThatIsOverAreForgotten) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 3).granted;
  const auto told = granted.at(0).id;
  const auto untold = granted.at(1).id;
  const auto vanished = granted.at(2).id;
  Beat("n1", {Runs(master), Runs(told), Runs(untold), Runs(vanished)});
  Beat("n1", {Runs(master), Ended(told, 0), Runs(untold), Runs(vanished)});
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(untold, 0)}).forget.empty());
  Do(m::KillApp{9, attempt.app, "x"});
  EXPECT_EQ(StateOf(1), AppState::kKilled);
  EXPECT_EQ(Beat("n1", {Runs(master)}).forget, (std::vector{told, untold}));
  EXPECT_TRUE(Beat("n1", {Runs(master)}).forget.empty());
}

TEST_F(World, NodeThatWasLostForgetsNothingThatItRememberedBefore) {
  config_.node_expiry = base::Duration::Seconds(100);
  last_txn_seen_ = 0;
  Restart({}, {});
  AddNode("n1");
  AddNode("n2");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 9).granted;  // seven on the first node
  const auto told = granted.at(7).id;
  const auto untold = granted.at(8).id;
  Beat("n1", {Runs(master)});
  Beat("n2", {Runs(told), Runs(untold)});
  Beat("n2", {Ended(told, 0), Runs(untold)});
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  Beat("n2", {Ended(untold, 0)});
  Pass(base::Duration::Seconds(60));
  Beat("n1", {Runs(master)});
  Pass(base::Duration::Seconds(60));
  EXPECT_EQ(core_->FindNode({"n2", 4000})->state, m::NodeState::kLost);
  AddNode("n2", {Ended(untold, 0)}, {attempt.app});
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  EXPECT_TRUE(Beat("n2").forget.empty()) << "of the first it says nothing any more";
  Ask(attempt, 0);
  EXPECT_EQ(Beat("n2").forget, std::vector{untold}) << "the other it has reported again";
  EXPECT_TRUE(Beat("n2").forget.empty());
}

TEST_F(World, NodeThatWasUnhealthyRemembersUntilItRegistersAnew) {
  AddNode("n1");
  AddNode("n2");
  const auto attempt = Running(1);
  const auto granted = Ask(attempt, 9).granted;  // seven on the first node
  const auto first = granted.at(7).id;
  const auto second = granted.at(8).id;
  Beat("n2", {Runs(first), Runs(second)});
  Beat("n2", {Ended(first, 0), Runs(second)});
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  Beat("n2", {Ended(second, 0)});
  m::Heartbeat ill;
  ill.address = {"n2", 4000};
  ill.response_id = beat_["n2"]++;
  ill.healthy = false;
  Do(ill);
  Beat("n2");
  EXPECT_EQ(core_->FindNode({"n2", 4000})->state, m::NodeState::kRunning);
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 1u);
  EXPECT_EQ(Beat("n2").forget, std::vector{first});
  AddNode("n2");
  Ask(attempt, 0);
  EXPECT_TRUE(Beat("n2").forget.empty());
}

TEST_F(World, ContainerThatVanishedIsNotForgottenUnlessItsNodeReportsIt) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 2).granted;
  const auto gone = granted.at(0).id;
  const auto late = granted.at(1).id;
  Beat("n1", {Runs(master), Runs(gone), Runs(late)});
  Beat("n1", {Runs(master)});
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(late, 0)}).forget.empty());
  EXPECT_EQ(Ask(attempt, 0).completed.size(), 2u);
  Ask(attempt, 0);
  EXPECT_EQ(Beat("n1", {Runs(master)}).forget, std::vector{late});
}

// What the node remembers is state that decisions come from.
TEST_F(World, StateHashTellsWhetherAnEndIsRemembered) {
  const auto hash_after = [this](bool reported) {
    epoch_ = 0;
    last_txn_seen_ = 0;
    Restart({}, {});
    AddNode("n1");
    const auto attempt = Running(1);
    const auto master = AttemptOf(1, 1).master.id;
    const auto id = Ask(attempt, 1).granted.at(0).id;
    Beat("n1", {Runs(master), Runs(id)});
    Ask(attempt, 0, {id});
    Beat("n1", {Runs(master)});
    Beat("n1", reported ? std::vector{Runs(master), Ended(id, 0)} : std::vector{Runs(master)});
    return core_->StateHash();
  };
  EXPECT_NE(hash_after(true), hash_after(false));
}

TEST_F(World, RestartKeepsWhatRuns) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 2).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id), Runs(granted[1].id)});
  Do(m::Submit{1, AnApp(2)});
  Do(m::KillApp{1, {1000, 2}, "gone"});
  Crash();
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kLaunched);
  EXPECT_EQ(StateOf(2), AppState::kKilled);
  m::AllocateCall call;
  call.attempt = attempt;
  call.response_id = 7;
  Do(call);
  EXPECT_EQ(Why(), Refusal::kMasterNotRegistered);
  EXPECT_EQ(Beat("n1").action, m::NodeAction::kResync);
  AddNode("n1", {Runs(master), Runs(granted[0].id), Ended(granted[1].id, 4, "ended meanwhile")}, {attempt.app});
  Do(m::RegisterMaster{2, attempt, "host", 1, ""});
  EXPECT_EQ(StateOf(1), AppState::kRunning);
  const auto answer = Ask(attempt, 1);
  ASSERT_EQ(answer.completed.size(), 1u);
  EXPECT_EQ(answer.completed[0].exit_status, 4);
  ASSERT_EQ(answer.granted.size(), 1u);
  EXPECT_EQ(ToString(answer.granted[0].id).substr(0, 13), "container_e01");
  EXPECT_NE(core_->FindContainer(granted[0].id), nullptr);
}

// Started by a grant of the earlier run while its node registered with this one, so that no registration tells of it.
TEST_F(World, MasterHearsOfTheEndOfAContainerThatOnlyHeartbeatsTellOf) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  const auto late = Ask(attempt, 1).granted.at(0).id;
  Crash();
  AddNode("n1", {Runs(master)}, {attempt.app});
  Do(m::RegisterMaster{2, attempt, "host", 1, ""});
  EXPECT_EQ(Beat("n1", {Runs(master), Runs(late)}).cleanup, std::vector{late}) << "nobody has booked it";
  EXPECT_TRUE(Beat("n1", {Runs(master), Ended(late, 143)}).forget.empty()) << "until its master knows";
  const auto ends = Ask(attempt, 0).completed;
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends[0].id, late);
  EXPECT_EQ(ends[0].exit_status, 143);
  EXPECT_TRUE(Ask(attempt, 0).completed.empty());
  EXPECT_EQ(Beat("n1", {Runs(master), Ended(late, 143)}).forget, std::vector{late});
  EXPECT_TRUE(Ask(attempt, 0).completed.empty()) << "once";
}

TEST_F(World, MasterThatDidNotSurviveARestartIsFoundByItsNode) {
  AddNode("n1");
  Running(1);
  Crash();
  AddNode("n1");
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kFailed);
  EXPECT_EQ(AttemptOf(1, 2).state, AttemptState::kAllocated);
}

// The resource manager went between the grant and the start: its only attempt has not been used up.
TEST_F(World, MasterThatWasNeverStartedIsGrantedAgainAfterARestart) {
  AddNode("n1");
  m::Submission submission = AnApp(1);
  submission.max_attempts = 1;
  Do(m::Submit{1, submission});
  ASSERT_EQ(AttemptOf(1, 1).state, AttemptState::kAllocated);
  Crash();
  AddNode("n1");
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kFailed);
  EXPECT_EQ(AttemptOf(1, 2).state, AttemptState::kAllocated);
  Do(m::MasterLaunched{{submission.id, 2}, ""});
  Crash();
  AddNode("n1");
  EXPECT_EQ(StateOf(1), AppState::kFailed) << "one that has run does not run again";
}

TEST_F(World, OrphansAreKilledAndEndedApplicationsCleanedUp) {
  AddNode("n1");
  const model::ContainerId stranger{{{1000, 5}, 1}, 2};
  AddNode("n2", {Runs(stranger)}, {{1000, 5}});
  const auto answer = Beat("n2", {Runs(stranger)});
  EXPECT_EQ(answer.cleanup, std::vector{stranger});
  EXPECT_EQ(answer.finished_apps, (std::vector<model::ApplicationId>{{1000, 5}}));
}

TEST_F(World, KeptContainersGoToTheNextAttempt) {
  AddNode("n1");
  auto submission = AnApp(1);
  submission.keep_containers = true;
  Do(m::Submit{1, submission});
  const model::ApplicationAttemptId attempt{submission.id, 1};
  Do(m::MasterLaunched{attempt, ""});
  Do(m::RegisterMaster{2, attempt, "host", 1, ""});
  const auto master = AttemptOf(1, 1).master.id;
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(master), Runs(granted[0].id)});
  Beat("n1", {Ended(master, 1), Runs(granted[0].id)});
  const model::ApplicationAttemptId next{submission.id, 2};
  Do(m::MasterLaunched{next, ""});
  Do(m::RegisterMaster{2, next, "host", 1, ""});
  const auto previous = Got<m::RegisterMasterAnswer>()[0].previous;
  ASSERT_EQ(previous.size(), 1u);
  EXPECT_EQ(previous[0].id, granted[0].id);
}

TEST_F(World, UnmanagedMasterNeedsNoContainer) {
  auto submission = AnApp(1);
  submission.unmanaged = true;
  Do(m::Submit{1, submission});
  const model::ApplicationAttemptId attempt{submission.id, 1};
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kLaunched);
  EXPECT_TRUE(Got<m::LaunchMaster>().empty());
  Do(m::RegisterMaster{2, attempt, "host", 1, ""});
  EXPECT_EQ(StateOf(1), AppState::kRunning);
  Do(m::FinishMaster{4, attempt, m::FinalStatus::kSucceeded, "", ""});
  EXPECT_EQ(StateOf(1), AppState::kFinished);
}

TEST_F(World, DecommissioningWaitsForApplications) {
  AddNode("n1");
  Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(master)});
  m::RefreshNodes refresh;
  refresh.exclude = {"n1"};
  refresh.graceful = true;
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
  EXPECT_EQ(Beat("n1", {Runs(master)}).action, m::NodeAction::kNormal);
  Do(m::KillApp{9, {1000, 1}, "x"});
  EXPECT_EQ(Beat("n1", {Ended(master, 143)}).action, m::NodeAction::kShutdown);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioned);
  EXPECT_EQ(Beat("n1").action, m::NodeAction::kShutdown);
}

TEST_F(World, WhatWasDrainingGoesOnDrainingInTheNextRun) {
  AddNode("n1");
  Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(master)});
  draining_ = {{"n1", -1}};
  Crash();
  AddNode("n1", {Runs(master)}, {{1000, 1}});
  EXPECT_EQ(Got<m::RegisterNodeAnswer>().back().action, m::NodeAction::kNormal);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
  m::RefreshNodes refresh;
  refresh.exclude = {"n1"};
  refresh.graceful = true;
  Do(refresh);
  EXPECT_EQ(Beat("n1", {Runs(master)}).action, m::NodeAction::kNormal);
  refresh.exclude.clear();
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
}

TEST_F(World, ANodeInMaintenanceStaysAndServesAgain) {
  AddNode("n1");
  Beat("n1");
  m::RefreshNodes refresh;
  refresh.graceful = true;
  refresh.windows = {{"n1", {wall_.ms + 60'000}, {wall_.ms + 120'000}}};
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
  refresh.windows[0].from = wall_;
  refresh.exclude = {"n1"};
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
  EXPECT_EQ(Beat("n1").action, m::NodeAction::kNormal) << "empty as it is";
  refresh.graceful = false;  // yarn rmadmin -refreshNodes
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
  AddNode("n1");  // its machine has started again
  EXPECT_EQ(Got<m::RegisterNodeAnswer>().back().action, m::NodeAction::kNormal);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
  refresh.windows.clear();
  refresh.exclude.clear();
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
}

TEST_F(World, ListsNameHostsByAddressToo) {
  m::RegisterNode event;
  event.call = 1;
  event.address = {"n1", 4000};
  event.ip = "10.0.0.1";
  event.capacity = Resources::Of(8192, 8);
  Do(event);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
  m::RefreshNodes refresh;
  refresh.include = {"10.0.0.1"};
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
  refresh.exclude = {"10.0.0.1"};
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioned);
  Do(event);
  EXPECT_EQ(Got<m::RegisterNodeAnswer>().back().action, m::NodeAction::kShutdown);
}

TEST_F(World, DecommissioningTimeIsTheHostsOwnAndMayChange) {
  AddNode("n1");
  Running(1);
  Beat("n1", {Runs(AttemptOf(1, 1).master.id)});
  m::RefreshNodes refresh;
  refresh.exclude = {"n1"};
  refresh.graceful = true;
  refresh.timeout_s = 100;
  refresh.timeouts_s = {{"n1", 7}};
  Do(refresh);
  const base::Instant began = now_;
  EXPECT_EQ(core_->FindNode({"n1", 4000})->decommission_deadline, began + base::Duration::Seconds(7));
  refresh.timeouts_s.clear();
  Do(refresh);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->decommission_timeout_s, 100);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kDecommissioning);
}

TEST_F(World, WhatANodeMeasuredReachesTheScheduler) {
  AddNode("n1");
  Beat("n1");
  EXPECT_TRUE(told_measures_.empty());  // it told nothing
  m::Heartbeat event;
  event.address = {"n1", 4000};
  event.response_id = beat_["n1"]++;
  event.use.disk_busy = 970;
  event.containers_use.milli_cores = 500;
  event.each_use = {{{{{1, 1}, 1}, 1}, event.containers_use}};
  Do(event);
  ASSERT_EQ(told_measures_.size(), 1);
  EXPECT_EQ(told_measures_[0].node, core_->FindNode({"n1", 4000})->index);
  EXPECT_EQ(told_measures_[0].use, event.use);
  EXPECT_EQ(told_measures_[0].containers, event.containers_use);
  EXPECT_EQ(told_measures_[0].each, event.each_use);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->use, event.use);
}

TEST_F(World, NoNodeHasMoreMemoryInUseThanItHas) {
  AddNode("n1");
  const m::NodeAddress address{"n1", 4000};
  const int64_t has = core_->FindNode(address)->capacity.memory_mib() << 20;
  m::Heartbeat event;
  event.address = address;
  event.response_id = beat_["n1"]++;
  event.use.physical_bytes = int64_t{1} << 51;
  event.containers_use.physical_bytes = int64_t{1} << 51;
  Do(event);
  EXPECT_EQ(told_measures_.at(0).use.physical_bytes, has);
  EXPECT_EQ(core_->FindNode(address)->use.physical_bytes, has);
  EXPECT_EQ(core_->FindNode(address)->containers_use.physical_bytes, has);
}

TEST_F(World, WhatWasLearnedOutlivesARestart) {
  model::LearnedUse row;
  row.row = 3;
  row.user = "ann";
  row.milli_cores = {10, 5000, 700};
  scheduler_.learned = {row};
  AddNode("n1");
  row.stored = wall_;
  ASSERT_EQ(store_.count({kLearnedUseTable, "3"}), 1u);
  EXPECT_EQ(*base::DecodeStored<model::LearnedUse>(store_.at({kLearnedUseTable, "3"})), row);
  Crash();
  ASSERT_EQ(told_recalled_.size(), 1);
  EXPECT_EQ(told_recalled_[0].rows, (std::vector<model::LearnedUse>{row}));
  EXPECT_EQ(told_recalled_[0].now, wall_);
}

TEST_F(World, UnhealthyNodeLosesItsContainersAndComesBack) {
  AddNode("n1");
  Running(1);
  const auto master = AttemptOf(1, 1).master.id;
  Beat("n1", {Runs(master)});
  m::Heartbeat event;
  event.address = {"n1", 4000};
  event.response_id = beat_["n1"]++;
  event.healthy = false;
  event.health_report = "disks";
  event.containers = {Runs(master)};
  Do(event);
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kUnhealthy);
  EXPECT_EQ(AttemptOf(1, 1).state, AttemptState::kFailed);
  EXPECT_EQ(StateOf(1), AppState::kAccepted);
  EXPECT_NE(AttemptOf(1, 1).diagnostics.find("*lost* node"), std::string::npos);
  Beat("n1", {Ended(master, 143)});
  EXPECT_EQ(core_->FindNode({"n1", 4000})->state, m::NodeState::kRunning);
  EXPECT_EQ(AttemptOf(1, 2).state, AttemptState::kAllocated);
}

TEST_F(World, CompletedApplicationsAreEvicted) {
  config_.max_completed_apps = 2;
  config_.max_stored_apps = 1;
  last_txn_seen_ = 0;
  Restart({}, {});
  for (int32_t i = 1; i <= 3; ++i) {
    Do(m::Submit{1, AnApp(i)});
    Do(m::KillApp{2, {1000, i}, "x"});
  }
  EXPECT_EQ(core_->FindApp({1000, 1}), nullptr);
  EXPECT_NE(core_->FindApp({1000, 2}), nullptr);
  EXPECT_EQ(store_.count({"rm/app", "application_1000_0002"}), 0u);
  EXPECT_EQ(store_.count({"rm/app", "application_1000_0003"}), 1u);
}

TEST_F(World, ContainersChangeTheirSize) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(AttemptOf(1, 1).master.id), Runs(granted[0].id)});
  m::AllocateCall call;
  call.call = 3;
  call.attempt = attempt;
  call.response_id = AttemptOf(1, 1).response_id;
  call.updates = {{granted[0].id, 0, m::UpdateType::kIncrease, Resources::Of(2048, 1)},
                  {{{{1000, 1}, 1}, 99}, 0, m::UpdateType::kIncrease, Resources::Of(2048, 1)}};
  Do(call);
  auto answer = Got<m::AllocateAnswer>()[0];
  if (answer.updated.empty()) answer.updated = Ask(attempt, 0).updated;
  ASSERT_EQ(answer.updated.size(), 1u);
  EXPECT_EQ(answer.updated[0].container.resources.memory_mib(), 2048);
  EXPECT_EQ(answer.updated[0].container.version, 1);
  ASSERT_EQ(answer.update_errors.size(), 1u);
  EXPECT_EQ(answer.update_errors[0].refused.why, Refusal::kUpdateUnknownContainer);
}

TEST_F(World, ALargerSizeThatWaitedIsToldOnceItIsThere) {
  AddNode("n1");
  const auto attempt = Running(1);
  const auto granted = Ask(attempt, 1).granted;
  Beat("n1", {Runs(AttemptOf(1, 1).master.id), Runs(granted[0].id)});
  scheduler_.sizes_wait = true;
  m::AllocateCall call;
  call.call = 3;
  call.attempt = attempt;
  call.response_id = AttemptOf(1, 1).response_id;
  call.updates = {{granted[0].id, 0, m::UpdateType::kIncrease, Resources::Of(2048, 1)}};
  Do(call);
  const m::AllocateAnswer first = Got<m::AllocateAnswer>()[0];
  EXPECT_TRUE(first.updated.empty() && first.update_errors.empty());
  EXPECT_EQ(core_->FindContainer(granted[0].id)->resources.memory_mib(), 1024);
  Beat("n1", {Runs(AttemptOf(1, 1).master.id), Runs(granted[0].id)});
  const m::AllocateAnswer second = Ask(attempt, 0);
  EXPECT_TRUE(second.granted.empty());
  ASSERT_EQ(second.updated.size(), 1u);
  EXPECT_EQ(second.updated[0].type, m::UpdateType::kIncrease);
  EXPECT_EQ(second.updated[0].container.resources.memory_mib(), 2048);
  EXPECT_EQ(second.updated[0].container.version, 1);
  EXPECT_EQ(core_->FindContainer(granted[0].id)->resources.memory_mib(), 2048);
}

TEST_F(World, AHundredThousandNodeNamesDoNotStay) {
  AddNode("n1");
  for (int i = 0; i < 100'000; ++i) {
    m::RegisterNode event;
    event.address = {"stranger" + std::to_string(i), 1};
    event.rack = "/r";
    event.capacity = Resources::Of(8192, 8);
    const m::NodeAddress address = event.address;
    effects_.clear();
    StepOnce({std::move(event), m::UnregisterNode{1, address}});
  }
  size_t known = 0;
  core_->ForEachNode([&](const Node&) { ++known; });
  EXPECT_EQ(known, NodeTable::kGoneKept + 1);
  EXPECT_EQ(core_->FindNode({"stranger0", 1}), nullptr);
  EXPECT_EQ(core_->FindNode({"stranger99999", 1})->state, m::NodeState::kShutdown);
  Pass(base::Duration::Seconds(601));
  EXPECT_EQ(core_->NextDeadline(), base::Instant::Max()) << "nor do their timers";
}

TEST_F(World, NodesBeyondWhatAClusterCanHaveAreTurnedAway) {
  AddNode("n1");
  std::vector<m::OuterEvent> events;
  for (size_t i = 0; i < NodeTable::kActiveMax + 5; ++i) {
    m::RegisterNode event;
    event.address = {"stranger" + std::to_string(i), 1};
    event.rack = "/r";
    event.capacity = Resources::Of(8192, 8);
    events.push_back(std::move(event));
  }
  effects_.clear();
  StepOnce(std::move(events));
  size_t refused = 0;
  for (const auto& answer : Got<m::RegisterNodeAnswer>()) {
    refused += answer.action == m::NodeAction::kShutdown ? 1 : 0;
  }
  EXPECT_EQ(refused, 6u);
  EXPECT_NE(core_->FindNode({"n1", 4000}), nullptr);
}

TEST_F(World, WhatIsNotInALifeCycleIsRefusedAndLogged) {
  m::AppRecord row;
  row.submission = AnApp(1);
  row.final_state = AppState::kRunning;  // no end
  last_txn_seen_ = 0;
  Restart({row}, {});
  const auto changes = Got<m::StateChanged>();
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].from, "NEW");
  EXPECT_EQ(changes[0].to, "NEW");
  EXPECT_EQ(changes[0].detail, "refused RECOVER to RUNNING");
  EXPECT_EQ(StateOf(1), AppState::kFailed) << "it does not vanish";
}

TEST_F(World, LifetimeEndsAnApplication) {
  AddNode("n1");
  auto submission = AnApp(1);
  submission.lifetime_s = 10;
  Do(m::Submit{1, submission});
  EXPECT_EQ(core_->NextDeadline(), now_ + base::Duration::Seconds(10));
  Pass(base::Duration::Seconds(11));
  EXPECT_EQ(StateOf(1), AppState::kKilled);
}

TEST_F(World, AQueueOfACapacitySchedulerBoundsLifetimes) {
  model::CapacityQueueSettings& alpha = config_.queues.capacity.emplace().queues["root.alpha"].own;
  alpha.maximum_application_lifetime = 100;
  alpha.default_application_lifetime = 30;
  last_txn_seen_ = 0;
  Restart({}, {});
  const auto expires = [this](int32_t number) { return core_->FindApp({1000, number})->expires.ms - wall_.ms; };
  Do(m::Submit{1, AnApp(1)});
  EXPECT_EQ(expires(1), 30'000) << "it asks for none";
  auto submission = AnApp(2);
  submission.lifetime_s = 500;
  Do(m::Submit{2, submission});
  EXPECT_EQ(expires(2), 100'000);
  Do(m::SetLifetime{3, {1000, 1}, {wall_.ms + 500'000}});
  EXPECT_EQ(expires(1), 100'000);
  EXPECT_EQ(Got<m::LifetimeAnswer>().at(0).expires.ms, wall_.ms + 100'000) << "clients are told what counts";
  Pass(base::Duration::Seconds(101));
  EXPECT_EQ(StateOf(1), AppState::kKilled);
}

TEST_F(World, FinalStateThatCannotBeStoredIsTriedAgain) {
  AddNode("n1");
  Running(1);
  store_works_ = false;
  Do(m::KillApp{9, {1000, 1}, "x"});
  ASSERT_EQ(pending_.size(), 1u);
  const auto txn = pending_.front().txn;
  pending_.clear();
  StepOnce({m::Persisted{txn, false, "disk full"}});
  EXPECT_EQ(StateOf(1), AppState::kKilling);
  store_works_ = true;
  Pass(base::Duration::Seconds(2));
  EXPECT_EQ(StateOf(1), AppState::kKilled);
}

TEST_F(World, StateHashTellsStatesApart) {
  const uint64_t before = core_->StateHash();
  AddNode("n1");
  EXPECT_NE(core_->StateHash(), before);
}

}  // namespace
}  // namespace fairlead::rm
