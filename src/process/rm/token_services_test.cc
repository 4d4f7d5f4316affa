// The calls by which the resource manager renews others' tokens, between machines of the simulated world and its realm.
#include "process/rm/token_services.h"

#include <gtest/gtest.h>

#include <optional>

#include "endpoints/yarn/url_token.h"
#include "env_sim/sim_gss.h"
#include "env_sim/world.h"
#include "process/http/server.h"
#include "process/rm/web_token_service.h"
#include "process/rpc/rpc_server.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/hadoop_rpc/security.h"

namespace fairlead::process::rm {
namespace {

namespace h = wire::hadoop_rpc;
using Outcome = base::Result<int64_t, TokenService::Failure>;

constexpr char kProtocol[] = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
constexpr wire::proto::MethodInfo kMethods[] = {
    {"renewDelegationToken", "", ""}, {"cancelDelegationToken", "", ""}, {"getDelegationToken", "", ""}};

/// A name node that renews what it is asked for, unless it stands by.
struct NameNode {
  NameNode(env_sim::World& world, env_sim::SimRealm& realm, const std::string& host, bool stands_by)
      : machine(world.AddMachine(host)),
        gss(realm.As(machine.loop(), "nn/" + host + "@EXAMPLE.COM")),
        server(machine.loop(), machine.net()),
        standby(stands_by) {
    rpc::ListenOptions options;
    options.session.allow_simple = false;
    options.session.kerberos.emplace();
    options.session.kerberos->protocol = "nn";
    options.session.kerberos->server_id = host;
    options.session.kerberos->short_name = [](const std::string& principal) -> base::Result<std::string> {
      return principal.substr(0, principal.find('/'));
    };
    options.session.impersonation = true;
    options.admit = [](const auto&, const auto&, const auto&, const auto& done) { done({}); };
    options.session.kerberos->admits = [](const std::string&) { return base::Status(); };
    options.gss = gss.get();
    options.services.push_back({kProtocol, kMethods, [this](const rpc::IncomingCall& call) { Answer(call); }});
    EXPECT_TRUE(server.Listen({"0.0.0.0", 8020}, std::move(options)).ok());
  }
  void Answer(const rpc::IncomingCall& call) {
    if (standby) {
      return server.Fail(call.token, endpoints::yarn::exceptions::kStandby,
                         "Operation category WRITE is not supported");
    }
    callers.push_back(call.caller.principal);
    if (call.method == "getDelegationToken") return Issue(call);
    h::RenewDelegationTokenRequestProto request;
    EXPECT_TRUE(request.ParseFrom(call.request, h::kAnswer).ok());
    if (call.method == "cancelDelegationToken") {
      cancelled = request.token.identifier;
      return server.ReplyMessage(call.token, h::CancelDelegationTokenResponseProto{});
    }
    if (request.token.password != "password") {
      return server.Fail(call.token, "org.apache.hadoop.security.AccessControlException", "wrong password");
    }
    h::RenewDelegationTokenResponseProto response;
    response.new_expiry_time = 123;
    server.ReplyMessage(call.token, response);
  }
  void Issue(const rpc::IncomingCall& call) {
    h::GetDelegationTokenRequestProto request;
    EXPECT_TRUE(request.ParseFrom(call.request, h::kAnswer).ok());
    h::GetDelegationTokenResponseProto response;
    response.token.emplace();
    response.token->identifier = call.caller.user + " by " + call.caller.real_user;
    response.token->password = request.renewer;
    response.token->kind = kind;
    server.ReplyMessage(call.token, response);
  }
  env_sim::Machine& machine;
  std::unique_ptr<env::Gss> gss;
  std::string kind = "HDFS_DELEGATION_TOKEN";
  rpc::RpcServer server;
  bool standby;
  std::vector<std::string> callers;
  std::string cancelled;
};

class TokenServicesTest : public ::testing::Test {
 protected:
  std::unique_ptr<TokenService> Service(std::vector<env::Endpoint> at, const std::string& principal) {
    TokenIssuer issuer{"HDFS_DELEGATION_TOKEN", kProtocol, principal, "dfs.namenode.kerberos.principal",
                       [at = std::move(at)](const std::string&) { return at; }};
    Manager manager{"yarn", "rm/rm.example.com@EXAMPLE.COM"};
    manager.issues = true;
    return MakeRpcTokenService(machine_.loop(), machine_.net(), std::move(issuer), {gss_.get()}, manager);
  }
  Outcome Renew(TokenService& service, const endpoints::yarn::RpcToken& token) {
    std::optional<Outcome> outcome;
    service.Renew(token, [&](const Outcome& renewed) { outcome.emplace(renewed); });
    world_.RunUntil(world_.now() + base::Duration::Seconds(100), [&] { return outcome.has_value(); });
    return outcome.value_or(Outcome(TokenService::Failure{"nothing"}));
  }

  env_sim::World world_{1};
  env_sim::SimRealm realm_;
  env_sim::Machine& machine_ = world_.AddMachine("rm.example.com");
  std::unique_ptr<env::Gss> gss_ = realm_.As(machine_.loop(), "rm/rm.example.com@EXAMPLE.COM");
  const endpoints::yarn::RpcToken token_{"identifier", "password", "HDFS_DELEGATION_TOKEN", "ha-hdfs:main"};
};

TEST_F(TokenServicesTest, RenewsAndCancelsWithTheManagersTicketAtWhicheverNameNodeIsActive) {
  NameNode first(world_, realm_, "nn1", true), second(world_, realm_, "nn2", false);
  const auto service = Service({{"nn1", 8020}, {"nn2", 8020}}, "nn/_HOST@EXAMPLE.COM");
  const Outcome renewed = Renew(*service, token_);
  ASSERT_TRUE(renewed.ok()) << renewed.error().why;
  EXPECT_EQ(*renewed, 123);
  EXPECT_EQ(second.callers, std::vector<std::string>{"rm/rm.example.com@EXAMPLE.COM"});
  service->Cancel(token_);
  world_.RunUntil(world_.now() + base::Duration::Seconds(10), [&] { return !second.cancelled.empty(); });
  EXPECT_EQ(second.cancelled, "identifier");
}

TEST_F(TokenServicesTest, ARefusalIsFinalAndASilenceIsNot) {
  NameNode only(world_, realm_, "nn1", false);
  auto forged = token_;
  forged.password = "guessed";
  const Outcome refused = Renew(*Service({{"nn1", 8020}}, "nn/_HOST@EXAMPLE.COM"), forged);
  ASSERT_FALSE(refused.ok());
  EXPECT_FALSE(refused.error().may_pass);
  EXPECT_NE(refused.error().why.find("wrong password"), std::string::npos) << refused.error().why;
  const Outcome silent = Renew(*Service({{"nn1", 9999}}, "nn/_HOST@EXAMPLE.COM"), token_);
  ASSERT_FALSE(silent.ok());
  EXPECT_TRUE(silent.error().may_pass);
}

TEST_F(TokenServicesTest, ANewTokenIsAskedForInTheNameOfItsOwnerAndTheManagerRenewsIt) {
  NameNode first(world_, realm_, "nn1", true), second(world_, realm_, "nn2", false);
  const auto service = Service({{"nn1", 8020}, {"nn2", 8020}}, "nn/_HOST@EXAMPLE.COM");
  const auto issue = [&] {
    std::optional<base::Result<endpoints::yarn::RpcToken, TokenService::Failure>> outcome;
    service->Issue("ha-hdfs:main", "alice", [&](const auto& token) { outcome.emplace(token); });
    world_.RunUntil(world_.now() + base::Duration::Seconds(100), [&] { return outcome.has_value(); });
    return outcome.value_or(TokenService::Failure{"nothing"});
  };
  const auto token = issue();
  ASSERT_TRUE(token.ok()) << token.error().why;
  EXPECT_EQ(token->identifier, "alice by rm");
  EXPECT_EQ(token->password, "rm/rm.example.com@EXAMPLE.COM");
  EXPECT_EQ(token->service, "ha-hdfs:main");
  second.kind = "HIVE_DELEGATION_TOKEN";
  EXPECT_EQ(issue().error().why, "the answer has a token of another kind");
}

TEST_F(TokenServicesTest, WhatTheConfigurationLacksIsSaid) {
  const Outcome nameless = Renew(*Service({{"nn1", 8020}}, ""), token_);
  EXPECT_EQ(nameless.error().why, "dfs.namenode.kerberos.principal is not set: nobody knows whose tokens these are");
  const Outcome nowhere = Renew(*Service({}, "nn/_HOST@EXAMPLE.COM"), token_);
  EXPECT_EQ(nowhere.error().why, "the service 'ha-hdfs:main' is no address, and no configured name");
}

/// A name node's web port: takes one ticket for HTTP/HOST a request.
struct WebPort {
  WebPort(env_sim::World& world, env_sim::SimRealm& realm, const std::string& host)
      : machine(world.AddMachine(host)), gss(realm.As(machine.loop(), "HTTP/" + host + "@EXAMPLE.COM")) {
    auto listens = http::Server::Listen(machine.loop(), machine.net(), {"0.0.0.0", 9870}, {{"nn1"}, {}, false},
                                        [this](const http::Request& request, const http::Server::Reply& reply) {
                                          asked = request.method + " " + std::string(request.target);
                                          const auto shown = http::FindHeader(request.headers, "Authorization");
                                          reply(shown.starts_with("Negotiate ") ? answer : http::TextResponse(401, ""));
                                        });
    EXPECT_TRUE(listens.ok());
    server = std::move(*listens);
  }
  env_sim::Machine& machine;
  std::unique_ptr<env::Gss> gss;
  http::Response answer = http::JsonResponse(200, R"({"long":456})");
  std::string asked;
  std::unique_ptr<http::Server> server;
};

TEST_F(TokenServicesTest, WebHdfssTokensAreRenewedAtItsPort) {
  WebPort port(world_, realm_, "nn1");
  const auto service =
      MakeWebTokenService(machine_.loop(), machine_.net(), *gss_, "HTTP/_HOST@EXAMPLE.COM", base::Duration::Seconds(5));
  const endpoints::yarn::RpcToken token{"identifier", "password", "WEBHDFS delegation", "nn1:9870"};
  const Outcome renewed = Renew(*service, token);
  ASSERT_TRUE(renewed.ok()) << renewed.error().why;
  EXPECT_EQ(*renewed, 456);
  EXPECT_EQ(port.asked, "PUT /webhdfs/v1/?op=RENEWDELEGATIONTOKEN&token=" + endpoints::yarn::EncodeUrlToken(token));
  service->Cancel(token);
  world_.RunUntil(world_.now() + base::Duration::Seconds(10),
                  [&] { return port.asked.find("CANCEL") != port.asked.npos; });
  EXPECT_EQ(port.asked, "PUT /webhdfs/v1/?op=CANCELDELEGATIONTOKEN&token=" + endpoints::yarn::EncodeUrlToken(token));
  world_.RunUntil(world_.now() + base::Duration::Seconds(10), [] { return false; });  // its answer comes
}

TEST_F(TokenServicesTest, WebHdfssRefusalsAreFinalAndAStandbyIsNot) {
  WebPort port(world_, realm_, "nn1");
  const auto service =
      MakeWebTokenService(machine_.loop(), machine_.net(), *gss_, "HTTP/_HOST@EXAMPLE.COM", base::Duration::Seconds(5));
  const auto renew = [&](const std::string& at) {
    return Renew(*service, {"identifier", "password", "WEBHDFS delegation", at}).error();
  };
  port.answer = http::JsonResponse(403, R"({"RemoteException":{"exception":"InvalidToken","message":"it is over"}})");
  EXPECT_EQ(renew("nn1:9870").why, "HTTP status 403: it is over");
  EXPECT_FALSE(renew("nn1:9870").may_pass);
  port.answer = http::JsonResponse(403, R"({"RemoteException":{"exception":"StandbyException","message":"not here"}})");
  EXPECT_TRUE(renew("nn1:9870").may_pass);
  port.answer = http::JsonResponse(200, "[[");
  EXPECT_EQ(renew("nn1:9870").why, "the answer cannot be read");
  EXPECT_TRUE(renew("nn1:9999").may_pass) << "nobody answers";
  EXPECT_EQ(renew("ha-hdfs:main").why, "the service 'ha-hdfs:main' is no address");
}

}  // namespace
}  // namespace fairlead::process::rm
