#include "process/rm/delegation_tokens.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/text_bounds.h"
#include "wire/hadoop_rpc/message_kinds.h"
#include "wire/yarn/tokens.h"

namespace fairlead::process::rm {

using endpoints::yarn::Caller;
using endpoints::yarn::RemoteException;
using endpoints::yarn::RpcToken;
using Identifier = wire::yarn::YARNDelegationTokenIdentifierProto;
namespace ex = endpoints::yarn::exceptions;

namespace {

constexpr char kKeyTable[] = "rm/delegation-key";
constexpr char kTokenTable[] = "rm/delegation-token";
constexpr char kNumberTable[] = "rm/delegation-number";
constexpr std::string_view kKind = "RM_DELEGATION_TOKEN";
/// Of one owner. A gateway that gets one for each of its jobs has some hundred.
constexpr size_t kPerOwnerMax = 10'000;

RemoteException Exception(std::string_view java_class, std::string message) {
  return {std::string(java_class), std::move(message)};
}

/// As a token is shown to people (AbstractDelegationTokenIdentifier.toString).
std::string Words(const Identifier& id) {
  return "(" + std::string(kKind) + " owner=" + std::string(id.Owner()) + ", renewer=" + std::string(id.Renewer()) +
         ", realUser=" + std::string(id.RealUser()) + ", issueDate=" + std::to_string(id.IssueDate()) +
         ", maxDate=" + std::to_string(id.MaxDate()) + ", sequenceNumber=" + std::to_string(id.SequenceNumber()) +
         ", masterKeyId=" + std::to_string(id.MasterKeyId()) + ")";
}

base::Result<Identifier, RemoteException> Read(const RpcToken& token) {
  Identifier id;
  if (token.kind != kKind && !token.kind.empty()) {
    return Exception(ex::kInvalidToken, "This is no token of kind " + std::string(kKind));
  }
  if (const base::Status read = id.ParseFrom(token.identifier, wire::hadoop_rpc::kTokenIdentifier); !read.ok()) {
    return Exception(ex::kIo, "The identifier of the token cannot be read: " + read.error().message);
  }
  return id;
}

/// Nothing: the caller has shown a ticket.
std::optional<RemoteException> RefuseWithoutTicket(const Caller& caller, const char* what) {
  if (caller.method == model::LoginMethod::kKerberos) return std::nullopt;
  return Exception(ex::kIo, std::string("Delegation Token can be ") + what + " only with kerberos authentication");
}

template <class T>
base::Result<std::vector<T>> Records(env::Store& store, const char* table) {
  auto rows = env::LoadRecords<T>(store, table);
  if (!rows.ok()) return rows.error();
  std::vector<T> out;
  for (auto& [key, record] : *rows) out.push_back(std::move(record));
  return out;
}

}  // namespace

DelegationTokens::DelegationTokens(env::Loop& loop, DelegationTimes times, endpoints::yarn::TokenHmac hmac,
                                   ShortName short_name)
    : loop_(loop), times_(times), hmac_(hmac), short_name_(std::move(short_name)) {}

DelegationTokens::~DelegationTokens() = default;

base::Result<DelegationTokens::Stored> DelegationTokens::Load(env::Store& store, std::vector<env::UnreadRow>& unread) {
  Stored stored;
  auto keys = Records<Key>(store, kKeyTable);
  if (!keys.ok()) return keys.error();
  auto tokens = env::LoadRecords<Token>(store, kTokenTable, &unread);
  if (!tokens.ok()) return tokens.error();
  const auto numbers = Records<int32_t>(store, kNumberTable);
  if (!numbers.ok()) return numbers.error();
  stored.keys = std::move(*keys);
  stored.last_number = numbers->empty() ? 0 : numbers->front();
  for (auto& [key, token] : *tokens) {
    Identifier id;
    if (const auto read = id.ParseFrom(token.identifier, wire::hadoop_rpc::kTokenIdentifier); !read.ok()) {
      unread.push_back({kTokenTable, key, read.error().message});
    } else {
      stored.tokens.push_back(std::move(token));
    }
  }
  return stored;
}

base::Result<std::vector<env::Row>> DelegationTokens::Forget(env::Store& store) {
  std::vector<env::Row> rows;
  for (const char* table : {kKeyTable, kTokenTable, kNumberTable}) {
    const base::Result<std::vector<env::Row>> of = store.Load(table);
    if (!of.ok()) return of.error();
    for (const env::Row& row : *of) rows.push_back({table, row.key, std::nullopt});
  }
  return rows;
}

std::vector<env::Row> DelegationTokens::Start(Stored stored, bool laid_open, Save save) {
  save_ = std::move(save);
  std::vector<env::Row> rows;
  last_number_ = stored.last_number;
  int32_t last_key = 0;
  for (Key& key : stored.keys) {
    last_key = std::max(last_key, key.id);
    if (laid_open) {
      rows.push_back({kKeyTable, std::to_string(key.id), std::nullopt});
    } else {
      keys_[key.id] = std::move(key);
    }
  }
  for (const Token& token : stored.tokens) {
    Identifier id;
    if (!id.ParseFrom(token.identifier, wire::hadoop_rpc::kTokenIdentifier).ok()) continue;  // Load has told of it
    const Known known{id.SequenceNumber(), token.password, token.renewed_until_ms};
    if (laid_open) {
      rows.push_back({kTokenTable, std::to_string(known.number), std::nullopt});
      continue;
    }
    tokens_.emplace(token.identifier, known);
    ++by_owner_[std::string(id.Owner())];
  }
  // A key of this run's own, as stock makes them.
  Key key = FreshKey(loop_.Wall().ms);
  key.id = std::max(last_key, key.id - 1) + 1;
  rows.push_back({kKeyTable, std::to_string(key.id), base::EncodeStored(key)});
  keys_[key.id] = std::move(key);
  roll_timer_.After(times_.key_update, [this] { RollKey(); });
  sweep_timer_.After(times_.sweep, [this] { Sweep(); });
  return rows;
}

DelegationTokens::Key DelegationTokens::FreshKey(int64_t now_ms) {
  Key key;
  key.id = keys_.empty() ? 1 : keys_.rbegin()->first + 1;
  key.bytes.resize(endpoints::yarn::kMasterKeyBytes);
  loop_.RandomBytes({reinterpret_cast<uint8_t*>(key.bytes.data()), key.bytes.size()});
  key.until_ms = now_ms + times_.key_update.millis() + times_.max_life.millis();
  return key;
}

void DelegationTokens::RollKey() {
  const int64_t now = loop_.Wall().ms;
  Key key = FreshKey(now);
  std::vector<env::Row> rows{{kKeyTable, std::to_string(key.id), base::EncodeStored(key)}};
  for (const auto& [id, old] : keys_) {
    if (old.until_ms < now) rows.push_back({kKeyTable, std::to_string(id), std::nullopt});
  }
  save_(std::move(rows), [this, key, now] {
    std::erase_if(keys_, [&](const auto& entry) { return entry.second.until_ms < now; });
    keys_[key.id] = key;
    roll_timer_.After(times_.key_update, [this] { RollKey(); });
  });
}

/// What was not renewed in time may be renewed until here.
void DelegationTokens::Sweep() {
  const int64_t now = loop_.Wall().ms;
  std::vector<env::Row> rows;
  for (auto at = tokens_.begin(); at != tokens_.end();) {
    if (at->second.renewed_until_ms >= now) {
      ++at;
      continue;
    }
    rows.push_back({kTokenTable, std::to_string(at->second.number), std::nullopt});
    Identifier id;
    if (id.ParseFrom(at->first, wire::hadoop_rpc::kTokenIdentifier).ok()) {
      if (const auto owner = by_owner_.find(std::string(id.Owner()));
          owner != by_owner_.end() && --owner->second == 0) {
        by_owner_.erase(owner);
      }
    }
    at = tokens_.erase(at);
  }
  const auto again = [this] { sweep_timer_.After(times_.sweep, [this] { Sweep(); }); };
  if (rows.empty()) return again();
  save_(std::move(rows), again);
}

env::Row DelegationTokens::RowOf(const std::string& identifier, const Known& token) const {
  return {kTokenTable, std::to_string(token.number),
          base::EncodeStored(Token{identifier, token.password, token.renewed_until_ms})};
}

void DelegationTokens::Get(const Caller& caller, const std::string& renewer, Done<RpcToken> done) {
  if (const auto refused = RefuseWithoutTicket(caller, "issued")) return done(*refused);
  const base::Status within = endpoints::yarn::Within("renewer", renewer.size(), endpoints::yarn::kNameMax);
  if (!within.ok()) return done(Exception(ex::kIo, within.error().message));
  base::Result<std::string> short_renewer = renewer.empty() ? std::string() : short_name_(renewer);
  if (!short_renewer.ok()) return done(Exception(ex::kIllegalArgument, short_renewer.error().message));
  if (by_owner_[caller.full_name] >= kPerOwnerMax) {
    return done(Exception(ex::kIo, caller.full_name + " has " + std::to_string(kPerOwnerMax) +
                                       " delegation tokens already; cancel some, or wait until they end"));
  }
  const int64_t now = loop_.Wall().ms;
  const Key& key = keys_.rbegin()->second;
  Identifier id;
  id.owner = caller.full_name;
  id.renewer = std::move(*short_renewer);
  id.real_user = caller.real_user.empty() ? "" : caller.principal;
  id.issue_date = now;
  id.max_date = now + times_.max_life.millis();
  id.sequence_number = ++last_number_;
  id.master_key_id = key.id;
  RpcToken token{id.Encode(), "", std::string(kKind), ""};
  token.password = endpoints::yarn::TokenPassword(key.bytes, token.identifier, hmac_);
  const Known known{last_number_, token.password, std::min(id.MaxDate(), now + times_.renewal.millis())};
  ++by_owner_[caller.full_name];
  save_({RowOf(token.identifier, known), {kNumberTable, "", base::EncodeStored(last_number_)}},
        [this, token, known, done = std::move(done)] {
          tokens_.emplace(token.identifier, known);
          done(token);
        });
}

void DelegationTokens::Renew(const Caller& caller, const RpcToken& token, Done<int64_t> done) {
  if (const auto refused = RefuseWithoutTicket(caller, "renewed")) return done(*refused);
  const auto id = Read(token);
  if (!id.ok()) return done(id.error());
  const int64_t now = loop_.Wall().ms;
  const std::string& who = caller.user;
  if (id->MaxDate() < now) {
    return done(Exception(ex::kInvalidToken, who + " tried to renew an expired token " + Words(*id) +
                                                 " max expiration date: " + std::to_string(id->MaxDate()) +
                                                 " currentTime: " + std::to_string(now)));
  }
  if (id->Renewer().empty()) {
    return done(Exception(ex::kAccessControl, who + " tried to renew a token " + Words(*id) + " without a renewer"));
  }
  if (id->Renewer() != who) {
    return done(Exception(ex::kAccessControl, who + " tries to renew a token " + Words(*id) +
                                                  " with non-matching renewer " + std::string(id->Renewer())));
  }
  const auto at = tokens_.find(token.identifier);
  if (at == tokens_.end()) {
    return done(Exception(ex::kInvalidToken, "Renewal request for unknown token " + Words(*id)));
  }
  if (!endpoints::yarn::SameSecret(at->second.password, token.password)) {
    return done(
        Exception(ex::kAccessControl, who + " is trying to renew a token " + Words(*id) + " with wrong password"));
  }
  Known renewed = at->second;
  renewed.renewed_until_ms = std::min(id->MaxDate(), now + times_.renewal.millis());
  save_({RowOf(token.identifier, renewed)}, [this, identifier = token.identifier, renewed, done = std::move(done)] {
    if (const auto still = tokens_.find(identifier); still != tokens_.end()) still->second = renewed;
    done(renewed.renewed_until_ms);
  });
}

void DelegationTokens::Cancel(const Caller& caller, const RpcToken& token, Done<bool> done) {
  if (const auto refused = RefuseWithoutTicket(caller, "cancelled")) return done(*refused);
  const auto id = Read(token);
  if (!id.ok()) return done(id.error());
  if (id->Owner().empty()) return done(Exception(ex::kInvalidToken, "Token with no owner " + Words(*id)));
  if (caller.full_name != id->Owner() && (id->Renewer().empty() || caller.user != id->Renewer())) {
    return done(
        Exception(ex::kAccessControl, caller.full_name + " is not authorized to cancel the token " + Words(*id)));
  }
  if (!tokens_.contains(token.identifier)) {
    return done(Exception(ex::kInvalidToken, "Token not found " + Words(*id)));
  }
  End(token.identifier, std::string(id->Owner()), std::move(done));
}

void DelegationTokens::CancelByHolder(const RpcToken& token, Done<bool> done) {
  const auto id = Read(token);
  if (!id.ok()) return done(id.error());
  const auto at = tokens_.find(token.identifier);
  if (at == tokens_.end() || !endpoints::yarn::SameSecret(at->second.password, token.password)) {
    return done(Exception(ex::kInvalidToken, "Token not found " + Words(*id)));
  }
  End(token.identifier, std::string(id->Owner()), std::move(done));
}

void DelegationTokens::End(const std::string& identifier, const std::string& owner, Done<bool> done) {
  const auto at = tokens_.find(identifier);
  const env::Row gone{kTokenTable, std::to_string(at->second.number), std::nullopt};
  tokens_.erase(at);
  if (const auto of = by_owner_.find(owner); of != by_owner_.end() && --of->second == 0) by_owner_.erase(of);
  save_({gone}, [done = std::move(done)] { done(true); });
}

DelegationTokens::About DelegationTokens::Of(const std::string& identifier) const {
  Identifier id;
  const auto at = tokens_.find(identifier);
  if (at == tokens_.end() || !id.ParseFrom(identifier, wire::hadoop_rpc::kTokenIdentifier).ok()) return {};
  return {std::string(id.Owner()), at->second.renewed_until_ms, id.MaxDate()};
}

base::Result<endpoints::yarn::TokenSecret> DelegationTokens::Secret(std::string_view identifier) const {
  Identifier id;
  if (!id.ParseFrom(identifier, wire::hadoop_rpc::kTokenIdentifier).ok()) {
    return base::Error{"Can't de-serialize tokenIdentifier"};
  }
  const auto at = tokens_.find(identifier);
  if (at == tokens_.end()) {
    return base::Error{"Token for real user: " + std::string(id.RealUser()) + ", can't be found in cache"};
  }
  const int64_t now = loop_.Wall().ms;
  if (at->second.renewed_until_ms < now) {
    return base::Error{"Token has expired, current time: " + std::to_string(now) +
                       " expected renewal time: " + std::to_string(at->second.renewed_until_ms)};
  }
  base::Result<std::string> user = short_name_(std::string(id.Owner()));
  if (!user.ok()) return user.error();
  const std::string real(id.RealUser());
  if (real.empty() || real == id.Owner()) return endpoints::yarn::TokenSecret{at->second.password, std::move(*user)};
  base::Result<std::string> real_user = short_name_(real);
  if (!real_user.ok()) return real_user.error();
  return endpoints::yarn::TokenSecret{at->second.password, std::move(*user), std::move(*real_user)};
}

}  // namespace fairlead::process::rm
