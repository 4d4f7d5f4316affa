#include "process/rm/credential_store.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "base/stored.h"
#include "endpoints/yarn/text_bounds.h"
#include "process/http/http.h"

namespace fairlead::process::rm {

namespace {

constexpr char kCredentialsTable[] = "rm/credential";
constexpr size_t kNameMost = 64;
constexpr size_t kSecretBytes = 32;
constexpr int64_t kTellEveryMs = 10'000;

bool IsName(std::string_view text) {
  return !text.empty() && text.size() <= kNameMost && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string RandomSecret(env::Loop& loop) {
  uint8_t bytes[kSecretBytes];
  loop.RandomBytes(bytes);
  constexpr char kHex[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : bytes) out += {kHex[byte >> 4], kHex[byte & 15]};
  return out;
}

struct Named {
  std::string_view name;
  int64_t serial = 0;
};

std::optional<Named> ParseIdentifier(std::string_view bytes) {
  if (!CredentialStore::IsIdentifier(bytes) || bytes.size() > 2 * kNameMost) return std::nullopt;
  bytes.remove_prefix(4);
  const size_t dot = bytes.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  Named out{bytes.substr(0, dot), 0};
  const std::string_view serial = bytes.substr(dot + 1);
  const auto [end, error] = std::from_chars(serial.data(), serial.data() + serial.size(), out.serial);
  if (error != std::errc() || end != serial.data() + serial.size()) return std::nullopt;
  return out;
}

base::Error Unknown() {
  return base::Error{"the credential is not known here, or was revoked; 'fairlead credentials make' makes one"};
}

base::Result<endpoints::yarn::TokenSecret> SecretOf(const Named& named, const CredentialStore::Kept& kept, bool node,
                                                    int64_t now_ms) {
  if (kept.node != node) {
    return base::Error{"the credential '" + std::string(named.name) + "' is a " + (kept.node ? "node" : "client") +
                       "'s, and opens nothing else; 'fairlead credentials make' makes one"};
  }
  const std::string user = kept.node ? std::string(named.name) : kept.user;
  if (named.serial == kept.serial) return endpoints::yarn::TokenSecret{kept.secret, user};
  if (named.serial == kept.serial - 1 && now_ms < kept.earlier_until_ms) {
    return endpoints::yarn::TokenSecret{kept.earlier_secret, user};
  }
  return Unknown();
}

}  // namespace

base::Result<CredentialStore::All> CredentialStore::Load(env::Store& store, std::vector<env::UnreadRow>& unread) {
  auto rows = env::LoadRecords<Kept>(store, kCredentialsTable, &unread);
  if (!rows.ok()) return rows.error();
  All out;
  for (auto& [name, kept] : *rows) out.emplace(name, std::move(kept));
  return out;
}

CredentialStore::CredentialStore(env::Loop& loop, All stored, Save save)
    : loop_(loop), save_(std::move(save)), all_(std::move(stored)) {}

env::Row CredentialStore::RowOf(const std::string& name, const Kept& kept) const {
  return {kCredentialsTable, name, base::EncodeStored(kept)};
}

void CredentialStore::Make(const Wanted& wanted, const Made& done) {
  const std::string& name = wanted.name;
  if (!IsName(name)) {
    return done(
        base::Error{"a credential's name has letters, digits, '-' and '_', " + std::to_string(kNameMost) + " at most"});
  }
  using endpoints::yarn::Within;
  for (const auto& [what, text] : {std::pair("user", &wanted.user), std::pair("host", &wanted.host)}) {
    if (base::Status within = Within(what, text->size(), endpoints::yarn::kNameMax); !within) {
      return done(within.error());
    }
  }
  if (!wanted.host.empty() && (!wanted.node || !http::IsVisible(wanted.host))) {
    return done(base::Error{"a host is a node's, and a name or an address"});
  }
  const auto known = all_.find(name);
  if (known == all_.end() && all_.size() >= kMost) {
    return done(base::Error{"there are " + std::to_string(kMost) + " credentials; revoke some first"});
  }
  Kept kept;
  if (known != all_.end()) {
    kept = known->second;
    if (kept.node != wanted.node || kept.user != wanted.user) {
      return done(base::Error{"there is a credential '" + name + "' of another kind or user; revoke it first"});
    }
    kept.earlier_secret = std::move(kept.secret);
    kept.earlier_until_ms = loop_.Wall().ms + kEarlierMs;
  }
  kept.node = wanted.node;
  kept.user = wanted.user;
  kept.host = wanted.host;
  // Of a revoked one of this name no serial comes again.
  kept.serial = known != all_.end() ? kept.serial + 1 : loop_.Wall().ms;
  kept.secret = RandomSecret(loop_);
  kept.made_ms = loop_.Wall().ms;
  kept.made_by = wanted.by;
  const std::string text = "fl1." + name + "." + std::to_string(kept.serial) + "." + kept.secret;
  const env::Row row = RowOf(name, kept);
  all_[name] = std::move(kept);
  save_({row}, [done, text] { done(text); });
}

void CredentialStore::Revoke(const std::string& name, const std::function<void(const base::Status&)>& done) {
  if (all_.erase(name) == 0) return done(base::Error{"there is no credential '" + name + "'"});
  told_ms_.erase(name);
  save_({{kCredentialsTable, name, std::nullopt}}, [done] { done({}); });
}

void CredentialStore::RevokeAll() {
  std::vector<env::Row> gone;
  for (const auto& [name, kept] : std::exchange(all_, {})) gone.push_back({kCredentialsTable, name, std::nullopt});
  save_(std::move(gone), [] {});
}

base::Status CredentialStore::AdmitHost(std::string_view identifier, const std::string& host, const Tell& tell) {
  const std::optional<Named> named = ParseIdentifier(identifier);
  const auto known = named ? all_.find(named->name) : all_.end();
  if (known == all_.end()) return Unknown();
  auto& [name, kept] = *known;
  base::Status admitted = CheckHost(name, kept, host);
  if (admitted.ok()) return admitted;
  ++hosts_refused_;
  const int64_t now = loop_.Wall().ms;
  const auto [told, first] = told_ms_.try_emplace(name, now);
  if (first || now - told->second >= kTellEveryMs) {
    told->second = now;
    tell(name, admitted.error().message);
  }
  return admitted;
}

base::Status CredentialStore::CheckHost(const std::string& name, Kept& kept, const std::string& host) {
  if (host.empty() || host.size() > endpoints::yarn::kNameMax || !http::IsVisible(host)) {
    return base::Error{"the node with the credential '" + name + "' says no host that could be one"};
  }
  if (kept.host == host) return {};
  if (!kept.host.empty()) {
    return base::Error{"the credential '" + name + "' is that of the node " + kept.host +
                       ", and this one says that it is " + host +
                       "; each node has its own, and 'fairlead credentials make --node " + name + " --host " + host +
                       "' gives this one to " + host};
  }
  const auto taken = std::ranges::find_if(all_, [&](const auto& one) { return one.second.host == host; });
  if (taken != all_.end()) {
    return base::Error{"the node " + host + " has the credential '" + taken->first + "', and not '" + name +
                       "'; 'fairlead credentials revoke " + taken->first +
                       "' ends that one, and 'fairlead credentials " + "make --node " + name + " --host " + host +
                       "' gives it both"};
  }
  kept.host = host;
  save_({RowOf(name, kept)}, [] {});
  return {};
}

base::Result<endpoints::yarn::TokenSecret> CredentialStore::Secret(std::string_view identifier, bool node) const {
  const std::optional<Named> named = ParseIdentifier(identifier);
  const auto known = named ? all_.find(named->name) : all_.end();
  if (known == all_.end()) return Unknown();
  return SecretOf(*named, known->second, node, loop_.Wall().ms);
}

base::Result<endpoints::yarn::TokenSecret> CredentialStore::SecretSeen(const Seen& seen, std::string_view identifier,
                                                                       bool node, int64_t now_ms) {
  const std::optional<Named> named = ParseIdentifier(identifier);
  const std::optional<std::string> row = named ? seen(kCredentialsTable, std::string(named->name)) : std::nullopt;
  if (!row) return Unknown();
  const base::Result<Kept> kept = base::DecodeStored<Kept>(*row);
  if (!kept.ok()) return kept.error();
  return SecretOf(*named, *kept, node, now_ms);
}

}  // namespace fairlead::process::rm
