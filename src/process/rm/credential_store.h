#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "endpoints/yarn/rpc_identity.h"
#include "env/loop.h"
#include "env/store.h"

namespace fairlead::process::rm {

/// The credentials of other machines where there is no KDC (fairlead.auth=credentials): named secrets of nodes and
/// clients, made and revoked by an administrator, stored before anybody hears of them. A credential is a text,
/// "fl1.NAME.SERIAL.SECRET": on Hadoop's RPC the first three are a token's identifier and the last its password, on
/// HTTP the whole is a bearer. One that is made again has a new serial and secret; the one before is good for a day, so
/// that a machine can be given the new file while it runs.
class CredentialStore {
 public:
  struct Kept {
    bool node = false;  // else a client's
    std::string user;   // as whom a client acts
    int64_t serial = 0;
    std::string secret;
    int64_t made_ms = 0;
    std::string made_by;
    std::string earlier_secret;  // of the serial before
    int64_t earlier_until_ms = 0;
    std::string host;  // of a node: as which alone it is known; empty: the next node that shows it says
    FL_FIELDS(node, user, serial, secret, made_ms, made_by, earlier_secret, earlier_until_ms, host)
  };
  using All = std::map<std::string, Kept, std::less<>>;  // by name
  static constexpr size_t kMost = 10'000;
  static constexpr int64_t kEarlierMs = int64_t{24} * 3600 * 1000;

  /// `unread`: gets what cannot be read.
  static base::Result<All> Load(env::Store& store, std::vector<env::UnreadRow>& unread);

  using Save = std::function<void(std::vector<env::Row> rows, std::function<void()> stored)>;
  CredentialStore(env::Loop& loop, All stored, Save save);

  struct Wanted {
    std::string name;
    bool node = false;
    std::string user;  // of a client
    std::string host;  // of a node; empty: the one that it says first
    std::string by;
  };
  using Made = std::function<void(base::Result<std::string> text)>;
  /// A credential of that name, which may exist and then is renewed: its kind and user stay, a node's host does not.
  void Make(const Wanted& wanted, const Made& done);
  void Revoke(const std::string& name, const std::function<void(const base::Status&)>& done);
  void RevokeAll();
  const All& all() const { return all_; }

  /// Why the node that shows a credential may not call itself `host`: it is known by a different name, or this name is
  /// known with a different credential. The first host that the node of a credential says is its own, stored, until the
  /// credential is made again. `tell` gets a refusal, of each credential at most one in ten seconds. Cost: a look-up;
  /// the first time, all credentials.
  using Tell = std::function<void(const std::string& name, const std::string& why)>;
  base::Status AdmitHost(std::string_view identifier, const std::string& host, const Tell& tell);
  /// Refusals of AdmitHost.
  uint64_t hosts_refused() const { return hosts_refused_; }

  /// Of a token's identifier, "fl1.NAME.SERIAL".
  base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier, bool node) const;
  /// The same for a manager that does not lead, from what it has seen of the leader's rows (env::Elector::Seen).
  using Seen = std::function<std::optional<std::string>(const std::string& table, const std::string& key)>;
  static base::Result<endpoints::yarn::TokenSecret> SecretSeen(const Seen& seen, std::string_view identifier, bool node,
                                                               int64_t now_ms);
  static bool IsIdentifier(std::string_view bytes) { return bytes.starts_with("fl1."); }

 private:
  env::Row RowOf(const std::string& name, const Kept& kept) const;
  base::Status CheckHost(const std::string& name, Kept& kept, const std::string& host);

  env::Loop& loop_;
  const Save save_;
  All all_;
  std::map<std::string, int64_t, std::less<>> told_ms_;  // of whose refusal, when
  uint64_t hosts_refused_ = 0;
};

}  // namespace fairlead::process::rm
