// Server and client sessions: against Hadoop's recorded frames, against each other in every cut of the bytes, and
// against hostile peers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "endpoints/yarn/golden_test_util.h"
#include "endpoints/yarn/rpc_client_session.h"
#include "endpoints/yarn/rpc_server_session.h"
#include "endpoints/yarn/tokens.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::endpoints::yarn {
namespace {

using namespace wire::hadoop_rpc;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kProtocol[] = "org.apache.hadoop.yarn.api.ApplicationMasterProtocolPB";

struct ServerSide : RpcServerSession::Handler {
  explicit ServerSide(RpcServerOptions with = {})
      : options(std::move(with)), session(options, "nonce-of-forty-characters-or-so", this) {}
  void OnCall(const RpcCall& call) override {
    calls.push_back(std::string(call.method) + "(" + std::string(call.request) + ")");
    ids.push_back(call.call_id);
    if (on_call) on_call(call);
  }
  bool AsksFor(const std::string& protocol) override {
    asked.push_back(protocol);
    return asks;
  }
  void OnRefused(Refused what, std::string_view) override { unauthorized += what == Refused::kLogin ? 0 : 1; }
  bool asks = false;
  std::vector<std::string> asked;
  int unauthorized = 0;
  std::vector<std::string> calls;
  std::vector<int32_t> ids;
  std::function<void(const RpcCall&)> on_call;
  const RpcServerOptions options;
  RpcServerSession session;
};

struct ClientSide : RpcClientSession::Handler {
  explicit ClientSide(RpcUser user, bool fallback = true)
      : session({.user = std::move(user),
                 .protocol = kProtocol,
                 .client_id = "0123456789abcdef",
                 .cnonce = "cnonce",
                 .allow_fallback_to_simple = fallback},
                this) {}
  void OnReply(int32_t call_id, std::string_view response) override {
    events.push_back(std::to_string(call_id) + "=" + std::string(response));
  }
  void OnException(int32_t call_id, const RemoteException& e) override {
    events.push_back(std::to_string(call_id) + "!" + e.class_name + ":" + e.message);
  }
  void OnFatal(const RemoteException& e, bool login_failed) override {
    events.push_back((login_failed ? "login!" : "fatal!") + e.class_name + ":" + e.message);
  }
  std::vector<std::string> events;
  RpcClientSession session;
};

/// Carries bytes both ways, `cut` at a time, until both are silent.
void Exchange(ClientSide& client, ServerSide& server, size_t cut) {
  const auto feed = [cut](auto& to, const std::string& bytes) {
    for (size_t at = 0; at < bytes.size(); at += cut) to.OnBytes(std::string_view(bytes).substr(at, cut));
  };
  while (client.session.has_output() || server.session.has_output()) {
    feed(server.session, client.session.TakeOutput());
    feed(client.session, server.session.TakeOutput());
  }
}

struct OneToken : TokenAuthority {
  base::Result<TokenSecret> Secret(std::string_view identifier) const override {
    if (identifier != "identifier") return base::Error{"no such token"};
    return TokenSecret{"password", "appattempt_1_0001_000001"};
  }
};

RpcUser TokenUser(std::string password = "password", std::string identifier = "identifier") {
  return {"alice", "", RpcToken{std::move(identifier), std::move(password), "K", "s"}};
}

RpcResponseHeaderProto LastFatal(RpcServerSession& session, std::string* rest = nullptr) {
  std::string bytes = session.TakeOutput();
  RpcResponseHeaderProto header;
  std::string_view view(bytes);
  if (view.size() < 5) {
    ADD_FAILURE() << "no answer";
    return header;
  }
  view.remove_prefix(4);
  const auto header_bytes = TakeDelimited(view);
  EXPECT_TRUE(header_bytes && header.ParseFrom(*header_bytes, wire::hadoop_rpc::kAnswer).ok());
  if (rest) *rest = view;
  return header;
}

class EveryCut : public ::testing::TestWithParam<size_t> {};
INSTANTIATE_TEST_SUITE_P(Cuts, EveryCut, ::testing::Values(1, 2, 3, 7, 64, 100000));

TEST_P(EveryCut, SimpleCallsInAnyOrderOfAnswers) {
  ServerSide server;
  ClientSide client({"alice", "", {}});
  client.session.Call("one", "1");
  client.session.Call("two", "22");
  client.session.Call("three", "");
  Exchange(client, server, GetParam());
  EXPECT_THAT(server.calls, ElementsAre("one(1)", "two(22)", "three()"));
  EXPECT_EQ(server.session.caller().user, "alice");
  EXPECT_FALSE(server.session.caller().by_token());
  server.session.Reply(2, "c");
  server.session.Fail(0, exceptions::kApplicationNotFound, "gone");
  server.session.Reply(1, "");
  server.session.Reply(1, "twice is ignored");
  Exchange(client, server, GetParam());
  EXPECT_THAT(client.events, ElementsAre("2=c", "0!" + std::string(exceptions::kApplicationNotFound) + ":gone", "1="));
  EXPECT_TRUE(server.session.idle());
}

TEST_P(EveryCut, TokenLogin) {
  const OneToken authority;
  ServerSide server({.allow_simple = false, .tokens = &authority});
  ClientSide client(TokenUser());
  client.session.Call("allocate", "ask");
  Exchange(client, server, GetParam());
  EXPECT_THAT(server.calls, ElementsAre("allocate(ask)"));
  EXPECT_TRUE(server.session.caller().by_token());
  EXPECT_EQ(server.session.caller().user, "appattempt_1_0001_000001");
  EXPECT_EQ(server.session.caller().token_identifier, "identifier");
  server.session.Reply(0, "granted");
  Exchange(client, server, GetParam());
  EXPECT_THAT(client.events, ElementsAre("0=granted"));
}

TEST(RpcSessions, ALongCallIsRefusedByItsHeadersAndTheConnectionLivesOn) {
  ServerSide server;
  ClientSide client({"alice", "", {}});
  client.session.Call("getApplications", std::string(20 << 20, 'x'));
  client.session.Call("submitApplication", std::string(3 << 20, 'x'));
  client.session.Call("nodeHeartbeat", std::string(5 << 20, 'x'));
  client.session.Call("allocate", std::string(7 << 20, 'x'));
  client.session.Call("one", "1");
  size_t most = 0;
  while (client.session.has_output() || server.session.has_output()) {
    const std::string bytes = client.session.TakeOutput();
    for (size_t at = 0; at < bytes.size(); at += 100'000) {
      server.session.OnBytes(std::string_view(bytes).substr(at, 100'000));
      most = std::max(most, server.session.buffered_bytes());
    }
    client.session.OnBytes(server.session.TakeOutput());
  }
  EXPECT_LE(most, size_t{16} << 20);
  ASSERT_EQ(server.calls.size(), 3u);
  EXPECT_EQ(server.calls[0].substr(0, 18), "submitApplication(");
  EXPECT_EQ(server.calls[1].substr(0, 9), "allocate(");
  EXPECT_EQ(server.calls[2], "one(1)");
  ASSERT_EQ(client.events.size(), 2u);
  EXPECT_THAT(client.events[0], StartsWith("0!java.io.IOException:getApplications: a call of Hadoop's RPC of "));
  EXPECT_THAT(client.events[0], EndsWith("it may have 1048576"));
  EXPECT_THAT(client.events[1], StartsWith("2!java.io.IOException:nodeHeartbeat: "));
}

TEST(RpcSessions, ALongFrameThatIsNoCallEndsTheConnection) {
  ServerSide server;
  ClientSide client({"alice", "", {}});
  client.session.Call("one", "1");
  Exchange(client, server, 1000);
  server.session.OnBytes(std::string("\x01\0\0\0", 4) + std::string(8192, '\x7f'));
  EXPECT_TRUE(server.session.closing());
}

TEST(RpcSessions, TokenClientFallsBackToSimpleAsTold) {
  for (const bool allowed : {true, false}) {
    ServerSide server;  // knows SIMPLE only: answers SUCCESS to NEGOTIATE
    ClientSide client(TokenUser(), allowed);
    client.session.Call("m", "x");
    Exchange(client, server, 1000);
    EXPECT_EQ(server.calls.size(), allowed ? 1U : 0U);
    EXPECT_EQ(client.session.failed(), !allowed);
    if (allowed) {
      EXPECT_EQ(server.session.caller().user, "alice");
    }
  }
}

TEST(RpcSessions, WrongPasswordAndUnknownToken) {
  const OneToken authority;
  {
    ServerSide server({.allow_simple = false, .tokens = &authority});
    ClientSide client(TokenUser("wrong"));
    client.session.Call("m", "x");
    Exchange(client, server, 1000);
    EXPECT_THAT(client.events,
                ElementsAre("login!javax.security.sasl.SaslException:DIGEST-MD5: digest response format violation. "
                            "Mismatched response."));
    EXPECT_TRUE(server.session.closing());
    EXPECT_THAT(server.calls, IsEmpty());
  }
  ServerSide server({.allow_simple = false, .tokens = &authority});
  ClientSide client(TokenUser("password", "other"));
  Exchange(client, server, 1000);
  EXPECT_THAT(client.events, ElementsAre("login!" + std::string(exceptions::kInvalidToken) + ":no such token"));
}

TEST(RpcSessions, SimpleIsRefusedWhereOnlyTokensAreGood) {
  const OneToken authority;
  ServerSide server({.allow_simple = false, .tokens = &authority});
  ClientSide client({"alice", "", {}});
  client.session.Call("m", "x");
  Exchange(client, server, 1000);
  EXPECT_THAT(client.events, ElementsAre("login!" + std::string(exceptions::kAccessControl) +
                                         ":SIMPLE authentication is not enabled.  Available:[TOKEN]"));
  EXPECT_THAT(server.calls, IsEmpty());
}

TEST(RpcServerSession, HadoopsFramesAsRecorded) {
  ServerSide server;
  // A client that opens with SASL on a server of SIMPLE: preamble and NEGOTIATE.
  server.session.OnBytes(FromHex("68727063 09 00 DF 0000000E 0A 08021000 1841 2200 2801 02 1001"));
  EXPECT_EQ(ToHex(server.session.TakeOutput()), ToHex(FromHex("00000012 0E 08DFFFFFFF0F 1000 1809 3A00 4001 02 1000")));
  const std::string client_id = "10111213141516171819202122232425";
  // Connection context of user "u" and a first call in one piece.
  const std::string context = FromHex("1A 0802 1000 1805 2210" + client_id + " 2801 05 12030a0175");
  EXPECT_FALSE(server.session.established());
  server.session.OnBytes(FromHex("00000021") + context);
  EXPECT_TRUE(server.session.established());
  const std::string call = FromHex("1A 0802 1000 1800 2210" + client_id + " 2800 08 0a016d 12015018 01 02 6869");
  server.session.OnBytes(std::string("\0\0\0", 3) + static_cast<char>(call.size()) + call);
  EXPECT_THAT(server.calls, ElementsAre("m(hi)"));
  server.session.Reply(0, "");
  EXPECT_EQ(ToHex(server.session.TakeOutput()),
            "00000008"
            "06"
            "08001000"
            "1809"
            "00");
}

TEST(RpcServerSession, AuthRefusedAsRecorded) {
  const OneToken authority;
  ServerSide server({.allow_simple = false, .tokens = &authority});
  server.session.OnBytes(FromHex("68727063 09 00 00"));
  std::string bytes = server.session.TakeOutput();
  // header: callId -1, FATAL, version 9, class, message, FATAL_UNAUTHORIZED, empty client id, retry -1
  EXPECT_THAT(ToHex(bytes), HasSubstr("08ffffffff0f1002180922"));
  EXPECT_TRUE(bytes.ends_with(FromHex("300F 3A00 4001")));
}

TEST(Tokens, PasswordsAreHadoops) {
  const std::string identifier = FromHex("0a0d0a0908011080d095ffbc31100110fbffffffffffffffff01");
  EXPECT_EQ(EncodeBase64(identifier), "Cg0KCQgBEIDQlf+8MRABEPv//////////wE=");
  EXPECT_EQ(EncodeBase64(TokenPassword(FromHex("0102030405060708"), identifier)), "d6N3WIIRRfBPhY9Iqu2ldB2ul1I=");
}

// --- hostile peers: a clear answer as Hadoop's clients understand it, then the end of the connection ---

TEST(BadInput, WrongMagicAndVersion) {
  {
    ServerSide server;
    server.session.OnBytes(FromHex("68727063 0A 00 00"));
    const RpcResponseHeaderProto header = LastFatal(server.session);
    EXPECT_EQ(header.call_id, UINT32_MAX);
    EXPECT_EQ(header.status, RpcStatusProto::kFatal);
    EXPECT_EQ(header.ExceptionClassName(), "org.apache.hadoop.ipc.RPC$VersionMismatch");
    EXPECT_EQ(header.ErrorMsg(), "Server IPC version 9 cannot communicate with client version 10");
    EXPECT_EQ(header.ErrorDetail(), RpcErrorCodeProto::kFatalVersionMismatch);
    EXPECT_TRUE(server.session.closing());
  }
  ServerSide old;
  old.session.OnBytes(FromHex("68727063 04 00 00"));
  EXPECT_THAT(ToHex(old.session.TakeOutput()), ::testing::StartsWith("ffffffffffffffff00000029"));
  EXPECT_TRUE(old.session.closing());
  ServerSide oldest;
  oldest.session.OnBytes(FromHex("68727063 02 00 00"));
  EXPECT_THAT(ToHex(oldest.session.TakeOutput()), ::testing::StartsWith("000000000100000029"));
  ServerSide magic;
  magic.session.OnBytes("\x16\x03\x01\x02\x00\x01\x00");  // TLS
  magic.session.OnBytes(std::string(100, 'x'));
  EXPECT_TRUE(magic.session.closing());
}

TEST(BadInput, HttpGetIsToldSo) {
  ServerSide server;
  server.session.OnBytes("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(server.session.TakeOutput(), HasSubstr("HTTP request to a Hadoop IPC port"));
  EXPECT_TRUE(server.session.closing());
}

TEST(BadInput, AnnouncedFrameIsRefusedByItsLength) {
  for (const char* length : {"7fffffff", "80000000", "ffffffff", "00100001"}) {
    ServerSide server({.frame_bytes_max = 1 << 20, .setup_frame_bytes_max = 1 << 20});
    server.session.OnBytes(FromHex(std::string("68727063 09 00 00") + length));
    const RpcResponseHeaderProto header = LastFatal(server.session);
    EXPECT_EQ(header.status, RpcStatusProto::kFatal) << length;
    EXPECT_EQ(header.ExceptionClassName(), "java.io.IOException");
    EXPECT_TRUE(server.session.closing());
  }
}

class Established : public ::testing::Test {
 protected:
  Established() : client_({"alice", "", {}}) {
    server_.session.OnBytes(client_.session.TakeOutput());
    EXPECT_TRUE(server_.session.established());
  }
  /// Sends a frame whose parts are given as messages' bytes, each with its length before it.
  void Send(std::vector<std::string> parts) {
    std::string out;
    FrameWriter frame(out);
    for (const std::string& part : parts) frame.DelimitedBytes(part);
    frame.Finish();
    server_.session.OnBytes(out);
  }
  static RpcRequestHeaderProto Header(int32_t call_id) {
    RpcRequestHeaderProto header;
    header.rpc_kind = RpcKindProto::kProtocolBuffer;
    header.rpc_op = RpcOperationProto::kFinalPacket;
    header.call_id = call_id;
    header.client_id = "0123456789abcdef";
    return header;
  }
  static std::string Method() {
    RequestHeaderProto header;
    header.method_name = "m";
    header.declaring_class_protocol_name = kProtocol;
    header.client_protocol_version = 1;
    return header.Encode();
  }
  void ExpectFatal(RpcErrorCodeProto detail, std::string_view message) {
    const RpcResponseHeaderProto header = LastFatal(server_.session);
    EXPECT_EQ(header.status, RpcStatusProto::kFatal);
    EXPECT_EQ(header.ErrorDetail(), detail);
    EXPECT_THAT(std::string(header.ErrorMsg()), HasSubstr(std::string(message)));
    EXPECT_TRUE(server_.session.closing());
    EXPECT_THAT(server_.calls, IsEmpty());
  }
  ServerSide server_;
  ClientSide client_;
};

TEST_F(Established, HeaderWithoutOperationOrKindOrOfAnother) {
  RpcRequestHeaderProto header = Header(1);
  header.rpc_op.reset();
  Send({header.Encode(), Method(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "No rpc op");
}

TEST_F(Established, ContinuationIsNotImplemented) {
  RpcRequestHeaderProto header = Header(1);
  header.rpc_op = RpcOperationProto::kContinuationPacket;
  Send({header.Encode(), Method(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "operationRPC_CONTINUATION_PACKET");
}

TEST_F(Established, WritableKind) {
  RpcRequestHeaderProto header = Header(1);
  header.rpc_kind = RpcKindProto::kWritable;
  Send({header.Encode(), Method(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "Unknown rpc kind in rpc headerRPC_WRITABLE");
}

TEST_F(Established, MissingRequiredFieldOfTheHeader) {
  Send({FromHex("08021000"), Method(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalDeserializingRequest, "RpcRequestHeaderProto");
}

TEST_F(Established, MissingRequiredFieldOfTheMethodHeader) {
  Send({Header(3).Encode(), FromHex("0a016d"), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalDeserializingRequest, "RequestHeaderProto");
}

TEST_F(Established, RequestCutShortFailsTheCallAlone) {
  Send({Header(0).Encode(), Method()});
  client_.session.Call("m", "x");
  client_.session.OnBytes(server_.session.TakeOutput());
  ASSERT_EQ(client_.events.size(), 1U);
  EXPECT_THAT(client_.events[0], HasSubstr("0!" + std::string(exceptions::kInvalidProtocolBuffer)));
  EXPECT_FALSE(server_.session.closing());
  EXPECT_THAT(server_.calls, IsEmpty());
}

TEST_F(Established, FatalErrorsAreRpcServerExceptions) {
  Send({FromHex("08021000"), Method(), ""});
  EXPECT_EQ(LastFatal(server_.session).ExceptionClassName(), "org.apache.hadoop.ipc.RpcServerException");
}

TEST_F(Established, UnknownValuesOfKindAndOperationCountAsAbsent) {
  RpcRequestHeaderProto header = Header(1);
  header.rpc_kind = static_cast<RpcKindProto>(7);
  Send({header.Encode(), Method(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "No rpc kind");
}

TEST_F(Established, EmptyFrame) {
  server_.session.OnBytes(std::string(4, '\0'));
  ExpectFatal(RpcErrorCodeProto::kFatalDeserializingRequest, "RpcRequestHeaderProto");
}

TEST_F(Established, SecondContextUnknownOutOfBandAndLateSasl) {
  Send({Header(kCallIdContext).Encode(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "Connection context already processed");
}

TEST_F(Established, UnknownOutOfBandCall) {
  Send({Header(-77).Encode(), ""});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "Unknown out of band call #-77");
}

TEST_F(Established, SaslWithoutHavingAskedForIt) {
  Send({Header(kCallIdSasl).Encode(), FromHex("1001")});
  ExpectFatal(RpcErrorCodeProto::kFatalInvalidRpcHeader, "SASL protocol not requested by client");
}

TEST_F(Established, PingsAreSilent) {
  client_.session.Ping();
  server_.session.OnBytes(client_.session.TakeOutput());
  EXPECT_FALSE(server_.session.has_output());
  EXPECT_FALSE(server_.session.closing());
}

TEST_F(Established, SameCallIdTwice) {
  Send({Header(3).Encode(), Method(), "a"});
  ASSERT_EQ(server_.calls.size(), 1U);
  Send({Header(3).Encode(), Method(), "b"});
  EXPECT_EQ(server_.calls.size(), 1U);
  EXPECT_TRUE(server_.session.closing());
}

TEST(BadInput, TooManyCallsWithoutAnAnswer) {
  ServerSide server({.calls_max = 2});
  ClientSide client({"alice", "", {}});
  for (int i = 0; i < 4; ++i) client.session.Call("m", "x");
  Exchange(client, server, 1000);
  EXPECT_EQ(server.calls.size(), 2U);
  EXPECT_THAT(client.events, ElementsAre("2!org.apache.hadoop.ipc.RetriableException:Server too busy",
                                         "3!org.apache.hadoop.ipc.RetriableException:Server too busy"));
}

TEST(BadInput, NamesOfCallersAreBounded) {
  RpcServerOptions options;
  options.impersonation = true;
  const std::string longest(1024, 'a');
  for (const RpcUser& user :
       {RpcUser{longest + "a", "", {}}, RpcUser{"alice", longest + "a", {}}, RpcUser{longest, "", {}}}) {
    ServerSide server(options);
    ClientSide client(user);
    client.session.Call("m", "x");
    Exchange(client, server, 10'000);
    EXPECT_EQ(server.calls.size(), user.user == longest ? 1U : 0U) << user.user.size();
  }
}

TEST(BadInput, CallBeforeContextAndContextDuringSasl) {
  ServerSide server;
  server.session.OnBytes(FromHex("68727063 09 00 00"));
  std::string out;
  FrameWriter frame(out);
  RpcRequestHeaderProto header;
  header.rpc_kind = RpcKindProto::kProtocolBuffer;
  header.rpc_op = RpcOperationProto::kFinalPacket;
  header.client_id = "x";
  frame.Delimited(header);
  frame.Finish();
  server.session.OnBytes(out);
  EXPECT_EQ(LastFatal(server.session).ErrorMsg(), "Connection context not established");
}

TEST(BadInput, ImpersonationNeedsLeave) {
  for (const bool allowed : {false, true}) {
    RpcServerOptions options;
    options.impersonation = allowed;
    ServerSide server(options);
    ClientSide client({"alice", "oozie", {}});
    client.session.Call("m", "x");
    Exchange(client, server, 1000);
    if (allowed) {
      EXPECT_EQ(server.session.caller().real_user, "oozie");
      EXPECT_EQ(server.calls.size(), 1U);
    } else {
      EXPECT_THAT(client.events, ElementsAre("login!" + std::string(exceptions::kAuthorization) +
                                             ":User: oozie is not allowed to impersonate alice"));
    }
  }
}

TEST(Admission, CallsWaitUntilSomebodySaysWhetherTheCallerMay) {
  for (const bool may : {false, true}) {
    RpcServerOptions options;
    options.impersonation = true;
    ServerSide server(options);
    server.asks = true;
    ClientSide client({"alice", "oozie", {}});
    client.session.Call("m", "x");
    Exchange(client, server, 1000);
    EXPECT_THAT(server.asked, ElementsAre(kProtocol));
    EXPECT_THAT(server.calls, IsEmpty());
    EXPECT_TRUE(client.events.empty());
    EXPECT_EQ(server.session.caller().Shown(), "alice (auth:PROXY) via oozie (auth:SIMPLE)");
    server.session.Admit(may ? base::Status() : base::Error{"he may not"});
    server.session.Admit({});  // once is enough
    server.session.Resume();
    Exchange(client, server, 1000);
    EXPECT_EQ(server.calls.size(), may ? 1U : 0U);
    EXPECT_EQ(server.unauthorized, may ? 0 : 1);
    if (may) continue;
    EXPECT_THAT(client.events, ElementsAre("login!" + std::string(exceptions::kAuthorization) + ":he may not"));
  }
}

TEST(BadInput, SaslMessagesOutOfTurn) {
  const OneToken authority;
  const auto send = [](RpcServerSession& session, const RpcSaslProto& message) {
    std::string out;
    FrameWriter frame(out);
    RpcRequestHeaderProto header;
    header.rpc_kind = RpcKindProto::kProtocolBuffer;
    header.rpc_op = RpcOperationProto::kFinalPacket;
    header.call_id = kCallIdSasl;
    frame.Delimited(header);
    frame.Delimited(message);
    frame.Finish();
    session.OnBytes(out);
  };
  RpcSaslProto negotiate;
  negotiate.state = RpcSaslStateProto::kNegotiate;
  RpcSaslProto response;
  response.state = RpcSaslStateProto::kResponse;
  response.token = "x";
  RpcSaslProto initiate;
  initiate.state = RpcSaslStateProto::kInitiate;
  RpcSaslProto kerberos = initiate;
  kerberos.auths = {RpcSaslAuthProto{.method = "KERBEROS", .mechanism = "GSSAPI"}};
  RpcSaslProto challenge;
  challenge.state = RpcSaslStateProto::kChallenge;
  struct Case {
    std::vector<RpcSaslProto> messages;
    const char* message;
  };
  const Case cases[] = {
      {{negotiate, negotiate}, "Client already attempted negotiation"},
      {{response}, "Client sent a response without a challenge"},
      {{initiate}, "Client mechanism is malformed"},
      {{negotiate, kerberos}, "KERBEROS authentication is not enabled.  Available:[TOKEN]"},
      {{challenge}, "Client sent unsupported state CHALLENGE"},
  };
  for (const Case& c : cases) {
    ServerSide server({.allow_simple = false, .tokens = &authority});
    server.session.OnBytes(FromHex("68727063 09 00 DF"));
    for (const RpcSaslProto& message : c.messages) {
      server.session.TakeOutput();
      send(server.session, message);
    }
    const RpcResponseHeaderProto header = LastFatal(server.session);
    EXPECT_EQ(header.ErrorMsg(), c.message);
    EXPECT_EQ(header.ErrorDetail(), RpcErrorCodeProto::kFatalUnauthorized);
    EXPECT_EQ(static_cast<int32_t>(header.call_id), kCallIdSasl);
  }
}

TEST(BadServer, ClientFailsCleanly) {
  ClientSide longer({"alice", "", {}});
  longer.session.Call("m", "x");
  longer.session.TakeOutput();
  longer.session.OnBytes(FromHex("0000000a 06 08001000 1809 00 0000"));  // two bytes too many
  EXPECT_THAT(longer.events, ElementsAre("fatal!:RPC response length mismatch"));
  ClientSide huge({"alice", "", {}});
  huge.session.OnBytes(FromHex("7fffffff"));
  EXPECT_TRUE(huge.session.failed());
  ClientSide imposter(TokenUser());
  RpcSaslProto success;
  success.state = RpcSaslStateProto::kSuccess;
  success.token = "rspauth=00000000000000000000000000000000";
  const OneToken authority;
  ServerSide server({.allow_simple = false, .tokens = &authority});
  server.session.OnBytes(imposter.session.TakeOutput());
  imposter.session.OnBytes(server.session.TakeOutput());
  std::string out;
  FrameWriter frame(out);
  RpcResponseHeaderProto header;
  header.call_id = static_cast<uint32_t>(kCallIdSasl);
  frame.Delimited(header);
  frame.Delimited(success);
  frame.Finish();
  imposter.session.OnBytes(out);
  EXPECT_THAT(imposter.events, ElementsAre(HasSubstr("could not prove")));
}

}  // namespace
}  // namespace fairlead::endpoints::yarn
