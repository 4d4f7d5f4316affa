// Who gets through the door of a web port, in the realm of the simulated world.
#include "process/login/web_login.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "endpoints/yarn/url_token.h"
#include "env_sim/sim_gss.h"
#include "env_sim/world.h"
#include "process/login/spnego.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::login {
namespace {

using endpoints::yarn::Caller;
using endpoints::yarn::RpcToken;
using testing::HasSubstr;

constexpr char kService[] = "HTTP/rm.example.com@EXAMPLE.COM";

http::Request Get(const std::string& target, http::Headers headers = {}) {
  http::Request request;
  request.method = "GET";
  request.target = target;
  request.path = target.substr(0, target.find('?'));
  request.headers = std::move(headers);
  request.peer = "10.0.0.1";
  if (const size_t mark = target.find('?'); mark != std::string::npos) {
    for (std::string rest = target.substr(mark + 1); !rest.empty();) {
      const std::string pair = rest.substr(0, rest.find('&'));
      rest.erase(0, pair.size() + 1);
      request.query[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    }
  }
  return request;
}

class WebLoginTest : public ::testing::Test {
 protected:
  void Begin(WebMode mode = WebMode::kTickets, const std::string& nobody = "") {
    WebLoginOptions options;
    options.security.mode = mode;
    if (!nobody.empty()) options.security.nobody = nobody;
    options.security.gss = gss_.get();
    options.security.secret = "secret";
    options.security.short_name = [](const std::string& principal) -> base::Result<std::string> {
      if (principal.ends_with("@OTHER.COM")) return base::Error{"No rules applied to " + principal};
      return principal.substr(0, principal.find_first_of("/@"));
    };
    options.security.audit = audit();
    options.token = [](std::string_view identifier) -> base::Result<endpoints::yarn::TokenSecret> {
      if (identifier != "identifier") return base::Error{"it can't be found in cache"};
      return endpoints::yarn::TokenSecret{"password", "bob", "livy"};
    };
    options.impersonate = [](const Caller& caller, const std::string& address, const WebLoginOptions::Done& done) {
      EXPECT_EQ(address, "10.0.0.1");
      const bool may = caller.real_user == "livy" && caller.user != "root";
      done(may ? base::Status()
               : base::Error{"User: " + caller.principal + " is not allowed to impersonate " + caller.full_name});
    };
    login_ = std::make_unique<WebLogin>(machine_.loop(), std::move(options));
  }
  /// The answer; "through" from behind the door, with `seen_` what came there.
  http::Response Ask(http::Request request) {
    std::optional<http::Response> answer;
    seen_.reset();
    login_->Enter(
        std::move(request), [&](http::Response response) { answer = std::move(response); },
        [&](http::Request passed, const http::Server::Reply& reply) {
          seen_ = std::move(passed);
          reply(http::TextResponse(200, "through"));
        });
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [&] { return answer.has_value(); });
    EXPECT_TRUE(answer.has_value());
    return answer ? *answer : http::Response();
  }
  std::string Ticket(const std::string& principal, const std::string& service = kService) {
    const auto gss = realm_.As(client_.loop(), principal);
    const auto context = gss->Initiate(service, "");
    std::string token;
    context->Step("", [&](auto stepped) { token = stepped.ok() ? stepped->bytes : ""; });
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [&] { return !token.empty(); });
    return "Negotiate " + wire::hadoop_rpc::EncodeBase64(token);
  }
  static std::string Header(const http::Response& response, std::string_view name) {
    return std::string(http::FindHeader(response.headers, name));
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm.example.com");
  env_sim::Machine& client_ = world_.AddMachine("client");
  env_sim::SimRealm realm_;
  std::unique_ptr<env::Gss> gss_ = realm_.As(machine_.loop(), kService);
  env::Audit audit() {
    return env::Audit(
        [this](env::AuditResult, std::string_view words, const env::Log::Fields&) { audit_.emplace_back(words); });
  }
  std::vector<std::string> audit_;
  std::unique_ptr<WebLogin> login_;
  std::optional<http::Request> seen_;
};

TEST_F(WebLoginTest, NobodyIsAskedForATicketAndANameIsNone) {
  Begin();
  for (const char* target : {"/cluster", "/ws/v1/cluster/apps?user.name=root", "/metrics", "/conf", "/nowhere"}) {
    const http::Response answer = Ask(Get(target));
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_EQ(Header(answer, "WWW-Authenticate"), "Negotiate");
    EXPECT_THAT(Header(answer, "Set-Cookie"), testing::StartsWith("hadoop.auth=; Path=/"));
    EXPECT_FALSE(seen_);
  }
  EXPECT_EQ(Ask(Get("/cluster", {{"Authorization", "Basic YTpi"}})).status, 401);
  EXPECT_EQ(Ask(Get("/healthz")).status, 200);
}

TEST_F(WebLoginTest, ATicketSaysWhoAsksAndGivesACookie) {
  Begin();
  const http::Response first =
      Ask(Get("/cluster?user.name=root&a=b", {{"Authorization", Ticket("alice@EXAMPLE.COM")}}));
  EXPECT_EQ(first.status, 200);
  ASSERT_TRUE(seen_);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
  EXPECT_EQ(seen_->target, "/cluster?a=b");
  EXPECT_EQ(RpcCallerOf(*seen_).method, model::LoginMethod::kKerberos);
  EXPECT_EQ(RpcCallerOf(*seen_).full_name, "alice@EXAMPLE.COM");
  EXPECT_THAT(Header(first, "WWW-Authenticate"), testing::StartsWith("Negotiate "));
  const std::string cookie = Header(first, "Set-Cookie");
  EXPECT_THAT(cookie, testing::StartsWith("hadoop.auth=\"u=alice&p=alice@EXAMPLE.COM&t=kerberos&e="));
  EXPECT_THAT(cookie, testing::EndsWith("\"; Path=/; HttpOnly"));
  ASSERT_EQ(audit_.size(), 1U);
  EXPECT_EQ(audit_[0], "Auth successful for alice@EXAMPLE.COM (auth:KERBEROS) from 10.0.0.1 (HTTP)");
  const http::Response second = Ask(Get("/cluster", {{"Cookie", cookie.substr(0, cookie.find(';'))}}));
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
  EXPECT_EQ(Header(second, "Set-Cookie"), "");
}

TEST_F(WebLoginTest, TicketsThatAreForgedRepeatedForAnotherServiceOrOfNobodyAreRefused) {
  Begin();
  const std::string ticket = Ticket("alice@EXAMPLE.COM");
  EXPECT_EQ(Ask(Get("/", {{"Authorization", ticket}})).status, 200);
  const std::vector<std::string> bad = {ticket, Ticket("alice@EXAMPLE.COM", "rm/rm.example.com@EXAMPLE.COM"),
                                        Ticket("eve@OTHER.COM"),
                                        "Negotiate " + wire::hadoop_rpc::EncodeBase64(std::string(70'000, 'x'))};
  for (const std::string& one : bad) {
    const http::Response answer = Ask(Get("/", {{"Authorization", one}}));
    EXPECT_EQ(answer.status, 403);
    EXPECT_EQ(Header(answer, "WWW-Authenticate"), "");
    EXPECT_EQ(Header(answer, "Set-Cookie"), "");
  }
  EXPECT_EQ(login_->refused(), bad.size());
  EXPECT_EQ(std::ranges::count_if(audit_,
                                  [](const auto& line) {
                                    return line.starts_with("Auth failed for 10.0.0.1:null (HTTP) with true cause: (");
                                  }),
            static_cast<int64_t>(bad.size()));
  for (const char* none : {"Negotiate", "Negotiate ", "Negotiate !!!", "negotiate ="}) {
    EXPECT_EQ(Ask(Get("/", {{"Authorization", none}})).status, 401) << none;
  }
}

/// DER: the element of that tag around a body.
std::string Element(char tag, const std::string& body) {
  const size_t size = body.size();
  return std::string{tag, '\x83', static_cast<char>(size >> 16), static_cast<char>(size >> 8),
                     static_cast<char>(size)} +
         body;
}

std::string Offer(int mechanisms) {
  std::string all;
  for (int i = 0; i < mechanisms; ++i) all += std::string("\x06\x05\x2b\x05\x01\x05\x02", 7);
  const std::string init = Element('\x30', Element('\xa0', Element('\x30', all)));
  return Element('\x60', std::string("\x06\x06\x2b\x06\x01\x05\x05\x02", 8) + Element('\xa0', init));
}

TEST_F(WebLoginTest, WhatATokenOffersHasABound) {
  EXPECT_EQ(OfferedMechanismBytes(Offer(6000)), 42'000U);
  EXPECT_EQ(OfferedMechanismBytes(Offer(6000).substr(0, 1000)), 1000U - 33U) << "as far as it is there";
  for (const std::string& other : {std::string(), std::string("\x60"), std::string("\x60\x84\xff\xff\xff\xff"),
                                   std::string("\x60\x80\x06"), std::string("NTLMSSP\0", 8)}) {
    EXPECT_EQ(OfferedMechanismBytes(other), 0U);
  }
  Begin();
  const auto says = [&](int mechanisms) {
    const std::string token = "Negotiate " + wire::hadoop_rpc::EncodeBase64(Offer(mechanisms));
    EXPECT_EQ(Ask(Get("/", {{"Authorization", token}})).status, 403);
    return audit_.back();
  };
  EXPECT_THAT(says(6000), testing::HasSubstr("the token offers too many mechanisms"));
  EXPECT_THAT(says(70), testing::Not(testing::HasSubstr("too many"))) << "the library judges it";
}

TEST_F(WebLoginTest, ForgedAndEndedCookiesAreNoneAndThoseOfOthersWithTheSecretAreTaken) {
  Begin();
  const int64_t now = machine_.loop().Wall().ms;
  const auto with = [](const std::string& text) { return Get("/", {{"Cookie", "hadoop.auth=\"" + text + "\""}}); };
  EXPECT_EQ(Ask(with(*Sign({"bob", "bob@EXAMPLE.COM", "kerberos", now + 1000}, "secret"))).status, 200);
  EXPECT_EQ(Ask(with(*Sign({"bob", "bob@EXAMPLE.COM", "kerberos", now - 1}, "secret"))).status, 401);
  EXPECT_EQ(Ask(with(*Sign({"bob", "bob@EXAMPLE.COM", "kerberos", now + 1000}, "guessed"))).status, 401);
  EXPECT_EQ(Ask(with(*Sign({"bob", "bob@EXAMPLE.COM", "simple", now + 1000}, "secret"))).status, 401);
  EXPECT_EQ(Ask(with("u=root&p=root@EXAMPLE.COM&t=kerberos&e=" + std::to_string(now + 1000))).status, 401);
}

TEST_F(WebLoginTest, ATokenIsItsUsersAndLeavesTheAddress) {
  Begin();
  const std::string token = endpoints::yarn::EncodeUrlToken({"identifier", "password", "RM_DELEGATION_TOKEN", ""});
  EXPECT_EQ(Ask(Get("/cluster?a=b&delegation=" + token + "&doAs=root")).status, 200);
  EXPECT_EQ(audit_, std::vector<std::string>{
                        "Auth successful for bob (auth:PROXY) via livy (auth:TOKEN) from 10.0.0.1 (HTTP)"});
  EXPECT_EQ(RpcCallerOf(*seen_).user, "bob");
  EXPECT_EQ(RpcCallerOf(*seen_).real_user, "livy");
  EXPECT_TRUE(RpcCallerOf(*seen_).by_token());
  EXPECT_EQ(seen_->target, "/cluster?a=b");
  EXPECT_EQ(Ask(Get("/", {{"X-Hadoop-Delegation-Token", token}})).status, 200);
  for (const std::string& bad : {endpoints::yarn::EncodeUrlToken({"identifier", "guessed", "k", ""}),
                                 endpoints::yarn::EncodeUrlToken({"other", "p", "k", ""}), token.substr(0, 9),
                                 std::string("!"), std::string(20'000, 'A')}) {
    const http::Response answer = Ask(Get("/?delegation=" + bad));
    EXPECT_THAT(audit_.back(), testing::StartsWith("Auth failed for 10.0.0.1:null (HTTP) with true cause: ("));
    EXPECT_EQ(answer.status, 403) << bad.substr(0, 100);
    EXPECT_EQ(answer.body.find("password\":"), std::string::npos);
  }
}

TEST_F(WebLoginTest, DoAsIsForGatewaysAlone) {
  Begin();
  EXPECT_EQ(Ask(Get("/?doAs=bob", {{"Authorization", Ticket("livy@EXAMPLE.COM")}})).status, 200);
  EXPECT_EQ(http::ActorOf(*seen_), "bob via livy");
  EXPECT_EQ(RpcCallerOf(*seen_).principal, "livy@EXAMPLE.COM");
  EXPECT_EQ(seen_->target, "/");
  const http::Response refused = Ask(Get("/?DOAS=bob", {{"Authorization", Ticket("alice@EXAMPLE.COM")}}));
  EXPECT_EQ(refused.status, 403);
  EXPECT_EQ(
      refused.body,
      "{\"RemoteException\":{\"message\":\"User: alice@EXAMPLE.COM is not allowed to impersonate bob\",\"exception\":"
      "\"AuthorizationException\",\"javaClassName\":\"org.apache.hadoop.security.authorize.AuthorizationException\"}}");
  EXPECT_EQ(Ask(Get("/?doAs=root", {{"Authorization", Ticket("livy@EXAMPLE.COM")}})).status, 403);
  EXPECT_EQ(Ask(Get("/?doAs=" + std::string(5000, 'x'), {{"Authorization", Ticket("livy@EXAMPLE.COM")}})).status, 403);
}

TEST_F(WebLoginTest, WhereNamesAreBelievedDoAsStillHasItsRules) {
  Begin(WebMode::kNames);
  EXPECT_EQ(Ask(Get("/?user.name=alice")).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
  EXPECT_EQ(Ask(Get("/?user.name=livy&doAs=bob")).status, 200);
  EXPECT_EQ(http::ActorOf(*seen_), "bob via livy");
  EXPECT_EQ(Ask(Get("/?user.name=alice&doAs=bob")).status, 403);
}

TEST_F(WebLoginTest, WhoGivesNoNameHasTheStaticUsersRights) {
  for (const WebMode mode : {WebMode::kNames, WebMode::kReadOnly}) {
    Begin(mode);
    EXPECT_EQ(Ask(Get("/")).status, 200);
    EXPECT_EQ(http::CallerOf(*seen_), "dr.who");
    Begin(mode, "guest");
    for (const char* unnamed : {"/", "/?user.name="}) {
      EXPECT_EQ(Ask(Get(unnamed)).status, 200);
      EXPECT_EQ(http::CallerOf(*seen_), "guest") << unnamed;
      EXPECT_FALSE(seen_->visitor) << "nobody has shown that the name is his";
    }
  }
  Begin(WebMode::kNames, "guest");
  EXPECT_EQ(Ask(Get("/?doAs=bob")).status, 403);
  EXPECT_EQ(Ask(Get("/?user.name=alice")).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
}

TEST_F(WebLoginTest, ReadOnlyBelievesNobodyAndChangesNothing) {
  Begin(WebMode::kReadOnly);
  EXPECT_EQ(Ask(Get("/?user.name=alice&doAs=bob")).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "dr.who");
  http::Request change = Get("/ws/v1/cluster/apps");
  change.method = "POST";
  const http::Response refused = Ask(change);
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.body, HasSubstr("hadoop.http.authentication.type"));
}

TEST_F(WebLoginTest, WithoutAKeyNobodyGetsInAndTheAnswerSaysWhatToWrite) {
  gss_.reset();
  Begin();
  const http::Response answer = Ask(Get("/", {{"Authorization", "Negotiate YWJj"}}));
  EXPECT_EQ(answer.status, 401);
  EXPECT_THAT(answer.body, HasSubstr("hadoop.http.authentication.kerberos.keytab"));
}

TEST_F(WebLoginTest, AnAnswerAfterTheEndIsDropped) {
  Begin();
  bool answered = false;
  login_->Enter(
      Get("/", {{"Authorization", Ticket("alice@EXAMPLE.COM")}}), [&](const http::Response&) { answered = true; },
      [&](const http::Request&, const http::Server::Reply&) { answered = true; });
  login_.reset();
  world_.RunUntil(world_.now() + base::Duration::Seconds(1), [] { return false; });
  EXPECT_FALSE(answered);
}

/// A door of fairlead.auth=credentials; the machine's own connections are told by Request::visitor.
class CallersDoor : public WebLoginTest {
 protected:
  CallersDoor() {
    WebLoginOptions options;
    options.security.mode = WebMode::kCallers;
    const auto rules = std::make_shared<CallerRules>();
    rules->local_user = [](const auto&, const auto&) { return std::nullopt; };
    rules->trusted = [](const std::string& address) { return address == "10.0.0.7"; };
    rules->trusted_users = {"bob"};
    options.security.callers = rules;
    options.security.audit = audit();
    options.credential = [](std::string_view identifier) -> base::Result<endpoints::yarn::TokenSecret> {
      if (identifier != "fl1.laptop.1") return base::Error{"the credential is not known here"};
      return endpoints::yarn::TokenSecret{"secret", "alice"};
    };
    login_ = std::make_unique<WebLogin>(machine_.loop(), std::move(options));
  }
};

TEST_F(CallersDoor, StrangersAreToldWhatToDo) {
  for (const char* target : {"/cluster", "/metrics?user.name=root", "/nowhere"}) {
    const http::Response answer = Ask(Get(target));
    EXPECT_EQ(answer.status, 401) << target;
    EXPECT_THAT(Header(answer, "WWW-Authenticate"), testing::StartsWith("Basic realm="));
    EXPECT_THAT(answer.body, testing::HasSubstr("'fairlead credentials make --client NAME'"));
  }
  EXPECT_THAT(
      audit_,
      testing::Contains("Auth failed for 10.0.0.1:null (HTTP) with true cause: (nothing shows who it is)").Times(3));
  EXPECT_EQ(Ask(Get("/healthz")).status, 200);
}

TEST_F(CallersDoor, ACredentialIsABearerOrAPassword) {
  const std::string basic = "Basic " + wire::hadoop_rpc::EncodeBase64("anybody:fl1.laptop.1.secret");
  for (const std::string& said : {std::string("Bearer fl1.laptop.1.secret"), basic}) {
    EXPECT_EQ(Ask(Get("/cluster?user.name=root&doAs=root", {{"Authorization", said}})).status, 200);
    ASSERT_TRUE(seen_);
    EXPECT_EQ(http::CallerOf(*seen_), "alice");
    EXPECT_EQ(seen_->target, "/cluster");
    EXPECT_EQ(http::FindHeader(seen_->headers, "Authorization"), "") << "nobody behind sees it";
    EXPECT_EQ(RpcCallerOf(*seen_).method, model::LoginMethod::kToken);
  }
}

TEST_F(CallersDoor, WhatIsNoCredentialOpensNothing) {
  for (const std::string& said :
       {std::string("Bearer "), std::string("Bearer fl1.laptop.1.secreT"), std::string("Bearer fl1.laptop.1."),
        std::string("Bearer fl1.laptop.1"), std::string("Bearer fl1.other.1.secret"), std::string("Basic ????"),
        std::string("Basic "), "Bearer " + std::string(60'000, '.')}) {
    EXPECT_EQ(Ask(Get("/cluster", {{"Authorization", said}})).status, 401) << said.substr(0, 40);
    EXPECT_FALSE(seen_);
  }
  EXPECT_EQ(login_->refused(), 8U);
}

TEST_F(CallersDoor, TheKernelsWordCountsAndNoName) {
  http::Request request = Get("/cluster?user.name=root");
  request.visitor = http::Visitor{"carol", "", "", "carol", false};
  EXPECT_EQ(Ask(request).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "carol");
  EXPECT_EQ(seen_->target, "/cluster");
}

TEST_F(CallersDoor, RootMayBeAnybody) {
  http::Request request = Get("/cluster?user.name=alice");
  request.visitor = http::Visitor{"root", "", "", "root", false};
  EXPECT_EQ(Ask(request).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
}

TEST_F(CallersDoor, WhoPassesARequestOnIsNotTheCaller) {
  for (const std::string name : {"Via", "forwarded", "X-Forwarded-For"}) {
    http::Request request = Get("/cluster", {{name, "1.1 fairlead-proxy"}});
    request.visitor = http::Visitor{"root", "", "", "root", false};
    EXPECT_EQ(Ask(request).status, 401) << name;
    request = Get("/cluster?user.name=bob", {{name, "1.1 fairlead-proxy"}});
    request.peer = "10.0.0.7";
    EXPECT_EQ(Ask(request).status, 401) << name;
  }
}

TEST_F(CallersDoor, TrustedNetworksAreBelievedForTheirUsers) {
  http::Request request = Get("/cluster?user.name=bob");
  request.peer = "10.0.0.7";
  EXPECT_EQ(Ask(request).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "bob");
  EXPECT_FALSE(seen_->visitor) << "who is believed has shown nothing";
  request.peer = "10.0.0.8";
  EXPECT_EQ(Ask(request).status, 401);
}

TEST_F(WebLoginTest, ABrowserIsSentForAPassOnce) {
  WebLoginOptions options;
  options.security.mode = WebMode::kCallers;
  const auto rules = std::make_shared<CallerRules>();
  rules->local_user = [](const auto&, const auto&) { return std::nullopt; };
  rules->trusted = [](const std::string&) { return false; };
  options.security.callers = rules;
  options.pass = [](std::string_view pass) {
    return pass == "good" ? std::optional<std::string>("alice") : std::nullopt;
  };
  options.pass_page = [](const std::string& target) { return "http://rm/pass?to=" + target; };
  login_ = std::make_unique<WebLogin>(machine_.loop(), std::move(options));
  const http::Headers browser = {{"Accept", "text/html"}};
  const http::Response first = Ask(Get("/logs?fairlead.pass=ended", browser));
  EXPECT_EQ(first.status / 100, 3) << "an address that was kept gets another pass";
  EXPECT_EQ(Header(first, "Location"), "http://rm/pass?to=/logs");
  const std::string sent = Header(first, "Set-Cookie").substr(0, Header(first, "Set-Cookie").find(';'));
  const http::Headers again = {{"Accept", "text/html"}, {"Cookie", sent}};
  EXPECT_EQ(Ask(Get("/logs?fairlead.pass=good", again)).status, 200);
  EXPECT_EQ(http::CallerOf(*seen_), "alice");
  const http::Response refused = Ask(Get("/logs?fairlead.pass=bad", again));
  EXPECT_EQ(refused.status, 401) << "and is not sent in a circle";
  EXPECT_THAT(refused.body, HasSubstr("the clocks"));
  EXPECT_THAT(Header(refused, "Set-Cookie"), testing::StartsWith("hadoop.auth=; Path=/"));
}

TEST_F(WebLoginTest, PagesOfHttpsKeepTheirCookiesAndSayThatTheyAreStrict) {
  Begin();
  WebLoginOptions options;
  options.security.mode = WebMode::kTickets;
  options.security.gss = gss_.get();
  options.security.https = true;
  options.security.strict_transport = "max-age=60";
  login_ = std::make_unique<WebLogin>(machine_.loop(), std::move(options));
  const http::Response answer = Ask(Get("/cluster"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(Header(answer, "Strict-Transport-Security"), "max-age=60");
  EXPECT_THAT(Header(answer, "Set-Cookie"), testing::HasSubstr("; Secure; HttpOnly"));
}

}  // namespace
}  // namespace fairlead::process::login
