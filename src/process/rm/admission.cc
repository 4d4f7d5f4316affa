#include "process/rm/admission.h"

#include <array>
#include <utility>

#include "wire/yarn/protocols.h"

namespace fairlead::process::rm {

namespace w = wire::yarn;
using endpoints::yarn::Caller;

std::span<const config::ServicePolicy::Service> ManagerServices() {
  static constexpr std::array<config::ServicePolicy::Service, 5> kServices{{
      {w::kResourceTracker, "security.resourcetracker.protocol.acl"},
      {w::kApplicationClientProtocol, "security.applicationclient.protocol.acl"},
      {w::kApplicationMasterProtocol, "security.applicationmaster.protocol.acl"},
      {w::kResourceManagerAdministrationProtocol, "security.resourcemanager-administration.protocol.acl"},
      {w::kHaServiceProtocol, "security.ha.service.protocol.acl"},
  }};
  return kServices;
}

struct Admission::Asked {
  Caller caller;
  std::string protocol;
  std::string address;
  Done done;
  std::string node;  // who alone may be a node there; empty: not asked about
};

Admission::Admission(env::Loop& loop, AdmissionOptions options)
    : loop_(loop),
      options_(std::move(options)),
      rules_(std::make_shared<const AdmissionRules>(options_.rules)),
      groups_(
          loop, options_.groups_of ? options_.groups_of : [](const std::string&) { return KnownGroups::Groups(); }) {}

void Admission::Judge(const Caller& caller, const std::string& protocol, const std::string& address, const Done& done) {
  const bool proxied = !caller.real_user.empty() && !caller.by_token();
  const bool policed = rules_->policy && !protocol.empty();
  if (!proxied && !policed) return done({});
  auto asked = std::make_shared<Asked>(Asked{caller, protocol, address, done, ""});
  const auto known = [this, asked] {
    const bool node = rules_->policy && asked->protocol == w::kResourceTracker && options_.node_at;
    if (!node) return JudgeKnown(*asked);
    loop_.Offload([asked, node_at = options_.node_at] { asked->node = node_at(asked->address); },
                  alive_([this, asked] { JudgeKnown(*asked); }));
  };
  const bool groups =
      (proxied && rules_->proxies.Knows(caller.real_user)) || (policed && rules_->policy->NamesGroups(protocol));
  groups ? groups_.Learn(caller.user, known) : known();
}

void Admission::JudgeKnown(const Asked& asked) {
  const base::Status verdict = Verdict(asked);
  if (!verdict.ok()) {
    options_.audit.Failure("Authorization failed for " + asked.caller.Shown() + " from " + asked.address + ": " +
                           verdict.error().message);
  }
  asked.done(verdict);
}

base::Status Admission::Verdict(const Asked& asked) const {
  const Caller& caller = asked.caller;
  const std::vector<std::string>& groups = groups_.Of(caller.user);
  if (!caller.real_user.empty() && !caller.by_token()) {
    const bool ticket = caller.method == model::LoginMethod::kKerberos;
    const base::Status may =
        rules_->proxies.Judge({caller.real_user, ticket ? caller.principal : caller.real_user, caller.user,
                               ticket ? caller.full_name : caller.user, groups, asked.address});
    if (!may.ok()) return may;
  }
  if (!rules_->policy || asked.protocol.empty()) return {};
  if (!asked.node.empty() && asked.node != caller.full_name) {
    return base::Error{"User " + caller.Shown() + " is not authorized for protocol interface " + asked.protocol +
                       ": this service is only accessible by " + asked.node};
  }
  return rules_->policy->Judge({asked.protocol, caller.user, caller.Shown(), groups, asked.address});
}

void Admission::Read(std::function<base::Status(const AdmissionRules&)> take, Done done) {
  if (!options_.read) return done({});
  const auto read = std::make_shared<base::Result<AdmissionRules>>(AdmissionRules{});
  loop_.Offload([read, files = options_.read] { *read = files(); },
                alive_([read, take = std::move(take), done = std::move(done)] {
                  done(read->ok() ? take(**read) : base::Status(read->error()));
                }));
}

void Admission::RefreshProxies(Done done) {
  Read(
      [this](const AdmissionRules& now) -> base::Status {
        AdmissionRules rules = *rules_;
        rules.proxies = now.proxies;
        rules_ = std::make_shared<const AdmissionRules>(std::move(rules));
        return {};
      },
      std::move(done));
}

void Admission::RefreshPolicy(Done done) {
  Read(
      [this](const AdmissionRules& now) -> base::Status {
        if (!now.policy) return base::Error{"hadoop.security.authorization is not true any more; a restart takes that"};
        AdmissionRules rules = *rules_;
        rules.policy = now.policy;
        rules_ = std::make_shared<const AdmissionRules>(std::move(rules));
        return {};
      },
      std::move(done));
}

}  // namespace fairlead::process::rm
