#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "endpoints/yarn/exceptions.h"
#include "endpoints/yarn/rpc_identity.h"
#include "endpoints/yarn/tokens.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"

namespace fairlead::process::rm {

struct DelegationTimes {
  base::Duration key_update =
      base::Duration::Seconds(24 * 3600);  // yarn.resourcemanager.delegation.key.update-interval
  base::Duration max_life = base::Duration::Seconds(7 * 24 * 3600);  // ….delegation.token.max-lifetime
  base::Duration renewal = base::Duration::Seconds(24 * 3600);       // ….delegation.token.renew-interval
  base::Duration sweep = base::Duration::Seconds(3600);  // yarn.resourcemanager.delegation.token.remove-scan-interval
};

/// Tokens by which programs without a ticket call in the name of the user who got them
/// (AbstractDelegationTokenSecretManager, RMDelegationTokenSecretManager). Keys, tokens and the last number are stored
/// before anybody hears of them, so a restart and another manager know them.
class DelegationTokens final : public endpoints::yarn::TokenAuthority {
 public:
  using ShortName = std::function<base::Result<std::string>(const std::string& principal)>;
  DelegationTokens(env::Loop& loop, DelegationTimes times, endpoints::yarn::TokenHmac hmac, ShortName short_name);
  ~DelegationTokens() override;

  struct Key {
    int32_t id = 0;
    std::string bytes;
    int64_t until_ms = 0;  // forgotten then
    FL_FIELDS(id, bytes, until_ms)
  };
  struct Token {
    std::string identifier;
    std::string password;
    int64_t renewed_until_ms = 0;
    FL_FIELDS(identifier, password, renewed_until_ms)
  };
  struct Stored {
    std::vector<Key> keys;
    std::vector<Token> tokens;
    int32_t last_number = 0;
  };
  /// A token that cannot be read goes to `unread`: nobody logs in with it. A key is an error.
  static base::Result<Stored> Load(env::Store& store, std::vector<env::UnreadRow>& unread);
  /// What removes all of that.
  static base::Result<std::vector<env::Row>> Forget(env::Store& store);

  /// Stores rows, however often it must be tried, then calls `stored`.
  using Save = std::function<void(std::vector<env::Row> rows, std::function<void()> stored)>;
  /// Gives the rows that must be stored before a token is given; with `laid_open` others could read the keys and the
  /// tokens: these end.
  std::vector<env::Row> Start(Stored stored, bool laid_open, Save save);

  template <class T>
  using Done = std::function<void(base::Result<T, endpoints::yarn::RemoteException>)>;
  /// `caller` logged in by Kerberos, else each refuses.
  void Get(const endpoints::yarn::Caller& caller, const std::string& renewer, Done<endpoints::yarn::RpcToken> done);
  /// Until when it is good, in milliseconds.
  void Renew(const endpoints::yarn::Caller& caller, const endpoints::yarn::RpcToken& token, Done<int64_t> done);
  void Cancel(const endpoints::yarn::Caller& caller, const endpoints::yarn::RpcToken& token, Done<bool> done);
  /// Ends the token of whoever has it, password and all (DelegationTokenManager.cancelToken without a canceller).
  void CancelByHolder(const endpoints::yarn::RpcToken& token, Done<bool> done);

  /// What is known of a token; nothing of one that is not.
  struct About {
    std::string owner;
    int64_t renewed_until_ms = 0;
    int64_t max_date_ms = 0;
  };
  About Of(const std::string& identifier) const;

  base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier) const override;
  size_t tokens() const { return tokens_.size(); }

 private:
  struct Known {
    int32_t number = 0;
    std::string password;
    int64_t renewed_until_ms = 0;
  };
  void End(const std::string& identifier, const std::string& owner, Done<bool> done);
  Key FreshKey(int64_t now_ms);
  void RollKey();
  void Sweep();
  env::Row RowOf(const std::string& identifier, const Known& token) const;

  env::Loop& loop_;
  const DelegationTimes times_;
  const endpoints::yarn::TokenHmac hmac_;
  const ShortName short_name_;
  Save save_;
  std::map<int32_t, Key> keys_;                       // by id; the last signs
  std::map<std::string, Known, std::less<>> tokens_;  // by identifier
  std::map<std::string, size_t> by_owner_;            // how many
  int32_t last_number_ = 0;
  env::Timer roll_timer_{loop_};
  env::Timer sweep_timer_{loop_};
};

}  // namespace fairlead::process::rm
