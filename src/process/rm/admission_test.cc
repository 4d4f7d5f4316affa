#include "process/rm/admission.h"

#include <gtest/gtest.h>

#include "env_sim/world.h"
#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {
namespace {

using endpoints::yarn::Caller;

constexpr char kClient[] = "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB";
constexpr char kTracker[] = "org.apache.hadoop.yarn.server.api.ResourceTrackerPB";

Caller Ticket(const std::string& user, const std::string& real = "") {
  Caller caller;
  caller.user = user;
  caller.real_user = real;
  caller.method = model::LoginMethod::kKerberos;
  caller.principal = (real.empty() ? user : real) + "@EXAMPLE.COM";
  caller.full_name = real.empty() ? caller.principal : user;
  return caller;
}

class AdmissionTest : public ::testing::Test {
 protected:
  static AdmissionRules Rules(const config::HadoopConf& conf) {
    const config::ResolveHost nobody = [](const std::string&) { return std::vector<std::string>(); };
    AdmissionRules rules{*config::ProxyUsers::Read(conf, nobody), std::nullopt};
    if (conf.Bool("hadoop.security.authorization", false)) {
      rules.policy = *config::ServicePolicy::Read(conf, ManagerServices(), nobody);
    }
    return rules;
  }
  void Begin() {
    AdmissionOptions options;
    options.rules = Rules(conf_);
    options.read = [this]() -> base::Result<AdmissionRules> {
      if (broken_) return base::Error{"broken"};
      return Rules(conf_);
    };
    options.groups_of = [this](const std::string& user) -> std::vector<std::string> {
      ++look_ups_;
      if (user == "bob") return {"staff"};
      return {};
    };
    options.node_at = [](const std::string& address) { return "nm/" + address + "@EXAMPLE.COM"; };
    options.audit = env::Audit(
        [this](env::AuditResult, std::string_view words, const env::Log::Fields&) { audit_.emplace_back(words); });
    admission_ = std::make_unique<Admission>(machine_.loop(), std::move(options));
  }
  std::string Refusal(const Caller& caller, const std::string& protocol = kClient,
                      const std::string& address = "10.0.0.1") {
    std::optional<base::Status> verdict;
    admission_->Judge(caller, protocol, address, [&](const base::Status& may) { verdict = may; });
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [&] { return verdict.has_value(); });
    if (!verdict) return "no answer";
    return verdict->ok() ? "" : verdict->error().message;
  }
  std::string Refresh(void (Admission::*what)(Admission::Done)) {
    std::optional<base::Status> read;
    ((*admission_).*what)([&](const base::Status& status) { read = status; });
    world_.RunUntil(world_.now() + base::Duration::Seconds(1), [&] { return read.has_value(); });
    if (!read) return "no answer";
    return read->ok() ? "" : read->error().message;
  }

  env_sim::World world_{1};
  env_sim::Machine& machine_ = world_.AddMachine("rm");
  config::HadoopConf conf_;
  bool broken_ = false;
  int look_ups_ = 0;
  std::vector<std::string> audit_;
  std::unique_ptr<Admission> admission_;
};

TEST_F(AdmissionTest, WhoActsForHimselfIsAskedNothing) {
  Begin();
  EXPECT_EQ(Refusal(Ticket("alice")), "");
  EXPECT_EQ(look_ups_, 0);
}

TEST_F(AdmissionTest, AGatewayActsForItsUsersAlone) {
  conf_.Set("hadoop.proxyuser.livy.groups", "staff");
  conf_.Set("hadoop.proxyuser.livy.hosts", "10.0.0.1");
  Begin();
  EXPECT_EQ(Refusal(Ticket("bob", "livy")), "");
  EXPECT_EQ(Refusal(Ticket("eve", "livy")), "User: livy@EXAMPLE.COM is not allowed to impersonate eve");
  EXPECT_EQ(Refusal(Ticket("bob", "livy"), kClient, "10.0.0.2"),
            "Unauthorized connection for super-user: livy@EXAMPLE.COM from IP /10.0.0.2");
  look_ups_ = 0;
  EXPECT_EQ(Refusal(Ticket("bert", "mallory")), "User: mallory@EXAMPLE.COM is not allowed to impersonate bert");
  EXPECT_EQ(look_ups_, 0) << "strangers make nobody look anything up";
  Caller simple;
  simple.user = "eve";
  simple.real_user = "livy";
  EXPECT_EQ(Refusal(simple), "User: livy is not allowed to impersonate eve");
  ASSERT_EQ(audit_.size(), 4U);
  EXPECT_EQ(audit_[0],
            "Authorization failed for eve (auth:PROXY) via livy@EXAMPLE.COM (auth:KERBEROS) from 10.0.0.1: User: "
            "livy@EXAMPLE.COM is not allowed to impersonate eve");
}

TEST_F(AdmissionTest, ATokenThatAGatewayGotIsGoodFromEverywhere) {
  Begin();
  Caller token = Ticket("bob", "livy");
  token.method = model::LoginMethod::kToken;
  EXPECT_EQ(Refusal(token), "");
}

TEST_F(AdmissionTest, ThePolicyCountsForWhoIsActedFor) {
  conf_.Set("hadoop.security.authorization", "true");
  conf_.Set("security.applicationclient.protocol.acl", "alice staff");
  conf_.Set("hadoop.proxyuser.livy.users", "*");
  conf_.Set("hadoop.proxyuser.livy.hosts", "*");
  Begin();
  EXPECT_EQ(Refusal(Ticket("alice")), "");
  EXPECT_EQ(Refusal(Ticket("bob", "livy")), "");
  EXPECT_EQ(Refusal(Ticket("eve", "livy")),
            std::string("User eve (auth:PROXY) via livy@EXAMPLE.COM (auth:KERBEROS) is not authorized for protocol "
                        "interface ") +
                kClient + ": denied by configured ACL");
  EXPECT_EQ(Refusal(Ticket("alice"), "org.apache.Other"), "Unknown protocol: org.apache.Other");
  EXPECT_EQ(Refusal(Ticket("eve", "livy"), ""), "") << "REST has no protocol";
}

TEST_F(AdmissionTest, WithAPolicyANodeIsItsHosts) {
  conf_.Set("hadoop.security.authorization", "true");
  Begin();
  EXPECT_EQ(Refusal(Ticket("nm/10.0.0.1"), kTracker), "");
  EXPECT_EQ(Refusal(Ticket("nm/10.0.0.1"), kTracker, "10.0.0.2"),
            std::string("User nm/10.0.0.1@EXAMPLE.COM (auth:KERBEROS) is not authorized for protocol interface ") +
                kTracker + ": this service is only accessible by nm/10.0.0.2@EXAMPLE.COM");
}

TEST_F(AdmissionTest, ARefreshTakesTheFilesAndABrokenOneKeepsWhatIsThere) {
  conf_.Set("hadoop.proxyuser.livy.users", "*");
  conf_.Set("hadoop.proxyuser.livy.hosts", "*");
  Begin();
  EXPECT_EQ(Refresh(&Admission::RefreshPolicy),
            "hadoop.security.authorization is not true any more; a restart takes that");
  conf_.Set("hadoop.proxyuser.livy.users", "alice");
  EXPECT_EQ(Refusal(Ticket("bob", "livy")), "");
  broken_ = true;
  EXPECT_EQ(Refresh(&Admission::RefreshProxies), "broken");
  EXPECT_EQ(Refusal(Ticket("bob", "livy")), "");
  broken_ = false;
  EXPECT_EQ(Refresh(&Admission::RefreshProxies), "");
  EXPECT_NE(Refusal(Ticket("bob", "livy")), "");
}

}  // namespace
}  // namespace fairlead::process::rm
