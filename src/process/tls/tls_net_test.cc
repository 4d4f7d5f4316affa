// Connections in the simulated world's TLS, between the two nets; what is hostile is written by hand.
#include "process/tls/tls_net.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "env_sim/sim_tls.h"
#include "env_sim/world.h"
#include "process/http/server.h"

namespace fairlead::process::tls {
namespace {

/// One end: keeps what it gets, and answers when it is told to.
struct End : env::StreamHandler {
  void OnData(std::string_view bytes) override {
    received.append(bytes);
    if (!answer.empty()) stream->Write(std::exchange(answer, {}));
  }
  void OnClosed(const std::string& reason) override {
    closed = true;
    why = reason;
  }
  void OnDrained() override { ++drained; }
  void OnOverhead() override { told.push_back(stream->overhead()); }
  std::unique_ptr<env::Stream> stream;
  int drained = 0;
  std::vector<size_t> told;
  std::string received, answer, why;
  bool closed = false;
};

class TlsNetTest : public ::testing::Test {
 protected:
  void Listen() {
    auto listener = server_net_.Listen({"server", 1}, [this](std::unique_ptr<env::Stream> stream) {
      served_.push_back(std::make_unique<End>());
      served_.back()->answer = "answer";
      served_.back()->stream = std::move(stream);
      served_.back()->stream->Start(served_.back().get());
    });
    ASSERT_TRUE(listener.ok());
    listener_ = std::move(*listener);
  }
  std::unique_ptr<End> Connect(env::Net& net, const std::string& first) {
    auto end = std::make_unique<End>();
    net.Connect({"server", 1}, base::Duration::Seconds(5), [&, raw = end.get()](auto stream) {
      ASSERT_TRUE(stream.ok());
      raw->stream = std::move(*stream);
      raw->stream->Write(first);
      raw->stream->Start(raw);
    });
    Run([&, raw = end.get()] { return raw->stream != nullptr; });
    return end;
  }
  bool Run(const std::function<bool()>& done) {
    return world_.RunUntil(world_.now() + base::Duration::Seconds(10), done);
  }

  env_sim::World world_{1};
  env_sim::Machine& server_ = world_.AddMachine("server");
  env_sim::Machine& client_ = world_.AddMachine("client");
  env_sim::Machine& honest_ = world_.AddMachine("honest");
  env_sim::SimTls shown_{"server", "authority"};
  env_sim::SimTls trusting_{"", "authority"};
  TlsListening server_net_{server_.loop(), server_.net(), shown_};
  TlsConnecting client_net_{client_.loop(), client_.net(), trusting_};
  std::unique_ptr<env::Listener> listener_;
  std::vector<std::unique_ptr<End>> served_;
};

TEST_F(TlsNetTest, WhatIsWrittenBeforeTheHandshakeArrivesAfterIt) {
  Listen();
  const auto client = Connect(client_net_, "question");
  EXPECT_TRUE(Run([&] { return client->received == "answer"; }));
  EXPECT_EQ(served_.at(0)->received, "question");
  EXPECT_EQ(server_net_.failed(), 0U);
}

TEST_F(TlsNetTest, AnEndIsToldFromACut) {
  Listen();
  const auto client = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return client->received == "answer"; }));
  served_.at(0)->stream->CloseAfterFlush();
  ASSERT_TRUE(Run([&] { return client->closed; }));
  EXPECT_EQ(client->why, "");
  const auto another = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return another->received == "answer"; }));
  served_.at(1)->stream->Close();
  ASSERT_TRUE(Run([&] { return another->closed; }));
  EXPECT_EQ(another->why, "the connection was cut");
}

/// Bytes that are told by their places.
struct Numbered final : env::File {
  explicit Numbered(uint64_t bytes) : size(bytes) {}
  base::Result<size_t> ReadAt(uint64_t offset, std::span<char> into) override {
    size_t count = 0;
    for (; count < into.size() && offset + count < size; ++count) into[count] = ByteAt(offset + count);
    most = std::max(most, count);
    read += count;
    return count;
  }
  base::Result<uint64_t> Size() override { return size; }
  base::Status Append(std::string_view) override { return base::Error{"it is only read"}; }
  base::Status Sync() override { return {}; }
  static char ByteAt(uint64_t place) { return static_cast<char>(place * 7 / 5 % 251); }
  const uint64_t size;
  size_t most = 0, read = 0;
};

TEST_F(TlsNetTest, AFileIsReadAsItIsTakenAndKeepsItsPlace) {
  Listen();
  const auto client = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return client->received == "answer"; }));
  constexpr uint64_t kBytes = 5 << 20, kFrom = 1000;
  const auto file = std::make_shared<Numbered>(kBytes);
  env::Stream& served = *served_.at(0)->stream;
  served.Write("before");
  served.SendFile(file, kFrom, kBytes - kFrom);
  served.Write("behind");
  EXPECT_GT(served.unsent(), kBytes - kFrom) << "what is not read yet counts";
  EXPECT_LT(file->read, size_t{512} << 10) << "no more than the stream takes";
  served.CloseAfterFlush();
  ASSERT_TRUE(Run([&] { return client->closed; }));
  EXPECT_EQ(client->why, "");
  std::string whole = "answerbefore";
  for (uint64_t i = kFrom; i < kBytes; ++i) whole += Numbered::ByteAt(i);
  EXPECT_TRUE(client->received == whole + "behind") << client->received.size() << " of " << whole.size() + 6;
  EXPECT_LE(file->most, size_t{64} << 10);
}

TEST_F(TlsNetTest, OneThatHasBecomeShorterEndsTheConnection) {
  Listen();
  const auto client = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return client->received == "answer"; }));
  served_.at(0)->stream->SendFile(std::make_shared<Numbered>(1000), 0, 1001);
  ASSERT_TRUE(Run([&] { return client->closed && served_.at(0)->closed; }));
  EXPECT_EQ(served_.at(0)->why, "a file is shorter than it was");
  EXPECT_EQ(served_.at(0)->stream->unsent(), 0U);
}

TEST_F(TlsNetTest, WhoWaitsForRoomIsTold) {
  Listen();
  const auto client = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return client->received == "answer"; }));
  End& served = *served_.at(0);
  served.stream->SetHighWater(100'000);
  served.stream->SendFile(std::make_shared<Numbered>(400'000), 0, 400'000);
  ASSERT_TRUE(Run([&] { return served.drained == 1; }));
  EXPECT_LE(served.stream->unsent(), 50'000U);
  served.stream->Write(std::string(10'000, 'x'));
  ASSERT_TRUE(Run([&] { return client->received.size() == 6 + 410'000; }));
  EXPECT_EQ(served.drained, 1) << "it was not full again";
}

TEST_F(TlsNetTest, AServerThatIsNotTrustedGetsNothing) {
  Listen();
  env_sim::SimTls other("", "another authority");
  TlsConnecting net(client_.loop(), client_.net(), other);
  const auto client = Connect(net, "secret");
  ASSERT_TRUE(Run([&] { return client->closed && served_.at(0)->closed; }));
  EXPECT_EQ(client->why, "the certificate of server is not trusted");
  EXPECT_EQ(served_.at(0)->received, "");
}

TEST_F(TlsNetTest, PlainHttpIsTold) {
  Listen();
  const auto client = Connect(client_.net(), "GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(Run([&] { return client->closed; }));
  EXPECT_TRUE(client->received.starts_with("HTTP/1.1 400 Bad Request\r\n")) << client->received;
  EXPECT_NE(client->received.find("https://"), std::string::npos);
  EXPECT_EQ(served_.at(0)->received, "");
  EXPECT_EQ(server_net_.failed(), 1U);
}

TEST_F(TlsNetTest, AHandshakeWithoutEndEnds) {
  Listen();
  const auto client = Connect(client_.net(), std::string("\x16\x00\x0F\xFF\xFF", 5));
  for (int i = 0; i < 20 && !client->closed; ++i) {
    client->stream->Write(std::string(8 * 1024, 'x'));
    Run([&] { return client->closed || (!served_.empty() && client->stream->unsent() == 0); });
  }
  ASSERT_TRUE(Run([&] { return client->closed; }));
  EXPECT_EQ(served_.at(0)->why, "a handshake of more than 64 KiB");
  EXPECT_EQ(server_net_.failed(), 1U);
}

TEST_F(TlsNetTest, AHandshakeSaysWhatItHolds) {
  Listen();
  const auto client = Connect(client_net_, "question");
  ASSERT_TRUE(Run([&] { return client->received == "answer"; }));
  const End& served = *served_.at(0);
  EXPECT_GT(served.stream->overhead(), 4U << 10) << "its session stays";
  EXPECT_LE(served.stream->overhead(), 16U << 10);
  EXPECT_EQ(served.told.back(), served.stream->overhead()) << "its owner heard of the end";
  EXPECT_GE(served.told.front(), 64U << 10);
  const auto silent = Connect(client_.net(), "");
  ASSERT_TRUE(Run([&] { return served_.size() == 2; }));
  EXPECT_GT(served_.at(1)->stream->overhead(), 4U << 10);
  EXPECT_EQ(client->stream->overhead(), 0U) << "of a client's own connections there are few";
}

/// A thousand from one address; somebody comes from another one.
TEST_F(TlsNetTest, HandshakesCountInAPortsMemory) {
  http::ServerLimits limits;
  limits.peers.bytes_max = size_t{8} << 20;
  const auto answer = [](http::Request, const http::Server::Reply& reply) { reply(http::TextResponse(200, "answer")); };
  const auto server = http::Server::Listen(server_.loop(), server_net_, {"server", 1},
                                           http::KnownHosts{{"server"}, {}, false}, answer, limits);
  ASSERT_TRUE(server.ok());
  std::vector<std::unique_ptr<End>> crowd;
  for (int i = 0; i < 1000; ++i) crowd.push_back(Connect(client_.net(), std::string("\x16\x00\x00\x00\x05h", 6)));
  const auto gone = [&] { return std::ranges::count_if(crowd, [](const auto& one) { return one->closed; }); };
  ASSERT_TRUE(Run([&] { return gone() > 880; }));
  EXPECT_LE((*server)->held_bytes(), limits.peers.bytes_max);
  EXPECT_GT((*server)->held_bytes(), limits.peers.bytes_max / 10 * 9) << "no more of them went than had to";
  EXPECT_FALSE(crowd.back()->closed) << "the oldest go";
  TlsConnecting net(honest_.loop(), honest_.net(), trusting_);
  const auto client = Connect(net, "GET / HTTP/1.1\r\nHost: server\r\n\r\n");
  ASSERT_TRUE(Run([&] { return client->received.ends_with("answer"); })) << client->received;
}

/// As long as they are there, as what they are.
TEST_F(TlsNetTest, IdleSessionsCountInAPortsMemory) {
  http::ServerLimits limits;
  limits.peers.bytes_max = size_t{4} << 20;
  const auto answer = [](http::Request, const http::Server::Reply& reply) { reply(http::TextResponse(200, "answer")); };
  const auto server = http::Server::Listen(server_.loop(), server_net_, {"server", 1},
                                           http::KnownHosts{{"server"}, {}, false}, answer, limits);
  ASSERT_TRUE(server.ok());
  std::vector<std::unique_ptr<End>> crowd;
  const std::string request = "GET / HTTP/1.1\r\nHost: server\r\n\r\n";
  for (int i = 0; i < 1000; ++i) {
    crowd.push_back(Connect(client_net_, request));
    ASSERT_TRUE(Run([&] { return crowd.back()->received.ends_with("answer") || crowd.back()->closed; })) << i;
  }
  const auto open = std::ranges::count_if(crowd, [](const auto& one) { return !one->closed; });
  EXPECT_LE((*server)->held_bytes(), limits.peers.bytes_max);
  EXPECT_GT((*server)->held_bytes(), limits.peers.bytes_max / 10 * 9) << "no more of them went than had to";
  EXPECT_GT(open, 200);
  EXPECT_FALSE(crowd.back()->closed) << "the oldest go";
}

TEST_F(TlsNetTest, ConnectionsThatEndInTheirHandshakeAreCounted) {
  Listen();
  const auto client = Connect(client_.net(), "\x16");
  ASSERT_TRUE(Run([&] { return !served_.empty(); }));
  client->stream->Close();
  ASSERT_TRUE(Run([&] { return served_.at(0)->closed; }));
  EXPECT_EQ(server_net_.failed(), 1U);
}

TEST_F(TlsNetTest, WhoWaitsForATurnMayGo) {
  Listen();
  std::vector<std::unique_ptr<End>> crowd;
  for (int i = 0; i < 50; ++i) crowd.push_back(Connect(client_.net(), "\x16"));
  served_.clear();
  const auto client = Connect(client_net_, "question");
  EXPECT_TRUE(Run([&] { return client->received == "answer"; }));
}

}  // namespace
}  // namespace fairlead::process::tls
