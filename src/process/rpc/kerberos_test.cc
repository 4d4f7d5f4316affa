// Logins by Kerberos between server and client, in the realm of the simulated world; what is hostile is written by
// hand.
#include <gtest/gtest.h>

#include "endpoints/yarn/rpc_client_session.h"
#include "env_sim/sim_gss.h"
#include "env_sim/world.h"
#include "process/rpc/rpc_client.h"
#include "process/rpc/rpc_server.h"
#include "wire/hadoop_rpc/base64.h"
#include "wire/hadoop_rpc/headers.h"
#include "wire/yarn/client.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rpc {
namespace {

using endpoints::yarn::RpcServerOptions;
using endpoints::yarn::TokenSecret;
using wire::hadoop_rpc::Protection;
using wire::hadoop_rpc::Protections;
using wire::hadoop_rpc::RpcSaslProto;
using wire::hadoop_rpc::RpcSaslStateProto;
using wire::yarn::GetNewApplicationRequestProto;
using wire::yarn::GetNewApplicationResponseProto;
using Outcome = base::Result<GetNewApplicationResponseProto, RpcError>;

constexpr base::Duration kPatience = base::Duration::Seconds(20);
constexpr char kService[] = "rm/rm.example.com@EXAMPLE.COM";

struct AlicesToken : endpoints::yarn::TokenAuthority {
  base::Result<TokenSecret> Secret(std::string_view identifier) const override {
    if (identifier != "identifier") return base::Error{"no such token"};
    return TokenSecret{"password", "alice"};
  }
};

/// A client that sends bytes and keeps what it gets.
struct Raw : env::StreamHandler {
  void OnData(std::string_view bytes) override { received.append(bytes); }
  void OnClosed(const std::string&) override { closed = true; }
  std::string received;
  bool closed = false;
  std::unique_ptr<env::Stream> stream;
};

class Kerberos : public ::testing::Test {
 protected:
  void Listen(Protections protections = {Protection::kAuthentication}) {
    ListenOptions options;
    RpcServerOptions& session = options.session;
    session.allow_simple = false;
    session.tokens = &token_;
    session.protections = std::move(protections);
    session.kerberos.emplace();
    session.kerberos->protocol = "rm";
    session.kerberos->server_id = "rm.example.com";
    session.kerberos->short_name = [](const std::string& principal) -> base::Result<std::string> {
      if (principal.ends_with("@OTHER.COM")) return base::Error{"No rules applied to " + principal};
      return principal.substr(0, principal.find_first_of("/@"));
    };
    session.kerberos->admits = [](const std::string& principal) -> base::Status {
      if (principal.starts_with("mallory")) return base::Error{principal + " is not admitted"};
      return {};
    };
    options.gss = server_gss_.get();
    options.admit = [this](const endpoints::yarn::Caller& caller, const std::string& protocol, const env::Endpoint&,
                           const ListenOptions::Admitted& done) {
      EXPECT_EQ(protocol, wire::yarn::kApplicationClientProtocol);
      const bool may = caller.real_user.empty() || caller.real_user == "livy";
      const base::Status verdict = may ? base::Status() : base::Error{"User: " + caller.principal + " may not"};
      server_machine_.loop().After(base::Duration::Millis(admits_after_ms_), [done, verdict] { done(verdict); });
    };
    options.audit = env::Audit(
        [this](env::AuditResult, std::string_view words, const env::Log::Fields&) { audit_.emplace_back(words); });
    options.services.push_back({wire::yarn::kApplicationClientProtocol, wire::yarn::kApplicationClientProtocolMethods,
                                [this](const IncomingCall& call) {
                                  callers_.push_back(call.caller);
                                  if (call.method == "getApplications") {
                                    return server_.Reply(call.token, std::string(3 << 20, 'a'));
                                  }
                                  sizes_.push_back(call.request.size());
                                  server_.Reply(call.token, GetNewApplicationResponseProto{}.Encode());
                                }});
    const auto bound = server_.Listen({"0.0.0.0", 8032}, std::move(options));
    ASSERT_TRUE(bound.ok()) << bound.error().message;
  }
  RpcClient& ClientOf(const std::string& principal, Protections protections = {Protection::kAuthentication}) {
    gss_.push_back(realm_.As(client_machine_.loop(), principal));
    clients_.push_back(std::make_unique<RpcClient>(client_machine_.loop(), client_machine_.net(), RpcClientLimits{},
                                                   RpcClientSecurity{gss_.back().get(), std::move(protections)}));
    return *clients_.back();
  }
  RpcTarget Target(const std::string& principal = "rm/_HOST@EXAMPLE.COM") {
    return {{"rm.example.com", 8032},
            std::string(wire::yarn::kApplicationClientProtocol),
            {"ignored", "", std::nullopt, principal}};
  }
  Outcome Call(RpcClient& client, const RpcTarget& target, const std::string& method = "getNewApplication",
               std::string request = "") {
    std::optional<Outcome> outcome;
    client.Call(target, method, std::move(request), kPatience, [&](base::Result<std::string, RpcError> bytes) {
      if (!bytes.ok()) {
        outcome.emplace(bytes.error());
      } else {
        bytes_ = bytes->size();
        outcome.emplace(GetNewApplicationResponseProto{});
      }
    });
    world_.RunUntil(world_.now() + base::Duration::Seconds(30), [&] { return outcome.has_value(); });
    EXPECT_TRUE(outcome.has_value());
    return outcome ? *outcome : Outcome(RpcError{});
  }

  // ---- By hand ----
  Raw& Connect() {
    raws_.push_back(std::make_unique<Raw>());
    Raw& raw = *raws_.back();
    client_machine_.net().Connect({"rm.example.com", 8032}, kPatience, [&](auto stream) {
      ASSERT_TRUE(stream.ok());
      raw.stream = std::move(stream).value();
      raw.stream->Start(&raw);
      raw.stream->Write(wire::hadoop_rpc::EncodePreamble(wire::hadoop_rpc::kAuthSasl));
    });
    Settle();
    return raw;
  }
  void Settle() {
    world_.RunUntil(world_.now() + base::Duration::Millis(500), [] { return false; });
  }
  static std::string Frame(int32_t call, const std::string& body) {
    std::string out;
    wire::hadoop_rpc::RpcRequestHeaderProto header;
    header.rpc_kind = wire::hadoop_rpc::RpcKindProto::kProtocolBuffer;
    header.rpc_op = wire::hadoop_rpc::RpcOperationProto::kFinalPacket;
    header.call_id = call;
    header.client_id = "";
    wire::hadoop_rpc::FrameWriter frame(out);
    frame.Delimited(header);
    if (!body.empty()) frame.DelimitedBytes(body);
    frame.Finish();
    return out;
  }
  static std::string Sasl(RpcSaslStateProto state, const std::string& token, bool names_kerberos = false) {
    RpcSaslProto message;
    message.state = state;
    message.token = token;
    if (names_kerberos) {
      wire::hadoop_rpc::RpcSaslAuthProto& auth = message.auths.emplace_back();
      auth.method = "KERBEROS";
      auth.mechanism = "GSSAPI";
      auth.protocol = "rm";
      auth.server_id = "rm.example.com";
    }
    return Frame(wire::hadoop_rpc::kCallIdSasl, message.Encode());
  }
  /// What the server says after these bytes, as far as it is text.
  std::string Answer(Raw& raw, const std::string& bytes) {
    raw.received.clear();
    raw.stream->Write(bytes);
    Settle();
    return raw.received;
  }
  static bool Says(const std::string& answer, std::string_view text) { return answer.find(text) != std::string::npos; }
  /// A context of alice's to the service, and its first token.
  std::pair<std::unique_ptr<env::GssContext>, std::string> Ticket(const std::string& service = kService) {
    gss_.push_back(realm_.As(client_machine_.loop(), "alice@EXAMPLE.COM"));
    auto context = gss_.back()->Initiate(service, "");
    std::string token;
    context->Step("", [&](auto stepped) { token = stepped.ok() ? stepped->bytes : ""; });
    Settle();
    return {std::move(context), token};
  }
  /// Logs in by hand with `choice` as the last message; what the server says to that.
  std::string LogIn(Raw& raw, std::unique_ptr<env::GssContext>& context, const std::string& choice) {
    auto [made, token] = Ticket();
    context = std::move(made);
    Answer(raw, Sasl(RpcSaslStateProto::kInitiate, token, true));
    context->Step("reply:" + token, [](auto) {});
    Settle();
    // Takes the server's offer, so that the numbers of both sides agree.
    const std::string offer = Answer(raw, Sasl(RpcSaslStateProto::kResponse, ""));
    EXPECT_TRUE(context->Unwrap(offer.substr(offer.size() - 13), false).ok());
    return Answer(raw, Sasl(RpcSaslStateProto::kResponse, *context->Wrap(choice, false)));
  }

  env_sim::World world_{1};
  env_sim::Machine& server_machine_ = world_.AddMachine("rm.example.com");
  env_sim::Machine& client_machine_ = world_.AddMachine("client");
  env_sim::SimRealm realm_;
  std::unique_ptr<env::Gss> server_gss_ = realm_.As(server_machine_.loop(), kService);
  AlicesToken token_;
  RpcServer server_{server_machine_.loop(), server_machine_.net()};
  std::vector<std::unique_ptr<env::Gss>> gss_;
  std::vector<std::unique_ptr<RpcClient>> clients_;
  std::vector<std::unique_ptr<Raw>> raws_;
  std::vector<endpoints::yarn::Caller> callers_;
  std::vector<std::string> audit_;
  std::vector<size_t> sizes_;
  size_t bytes_ = 0;
  int64_t admits_after_ms_ = 0;
};

TEST_F(Kerberos, TheTicketSaysWhoCalls) {
  Listen();
  const Outcome outcome = Call(ClientOf("alice@EXAMPLE.COM"), Target());
  ASSERT_TRUE(outcome.ok()) << outcome.error().message;
  ASSERT_EQ(callers_.size(), 1U);
  EXPECT_EQ(callers_[0].user, "alice");
  EXPECT_EQ(callers_[0].principal, "alice@EXAMPLE.COM");
  EXPECT_EQ(callers_[0].method, model::LoginMethod::kKerberos);
  ASSERT_EQ(audit_.size(), 1U);
  EXPECT_TRUE(audit_[0].starts_with("Auth successful for alice@EXAMPLE.COM (auth:KERBEROS) from ")) << audit_[0];
}

TEST_F(Kerberos, LoginsByTokenAndThoseThatAreRefusedHaveTheirAuditLines) {
  Listen();
  RpcTarget by_token = Target("");
  by_token.user.token = endpoints::yarn::RpcToken{"identifier", "password", "k", "s"};
  ASSERT_TRUE(Call(ClientOf("alice@EXAMPLE.COM"), by_token).ok());
  by_token.user.token->password = "guessed";
  ASSERT_FALSE(Call(ClientOf("bob@EXAMPLE.COM"), by_token).ok());
  ASSERT_FALSE(Call(ClientOf("alice@EXAMPLE.COM"), Target("nm/_HOST@EXAMPLE.COM")).ok());
  ASSERT_FALSE(Call(ClientOf("mallory@EXAMPLE.COM"), Target()).ok());
  ASSERT_EQ(audit_.size(), 5U);
  const std::string user = callers_[0].user;
  EXPECT_TRUE(audit_[0].starts_with("Auth successful for " + user + " (auth:TOKEN) from ")) << audit_[0];
  EXPECT_TRUE(audit_[1].starts_with("Auth failed for ")) << audit_[1];
  EXPECT_TRUE(Says(audit_[1], ":" + user + " (")) << audit_[1];
  EXPECT_TRUE(Says(audit_[1], ") with true cause: (")) << audit_[1];
  EXPECT_TRUE(Says(audit_[2], ":null (GSS initiate failed) with true cause: (")) << audit_[2];
  EXPECT_TRUE(audit_[3].starts_with("Auth successful for mallory@EXAMPLE.COM (auth:KERBEROS) from ")) << audit_[3];
  EXPECT_TRUE(Says(audit_[4], ":mallory (mallory@EXAMPLE.COM is not admitted) with")) << audit_[4];
}

TEST_F(Kerberos, AGatewayActsForItsUsersAndOthersDoNot) {
  Listen({Protection::kPrivacy});
  admits_after_ms_ = 300;
  RpcTarget target = Target();
  target.user = {"bob", "the ticket's owner", std::nullopt, target.user.server_principal};
  ASSERT_TRUE(Call(ClientOf("livy@EXAMPLE.COM", {Protection::kPrivacy}), target).ok());
  ASSERT_EQ(callers_.size(), 1U);
  EXPECT_EQ(callers_[0].user, "bob");
  EXPECT_EQ(callers_[0].real_user, "livy");
  EXPECT_EQ(callers_[0].Shown(), "bob (auth:PROXY) via livy@EXAMPLE.COM (auth:KERBEROS)");
  const Outcome refused = Call(ClientOf("alice@EXAMPLE.COM", {Protection::kPrivacy}), target);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("User: alice@EXAMPLE.COM may not"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(callers_.size(), 1U);
  EXPECT_EQ(server_.counters().unauthorized, 1U);
}

TEST_F(Kerberos, EachProtectionCarriesSmallAndLargeMessages) {
  Listen({Protection::kPrivacy, Protection::kIntegrity, Protection::kAuthentication});
  for (const Protection protection : {Protection::kAuthentication, Protection::kIntegrity, Protection::kPrivacy}) {
    RpcClient& client = ClientOf("alice@EXAMPLE.COM", {protection});
    ASSERT_TRUE(Call(client, Target()).ok()) << QopName(protection);
    ASSERT_TRUE(Call(client, Target(), "getNewApplication", std::string(900'000, 'x')).ok()) << QopName(protection);
    EXPECT_EQ(sizes_.back(), 900'000U);
    ASSERT_TRUE(Call(client, Target(), "getApplications").ok());
    EXPECT_EQ(bytes_, size_t{3} << 20);
    // A token's connection is protected as well.
    RpcTarget by_token = Target("");
    by_token.user.token = endpoints::yarn::RpcToken{"identifier", "password", "k", "s"};
    ASSERT_TRUE(Call(client, by_token, "getNewApplication", std::string(100'000, 'x')).ok());
    EXPECT_TRUE(callers_.back().by_token());
    ASSERT_TRUE(Call(client, by_token, "getApplications").ok());
  }
}

TEST_F(Kerberos, WithoutACommonProtectionNobodyLogsIn) {
  Listen({Protection::kAuthentication, Protection::kIntegrity});
  const Outcome ticket = Call(ClientOf("alice@EXAMPLE.COM", {Protection::kPrivacy}), Target());
  EXPECT_EQ(ticket.error().kind, RpcErrorKind::kLogin);
  EXPECT_TRUE(Says(ticket.error().message, "No common protection layer")) << ticket.error().message;
  RpcTarget by_token = Target("");
  by_token.user.token = endpoints::yarn::RpcToken{"identifier", "password", "k", "s"};
  EXPECT_TRUE(
      Says(Call(ClientOf("a@B", {Protection::kPrivacy}), by_token).error().message, "No common protection layer"));
  EXPECT_TRUE(callers_.empty());
}

TEST_F(Kerberos, WhoIsContentWithLessGivesTheServerMore) {
  Listen({Protection::kPrivacy});
  EXPECT_TRUE(Call(ClientOf("alice@EXAMPLE.COM"), Target()).ok());
  RpcTarget by_token = Target("");
  by_token.user.token = endpoints::yarn::RpcToken{"identifier", "password", "k", "s"};
  EXPECT_TRUE(Call(ClientOf(""), by_token).ok());
}

TEST_F(Kerberos, RefusalsAreTold) {
  Listen();
  EXPECT_TRUE(Says(Call(ClientOf(""), Target()).error().message, "No Kerberos credentials available"));
  EXPECT_TRUE(
      Says(Call(ClientOf("alice@EXAMPLE.COM"), Target("nm/_HOST@EXAMPLE.COM")).error().message, "GSS initiate failed"));
  EXPECT_TRUE(Says(Call(ClientOf("bob@OTHER.COM"), Target()).error().message, "No rules applied to bob@OTHER.COM"));
  EXPECT_TRUE(Says(Call(ClientOf("mallory@EXAMPLE.COM"), Target()).error().message, "is not admitted"));
  EXPECT_TRUE(Says(Call(ClientOf("alice@EXAMPLE.COM"), Target("")).error().message,
                   "SIMPLE authentication is not enabled.  Available:[TOKEN, KERBEROS]"));
  EXPECT_TRUE(callers_.empty());
}

// SaslRpcClient.getServerPrincipal: what the server says it is has to fit.
TEST_F(Kerberos, AServerMayBeWhoeverFitsAPattern) {
  Listen();
  for (const char* pattern : {"*", "rm/*@EXAMPLE.COM", "{nm,rm}/[!a]m.example.com@EXAMPLE.*"}) {
    const Outcome outcome = Call(ClientOf("alice@EXAMPLE.COM"), Target(pattern));
    EXPECT_TRUE(outcome.ok()) << pattern;
  }
  const uint64_t given = realm_.given();
  const Outcome refused = Call(ClientOf("alice@EXAMPLE.COM"), Target("{nm,yarn}/*"));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, RpcErrorKind::kLogin);
  EXPECT_TRUE(Says(refused.error().message,
                   "Server has invalid Kerberos principal: rm/rm.example.com@EXAMPLE.COM, doesn't match the pattern: "
                   "{nm,yarn}/*"))
      << refused.error().message;
  EXPECT_EQ(realm_.given(), given) << "no ticket is asked for";
}

TEST_F(Kerberos, ASilentKdcKeepsOnlyItsOwnClientsWaiting) {
  Listen();
  realm_.SetSilent(true);
  const Outcome waited = Call(ClientOf("alice@EXAMPLE.COM"), Target());
  EXPECT_EQ(waited.error().kind, RpcErrorKind::kConnect);
  EXPECT_TRUE(Says(waited.error().message, "the KDC does not answer")) << waited.error().message;
  realm_.SetSilent(false);
  EXPECT_TRUE(Call(ClientOf("alice@EXAMPLE.COM"), Target()).ok());
}

TEST_F(Kerberos, AServerThatFallsBackIsNotBelieved) {
  ListenOptions simple;
  simple.services.push_back({wire::yarn::kApplicationClientProtocol, wire::yarn::kApplicationClientProtocolMethods,
                             [this](const IncomingCall& call) { server_.Reply(call.token, ""); }});
  ASSERT_TRUE(server_.Listen({"0.0.0.0", 8032}, std::move(simple)).ok());
  EXPECT_TRUE(Says(Call(ClientOf("alice@EXAMPLE.COM"), Target()).error().message, "only allow secure connections"));
}

TEST_F(Kerberos, TicketsThatAreForgedOrShownTwiceLookTheSame) {
  Listen();
  const auto [context, token] = Ticket();
  EXPECT_FALSE(Says(Answer(Connect(), Sasl(RpcSaslStateProto::kInitiate, token, true)), "GSS initiate failed"));
  for (const std::string& bad : {token, std::string("garbage"), std::string(), std::string(70'000, 'x'),
                                 token.substr(0, token.size() - 1), Ticket("nm/rm.example.com@EXAMPLE.COM").second}) {
    Raw& raw = Connect();
    const std::string answer = Answer(raw, Sasl(RpcSaslStateProto::kInitiate, bad, true));
    EXPECT_TRUE(Says(answer, "GSS initiate failed")) << bad.substr(0, 50);
    EXPECT_TRUE(Says(answer, "javax.security.sasl.SaslException"));
    EXPECT_TRUE(raw.closed);
  }
  EXPECT_TRUE(callers_.empty());
}

TEST_F(Kerberos, MessagesOutOfTurnEndTheConnection) {
  Listen();
  const auto [context, token] = Ticket();
  const std::string initiate = Sasl(RpcSaslStateProto::kInitiate, token, true);
  struct Case {
    std::string bytes;
    const char* says;
  };
  for (const Case& attack : std::vector<Case>{
           {Sasl(RpcSaslStateProto::kWrap, "x"), "Server is not wrapping data"},
           {Sasl(RpcSaslStateProto::kResponse, "x"), "without a challenge"},
           {Sasl(RpcSaslStateProto::kChallenge, "x"), "unsupported state"},
           {Frame(wire::hadoop_rpc::kCallIdContext, "x"), "Connection header sent during SASL negotiation"},
           {Frame(5, "x"), "Connection context not established"},
           {initiate + initiate, "second INITIATE"}}) {
    Raw& raw = Connect();
    EXPECT_TRUE(Says(Answer(raw, attack.bytes), attack.says)) << attack.says;
    EXPECT_TRUE(raw.closed) << attack.says;
  }
  EXPECT_TRUE(callers_.empty());
}

TEST_F(Kerberos, TheChoiceOfAProtectionIsChecked) {
  Listen({Protection::kPrivacy, Protection::kIntegrity});
  const auto choice = [](int layer, const std::string& as) {
    return std::string{static_cast<char>(layer), 1, 0, 0} + as;
  };
  struct Case {
    std::string choice;
    const char* says;
  };
  for (const Case& attack : std::vector<Case>{{choice(1, ""), "Problem with callback handler"},
                                              {choice(6, ""), "Problem with callback handler"},
                                              {choice(0, ""), "Problem with callback handler"},
                                              {choice(4, "bob@EXAMPLE.COM"), "Problem with callback handler"},
                                              {"\4", "Final handshake step failed"}}) {
    Raw& raw = Connect();
    std::unique_ptr<env::GssContext> context;
    EXPECT_TRUE(Says(LogIn(raw, context, attack.choice), attack.says)) << attack.says;
    EXPECT_TRUE(raw.closed);
  }
  Raw& raw = Connect();
  std::unique_ptr<env::GssContext> context;
  LogIn(raw, context, choice(4, "alice@EXAMPLE.COM"));
  EXPECT_FALSE(raw.closed) << "one's own name is fine";
}

TEST_F(Kerberos, AfterwardsNothingIsTakenOutsideOfTheProtection) {
  Listen({Protection::kPrivacy});
  const std::string choice{4, 1, 0, 0};
  const auto wrapped = [](const base::Result<std::string>& token) { return Sasl(RpcSaslStateProto::kWrap, *token); };
  const std::string ping = Frame(wire::hadoop_rpc::kCallIdPing, "");
  int attacks = 0;
  const auto attack = [&](const std::function<std::string(env::GssContext&)>& bytes) {
    Raw& raw = Connect();
    std::unique_ptr<env::GssContext> context;
    LogIn(raw, context, choice);
    EXPECT_FALSE(raw.closed);
    Answer(raw, wrapped(context->Wrap(ping, true)));
    EXPECT_FALSE(raw.closed) << "an honest ping";
    Answer(raw, bytes(*context));
    EXPECT_TRUE(raw.closed) << attacks;
    ++attacks;
  };
  attack([&](env::GssContext&) { return ping; });                                        // plain
  attack([&](env::GssContext&) { return Frame(5, "x"); });                               // a plain call
  attack([&](env::GssContext& context) { return wrapped(context.Wrap(ping, false)); });  // integrity alone
  attack([&](env::GssContext& context) {                                                 // repeated
    const std::string once = wrapped(context.Wrap(ping, true));
    return once + once;
  });
  attack([&](env::GssContext& context) {  // out of turn
    const std::string first = wrapped(context.Wrap(ping, true));
    return wrapped(context.Wrap(ping, true)) + first;
  });
  attack([&](env::GssContext& context) {  // changed
    std::string bytes = wrapped(context.Wrap(ping, true));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    return bytes;
  });
  attack([&](env::GssContext&) { return Sasl(RpcSaslStateProto::kWrap, ""); });
  attack([&](env::GssContext&) { return Sasl(RpcSaslStateProto::kWrap, std::string(80'000, 'x')); });  // oversized
  EXPECT_EQ(attacks, 8);
  EXPECT_EQ(server_.counters().unprotected, 7U) << "the oversized one is refused by its length";
  EXPECT_TRUE(callers_.empty());
}

}  // namespace
}  // namespace fairlead::process::rpc
