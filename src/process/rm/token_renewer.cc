#include "process/rm/token_renewer.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "endpoints/yarn/credentials.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/client.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {

using endpoints::yarn::RpcToken;

namespace {

constexpr size_t kTokensMost = 100;  // of an application
constexpr size_t kKindsSaid = 100;
constexpr int64_t kLongestMs = int64_t{365} * 24 * 3600 * 1000;  // between two renewals, whatever an issuer says

std::string KeyOf(const RpcToken& token) { return token.kind + '\0' + token.service + '\0' + token.identifier; }

base::Error NotRenewed(const RpcToken& token, const std::string& why) {
  return {"Failed to renew token: Kind: " + token.kind + ", Service: " + token.service + ": " + why};
}

/// A number of WritableUtils.writeVLong off the front; nullopt: cut.
std::optional<int64_t> TakeVLong(std::string_view& bytes) {
  if (bytes.empty()) return std::nullopt;
  const auto first = static_cast<int8_t>(bytes[0]);
  bytes.remove_prefix(1);
  if (first >= -112) return first;
  const bool negative = first < -120;
  const auto size = static_cast<size_t>(negative ? -(first + 120) : -(first + 112));
  if (bytes.size() < size) return std::nullopt;
  uint64_t value = 0;
  for (const char c : bytes.substr(0, size)) value = value << 8 | static_cast<unsigned char>(c);
  bytes.remove_prefix(size);
  return static_cast<int64_t>(negative ? ~value : value);
}

std::optional<std::string> TakeText(std::string_view& bytes) {
  const std::optional<int64_t> size = TakeVLong(bytes);
  if (!size || *size < 0 || static_cast<uint64_t>(*size) > bytes.size()) return std::nullopt;
  std::string text(bytes.substr(0, static_cast<size_t>(*size)));
  bytes.remove_prefix(text.size());
  return text;
}

}  // namespace

base::Result<std::string> RenewerOf(const RpcToken& token) {
  std::string_view bytes = token.identifier;
  if (bytes.starts_with('\0')) {  // the version of the Writable form
    bytes.remove_prefix(1);
    const auto owner = TakeText(bytes);
    auto renewer = owner ? TakeText(bytes) : std::nullopt;
    if (renewer) return *std::move(renewer);
  } else {
    wire::yarn::YARNDelegationTokenIdentifierProto id;
    if (id.ParseFrom(bytes, wire::hadoop_rpc::kTokenIdentifier).ok()) return std::string(id.Renewer());
  }
  return base::Error{"its identifier cannot be read"};
}

/// An application whose tokens are being renewed.
struct TokenRenewer::Submission {
  size_t open = 1;  // tokens, and one for whoever counts them
  base::Status failed;
  std::function<void(const base::Status&)> done;
};

struct TokenRenewer::Held {
  Held(env::Loop& loop, RpcToken of, TokenService& by) : token(std::move(of)), service(by), timer(loop) {}
  const RpcToken token;
  TokenService& service;
  bool cancel_at_end = false;
  Patience patience = Patience::kOfASubmission;
  bool busy = false;  // a renewal waits or runs
  int tries = 0;
  int64_t until_ms = 0;  // 0: not renewed yet
  std::set<model::ApplicationId> apps;
  std::vector<std::shared_ptr<Submission>> waiting;
  env::Timer timer;
};

TokenRenewer::TokenRenewer(env::Loop& loop, Services services, RenewalTimes times,
                           std::function<void(const std::string&)> warn)
    : loop_(loop), services_(std::move(services)), times_(times), warn_(std::move(warn)) {}

TokenRenewer::~TokenRenewer() = default;

void TokenRenewer::SayOnce(const std::string& kind) {
  if (said_.size() >= kKindsSaid || !said_.insert(kind).second) return;
  warn_("tokens of kind " + kind + " are carried to containers and not renewed: nobody here knows how");
}

void TokenRenewer::Add(const model::ApplicationId& app, const std::string& submission,
                       std::function<void(const base::Status&)> done, Patience patience) {
  const auto tell = [&](base::Status status) {
    loop_.Post(alive_([done, status = std::move(status)] { done(status); }));
  };
  wire::yarn::ApplicationSubmissionContextProto context;
  if (!context.ParseFrom(submission, wire::hadoop_rpc::kKept).ok() || !context.am_container_spec) return tell({});
  const auto credentials = endpoints::yarn::ParseCredentials(context.am_container_spec->Tokens());
  if (!credentials.ok()) return tell({});  // the launch says so
  const auto waiting = std::make_shared<Submission>();
  waiting->done = [this, app, done = std::move(done)](const base::Status& status) {
    if (!status.ok()) Forget(app);
    done(status);
  };
  for (const auto& [alias, token] : credentials->tokens) {
    const auto service = services_.find(token.kind);
    if (service == services_.end() || !service->second->Knows(token)) {
      SayOnce(token.kind);
      continue;
    }
    const base::Result<std::string> renewer = RenewerOf(token);
    if (!renewer.ok()) waiting->failed = NotRenewed(token, renewer.error().message);
    if (!renewer.ok() || renewer->empty()) continue;
    if (apps_[app].size() >= kTokensMost) {
      waiting->failed = base::Error{"more than " + std::to_string(kTokensMost) + " tokens to be renewed"};
      break;
    }
    Held& held = Hold(token, *service->second, context.CancelTokensWhenComplete());
    held.apps.insert(app);
    held.patience = patience;
    apps_[app].insert(KeyOf(token));
    if (held.until_ms > loop_.Wall().ms) continue;  // another application's, too
    ++waiting->open;
    held.waiting.push_back(waiting);
    Renew(KeyOf(token));
  }
  Finish(waiting);
}

TokenRenewer::Held& TokenRenewer::Hold(const RpcToken& token, TokenService& service, bool cancel_at_end) {
  std::unique_ptr<Held>& held = tokens_[KeyOf(token)];
  if (!held) held = std::make_unique<Held>(loop_, token, service);
  // One that wants it kept keeps it for all (DelegationTokenRenewer.handleAppSubmitEvent).
  held->cancel_at_end = held->apps.empty() ? cancel_at_end : held->cancel_at_end && cancel_at_end;
  return *held;
}

void TokenRenewer::Renew(const Key& key) {
  Held& held = *tokens_.at(key);
  if (std::exchange(held.busy, true)) return;
  queue_.push_back(key);
  RunNext();
}

void TokenRenewer::RunNext() {
  while (running_ < times_.at_once && !queue_.empty()) {
    const Key key = std::move(queue_.front());
    queue_.pop_front();
    const auto at = tokens_.find(key);
    if (at == tokens_.end()) continue;
    ++running_;
    at->second->service.Renew(at->second->token,
                              alive_([this, key](const base::Result<int64_t, TokenService::Failure>& until) {
                                --running_;
                                Renewed(key, until);
                                RunNext();
                              }));
  }
}

void TokenRenewer::Renewed(const Key& key, const base::Result<int64_t, TokenService::Failure>& until) {
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
  const bool first = held.until_ms == 0;
  const bool begins = first && held.patience == Patience::kOfASubmission;
  const bool again = until.error().may_pass && (!begins || ++held.tries < times_.tries);
  if (again && (first || held.until_ms > loop_.Wall().ms)) {
    held.timer.After(begins ? times_.retry : times_.later, [this, key] { Renew(key); });
    return;
  }
  ++failed_;
  const base::Error why = NotRenewed(held.token, until.error().why);
  if (!first) warn_(why.message + "; applications with it go on until it ends");
  held.tries = 0;
  Tell(held, why);
}

/// At 90 % of the life that is left; one that cannot be renewed further ends, and needs no timer.
void TokenRenewer::Schedule(Held& held, int64_t until_ms) {
  const bool further = until_ms > held.until_ms;
  held.until_ms = until_ms;
  const int64_t now = loop_.Wall().ms;
  if (!further || until_ms <= now) return;
  const int64_t left = std::min(until_ms - now, kLongestMs);
  held.timer.After(base::Duration::Millis(left * 9 / 10), [this, key = KeyOf(held.token)] { Renew(key); });
}

void TokenRenewer::Tell(Held& held, const base::Status& status) {
  for (const auto& waiting : std::exchange(held.waiting, {})) {
    if (!status.ok()) waiting->failed = status;
    Finish(waiting);
  }
}

/// From a turn of its own: who is told may give up the token.
void TokenRenewer::Finish(const std::shared_ptr<Submission>& waiting) {
  loop_.Post(alive_([waiting] {
    if (--waiting->open == 0) waiting->done(waiting->failed);
  }));
}

void TokenRenewer::Remove(const model::ApplicationId& app) {
  if (!apps_.contains(app)) return;
  if (times_.cancel_delay.ns == 0) return Drop(app, true);
  loop_.After(times_.cancel_delay, alive_([this, app] { Drop(app, true); }));
}

void TokenRenewer::Drop(const model::ApplicationId& app, bool ended) {
  const auto at = apps_.find(app);
  if (at == apps_.end()) return;
  const std::set<Key> keys = std::move(at->second);
  apps_.erase(at);
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
