// Server and client over real sockets of this machine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "env_posix/posix_loop.h"
#include "process/rpc/rpc_client.h"
#include "process/rpc/rpc_server.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rpc {
namespace {

using endpoints::yarn::RpcToken;
using endpoints::yarn::TokenAuthority;
using endpoints::yarn::TokenSecret;
using wire::yarn::GetNewApplicationRequestProto;
using wire::yarn::GetNewApplicationResponseProto;
using Outcome = base::Result<GetNewApplicationResponseProto, RpcError>;

constexpr base::Duration kLong = base::Duration::Seconds(20);
constexpr size_t kLargeAnswer = 3 << 20;

struct OneToken : TokenAuthority {
  base::Result<TokenSecret> Secret(std::string_view identifier) const override {
    if (identifier != "identifier") return base::Error{"no such token"};
    return TokenSecret{"password", "appattempt_1_0001_000001"};
  }
};

class Rpc : public ::testing::Test {
 protected:
  explicit Rpc(peers::PeerLimits limits = kRpcPeers)
      : loop_(env_posix::MakePosixLoop()), server_(*loop_, *loop_, limits), client_(*loop_, *loop_) {}

  env::Endpoint Listen(endpoints::yarn::RpcServerOptions session = {},
                       base::Duration setup = base::Duration::Millis(100)) {
    ListenOptions options;
    options.session = session;
    options.setup = setup;
    options.frame = base::Duration::Seconds(2);
    options.is_open = is_open_;
    options.on_waiting = [this] { ++told_of_waiting_; };
    options.services.push_back({wire::yarn::kApplicationClientProtocol, wire::yarn::kApplicationClientProtocolMethods,
                                [this](const IncomingCall& call) { OnCall(call); }});
    const auto bound = server_.Listen({"127.0.0.1", 0}, std::move(options));
    EXPECT_TRUE(bound.ok());
    return *bound;
  }
  void OnCall(const IncomingCall& call) {
    users_.push_back(call.caller.user);
    if (on_call_) on_call_(call);
    if (call.method == "forceKillApplication") return;  // never answered
    if (call.method == "getApplications") return server_.Reply(call.token, std::string(kLargeAnswer, 'a'));
    if (call.method == "getClusterMetrics") return server_.Fail(call.token, "ApplicationNotFoundException", "none");
    GetNewApplicationResponseProto response;
    response.application_id.emplace().id = static_cast<int32_t>(users_.size());
    loop_->Post([this, token = call.token, response] { server_.ReplyMessage(token, response); });
  }
  RpcTarget Target(const env::Endpoint& address, std::optional<RpcToken> token = {}) {
    return {address, std::string(wire::yarn::kApplicationClientProtocol), {"alice", "", std::move(token)}};
  }
  /// One call, waited for.
  Outcome Call(const RpcTarget& target, std::string_view method = "getNewApplication", base::Duration timeout = kLong) {
    std::optional<Outcome> outcome;
    client_.Call<GetNewApplicationResponseProto>(target, method, GetNewApplicationRequestProto{}, timeout,
                                                 [&](Outcome result) {
                                                   outcome.emplace(std::move(result));
                                                   loop_->Stop();
                                                 });
    loop_->Run();
    return *outcome;
  }

  std::unique_ptr<env_posix::PosixLoop> loop_;
  RpcServer server_;
  RpcClient client_;
  std::vector<std::string> users_;
  std::function<void(const IncomingCall&)> on_call_;
  std::vector<std::string> answers_;
  std::function<bool()> is_open_;
  int told_of_waiting_ = 0;
};

TEST_F(Rpc, CallsShareAConnectionAndAreAnsweredByMessageOrException) {
  const RpcTarget target = Target(Listen());
  const Outcome first = Call(target);
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(first->ApplicationId().Id(), 1);
  const Outcome refused = Call(target, "getClusterMetrics");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, RpcErrorKind::kRemote);
  EXPECT_EQ(refused.error().remote.class_name, "org.apache.hadoop.yarn.exceptions.ApplicationNotFoundException");
  EXPECT_EQ(server_.connections(), 1U);
  EXPECT_EQ(client_.connections(), 1U);
}

TEST_F(Rpc, WhoAsksIsToldHowACallWasAnsweredAlsoWhenItsConnectionHasGone) {
  const RpcTarget target = Target(Listen());
  const auto watch = [this](const IncomingCall& call) {
    server_.WhenAnswered(call.token, [](std::optional<std::string_view>) { FAIL() << "replaced by the next"; });
    server_.WhenAnswered(call.token, [this, method = std::string(call.method)](std::optional<std::string_view> why) {
      answers_.push_back(method + ": " + std::string(why.value_or("done")));
    });
  };
  on_call_ = watch;
  ASSERT_TRUE(Call(target).ok());
  ASSERT_FALSE(Call(target, "getClusterMetrics").ok());
  CallToken unanswered = 0;
  on_call_ = [&](const IncomingCall& call) {
    watch(call);
    unanswered = call.token;
  };
  ASSERT_FALSE(Call(target, "forceKillApplication", base::Duration::Millis(50)).ok());
  client_.Disconnect(target.address);
  const std::function<void()> until_gone = [&] { server_.connections() > 0 ? loop_->Post(until_gone) : loop_->Stop(); };
  until_gone();
  loop_->Run();
  server_.Reply(unanswered, "");
  server_.Reply(unanswered, "");  // once
  using testing::ElementsAre;
  EXPECT_THAT(answers_,
              ElementsAre("getNewApplication: done", "getClusterMetrics: none", "forceKillApplication: done"));
}

TEST_F(Rpc, TokenCallerIsKnownByTheToken) {
  const OneToken authority;
  const env::Endpoint address = Listen({.allow_simple = false, .tokens = &authority});
  ASSERT_TRUE(Call(Target(address, RpcToken{"identifier", "password", "k", "s"})).ok());
  EXPECT_THAT(users_, ::testing::ElementsAre("appattempt_1_0001_000001"));
  const Outcome wrong = Call(Target(address, RpcToken{"identifier", "wrong", "k", "s"}));
  EXPECT_EQ(wrong.error().kind, RpcErrorKind::kLogin);
  EXPECT_EQ(wrong.error().remote.class_name, "javax.security.sasl.SaslException");
  const Outcome simple = Call(Target(address));
  EXPECT_EQ(simple.error().kind, RpcErrorKind::kLogin);
  EXPECT_EQ(simple.error().remote.class_name, "org.apache.hadoop.security.AccessControlException");
}

TEST_F(Rpc, UnknownProtocolMethodAndVersion) {
  const env::Endpoint address = Listen();
  EXPECT_EQ(Call(Target(address), "noSuchMethod").error().remote.class_name,
            "org.apache.hadoop.ipc.RpcNoSuchMethodException");
  RpcTarget other = Target(address);
  other.protocol = "org.example.Other";
  EXPECT_EQ(Call(other).error().remote.class_name, "org.apache.hadoop.ipc.RpcNoSuchProtocolException");
}

TEST_F(Rpc, ErrorsBeforeAndWithoutAnAnswer) {
  const env::Endpoint address = Listen();
  EXPECT_EQ(Call(Target(address), "forceKillApplication", base::Duration::Millis(50)).error().kind,
            RpcErrorKind::kTimeout);
  // A listener that takes the connection and closes it: the call was never sent, or never answered.
  auto closing = loop_->Listen({"127.0.0.1", 0}, [](std::unique_ptr<env::Stream> stream) { stream->Close(); });
  ASSERT_TRUE(closing.ok());
  const Outcome cut = Call(Target((*closing)->local()));
  EXPECT_EQ(cut.error().kind, RpcErrorKind::kCut);
  const env::Endpoint nobody = (*closing)->local();
  closing->reset();
  client_.Disconnect(nobody);
  EXPECT_EQ(Call(Target(nobody)).error().kind, RpcErrorKind::kConnect);
}

TEST_F(Rpc, LostConnectionIsMadeAnew) {
  const env::Endpoint address = Listen();
  ASSERT_TRUE(Call(Target(address)).ok());
  client_.Disconnect(address);
  EXPECT_EQ(client_.connections(), 0U);
  ASSERT_TRUE(Call(Target(address)).ok());
}

/// A raw client that only counts what it gets.
struct Silent : env::StreamHandler {
  void OnData(std::string_view bytes) override {
    received.append(bytes);
    if (on_data) on_data();
  }
  void OnClosed(const std::string&) override {
    closed = true;
    if (on_closed) on_closed();
  }
  std::string received;
  bool closed = false;
  std::function<void()> on_closed, on_data;
  std::unique_ptr<env::Stream> stream;
};

/// Of a server that takes few connections and little memory.
class SmallRpc : public Rpc {
 protected:
  SmallRpc() : Rpc({.connections_max = 20, .per_address_max = 20, .bytes_max = 1 << 20}) {}
};

TEST_F(SmallRpc, ConnectionsThatSayNothingAreClosedAndCountsAreBounded) {
  const env::Endpoint address = Listen();
  std::vector<std::unique_ptr<Silent>> silent;
  int closed = 0;
  size_t most = 0;
  for (int i = 0; i < 60; ++i) {
    silent.push_back(std::make_unique<Silent>());
    Silent* one = silent.back().get();
    one->on_closed = [&] {
      most = std::max(most, server_.connections());
      if (++closed == 60) loop_->Stop();
    };
    loop_->Connect(address, kLong, [one](base::Result<std::unique_ptr<env::Stream>> stream) {
      ASSERT_TRUE(stream.ok());
      one->stream = std::move(stream).value();
      one->stream->Start(one);
    });
  }
  loop_->Run();
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, 20U);
  EXPECT_EQ(server_.connections(), 0U);
  EXPECT_TRUE(Call(Target(address)).ok());
}

TEST_F(SmallRpc, HalfFramesOfAllConnectionsTogetherAreBounded) {
  const env::Endpoint address = Listen({}, kLong);
  std::vector<std::unique_ptr<Silent>> greedy;
  int closed = 0;
  // The last of them may be taken after two were closed.
  const std::function<void()> stop_when_all_came = [&] {
    if (server_.connections() >= 2) return loop_->Stop();
    loop_->Post(stop_when_all_came);
  };
  for (int i = 0; i < 4; ++i) {
    greedy.push_back(std::make_unique<Silent>());
    Silent* one = greedy.back().get();
    one->on_closed = [&] {
      if (++closed == 2) stop_when_all_came();
    };
    loop_->Connect(address, kLong, [one](base::Result<std::unique_ptr<env::Stream>> stream) {
      one->stream = std::move(stream).value();
      one->stream->Start(one);
      // Preamble, then 400 KiB of a frame of 1,000 KiB, as a first frame may be.
      one->stream->Write(std::string("hrpc\x09\0\0\0\x0f\xa0\0", 11) + std::string(400 << 10, 'x'));
    });
  }
  loop_->Run();
  EXPECT_EQ(server_.connections(), 2U);
  greedy.clear();
  EXPECT_TRUE(Call(Target(address)).ok());
}

/// What a client of SIMPLE authentication says first, and then `calls` times the same call.
std::string RawCalls(std::string_view method, int calls) {
  using namespace wire::hadoop_rpc;
  std::string out = EncodePreamble(kAuthNone);
  const auto header = [](int32_t id) {
    RpcRequestHeaderProto head;
    head.rpc_kind = RpcKindProto::kProtocolBuffer;
    head.rpc_op = RpcOperationProto::kFinalPacket;
    head.call_id = id;
    head.client_id = std::string(16, 'c');
    return head;
  };
  IpcConnectionContextProto context;
  context.user_info.emplace().effective_user = "alice";
  context.protocol = wire::yarn::kApplicationClientProtocol;
  FrameWriter first(out);
  first.Delimited(header(kCallIdContext));
  first.Delimited(context);
  first.Finish();
  for (int id = 0; id < calls; ++id) {
    RequestHeaderProto request;
    request.method_name = method;
    request.declaring_class_protocol_name = wire::yarn::kApplicationClientProtocol;
    request.client_protocol_version = 1;
    FrameWriter frame(out);
    frame.Delimited(header(id));
    frame.Delimited(request);
    frame.DelimitedBytes("");
    frame.Finish();
  }
  return out;
}

TEST_F(Rpc, CallsAreTakenOnlyAsFarAsTheirAnswersAre) {
  constexpr int kCalls = 30;
  const env::Endpoint address = Listen();
  Silent reader;
  loop_->Connect(address, kLong, [&](base::Result<std::unique_ptr<env::Stream>> stream) {
    reader.stream = std::move(stream).value();
    reader.stream->Write(RawCalls("getApplications", kCalls));
    // Nothing is read. By the time that another client has its answer, the kernel is full.
  });
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(Call(Target(address)).ok());
  const auto taken = std::count(users_.begin(), users_.end(), "alice");
  EXPECT_LT(taken, kCalls / 2);  // three megabytes each, and some go into the sockets
  // Then it reads, and gets them all.
  reader.on_data = [&] {
    if (reader.received.size() > kCalls * kLargeAnswer) loop_->Stop();
  };
  reader.stream->Start(&reader);
  loop_->Run();
  EXPECT_EQ(std::count(users_.begin(), users_.end(), "alice"), kCalls + 3);
}

TEST_F(Rpc, AFrameThatIsNeverWholeEndsItsConnection) {
  const env::Endpoint address = Listen();
  Silent half;
  half.on_closed = [&] { loop_->Stop(); };
  loop_->Connect(address, kLong, [&](base::Result<std::unique_ptr<env::Stream>> stream) {
    half.stream = std::move(stream).value();
    half.stream->Start(&half);
    const std::string bytes = RawCalls("getNewApplication", 1);
    half.stream->Write(bytes.substr(0, bytes.size() - 1));
  });
  loop_->Run();
  EXPECT_EQ(server_.connections(), 0U);
}

/// Of a server that is closed for now.
class ClosedRpc : public Rpc {
 protected:
  ClosedRpc() {
    is_open_ = [] { return false; };
    address_ = Listen();
  }
  void Send(Silent& peer, const std::string& bytes) {
    loop_->Connect(address_, kLong, [&peer, bytes](base::Result<std::unique_ptr<env::Stream>> stream) {
      peer.stream = std::move(stream).value();
      peer.stream->Start(&peer);
      peer.stream->Write(bytes);
    });
  }
  /// Until one more waits than before `mark`.
  void AwaitWaiting(RpcServer::Mark mark) {
    const std::function<void()> look = [&] { server_.WaitingMark() > mark ? loop_->Stop() : loop_->Post(look); };
    loop_->Post(look);
    loop_->Run();
  }
  env::Endpoint address_;
};

TEST_F(ClosedRpc, WhatCameAfterAMarkWaitsOn) {
  Silent first, second;
  Send(first, RawCalls("forceKillApplication", 1));
  AwaitWaiting(server_.WaitingMark());
  const RpcServer::Mark mark = server_.WaitingMark();
  Send(second, RawCalls("forceKillApplication", 1));
  AwaitWaiting(mark);
  server_.LetIn(mark);
  EXPECT_EQ(users_.size(), 1U);
  const int told = told_of_waiting_;
  loop_->Post([this] { loop_->Stop(); });
  loop_->Run();
  EXPECT_EQ(told_of_waiting_, told + 1);  // the second still waits
  server_.LetIn(server_.WaitingMark());
  EXPECT_EQ(users_.size(), 2U);
}

TEST_F(ClosedRpc, OfACallThatHasOnlyBegunTheRestIsReadAndWaitsAnew) {
  Silent slow;
  const std::string bytes = RawCalls("forceKillApplication", 1);
  Send(slow, bytes.substr(0, bytes.size() - 1));
  AwaitWaiting(server_.WaitingMark());
  const RpcServer::Mark mark = server_.WaitingMark();
  server_.LetIn(mark);
  EXPECT_EQ(server_.WaitingMark(), mark);  // what has only begun waits for nobody but its peer
  slow.stream->Write(bytes.substr(bytes.size() - 1));
  AwaitWaiting(mark);
  EXPECT_EQ(users_.size(), 0U);
  server_.LetIn(server_.WaitingMark());
  EXPECT_EQ(users_.size(), 1U);
}

TEST_F(Rpc, BadBytesEndOneConnectionOnly) {
  const env::Endpoint address = Listen();
  ASSERT_TRUE(Call(Target(address)).ok());
  Silent bad;
  bad.on_closed = [&] { loop_->Stop(); };
  loop_->Connect(address, kLong, [&](base::Result<std::unique_ptr<env::Stream>> stream) {
    bad.stream = std::move(stream).value();
    bad.stream->Start(&bad);
    bad.stream->Write(std::string("hrpc\x09\0\0\x7f\xff\xff\xff", 11));
  });
  loop_->Run();
  EXPECT_THAT(bad.received, ::testing::HasSubstr("longer than maximum configured RPC length"));
  EXPECT_TRUE(Call(Target(address)).ok());
  EXPECT_EQ(server_.connections(), 1U);
}

}  // namespace
}  // namespace fairlead::process::rpc
