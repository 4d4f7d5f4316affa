// Two resource managers by seed, with crashes, stalls and cuts: one acts at a time, and nothing acknowledged is lost.

#include "process/rm/leadership.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/rng.h"
#include "env_sim/sim_quorum.h"
#include "env_sim/world.h"
#include "scheduler/fairlead/fairlead.h"
#include "wire/hadoop_rpc/ha_service.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {
namespace {

using base::Duration;
using env_sim::SimQuorum;
namespace w = wire::yarn;

constexpr Duration kSession = Duration::Seconds(2);
constexpr int kManagers = 2;

std::string NameOf(int manager) { return "rm" + std::to_string(manager + 1); }

/// Submits applications for ever, one after another, to whichever manager takes them, and kills every third.
class Submitter {
 public:
  explicit Submitter(env_sim::Machine& machine) : loop_(machine.loop()), rpc_(machine.loop(), machine.net()) {
    NewApplication();
  }
  std::set<model::ApplicationId> submitted;  // acknowledged
  std::set<model::ApplicationId> killed;     // the same

 private:
  template <class Response, class Request>
  void Call(const char* method, const Request& request, std::function<void(const Response&)> then) {
    const rpc::RpcTarget target{
        {NameOf(current_), 8032}, std::string(w::kApplicationClientProtocol), {"user", "", std::nullopt}};
    rpc_.Call<Response>(target, method, request, Duration::Seconds(20),
                        [this, method, request, then = std::move(then)](base::Result<Response, rpc::RpcError> answer) {
                          if (answer.ok()) return then(*answer);
                          current_ = (current_ + 1) % kManagers;
                          loop_.After(Duration::Millis(50), [=, this] { Call<Response>(method, request, then); });
                        });
  }
  void NewApplication() {
    Call<w::GetNewApplicationResponseProto>("getNewApplication", w::GetNewApplicationRequestProto{},
                                            [this](const auto& answer) { Submit(answer.ApplicationId()); });
  }
  void Submit(const w::ApplicationIdProto& id) {
    w::SubmitApplicationRequestProto request;
    auto& context = request.application_submission_context.emplace();
    context.application_id = id;
    context.resource.emplace().memory = 256;
    context.resource->virtual_cores = 1;
    context.am_container_spec.emplace().command.push_back("true");
    Call<w::SubmitApplicationResponseProto>("submitApplication", request, [this, id](const auto&) {
      submitted.insert({id.ClusterTimestamp(), id.Id()});
      if (submitted.size() % 3 == 0) return Kill(id);
      Rest();
    });
  }
  void Kill(const w::ApplicationIdProto& id) {
    w::KillApplicationRequestProto request;
    request.application_id = id;
    Call<w::KillApplicationResponseProto>("forceKillApplication", request, [this, id](const auto& answer) {
      if (!answer.IsKillCompleted()) return Kill(id);
      killed.insert({id.ClusterTimestamp(), id.Id()});
      Rest();
    });
  }
  void Rest() {
    loop_.After(Duration::Millis(20), [this] { NewApplication(); });
  }

  env::Loop& loop_;
  rpc::RpcClient rpc_;
  int current_ = 0;
};

/// Two managers and a quorum.
class Pair {
 protected:
  Pair(uint64_t seed, env_sim::QuorumBugs bugs) : world_(seed), chance_(seed), quorum_(world_, kSession, bugs) {
    for (int i = 0; i < kManagers; ++i) {
      machines_.push_back(&world_.AddMachine(NameOf(i)));
      managers_.emplace_back();
      Start(i);
    }
  }

  void Start(int manager) {
    env_sim::Machine& machine = *machines_[static_cast<size_t>(manager)];
    LeadershipOptions options;
    options.id = NameOf(manager);
    options.ports = {{options.id, 8032}, {options.id, 8030}, {options.id, 8031}, {options.id, 8033}};
    for (int i = 0; i < kManagers; ++i) options.admin_of[NameOf(i)] = {NameOf(i), 8033};
    options.admin_acl = {.everybody = false, .users = {"boss"}, .groups = {}};
    options.security.audit = env::Audit([this](env::AuditResult, std::string_view, const env::Log::Fields& fields) {
      std::string line;
      for (const auto& [key, value] : fields) line += (line.empty() ? "" : "|") + std::string(key) + "=" + value;
      audit_.push_back(line);
    });
    options.groups_of = [](const std::string&) { return std::vector<std::string>{}; };
    options.manager = [groups = options.groups_of](env::Store&) -> base::Result<ResourceManagerOptions> {
      ResourceManagerOptions manager_options;
      manager_options.groups_of = groups;
      manager_options.rack_of = [](const std::string&) { return "/default-rack"; };
      manager_options.make_scheduler = [](int64_t epoch) -> base::Result<std::unique_ptr<scheduler::Scheduler>> {
        scheduler::FairleadConfig config;
        config.epoch = epoch;
        return scheduler::MakeFairlead(config);
      };
      return manager_options;
    };
    auto& place = managers_[static_cast<size_t>(manager)];
    place = std::make_unique<Leadership>(machine.loop(), machine.net(), log_, quorum_.Join(machine, options.id),
                                         std::move(options));
    if (const base::Status started = place->Start(); !started.ok()) wrong_ = started.error().message;
  }

  ResourceManager* Acting() {
    for (auto& manager : managers_) {
      if (manager && manager->acting()) return manager->acting();
    }
    return nullptr;
  }

  env_sim::World world_;
  base::Rng chance_;
  env::NullLog log_;
  SimQuorum quorum_;
  std::vector<env_sim::Machine*> machines_;
  std::vector<std::unique_ptr<Leadership>> managers_;
  std::string wrong_;
  std::vector<std::string> audit_;  // of both
};

/// One run.
class Takeovers : Pair {
 public:
  Takeovers(uint64_t seed, env_sim::QuorumBugs bugs) : Pair(seed, bugs) {
    world_.faults().store_failure = 0.01;
    submitter_ = std::make_unique<Submitter>(world_.AddMachine("client"));
  }

  /// What went wrong, or "".
  std::string Go() {
    const base::Instant end = world_.now() + Duration::Seconds(60);
    while (world_.now() < end && wrong_.empty()) {
      Fault();
      Pass(Duration{chance_.Between(Duration::Millis(50).ns, Duration::Seconds(2).ns)});
    }
    Heal();
    const bool leads = world_.RunUntil(world_.now() + kSession * 5, [this] { return Acting() != nullptr; });
    if (!leads && wrong_.empty()) wrong_ = "nobody leads after everything was healed";
    Pass(Duration::Seconds(1));
    if (wrong_.empty()) CheckAcknowledged();
    return wrong_;
  }

  int64_t leaders() const { return quorum_.epochs(); }
  size_t acknowledged() const { return submitter_->submitted.size(); }

 private:
  void Pass(Duration time) {
    world_.RunUntil(
        world_.now() + time, [this] { return !wrong_.empty(); }, [this] { Check(); });
  }

  void Check() {
    int acting = 0;
    for (auto& manager : managers_) acting += manager && manager->acting() ? 1 : 0;
    if (acting > 1) wrong_ = "two managers act";
    if (quorum_.foul_writes() > 0) wrong_ = "a deposed leader has written";
  }

  void Fault() {
    const int manager = static_cast<int>(chance_.Below(kManagers));
    env_sim::Machine& machine = *machines_[static_cast<size_t>(manager)];
    auto& place = managers_[static_cast<size_t>(manager)];
    switch (chance_.Below(8)) {
      case 0:  // kill -9, and a new process at once or with the next turn of this kind
        if (place) {
          machine.Stall(false);
          place.reset();
          machine.Crash(chance_.Chance(0.3));
          if (chance_.Chance(0.5)) break;
        }
        machine.Restart();
        Start(manager);
        break;
      case 1:
        machine.Stall(true);
        break;
      case 2:
        machine.Stall(false);
        break;
      case 3:
        quorum_.Cut(NameOf(manager), true);
        break;
      case 4:
        quorum_.Cut(NameOf(manager), false);
        break;
      case 5:  // as long as a session, so that what was sent arrives when another leads
        quorum_.Delay(NameOf(manager), kSession);
        break;
      case 6:
        quorum_.Delay(NameOf(manager), {});
        break;
      case 7:
        break;  // nothing, for once
    }
  }

  void Heal() {
    for (int i = 0; i < kManagers; ++i) {
      machines_[static_cast<size_t>(i)]->Stall(false);
      quorum_.Cut(NameOf(i), false);
      quorum_.Delay(NameOf(i), {});
      if (managers_[static_cast<size_t>(i)]) continue;
      machines_[static_cast<size_t>(i)]->Restart();
      Start(i);
    }
    Pass(kSession * 5);
  }

  void CheckAcknowledged() {
    const ResourceManager* leader = Acting();
    if (!leader) {
      wrong_ = "nobody leads";
      return;
    }
    for (const model::ApplicationId& id : submitter_->submitted) {
      const fairlead::rm::App* app = leader->core().FindApp(id);
      if (!app) wrong_ = ToString(id) + " was acknowledged and is lost";
      if (app && submitter_->killed.contains(id) && !fairlead::rm::Core::IsCompleted(*app)) {
        wrong_ = ToString(id) + " was killed and lives";
      }
    }
  }

  std::unique_ptr<Submitter> submitter_;
};

TEST(Leadership, OneActsAndNothingAcknowledgedIsLost) {
  int64_t leaders = 0;
  size_t acknowledged = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    Takeovers run(seed, {});
    ASSERT_EQ(run.Go(), "") << "seed " << seed;
    leaders += run.leaders();
    acknowledged += run.acknowledged();
  }
  EXPECT_GT(leaders, 1000);
  EXPECT_GT(acknowledged, 20'000u);
}

std::string FirstFault(env_sim::QuorumBugs bugs) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    if (const std::string wrong = Takeovers(seed, bugs).Go(); !wrong.empty()) return wrong;
  }
  return "";
}

TEST(Leadership, AMissingFenceIsFound) { EXPECT_EQ(FirstFault({.no_fence = true}), "a deposed leader has written"); }

TEST(Leadership, ALateStepDownIsFound) { EXPECT_EQ(FirstFault({.late_step_down = true}), "two managers act"); }

// ---- Clients in mid-call ----

/// As a client of Hadoop's at its default settings (RetryPolicies.FailoverOnNetworkExceptionRetry): of one call the
/// first failover is at once, and before the second it sleeps.
class DefaultClient {
 public:
  DefaultClient(env_sim::World& world, env_sim::Machine& machine)
      : world_(world), loop_(machine.loop()), rpc_(machine.loop(), machine.net()) {
    Call();
  }
  int sent_to_sleep = 0;
  int64_t answered = 0;
  Duration longest;

 private:
  void Call() {
    began_ = world_.now();
    failovers_ = 0;
    Ask();
  }
  void Ask() {
    const rpc::RpcTarget target{
        {NameOf(current_), 8032}, std::string(w::kApplicationClientProtocol), {"user", "", std::nullopt}};
    rpc_.Call<w::GetNewApplicationResponseProto>(
        target, "getNewApplication", w::GetNewApplicationRequestProto{}, Duration::Seconds(120),
        [this](const base::Result<w::GetNewApplicationResponseProto, rpc::RpcError>& answer) {
          if (!answer.ok()) return FailOver();
          ++answered;
          longest = std::max(longest, world_.now() - began_);
          loop_.After(Duration::Millis(20), [this] { Call(); });
        });
  }
  void FailOver() {
    current_ = (current_ + 1) % kManagers;
    if (++failovers_ == 1) return loop_.Post([this] { Ask(); });
    ++sent_to_sleep;
    loop_.After(Duration::Seconds(30), [this] { Ask(); });
  }

  env_sim::World& world_;
  env::Loop& loop_;
  rpc::RpcClient rpc_;
  base::Instant began_;
  int current_ = 0;
  int failovers_ = 0;
};

/// Asks one manager all the time, whether it leads or not.
class Asker {
 public:
  Asker(env_sim::Machine& machine, int manager) : manager_(manager), rpc_(machine.loop(), machine.net()) { Ask(); }
  int64_t answered = 0;

 private:
  void Ask() {
    const rpc::RpcTarget target{
        {NameOf(manager_), 8032}, std::string(w::kApplicationClientProtocol), {"user", "", std::nullopt}};
    rpc_.Call<w::GetClusterMetricsResponseProto>(target, "getClusterMetrics", w::GetClusterMetricsRequestProto{},
                                                 Duration::Seconds(120), [this](const auto&) {
                                                   ++answered;
                                                   Ask();
                                                 });
  }
  const int manager_;
  rpc::RpcClient rpc_;
};

class Kills : Pair {
 public:
  explicit Kills(uint64_t seed) : Pair(seed, {}) {
    for (int i = 0; i < kManagers; ++i) askers_.emplace_back(world_.AddMachine("asker" + std::to_string(i)), i);
    Settle();
    for (int i = 0; i < 10; ++i) clients_.emplace_back(world_, world_.AddMachine("client" + std::to_string(i)));
    Settle();
    for (DefaultClient& client : clients_) {  // what the first of them met at a standby does not count
      client.sent_to_sleep = 0;
      client.longest = {};
    }
  }

  void KillLeader() {
    const int manager = Leading();
    ASSERT_GE(manager, 0);
    managers_[static_cast<size_t>(manager)].reset();
    machines_[static_cast<size_t>(manager)]->Crash();
    machines_[static_cast<size_t>(manager)]->Restart();  // the host lives, and refuses connections
    Settle();
    Start(manager);
    Settle();
  }
  int SentToSleep() const {
    int count = 0;
    for (const DefaultClient& client : clients_) count += client.sent_to_sleep;
    return count;
  }
  Duration Longest() const {
    Duration longest;
    for (const DefaultClient& client : clients_) longest = std::max(longest, client.longest);
    return longest;
  }

 private:
  int Leading() const {
    for (int i = 0; i < kManagers; ++i) {
      if (managers_[static_cast<size_t>(i)] && managers_[static_cast<size_t>(i)]->acting()) return i;
    }
    return -1;
  }
  /// Time for a takeover, and for a moment that differs.
  void Settle() {
    const Duration time = kSession * 2 + Duration{chance_.Between(0, Duration::Millis(500).ns)};
    world_.RunUntil(world_.now() + time, [] { return false; });
  }

  std::deque<Asker> askers_;
  std::deque<DefaultClient> clients_;
};

TEST(Leadership, ClientsInMidCallAreTakenByTheNextLeader) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Kills run(seed);
    for (int kill = 0; kill < 6; ++kill) run.KillLeader();
    ASSERT_EQ(run.SentToSleep(), 0) << "seed " << seed;
    ASSERT_LT(run.Longest(), Duration::Seconds(4)) << "seed " << seed;
  }
}

// ---- Transitions by an administrator ----

namespace h = wire::hadoop_rpc;

class Transitions : Pair {
 public:
  Transitions() : Pair(1, {}), client_(world_.AddMachine("client")), rpc_(client_.loop(), client_.net()) {
    world_.RunUntil(world_.now() + kSession * 5, [this] { return Acting() != nullptr; });
  }

  int Leading() const { return managers_[0]->acting() != nullptr ? 0 : 1; }
  /// What is written in the audits meanwhile.
  std::vector<std::string> Order(const std::string& user, int manager, const char* method,
                                 h::HARequestSourceProto source = h::HARequestSourceProto::kUserForced) {
    audit_.clear();
    h::TransitionToActiveRequestProto request;  // the other transition's has the same fields
    request.req_info.req_source = source;
    bool answered = false;
    rpc_.Call({{NameOf(manager), 8033}, std::string(w::kHaServiceProtocol), {user, "", std::nullopt}}, method,
              request.Encode(), Duration::Seconds(20), [&](const auto&) { answered = true; });
    world_.RunUntil(world_.now() + Duration::Seconds(30), [&] { return answered; });
    EXPECT_TRUE(answered) << method;
    return std::exchange(audit_, {});
  }

 private:
  env_sim::Machine& client_;
  rpc::RpcClient rpc_;
};

TEST(Leadership, TransitionsHaveTheirAuditLines) {
  using Lines = std::vector<std::string>;
  Transitions pair;
  const int leader = pair.Leading();
  EXPECT_EQ(pair.Order("mallory", leader, "transitionToStandby"),
            Lines{"USER=mallory|IP=client|OPERATION=transitionToStandby|TARGET=AdminService|RESULT=FAILURE|"
                  "DESCRIPTION=Unauthorized user|PERMISSIONS=User mallory doesn't have permission to call "
                  "'transitionToStandby'"});
  EXPECT_EQ(pair.Order("boss", leader, "transitionToStandby", h::HARequestSourceProto::kUser),
            Lines{"USER=boss|IP=client|OPERATION=transitionToStandby|TARGET=RM|RESULT=FAILURE|DESCRIPTION=Manual "
                  "failover for this ResourceManager is disallowed, because automatic failover is "
                  "enabled.|PERMISSIONS=UNKNOWN"});
  const std::string done = "|TARGET=RM|RESULT=SUCCESS";
  EXPECT_EQ(pair.Order("boss", 1 - leader, "transitionToActive"),
            (Lines{"USER=boss|IP=" + NameOf(1 - leader) + "|OPERATION=transitionToStandby" + done,
                   "USER=boss|IP=client|OPERATION=transitionToActive" + done}));
  ASSERT_EQ(pair.Leading(), 1 - leader);
}

}  // namespace
}  // namespace fairlead::process::rm
