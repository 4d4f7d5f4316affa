// Keys that lay open to others, as masters and nodes meet them: what was signed with them goes on for ten minutes.

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "endpoints/yarn/rm_convert.h"
#include "endpoints/yarn/tokens.h"
#include "process/rpc/rpc_client.h"
#include "sim/cluster/small_cluster.h"
#include "wire/yarn/client.h"
#include "wire/yarn/container_manager.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"

namespace fairlead::sim {
namespace {

using base::Duration;
using endpoints::yarn::RpcToken;
namespace w = wire::yarn;

class LaidOpen : public ::testing::Test {
 protected:
  /// An application whose master runs on the node.
  void SetUp() override {
    ASSERT_TRUE(cluster_.Start().ok());
    const model::ApplicationId app = cluster_.NewApplication();
    w::SubmitApplicationRequestProto request;
    auto& context = request.application_submission_context.emplace();
    context.application_id = endpoints::yarn::ToWire(app);
    context.resource.emplace().memory = 256;
    context.resource->virtual_cores = 1;
    context.am_container_spec.emplace().command.push_back("master");
    Ask<w::SubmitApplicationResponseProto>(SmallCluster::kClient, w::kApplicationClientProtocol, "submitApplication",
                                           request, std::nullopt);
    cluster_.Pass(Duration::Seconds(10));
    ASSERT_NE(cluster_.AttemptOf(app), nullptr);
    attempt_ = cluster_.AttemptOf(app)->id;
    amrm_ = cluster_.rm().keys().AmRmToken(attempt_);
    nm_ = cluster_.NmToken(attempt_);
  }

  /// The answer, or nothing and `refused_`.
  template <class Response, class Request>
  std::optional<Response> Ask(const env::Endpoint& to, std::string_view protocol, const char* method,
                              const Request& request, std::optional<RpcToken> token) {
    std::optional<Response> got;
    refused_.clear();
    rpc_.Call<Response>({to, std::string(protocol), {"user", "", std::move(token)}}, method, request,
                        Duration::Seconds(1), [&](base::Result<Response, process::rpc::RpcError> answer) {
                          if (answer.ok()) {
                            got = std::move(*answer);
                          } else {
                            refused_ = answer.error().remote.class_name + answer.error().message;
                          }
                        });
    cluster_.Pass(Duration::Seconds(2));
    return got;
  }
  std::optional<w::AllocateResponseProto> Allocate(const RpcToken& token) {
    return Ask<w::AllocateResponseProto>(SmallCluster::kScheduler, w::kApplicationMasterProtocol, "allocate",
                                         w::AllocateRequestProto{}, token);
  }
  /// Which the manager answers in one way or another, unless the connection is not let in any more.
  void Register(const RpcToken& token) {
    Ask<w::RegisterApplicationMasterResponseProto>(SmallCluster::kScheduler, w::kApplicationMasterProtocol,
                                                   "registerApplicationMaster",
                                                   w::RegisterApplicationMasterRequestProto{}, token);
  }
  bool NodeAnswers(const RpcToken& token) {
    return Ask<w::GetContainerStatusesResponseProto>(cluster_.node_address(), w::kContainerManagementProtocol,
                                                     "getContainerStatuses", w::GetContainerStatusesRequestProto{},
                                                     token)
        .has_value();
  }

  SmallCluster cluster_;
  env_sim::Machine& host_ = cluster_.world().AddMachine("master");
  process::rpc::RpcClient rpc_{host_.loop(), host_.net()};
  model::ApplicationAttemptId attempt_;
  RpcToken amrm_, nm_;  // of the keys that will lie open
  std::string refused_;
};

TEST_F(LaidOpen, AMasterGetsNewTokensOfEveryKindAndComesAgainWithThem) {
  Register(amrm_);
  ASSERT_TRUE(cluster_.RestartManager(true).ok());
  Register(amrm_);
  const auto answer = Allocate(amrm_);
  ASSERT_TRUE(answer) << refused_;
  EXPECT_EQ(rpc_.connections(), 0U);  // the manager has closed it
  const RpcToken fresh = endpoints::yarn::FromWire(answer->AmRmToken());
  EXPECT_NE(fresh.identifier, amrm_.identifier);
  ASSERT_EQ(answer->nm_tokens.size(), 1U);
  const RpcToken fresh_nm = endpoints::yarn::FromWire(answer->nm_tokens[0].Token());
  EXPECT_NE(fresh_nm.identifier, nm_.identifier);
  EXPECT_TRUE(NodeAnswers(fresh_nm)) << refused_;
  ASSERT_TRUE(Allocate(fresh)) << refused_;
  EXPECT_EQ(rpc_.connections(), 2U);
  cluster_.Pass(Duration::Seconds(700));
  EXPECT_TRUE(NodeAnswers(fresh_nm)) << refused_;
}

TEST_F(LaidOpen, OldTokensEndAfterTenMinutesOnOpenConnectionsToo) {
  ASSERT_TRUE(NodeAnswers(nm_)) << refused_;
  ASSERT_TRUE(cluster_.RestartManager(true).ok());
  const base::Instant over = cluster_.world().now() + Duration::Seconds(600);
  while (cluster_.world().now() < over - Duration::Seconds(30)) {
    Register(amrm_);
    EXPECT_EQ(refused_.find("InvalidToken"), std::string::npos) << refused_;
    EXPECT_TRUE(NodeAnswers(nm_)) << refused_;
  }
  while (cluster_.world().now() < over) {
    Register(amrm_);
    NodeAnswers(nm_);
  }
  ASSERT_TRUE(cluster_.rm().core().AttemptIsKnown(attempt_));
  for (int again = 0; again < 2; ++again) {
    Register(amrm_);
    EXPECT_NE(refused_.find("InvalidToken"), std::string::npos) << refused_;
    EXPECT_FALSE(NodeAnswers(nm_));
    EXPECT_NE(refused_.find("InvalidToken"), std::string::npos) << refused_;
  }
}

TEST_F(LaidOpen, ANodeThatWasAwayMeanwhileForgetsAtOnce) {
  ASSERT_TRUE(cluster_.RestartManager(true).ok());
  cluster_.Stop();
  cluster_.Pass(Duration::Seconds(900));
  ASSERT_TRUE(cluster_.Start().ok());
  EXPECT_FALSE(NodeAnswers(nm_));
  EXPECT_NE(refused_.find("InvalidToken"), std::string::npos) << refused_;
}

TEST_F(LaidOpen, WhereNothingLayOpenEverythingStays) {
  Register(amrm_);
  ASSERT_TRUE(cluster_.RestartManager(false).ok());
  Register(amrm_);
  const auto answer = Allocate(amrm_);
  ASSERT_TRUE(answer) << refused_;
  EXPECT_FALSE(answer->am_rm_token.has_value());
  EXPECT_TRUE(answer->nm_tokens.empty());
  EXPECT_EQ(rpc_.connections(), 1U);
  EXPECT_TRUE(NodeAnswers(nm_)) << refused_;
}

}  // namespace
}  // namespace fairlead::sim
