// Connections of real Hadoop processes, recorded byte for byte (tests/golden/yarn/ipc), played to our sessions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "endpoints/yarn/golden_test_util.h"
#include "endpoints/yarn/rpc_client_session.h"
#include "endpoints/yarn/rpc_server_session.h"
#include "endpoints/yarn/tokens.h"
#include "wire/yarn/client.h"
#include "wire/yarn/master.h"
#include "wire/yarn/protocols.h"

namespace fairlead::endpoints::yarn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

std::string Recording(const std::string& name) {
  std::ifstream in(FAIRLEAD_SOURCE_DIR "/tests/golden/yarn/ipc/" + name, std::ios::binary);
  EXPECT_TRUE(in.good()) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The value of `key="value"` somewhere in recorded bytes.
std::string QuotedAfter(const std::string& bytes, const std::string& key) {
  const size_t at = bytes.find(key + "=\"");
  EXPECT_NE(at, std::string::npos) << key;
  const size_t start = at + key.size() + 2;
  return bytes.substr(start, bytes.find('"', start) - start);
}

struct Recorder : RpcServerSession::Handler {
  Recorder(const RpcServerOptions& with, std::string nonce) : options(with), session(options, std::move(nonce), this) {}
  void OnCall(const RpcCall& call) override {
    methods.emplace_back(call.method);
    requests.emplace_back(call.request);
    protocols.emplace_back(call.protocol);
    session.Reply(call.call_id, "");
  }
  std::vector<std::string> methods;
  std::vector<std::string> requests;
  std::vector<std::string> protocols;
  const RpcServerOptions options;
  RpcServerSession session;
};

TEST(Recorded, JavaYarnClient) {
  for (const size_t cut : {size_t{1}, size_t{1000}}) {
    Recorder server({}, "");
    const std::string bytes = Recording("yarn-client-3.3.6.to-server");
    for (size_t at = 0; at < bytes.size(); at += cut) server.session.OnBytes(std::string_view(bytes).substr(at, cut));
    EXPECT_THAT(server.methods,
                ElementsAre("getNewApplication", "getNewApplication", "getClusterMetrics", "getApplicationReport"));
    EXPECT_THAT(server.protocols, Each(std::string(wire::yarn::kApplicationClientProtocol)));
    EXPECT_EQ(server.session.caller().user, "root");
    wire::yarn::GetApplicationReportRequestProto report;
    ASSERT_TRUE(report.ParseFrom(server.requests.at(3), wire::hadoop_rpc::kAnswer).ok());
    EXPECT_EQ(report.ApplicationId().ClusterTimestamp(), 5);
  }
}

TEST(Recorded, JavaMastersLogInByToken) {
  for (const std::string version : {"3.3.6", "3.5.0"}) {
    AmRmTokens tokens(MasterKeys{{-5, FromHex("0102030405060708")}, {}});
    tokens.Mint({{1700000000000, 1}, 1});
    // Our server chose this nonce when the recording was made.
    const std::string nonce = QuotedAfter(Recording("amrm-client-" + version + ".to-client"), "nonce");
    Recorder server({.allow_simple = false, .tokens = &tokens}, nonce);
    server.session.OnBytes(Recording("amrm-client-" + version + ".to-server"));
    ASSERT_FALSE(server.session.closing()) << server.session.TakeOutput();
    EXPECT_THAT(server.methods, ElementsAre("registerApplicationMaster", "allocate", "allocate", "allocate",
                                            "finishApplicationMaster"));
    EXPECT_EQ(server.session.caller().user, "appattempt_1700000000000_0001_000001");
    wire::yarn::AllocateRequestProto allocate;
    ASSERT_TRUE(allocate.ParseFrom(server.requests.at(1), wire::hadoop_rpc::kAnswer).ok());
    ASSERT_EQ(allocate.ask.size(), 3U);
    EXPECT_EQ(allocate.ask[0].ResourceName(), "*");
    EXPECT_EQ(allocate.Encode(), server.requests.at(1));
  }
}

struct Replies : RpcClientSession::Handler {
  explicit Replies(RpcClientOptions options) : session(std::move(options), this) {}
  void OnReply(int32_t, std::string_view response) override { responses.emplace_back(response); }
  void OnException(int32_t, const RemoteException& e) override { exceptions.push_back(e); }
  void OnFatal(const RemoteException& e, bool) override { fatals.push_back(e); }
  std::vector<std::string> responses;
  std::vector<RemoteException> exceptions;
  std::vector<RemoteException> fatals;
  RpcClientSession session;
};

TEST(Recorded, JavaResourceManagerAnswers) {
  Replies client({.user = {"root", "", {}}, .protocol = std::string(wire::yarn::kApplicationClientProtocol)});
  for (int i = 0; i < 50; ++i) client.session.Call("m", "");
  client.session.OnBytes(Recording("resource-manager-3.3.6.to-client"));
  EXPECT_TRUE(client.fatals.empty());
  ASSERT_EQ(client.exceptions.size(), 1U);
  EXPECT_EQ(client.exceptions[0].class_name, exceptions::kApplicationNotFound);
  ASSERT_GE(client.responses.size(), 4U);
  wire::yarn::GetClusterMetricsResponseProto metrics;
  ASSERT_TRUE(metrics.ParseFrom(client.responses.front(), wire::hadoop_rpc::kAnswer).ok());
  EXPECT_TRUE(metrics.cluster_metrics.has_value());
  wire::yarn::GetApplicationReportResponseProto report;
  ASSERT_TRUE(report.ParseFrom(client.responses.back(), wire::hadoop_rpc::kAnswer).ok());
  EXPECT_EQ(report.ApplicationReport().Queue(), "root.alpha");
  EXPECT_EQ(report.Encode(), client.responses.back());
}

TEST(Recorded, JavaResourceManagerProvesThatItKnowsTheToken) {
  const std::string sent = Recording("resource-manager-3.3.6-token.to-server");
  const std::string answers = Recording("resource-manager-3.3.6-token.to-client");
  RpcUser user{"root", "",
               RpcToken{FromHex("0a0d0a09080110affdd6eb9f34100110f3f7dfe006"),
                        FromHex("a36f8c5591288f2408c748830495923d02c2327b"), std::string(kAmRmTokenKind), ""}};
  RpcClientOptions options{.user = user,
                           .protocol = std::string(wire::yarn::kApplicationMasterProtocol),
                           .client_id = "0123456789abcdef",
                           .cnonce = QuotedAfter(sent, "cnonce")};
  {
    Replies client(options);
    for (int i = 0; i < 200; ++i) client.session.Call("m", "");
    client.session.OnBytes(answers);
    EXPECT_TRUE(client.fatals.empty()) << client.fatals.front().message;
    ASSERT_GE(client.responses.size(), 2U);
    wire::yarn::RegisterApplicationMasterResponseProto registered;
    ASSERT_TRUE(registered.ParseFrom(client.responses[0], wire::hadoop_rpc::kAnswer).ok());
    EXPECT_EQ(registered.Queue(), "root.alpha");
    EXPECT_EQ(registered.Encode(), client.responses[0]);
    // What our client says to this server is what it said then, up to the connection context.
    const std::string said = client.session.TakeOutput();
    EXPECT_EQ(said.substr(0, 25), sent.substr(0, 25));
    EXPECT_NE(said.find(QuotedAfter(sent, "nonce")), std::string::npos);
  }
  options.user.token->password[3] ^= 1;
  Replies other(options);
  other.session.OnBytes(answers);
  ASSERT_EQ(other.fatals.size(), 1U);
  EXPECT_EQ(other.fatals[0].message, "DIGEST-MD5: the server could not prove that it knows the token");
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
