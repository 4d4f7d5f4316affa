#include "process/application/yarn_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/yarn/rm_convert.h"
#include "env_sim/world.h"
#include "model/ids.h"
#include "model/rm.h"
#include "process/rpc/rpc_server.h"
#include "wire/yarn/protocols.h"

// An application's side of YARN against a resource manager and nodes that answer as the test says, in simulated time.

namespace fairlead::process::application {
namespace {

namespace wy = wire::yarn;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr uint16_t kPort = 8030;

struct AnyToken final : endpoints::yarn::TokenAuthority {
  base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view) const override {
    return endpoints::yarn::TokenSecret{"password", "appattempt_1_0001_000001"};
  }
};

model::ContainerId IdOf(int64_t number) {
  model::ContainerId id;
  id.attempt.app.cluster_timestamp = 1;
  id.attempt.app.number = 1;
  id.attempt.attempt = 1;
  id.value = number;
  return id;
}

class YarnMasterTest : public testing::Test {
 protected:
  YarnMasterTest() : server_(rm_.loop(), rm_.net()), node_server_(node_.loop(), node_.net()) {
    Listen();
    rpc::ListenOptions node;
    node.session.tokens = &tokens_;
    node.services.push_back({wy::kContainerManagementProtocol, wy::kContainerManagementProtocolMethods,
                             [this](const rpc::IncomingCall& call) { OnStart(call); }});
    EXPECT_TRUE(node_server_.Listen({"n", 7000}, std::move(node)).ok());
    YarnMaster::Callbacks callbacks;
    callbacks.make_launch = [](const ExecutorContainer& executor) {
      wy::ContainerLaunchContextProto context;
      context.command.push_back("run " + executor.executor_id);
      if (executor.shuffle_service) AddShuffleService(context, "secret");
      return context;
    };
    callbacks.on_executor_started = [this](const ExecutorContainer& executor) {
      started_.push_back(executor.executor_id);
    };
    callbacks.on_executor_ended = [this](const ExecutorEnd& end) { ended_.push_back(end); };
    callbacks.on_refused = [this](const std::string& reason) { refused_ = reason; };
    callbacks.losses = [this] { return lost_; };
    callbacks.on_dismissed = [this](const std::string& reason) { dismissed_ = reason; };
    master_ = std::make_unique<YarnMaster>(driver_.loop(), driver_.net(), env::Endpoint{"rm", kPort},
                                           endpoints::yarn::RpcToken{"am", "password", "YARN_AM_RM_TOKEN", ""},
                                           std::move(callbacks));
  }
  void Listen() {
    rpc::ListenOptions options;
    options.session.tokens = &tokens_;
    options.services.push_back({wy::kApplicationMasterProtocol, wy::kApplicationMasterProtocolMethods,
                                [this](const rpc::IncomingCall& call) { OnCall(call); }});
    EXPECT_TRUE(server_.Listen({"rm", kPort}, std::move(options)).ok());
  }

  // ---- the resource manager
  void OnCall(const rpc::IncomingCall& call) {
    if (call.method == "registerApplicationMaster") {
      ++registrations_;
      return server_.ReplyMessage(call.token, wy::RegisterApplicationMasterResponseProto{});
    }
    if (call.method == "finishApplicationMaster") {
      wy::FinishApplicationMasterRequestProto request;
      EXPECT_TRUE(request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)).ok());
      final_ = request.final_application_status;
      wy::FinishApplicationMasterResponseProto response;
      response.is_unregistered = true;
      return server_.ReplyMessage(call.token, response);
    }
    wy::AllocateRequestProto request;
    ASSERT_TRUE(request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)).ok());
    for (const wy::ResourceRequestProto& ask : request.ask) {
      asks_.push_back(std::string(ask.ResourceName()) + " x " + std::to_string(ask.NumContainers()) +
                      (ask.allocation_request_id.value_or(-1) > 0 ? " gang" : ""));
    }
    for (const wy::FairleadLossProto& loss : request.fairlead_losses) {
      losses_.push_back(std::to_string(endpoints::yarn::FromWire(*loss.container_id).value) + ": " +
                        std::to_string(loss.LostMs() / 1000) + " s");
    }
    for (const wy::ContainerIdProto& released : request.release)
      released_.push_back(endpoints::yarn::FromWire(released).value);
    if (!fail_.empty()) return server_.Fail(call.token, std::exchange(fail_, ""), "as the test says");
    next_.response_id = request.response_id.value_or(0) + 1;
    server_.ReplyMessage(call.token, std::exchange(next_, wy::AllocateResponseProto{}));
  }
  void Grant(int64_t number, int32_t kind = 1) {
    wy::ContainerProto container;
    container.id = endpoints::yarn::ToWire(IdOf(number));
    container.node_id.emplace();
    container.node_id->host = "n";
    container.node_id->port = 7000;
    container.priority.emplace();
    container.priority->priority = kind;
    container.container_token.emplace();
    next_.allocated_containers.push_back(std::move(container));
    wy::NMTokenProto token;
    token.node_id.emplace();
    token.node_id->host = "n";
    token.node_id->port = 7000;
    token.token.emplace();
    token.token->identifier = "nm";
    token.token->password = "password";
    next_.nm_tokens.push_back(std::move(token));
  }
  void End(int64_t number, int32_t exit_status) {
    wy::ContainerStatusProto status;
    status.container_id = endpoints::yarn::ToWire(IdOf(number));
    status.exit_status = exit_status;
    next_.completed_container_statuses.push_back(std::move(status));
  }

  // ---- the node
  void OnStart(const rpc::IncomingCall& call) {
    wy::StartContainersRequestProto request;
    ASSERT_TRUE(request.ParseFrom(call.request, wire::hadoop_rpc::CallKind(call.method)).ok());
    const auto& context = request.start_container_request.at(0).container_launch_context;
    launches_.push_back(context->command.at(0) + (context->service_data.empty() ? "" : " with service"));
    wy::StartContainersResponseProto response;
    if (!refusal_.empty() && refusals_-- > 0) {
      response.failed_requests.emplace_back();
      response.failed_requests.back().exception.emplace();
      response.failed_requests.back().exception->message = refusal_;
      response.failed_requests.back().exception->class_name = refusal_class_;
    }
    node_server_.ReplyMessage(call.token, response);
  }

  void Run(int64_t ms) {
    world_.RunUntil(world_.now() + base::Duration::Millis(ms), [] { return false; });
  }
  void Register() {
    std::optional<base::Status> status;
    master_->Register("d", 1, "", [&](base::Status answer) { status = std::move(answer); });
    Run(300);
    ASSERT_TRUE(status && status->ok());
  }
  std::vector<std::string> TakeAsks() { return std::exchange(asks_, {}); }

  env_sim::World world_{1};
  env_sim::Machine& rm_ = world_.AddMachine("rm");
  env_sim::Machine& node_ = world_.AddMachine("n");
  env_sim::Machine& driver_ = world_.AddMachine("d");
  AnyToken tokens_;
  rpc::RpcServer server_, node_server_;
  std::unique_ptr<YarnMaster> master_;
  int registrations_ = 0;
  std::vector<std::string> asks_;
  std::vector<int64_t> released_;
  std::vector<std::string> losses_;
  std::map<std::string, base::Duration> lost_;  // by executor
  std::string fail_;
  wy::AllocateResponseProto next_;
  std::vector<std::string> launches_;
  std::string refusal_;
  std::string refusal_class_ = "org.apache.hadoop.yarn.exceptions.YarnException";
  int refusals_ = 1;
  std::optional<wy::FinalApplicationStatusProto> final_;
  std::vector<std::string> started_;
  std::vector<ExecutorEnd> ended_;
  std::string refused_, dismissed_;
};

const model::Resources kSize = model::Resources::Of(512, 1);

TEST_F(YarnMasterTest, WhatIsMissingIsAskedForOnceAndGrantsAreStarted) {
  Register();
  master_->SetTarget(1, kSize, 2);
  Run(1000);
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 2"));
  Grant(2);
  Grant(3);
  Run(1000);
  EXPECT_THAT(TakeAsks(), IsEmpty()) << "grants are off the ask";
  EXPECT_THAT(launches_, ElementsAre("run 1 with service", "run 2 with service"));
  EXPECT_THAT(started_, ElementsAre("1", "2"));
  EXPECT_EQ(master_->HostOf("2"), "n");
  Grant(4);
  Run(1500);
  EXPECT_THAT(released_, ElementsAre(4)) << "nobody wants a third";
}

TEST_F(YarnMasterTest, AnExecutorThatEndedIsAskedForAnew) {
  Register();
  master_->SetTarget(1, kSize, 1);
  Grant(2);
  Run(1000);
  TakeAsks();
  End(2, 137);
  Run(1500);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].executor.executor_id, "1");
  EXPECT_EQ(ended_[0].exit_status, 137);
  EXPECT_FALSE(ended_[0].IsClustersDoing());
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 1"));
}

TEST_F(YarnMasterTest, APreemptedExecutorIsTheClustersDoing) {
  Register();
  master_->SetTarget(1, kSize, 1);
  Grant(2);
  Run(1000);
  End(2, model::kExitPreempted);
  Run(1500);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_TRUE(ended_[0].IsClustersDoing());
}

TEST_F(YarnMasterTest, AManagerThatRestartedIsToldEverythingAnew) {
  Register();
  master_->SetTarget(1, kSize, 3);
  Grant(2);
  Run(1000);
  TakeAsks();
  fail_ = "ApplicationMasterNotRegisteredException";
  Run(2000);
  EXPECT_EQ(registrations_, 2);
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 2")) << "the total that is missing";
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(YarnMasterTest, WhatWouldBeLostIsToldWhenItIsNotWhatItWouldBeByNow) {
  Register();
  master_->SetTarget(1, kSize, 2);
  Grant(2);
  Grant(3);
  Run(1000);
  EXPECT_THAT(losses_, IsEmpty()) << "no executor is connected";
  lost_ = {{"1", base::Duration::Seconds(7)}, {"9", {}}};
  Run(1000);
  EXPECT_THAT(std::exchange(losses_, {}), ElementsAre("2: 7 s"));
  lost_["1"] = base::Duration::Seconds(8);
  Run(1000);
  EXPECT_THAT(losses_, IsEmpty()) << "a second later it has done a second more";
  lost_["1"] = {};
  Run(1000);
  EXPECT_THAT(std::exchange(losses_, {}), ElementsAre("2: 0 s"));
  fail_ = "ApplicationMasterNotRegisteredException";
  Run(2000);
  EXPECT_THAT(losses_, testing::Contains("2: 0 s")) << "a manager that restarted knows nothing";
}

TEST_F(YarnMasterTest, AnUnknownAttemptIsDismissedAndAsksNoMore) {
  Register();
  fail_ = "ApplicationAttemptNotFoundException";
  Run(2000);
  EXPECT_NE(dismissed_, "");
  master_->SetTarget(1, kSize, 1);
  Run(5000);
  EXPECT_THAT(TakeAsks(), IsEmpty());
}

TEST_F(YarnMasterTest, ASizeThatIsRefusedIsToldAndAskedForAgain) {
  Register();
  master_->SetTarget(1, kSize, 1);
  fail_ = "InvalidResourceRequestException";
  Run(2000);
  EXPECT_NE(refused_.find("as the test says"), std::string::npos);
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 1", "* x 1"));
}

TEST_F(YarnMasterTest, ANodeWithoutTheShuffleServiceIsStartedOnWithoutIt) {
  Register();
  refusal_ = "as the test says";
  refusal_class_ = "org.apache.hadoop.yarn.exceptions.InvalidAuxServiceException";
  master_->SetTarget(1, kSize, 2);
  Grant(2);
  Run(1000);
  EXPECT_THAT(launches_, ElementsAre("run 1 with service", "run 1"));
  Grant(3);
  Run(1000);
  EXPECT_EQ(launches_.back(), "run 2") << "it is known by then";
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(YarnMasterTest, AStartThatKeepsFailingIsGivenUpAndItsContainerGivenBack) {
  Register();
  refusal_ = "no room";
  refusals_ = 1000;
  master_->SetTarget(1, kSize, 1);
  Grant(2);
  Run(10000);
  EXPECT_EQ(launches_.size(), 5u);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_NE(ended_[0].diagnostics.find("no room"), std::string::npos);
  EXPECT_THAT(released_, ElementsAre(2));
}

TEST_F(YarnMasterTest, AnAnswerThatWasLostIsNoSecondStart) {
  Register();
  refusal_ = "Container container_1 is already is running";
  master_->SetTarget(1, kSize, 1);
  Grant(2);
  Run(2000);
  EXPECT_THAT(started_, ElementsAre("1"));
  EXPECT_EQ(launches_.size(), 1u);
}

TEST_F(YarnMasterTest, PlacesAreLinesOfTheAskAndAreTakenBack) {
  Register();
  master_->SetPlaces(1, 1, {2, {{"a", 2}}}, {{"a", "/r"}});
  master_->SetTarget(1, kSize, 2);
  Run(1000);
  EXPECT_THAT(TakeAsks(), ElementsAre("/r x 2", "a x 2", "* x 2"));
  master_->SetPlaces(1, 1, {}, {});
  Run(1000);
  EXPECT_THAT(TakeAsks(), ElementsAre("/r x 0", "a x 0"));
}

TEST_F(YarnMasterTest, AGangIsAskedForWithItsNumberAndTheRestLater) {
  Register();
  master_->SetGang(1, 2);
  master_->SetTarget(1, kSize, 3);
  Run(1000);
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 2 gang"));
  Grant(2);
  Grant(3);
  Run(1000);
  EXPECT_THAT(TakeAsks(), ElementsAre("* x 1"));
}

TEST_F(YarnMasterTest, WhatIsReleasedIsGivenBackOnce) {
  Register();
  master_->SetTarget(1, kSize, 1);
  Grant(2);
  Run(1000);
  master_->SetTarget(1, kSize, 0);
  master_->Release("1");
  master_->Release("1");
  Run(1000);
  EXPECT_THAT(released_, ElementsAre(2));
}

TEST_F(YarnMasterTest, AdoptedExecutorsThatNobodyNamesHaveEnded) {
  ExecutorContainer kept;
  kept.executor_id = "4";
  kept.kind = 1;
  kept.container_id = model::ToString(IdOf(2));
  kept.node = {"n", 7000};
  master_->Adopt({kept}, 5);
  Register();
  master_->SetTarget(1, kSize, 1);
  Run(1000);
  ASSERT_EQ(ended_.size(), 1u);
  EXPECT_EQ(ended_[0].executor.executor_id, "4");
  EXPECT_TRUE(ended_[0].IsClustersDoing());
  Grant(3);
  Run(1000);
  EXPECT_THAT(started_, ElementsAre("5"));
}

TEST_F(YarnMasterTest, TheEndIsSaidOnceWithItsStatus) {
  Register();
  bool done = false;
  master_->Finish(false, "why", "", [&] { done = true; });
  Run(2000);
  EXPECT_TRUE(done);
  EXPECT_EQ(final_, wy::FinalApplicationStatusProto::kFailed);
  TakeAsks();
  Run(5000);
  EXPECT_THAT(TakeAsks(), IsEmpty());
}

}  // namespace
}  // namespace fairlead::process::application
