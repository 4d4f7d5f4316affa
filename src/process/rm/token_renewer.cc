#include "process/rm/token_renewer.h"

#include <algorithm>
#include <utility>

#include "endpoints/yarn/credentials.h"
#include "process/rm/token_identifier.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/client.h"

namespace fairlead::process::rm {

using Failure = TokenService::Failure;

namespace {

constexpr size_t kTokensMost = 100;  // of an application
constexpr size_t kSaidMost = 100;
constexpr int64_t kLongestMs = int64_t{365} * 24 * 3600 * 1000;  // between two renewals, whatever an issuer says
constexpr int64_t kShortestMs = 500;
constexpr base::Duration kSlowest = base::Duration::Seconds(600);  // between two asks for a new token

std::string KeyOf(const TokenRenewer::Token& token) {
  return token.kind + '\0' + token.service + '\0' + token.identifier;
}

base::Error NotRenewed(const TokenRenewer::Token& token, const std::string& why) {
  return {"Failed to renew token: Kind: " + token.kind + ", Service: " + token.service + ": " + why};
}

}  // namespace

/// An application whose tokens are being renewed.
struct TokenRenewer::Submission {
  size_t open = 1;  // tokens, and one for whoever counts them
  std::string owner;
  base::Status failed;
  std::function<void(const base::Status&)> done;
};

struct TokenRenewer::Held {
  Held(env::Loop& loop, Token of, TokenService& by) : token(std::move(of)), service(by), timer(loop) {
    if (const base::Result<TokenIdentifier> read = ReadIdentifier(token); read.ok()) max_ms = read->max_ms;
  }
  const Token token;
  TokenService& service;
  int64_t max_ms = INT64_MAX;
  bool is_wanted = false;  // it stands for the first one of an application that brings none
  bool cancel_at_end = false;
  Patience patience = Patience::kOfASubmission;
  bool busy = false;  // a renewal or an issue waits or runs
  int tries = 0;
  int64_t until_ms = 0;  // 0: not renewed yet
  std::set<model::ApplicationId> apps;
  std::vector<std::shared_ptr<Submission>> waiting;
  size_t issues = 0;  // under way, of its successors
  base::Duration pace;
  env::Timer timer;
};

TokenRenewer::TokenRenewer(env::Loop& loop, Services services, RenewalTimes times, Told told)
    : loop_(loop),
      services_(std::move(services)),
      times_(std::move(times)),
      told_(std::move(told)),
      started_(loop.Now()) {}

TokenRenewer::~TokenRenewer() = default;

void TokenRenewer::SayOnce(const std::string& about, const std::string& text) {
  if (said_.size() < kSaidMost && said_.insert(about).second) told_.warn(text);
}

void TokenRenewer::Add(const Application& app, std::function<void(const base::Status&)> done, Patience patience) {
  const auto tell = [&](base::Status status) {
    loop_.Post(alive_([done, status = std::move(status)] { done(status); }));
  };
  wire::yarn::ApplicationSubmissionContextProto context;
  if (!context.ParseFrom(app.submission, wire::hadoop_rpc::kKept).ok() || !context.am_container_spec) return tell({});
  const auto credentials = endpoints::yarn::ParseCredentials(context.am_container_spec->Tokens());
  if (!credentials.ok()) return tell({});  // the launch says so
  const auto waiting = std::make_shared<Submission>();
  waiting->owner = app.owner;
  waiting->done = [this, id = app.id, done = std::move(done)](const base::Status& status) {
    if (!status.ok()) Forget(id);
    done(status);
  };
  std::set<std::string> kinds;
  for (const auto& [alias, token] : credentials->tokens) {
    kinds.insert(token.kind);
    const auto service = services_.find(token.kind);
    if (service == services_.end() || !service->second->Knows(token)) {
      SayOnce(token.kind,
              "tokens of kind " + token.kind + " are carried to containers and not renewed: nobody here knows how");
      continue;
    }
    const base::Result<TokenIdentifier> read = ReadIdentifier(token);
    if (!read.ok()) waiting->failed = NotRenewed(token, read.error().message);
    if (!read.ok() || read->renewer.empty()) continue;
    if (apps_[app.id].keys.size() >= kTokensMost) {
      waiting->failed = base::Error{"more than " + std::to_string(kTokensMost) + " tokens to be renewed"};
      break;
    }
    Held& held = Hold(token, *service->second, context.CancelTokensWhenComplete());
    Await(held, app, patience, waiting);
    if (held.until_ms <= loop_.Wall().ms) Renew(KeyOf(token));  // else another application's, too
  }
  if (waiting->failed.ok()) AwaitFirst(app, kinds, context.CancelTokensWhenComplete(), patience, waiting);
  Finish(waiting);
}

void TokenRenewer::Await(Held& held, const Application& app, Patience patience,
                         const std::shared_ptr<Submission>& waiting) {
  held.apps.insert(app.id);
  held.patience = patience;
  Holder& holder = apps_[app.id];
  holder.owner = app.owner;
  holder.keys.insert(KeyOf(held.token));
  if (held.until_ms > loop_.Wall().ms) return;
  ++waiting->open;
  held.waiting.push_back(waiting);
}

/// One that brings no token at all of a kind lives on the manager's (DelegationTokenRenewer: hasHdfsToken).
void TokenRenewer::AwaitFirst(const Application& app, const std::set<std::string>& kinds, bool cancel_at_end,
                              Patience patience, const std::shared_ptr<Submission>& waiting) {
  for (const auto& [kind, service] : services_) {
    const std::string from = service->Issues() && !kinds.contains(kind) ? service->DefaultService() : "";
    if (from.empty()) continue;
    Held& held = Hold({ToString(app.id), "", kind, from}, *service, cancel_at_end);
    held.is_wanted = true;
    Await(held, app, patience, waiting);
    if (!held.busy) Replace(KeyOf(held.token));
  }
}

TokenRenewer::Held& TokenRenewer::Hold(const Token& token, TokenService& service, bool cancel_at_end) {
  std::unique_ptr<Held>& held = tokens_[KeyOf(token)];
  if (!held) held = std::make_unique<Held>(loop_, token, service);
  // One that wants it kept keeps it for all (DelegationTokenRenewer.handleAppSubmitEvent).
  const bool ends = times_.always_cancel || cancel_at_end;
  held->cancel_at_end = held->apps.empty() ? ends : held->cancel_at_end && ends;
  return *held;
}

void TokenRenewer::Renew(const Key& key) {
  if (!std::exchange(tokens_.at(key)->busy, true)) Queue({key, std::nullopt});
}

void TokenRenewer::Queue(Call call) {
  queue_.push_back(std::move(call));
  RunNext();
}

void TokenRenewer::RunNext() {
  while (running_ < times_.at_once && !queue_.empty()) {
    const Call call = std::move(queue_.front());
    queue_.pop_front();
    const auto at = tokens_.find(call.key);
    if (at == tokens_.end()) continue;
    ++running_;
    Run(call, *at->second);
  }
}

void TokenRenewer::Run(const Call& call, const Held& held) {
  if (!call.owner) {
    return held.service.Renew(held.token, alive_([this, key = call.key](const base::Result<int64_t, Failure>& until) {
                                --running_;
                                Renewed(key, until);
                                RunNext();
                              }));
  }
  held.service.Issue(held.token.service, *call.owner,
                     alive_([this, call, service = &held.service](const base::Result<Token, Failure>& token) {
                       --running_;
                       Issued(call, *service, token);
                       RunNext();
                     }));
}

void TokenRenewer::Renewed(const Key& key, const base::Result<int64_t, Failure>& until) {
  const auto at = tokens_.find(key);
  if (at == tokens_.end()) return;  // its applications have ended meanwhile
  Held& held = *at->second;
  held.busy = false;
  if (until.ok()) {
    ++renewed_;
    held.tries = 0;
    Schedule(held, *until);
    return Tell(held, {});
  }
  if (!until.error().may_pass && held.max_ms <= loop_.Wall().ms && held.service.Issues()) return Replace(key);
  const bool first = held.until_ms == 0;
  const bool begins = first && held.patience == Patience::kOfASubmission;
  const bool again = until.error().may_pass && (!begins || ++held.tries < times_.tries);
  if (again && (first || held.until_ms > loop_.Wall().ms)) {
    held.timer.After(begins ? times_.retry : times_.later, [this, key] { Renew(key); });
    return;
  }
  ++failed_;
  const base::Error why = NotRenewed(held.token, until.error().why);
  if (!first || held.waiting.empty()) told_.warn(why.message + "; applications with it go on until it ends");
  held.tries = 0;
  if (held.pace.ns != 0) held.timer.After(held.pace, [this, key] { Replace(key); });
  Tell(held, why);
}

/// At 90 % of the life that is left, or sooner where a successor was refused; one that cannot be renewed further ends,
/// and needs no timer.
void TokenRenewer::Schedule(Held& held, int64_t until_ms) {
  const bool further = until_ms > held.until_ms || held.pace.ns != 0;
  held.until_ms = until_ms;
  const int64_t now = loop_.Wall().ms;
  if (!further || until_ms <= now) return;
  const int64_t left = std::min(until_ms - now, kLongestMs);
  const base::Duration due = base::Duration::Millis(std::max(left * 9 / 10, kShortestMs));
  held.timer.After(held.pace.ns == 0 ? due : std::min(due, held.pace), [this, key = KeyOf(held.token)] {
    const Held& token = *tokens_.at(key);
    const bool ends = token.max_ms - token.until_ms < times_.issue.least_left.millis();
    ends&& token.service.Issues() ? Replace(key) : Renew(key);
  });
}

void TokenRenewer::Replace(const Key& key) {
  Held& held = *tokens_.at(key);
  held.busy = true;
  std::set<std::string> owners;
  for (const model::ApplicationId& app : held.apps) owners.insert(apps_.at(app).owner);
  held.issues = owners.size();
  for (const std::string& owner : owners) Queue({key, owner});
}

void TokenRenewer::Issued(const Call& call, TokenService& service, const base::Result<Token, Failure>& token) {
  const auto at = tokens_.find(call.key);
  if (at == tokens_.end()) {  // its applications have ended meanwhile
    if (token.ok()) service.Cancel(*token);
    return;
  }
  Held& old = *at->second;
  if (!token.ok()) {
    NotIssued(old, *call.owner, token.error());
  } else if (KeyOf(*token) == call.key) {
    NotIssued(old, *call.owner, {"it is the one that ends"});
  } else {
    Succeed(old, *call.owner, *token);
  }
  if (--old.issues > 0) return;
  old.busy = false;
  if (old.apps.empty()) {
    tokens_.erase(at);
    return;
  }
  old.pace = old.pace.ns == 0 ? times_.later : std::min(old.pace * 2, kSlowest);
  // Meanwhile it is kept alive where that is still possible.
  if (old.until_ms > loop_.Wall().ms && old.until_ms < old.max_ms) return Renew(call.key);
  old.timer.After(old.pace, [this, key = call.key] { Replace(key); });
}

/// The applications of `owner` go over to his new token. Their old one is left to its end: containers have it.
void TokenRenewer::Succeed(Held& old, const std::string& owner, const Token& token) {
  ++issued_;
  const Key key = KeyOf(token);
  Held& held = Hold(token, old.service, old.cancel_at_end);
  held.patience = Patience::kOfOneThatRuns;
  for (auto at = old.apps.begin(); at != old.apps.end();) {
    Holder& holder = apps_.at(*at);
    if (holder.owner != owner) {
      ++at;
      continue;
    }
    holder.keys.erase(KeyOf(old.token));
    holder.keys.insert(key);
    held.apps.insert(*at);
    told_.issued(*at, IssuableOf(holder));
    at = old.apps.erase(at);
  }
  Tell(old, {}, owner);
  if (!held.apps.empty()) return Renew(key);  // which says until when it is good
  held.service.Cancel(token);
  tokens_.erase(key);
}

void TokenRenewer::NotIssued(Held& old, const std::string& owner, const Failure& failure) {
  ++refused_;
  const std::string from = old.token.kind + " of " + old.token.service + " for " + owner;
  SayOnce(from, "no new " + from + ": " + failure.why + "; applications go on without it, and it is asked for again");
  // What brought no token can do without one; what runs waits.
  if (old.is_wanted) return Tell(old, {}, owner);
  if (old.patience == Patience::kOfASubmission) Tell(old, NotRenewed(old.token, failure.why), owner);
}

std::vector<TokenRenewer::Token> TokenRenewer::IssuableOf(const Holder& holder) const {
  std::vector<Token> out;
  for (const Key& key : holder.keys) {
    const Held& held = *tokens_.at(key);
    if (held.service.Issues() && !held.is_wanted) out.push_back(held.token);
  }
  return out;
}

void TokenRenewer::Tell(Held& held, const base::Status& status, const std::optional<std::string>& owner) {
  std::vector<std::shared_ptr<Submission>> others;
  for (const auto& waiting : std::exchange(held.waiting, {})) {
    if (owner && waiting->owner != *owner) {
      others.push_back(waiting);
      continue;
    }
    if (!status.ok()) waiting->failed = status;
    Finish(waiting);
  }
  held.waiting = std::move(others);
}

/// From a turn of its own: who is told may give up the token.
void TokenRenewer::Finish(const std::shared_ptr<Submission>& waiting) {
  loop_.Post(alive_([waiting] {
    if (--waiting->open == 0) waiting->done(waiting->failed);
  }));
}

void TokenRenewer::Remove(const model::ApplicationId& app) {
  if (!apps_.contains(app) || ended_.contains(app)) return;
  if (times_.cancel_delay.ns == 0) return Drop(app, true);
  const base::Instant due = loop_.Now() + times_.cancel_delay;
  ended_.emplace(app, due);
  DropWhenDue(app, due);
}

void TokenRenewer::KeepAlive(const std::vector<model::ApplicationId>& apps) {
  for (const model::ApplicationId& app : apps) {
    if (const auto at = ended_.find(app); at != ended_.end()) at->second = loop_.Now() + times_.cancel_delay;
  }
}

/// At the first look after it is due (DelegationTokenRenewer.DelayedTokenRemovalRunnable).
void TokenRenewer::DropWhenDue(const model::ApplicationId& app, base::Instant due) {
  const int64_t look = std::max<int64_t>(times_.cancel_look.ns, 1);
  const int64_t looks = ((due - started_).ns + look - 1) / look;
  loop_.At(started_ + base::Duration::Nanos(looks * look), alive_([this, app] {
             const auto at = ended_.find(app);
             if (at->second > loop_.Now()) return DropWhenDue(app, at->second);
             ended_.erase(at);
             Drop(app, true);
           }));
}

void TokenRenewer::Drop(const model::ApplicationId& app, bool ended) {
  const auto at = apps_.find(app);
  if (at == apps_.end()) return;
  const std::set<Key> keys = std::move(at->second.keys);
  apps_.erase(at);
  told_.issued(app, {});
  for (const Key& key : keys) {
    Held& held = *tokens_.at(key);
    held.apps.erase(app);
    if (!held.apps.empty()) continue;
    // One that was never renewed is not ours to end.
    if (ended && held.cancel_at_end && held.until_ms != 0) held.service.Cancel(held.token);
    tokens_.erase(key);
  }
}

}  // namespace fairlead::process::rm
