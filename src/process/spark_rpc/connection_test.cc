#include "process/spark_rpc/connection.h"

#include <gtest/gtest.h>

#include "endpoints/spark/master_messages.h"
#include "env_sim/world.h"

namespace fairlead::process::spark_rpc {
namespace {

namespace es = endpoints::spark;
namespace st = wire::spark_transport;

constexpr base::Duration kLong = base::Duration::Seconds(10);

/// One end: what it heard, and how its connection ended.
struct End {
  std::unique_ptr<Connection> connection;
  std::vector<std::string> endpoints;
  std::optional<std::string> closed;

  void Start(std::unique_ptr<env::Stream> stream, env::Loop& loop, const Security& security, Connection::Side side) {
    connection = std::make_unique<Connection>(std::move(stream), loop, security, side);
    connection->Start({[this](Incoming message) {
                         endpoints.push_back(message.endpoint);
                         if (message.request) connection->Reply(*message.request, es::EncodeBoolean(true));
                       },
                       [] {}, [this](const std::string& reason) { closed = reason; }});
  }
};

class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() : master_(world_.AddMachine("master")), worker_(world_.AddMachine("worker")) {}

  void Listen() {
    listener_ = *master_.net().Listen({"master", 7077}, [this](std::unique_ptr<env::Stream> stream) {
      dialled_.Start(std::move(stream), master_.loop(), theirs_, Connection::Side::kDialled);
    });
  }
  void Dial(std::function<void(std::unique_ptr<env::Stream>)> done) {
    Listen();
    worker_.net().Connect({"master", 7077}, kLong, [done = std::move(done)](auto stream) { done(std::move(*stream)); });
  }
  /// Connects and asks once; whether an answer came before either end was closed.
  bool Asks() {
    bool answered = false;
    Dial([&](std::unique_ptr<env::Stream> stream) {
      dials_.Start(std::move(stream), worker_.loop(), ours_, Connection::Side::kDials);
      dials_.connection->Send({{}, {}, "Told", es::EncodeBoolean(true)});
      dials_.connection->Ask({{}, {}, "Asked", es::EncodeBoolean(true)},
                             [&](const auto& answer) { answered = answer.ok(); });
    });
    world_.RunUntil(world_.now() + kLong, [&] { return answered || dials_.closed || dialled_.closed; });
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [] { return false; });
    return answered;
  }
  void BothHave(const Security& security) { ours_ = theirs_ = security; }

  env_sim::World world_{7};
  env_sim::Machine& master_;
  env_sim::Machine& worker_;
  Security ours_, theirs_;
  std::unique_ptr<env::Listener> listener_;
  End dialled_, dials_;
};

Security Secret(const std::string& secret) {
  Security security;
  security.secret = secret;
  return security;
}

TEST_F(ConnectionTest, WithoutASecretNobodyIsAsked) {
  EXPECT_TRUE(Asks());
  EXPECT_EQ(dialled_.endpoints, (std::vector<std::string>{"Told", "Asked"}));
}

class HandshakeTest : public ConnectionTest, public testing::WithParamInterface<int> {};

/// SASL in the clear and sealed; Spark's own handshake in its versions, with its ciphers.
Security Kind(int kind) {
  Security security = Secret("secret");
  security.encrypt_sasl = kind == 1;
  security.crypto = kind >= 2;
  security.version = kind >= 3 ? st::AuthVersion::kV2 : st::AuthVersion::kV1;
  security.cipher = kind == 4 ? st::AuthCipher::kGcm : st::AuthCipher::kCtr;
  return security;
}

TEST_P(HandshakeTest, TheSameSecretIsTaken) {
  BothHave(Kind(GetParam()));
  EXPECT_TRUE(Asks());
  EXPECT_EQ(dialled_.endpoints, (std::vector<std::string>{"Told", "Asked"}));
}

TEST_P(HandshakeTest, AnotherIsNotAndBothSidesSayWhy) {
  BothHave(Kind(GetParam()));
  ours_.secret = "other";
  EXPECT_FALSE(Asks());
  EXPECT_TRUE(dialled_.endpoints.empty());
  ASSERT_TRUE(dialled_.closed);
  ASSERT_TRUE(dials_.closed);
  EXPECT_NE(dialled_.closed->find("spark.authenticate.secret"), std::string::npos) << *dialled_.closed;
  EXPECT_NE(dials_.closed->find("spark.authenticate.secret"), std::string::npos) << *dials_.closed;
}

TEST_P(HandshakeTest, WhoDoesNotAuthenticateIsToldTo) {
  theirs_ = Kind(GetParam());
  EXPECT_FALSE(Asks());
  EXPECT_TRUE(dialled_.endpoints.empty());
  EXPECT_TRUE(dialled_.closed);
}

TEST_P(HandshakeTest, WhoAuthenticatesBeforeOneThatDoesNotHearsIt) {
  ours_ = Kind(GetParam());
  EXPECT_FALSE(Asks());
  ASSERT_TRUE(dials_.closed);
  EXPECT_NE(dials_.closed->find("spark.authenticate=true"), std::string::npos) << *dials_.closed;
}

INSTANTIATE_TEST_SUITE_P(Kinds, HandshakeTest, testing::Range(0, 5));

TEST_F(ConnectionTest, SaslIsFallenBackTo) {
  BothHave(Kind(2));
  theirs_.crypto = false;
  EXPECT_TRUE(Asks());
}

/// What comes in the clear behind a handshake is nobody's: a recorded one can be sent again.
TEST_F(ConnectionTest, NothingInTheClearFollowsAHandshake) {
  theirs_ = Kind(2);
  const st::ClientHandshake recorded(theirs_, [](std::span<uint8_t> bytes) { std::ranges::fill(bytes, uint8_t{9}); });
  std::string bytes;
  st::AppendRpcRequest(bytes, 1, recorded.first());
  st::AppendOneWayMessage(bytes, es::EncodeRpcMessage({{}, {}, "Master", es::EncodeBoolean(true)}));
  std::unique_ptr<env::Stream> kept;
  Dial([&](std::unique_ptr<env::Stream> stream) {
    kept = std::move(stream);
    kept->Write(bytes);
  });
  world_.RunUntil(world_.now() + kLong, [&] { return dialled_.closed.has_value(); });
  EXPECT_TRUE(dialled_.endpoints.empty());
  EXPECT_EQ(dialled_.closed.value_or(""), "bytes in the clear behind a handshake");
}

}  // namespace
}  // namespace fairlead::process::spark_rpc
