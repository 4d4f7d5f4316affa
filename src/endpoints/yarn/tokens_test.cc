#include "endpoints/yarn/tokens.h"

#include <gtest/gtest.h>

#include "endpoints/yarn/golden_test_util.h"
#include "endpoints/yarn/hdfs_token.h"
#include "endpoints/yarn/url_token.h"

namespace fairlead::endpoints::yarn {
namespace {

using wire::yarn::ContainerTokenIdentifierProto;
using wire::yarn::NMTokenIdentifierProto;

const std::string kKeyBytes = FromHex("0102030405060708");

wire::yarn::ApplicationAttemptIdProto Attempt(int32_t attempt = 1) {
  return {.application_id = wire::yarn::ApplicationIdProto{.id = 1, .cluster_timestamp = 1700000000000},
          .attempt_id = attempt};
}

model::ApplicationAttemptId AttemptId(int32_t attempt = 1) { return {{1700000000000, 1}, attempt}; }

NMTokenIdentifierProto NmIdentifier() {
  NMTokenIdentifierProto identifier;
  identifier.app_attempt_id = Attempt();
  identifier.node_id = wire::yarn::NodeIdProto{.host = "node1", .port = 45454};
  identifier.app_submitter = "alice";
  return identifier;
}

ContainerTokenIdentifierProto ContainerIdentifier() {
  ContainerTokenIdentifierProto identifier;
  identifier.container_id.emplace().app_attempt_id = Attempt();
  identifier.container_id->id = (int64_t{1} << 40) | 7;
  identifier.nm_host_addr = "node1:45454";
  identifier.app_submitter = "alice";
  identifier.resource.emplace().memory = 1024;
  identifier.resource->virtual_cores = 2;
  using Information = wire::yarn::ResourceInformationProto;
  const auto countable = wire::yarn::ResourceTypesProto::kCountable;
  identifier.resource->resource_value_map = {
      Information{.key = "memory-mb", .value = 1024, .units = "Mi", .type = countable},
      Information{.key = "vcores", .value = 2, .units = "", .type = countable}};
  identifier.expiry_time_stamp = 1700000600000;
  identifier.rm_identifier = 1699999999999;
  identifier.priority.emplace().priority = 20;
  identifier.creation_time = 1700000000123;
  identifier.container_type = wire::yarn::ContainerTypeProto::kTask;
  identifier.execution_type = wire::yarn::ExecutionTypeProto::kGuaranteed;
  identifier.version = 0;
  identifier.allocation_request_id = 42;
  identifier.node_label_expression = "";
  return identifier;
}

void ExpectGolden(const RpcToken& token, const std::string& name) {
  const std::vector<std::string> line = GoldenLine({name});
  EXPECT_EQ(token.kind, line[1]);
  EXPECT_EQ(ToHex(token.identifier), line[2]);
  EXPECT_EQ(ToHex(token.password), line[3]);
}

TEST(Tokens, AreHadoopsByteForByte) {
  wire::yarn::AMRMTokenIdentifierProto amrm;
  amrm.app_attempt_id = Attempt();
  ExpectGolden(MintAmRmToken(amrm, {-5, kKeyBytes}), "amrm");
  ExpectGolden(MintNmToken(NmIdentifier(), {-7, kKeyBytes}, "10.0.0.1:45454"), "nm");
  wire::yarn::ClientToAMTokenIdentifierProto client;
  client.app_attempt_id = Attempt();
  client.client_name = "bob";
  ExpectGolden(MintClientToAmToken(client, kKeyBytes), "client");
}

TEST(Tokens, ContainerTokenIsHadoops) {
  ContainerTokenIdentifierProto identifier = ContainerIdentifier();
  // Java leaves the label out when it has none.
  identifier.node_label_expression.reset();
  ExpectGolden(MintContainerToken(identifier, {-9, kKeyBytes}, ""), "container");
}

TEST(Tokens, EveryGoldenIdentifierIsReadAndWrittenUnchanged) {
  for (const char* name : {"container", "containeram"}) {
    const std::vector<std::string> line = GoldenLine({name});
    ContainerTokenIdentifierProto identifier;
    ASSERT_TRUE(identifier.ParseFrom(FromHex(line[2]), wire::hadoop_rpc::kAnswer).ok());
    EXPECT_EQ(ToHex(identifier.Encode()), line[2]);
    EXPECT_EQ(ToHex(TokenPassword(kKeyBytes, identifier.Encode())), line[3]);
  }
}

TEST(Tokens, OtherHashOfHadoop35) {
  // hadoop-common 3.5.0 with hadoop.security.secret-manager.key-generator.algorithm=HmacSHA256.
  wire::yarn::AMRMTokenIdentifierProto amrm;
  amrm.app_attempt_id = Attempt();
  const auto sha256 = TokenHmacByName("HmacSHA256");
  ASSERT_TRUE(sha256);
  EXPECT_EQ(ToHex(MintAmRmToken(amrm, {-5, kKeyBytes, *sha256}).password),
            "95d1e39cf4e9d1644444587b74cd32248dfac11878239fa6b4cb22598b1bca57");
  EXPECT_FALSE(TokenHmacByName("HmacSHA3-256"));
  AmRmTokens tokens(MasterKeys{{5, kKeyBytes, *sha256}, {}});
  const RpcToken token = tokens.Mint(AttemptId());
  EXPECT_EQ(tokens.Secret(token.identifier)->password, token.password);
  NodeTokens node;
  node.SetHmac(*sha256);
  node.SetNmTokenKey({1, kKeyBytes});
  const RpcToken nm = MintNmToken(NmIdentifier(), {1, kKeyBytes, *sha256}, "");
  EXPECT_EQ(node.Secret(nm.identifier)->password, nm.password);
}

TEST(MasterKeys, RollAndActivate) {
  MasterKeys keys{{INT32_MAX, "aaaaaaaa"}, {}};
  keys.Roll("bbbbbbbb");
  EXPECT_EQ(keys.newest().id, INT32_MIN);
  EXPECT_EQ(keys.Find(INT32_MAX)->bytes, "aaaaaaaa");
  EXPECT_EQ(keys.Find(INT32_MIN)->bytes, "bbbbbbbb");
  keys.Activate();
  EXPECT_EQ(keys.Find(INT32_MAX), nullptr);
  EXPECT_EQ(keys.current.bytes, "bbbbbbbb");
  keys.Activate();
  EXPECT_EQ(keys.current.bytes, "bbbbbbbb");
}

TEST(AmRmTokens, SecretOfKnownAttemptsAndKeysOnly) {
  AmRmTokens tokens(MasterKeys{{5, kKeyBytes}, {}});
  const RpcToken token = tokens.Mint(AttemptId());
  const auto secret = tokens.Secret(token.identifier);
  ASSERT_TRUE(secret.ok());
  EXPECT_EQ(secret->password, token.password);
  EXPECT_EQ(secret->user, "appattempt_1700000000000_0001_000001");

  tokens.keys().Roll("bbbbbbbb");
  EXPECT_TRUE(tokens.Secret(token.identifier).ok());
  EXPECT_NE(tokens.Mint(AttemptId()).identifier, token.identifier);
  tokens.keys().Activate();
  EXPECT_EQ(tokens.Secret(token.identifier).error().message,
            "Invalid AMRMToken from appattempt_1700000000000_0001_000001");

  tokens.Forget(AttemptId());
  EXPECT_EQ(tokens.Secret(token.identifier).error().message,
            "appattempt_1700000000000_0001_000001 not found in AMRMTokenSecretManager.");
  EXPECT_FALSE(tokens.Secret("\x0a\xff").ok());
}

class NodeTokensTest : public ::testing::Test {
 protected:
  NodeTokensTest() {
    node_.SetNode("node1", 45454);
    node_.SetNmTokenKey({1, kKeyBytes});
    node_.SetContainerTokenKey({2, kKeyBytes});
  }
  NodeTokens node_;
};

TEST_F(NodeTokensTest, NmTokenOfThisNode) {
  const RpcToken token = MintNmToken(NmIdentifier(), {1, kKeyBytes}, "");
  ASSERT_TRUE(node_.Secret(token.identifier).ok());
  EXPECT_EQ(node_.Secret(token.identifier)->password, token.password);
  NMTokenIdentifierProto other = NmIdentifier();
  other.node_id->port = 1;
  EXPECT_EQ(node_.Secret(MintNmToken(other, {1, kKeyBytes}, "").identifier).error().message,
            "Given NMToken for application : appattempt_1700000000000_0001_000001 is not valid for current node "
            "manager.expected : node1:45454 found : node1:1");
}

TEST_F(NodeTokensTest, AttemptKeepsTheKeyItUsedThroughManyRolls) {
  NMTokenIdentifierProto identifier = NmIdentifier();
  identifier.key_id = 1;
  ASSERT_TRUE(node_.AttemptStarted(identifier).ok());
  for (int32_t key = 10; key < 15; ++key) node_.SetNmTokenKey({key, std::string(8, static_cast<char>(key))});
  EXPECT_TRUE(node_.Secret(identifier.Encode()).ok());
  NMTokenIdentifierProto of_another = identifier;
  of_another.app_attempt_id = Attempt(2);
  EXPECT_FALSE(node_.Secret(of_another.Encode()).ok());
  EXPECT_FALSE(node_.AttemptStarted(of_another).ok());
  node_.AppFinished({1700000000000, 1});
  EXPECT_FALSE(node_.Secret(identifier.Encode()).ok());
}

TEST_F(NodeTokensTest, ContainerTokenChangedByOneBitIsRefused) {
  const RpcToken token = MintContainerToken(ContainerIdentifier(), {2, kKeyBytes}, "");
  ASSERT_TRUE(node_.VerifyContainerToken(ToWire(token)).ok());
  for (size_t bit = 0; bit < token.identifier.size() * 8; ++bit) {
    RpcToken bad = token;
    bad.identifier[bit / 8] = static_cast<char>(bad.identifier[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(node_.VerifyContainerToken(ToWire(bad)).ok()) << bit;
  }
  for (size_t bit = 0; bit < token.password.size() * 8; ++bit) {
    RpcToken bad = token;
    bad.password[bit / 8] = static_cast<char>(bad.password[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(node_.VerifyContainerToken(ToWire(bad)).ok()) << bit;
  }
}

TEST_F(NodeTokensTest, PreviousContainerKeyIsGoodTheOneBeforeIsNot) {
  const RpcToken token = MintContainerToken(ContainerIdentifier(), {2, kKeyBytes}, "");
  node_.SetContainerTokenKey({3, "cccccccc"});
  node_.SetContainerTokenKey({3, "cccccccc"});
  EXPECT_TRUE(node_.VerifyContainerToken(ToWire(token)).ok());
  node_.SetContainerTokenKey({4, "dddddddd"});
  EXPECT_NE(node_.VerifyContainerToken(ToWire(token)).error().message.find("illegally generated"), std::string::npos);
}

TEST(HdfsTokensTest, AreOneKindAtAWebPort) {
  for (const char* kind : {"HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation"}) {
    const RpcToken token{"identifier", "password", kind, "nn1:9870"};
    EXPECT_TRUE(IsHdfsToken(token)) << kind;
    const auto shown = DecodeUrlToken(EncodeHdfsUrlToken(token));
    ASSERT_TRUE(shown.ok()) << kind;
    EXPECT_EQ(*shown, (RpcToken{"identifier", "password", "HDFS_DELEGATION_TOKEN", "nn1:9870"}));
  }
  EXPECT_FALSE(IsHdfsToken({"identifier", "password", "MR_DELEGATION_TOKEN", "nn1:9870"}));
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
