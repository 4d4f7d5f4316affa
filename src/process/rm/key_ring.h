#pragma once

#include <array>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "endpoints/yarn/rm_encode.h"
#include "endpoints/yarn/tokens.h"
#include "env/loop.h"
#include "env/store.h"
#include "env/timer.h"
#include "rm/core.h"
#include "wire/yarn/tracker.h"

namespace fairlead::process::rm {

struct KeyTimes {
  // yarn.resourcemanager.{am-rm,nm,container}-tokens.master-key-rolling-interval-secs
  base::Duration amrm_roll = base::Duration::Seconds(24 * 3600);
  base::Duration node_roll = base::Duration::Seconds(24 * 3600);
  base::Duration container_roll = base::Duration::Seconds(24 * 3600);
  base::Duration node_activation = base::Duration::Seconds(900);    // 1.5 x expiry of nodes
  base::Duration master_activation = base::Duration::Seconds(900);  // 1.5 x expiry of masters
  base::Duration container_token_life = base::Duration::Seconds(600);
  endpoints::yarn::TokenHmac hmac = endpoints::yarn::TokenHmac::kSha1;  // of every token
};

/// The master keys of a resource manager and the tokens made with them (AMRMTokenSecretManager,
/// NMTokenSecretManagerInRM, RMContainerTokenSecretManager). Keys are random bytes of the loop, kept in the store, and
/// roll by timers of their kinds, but for the one of pages' secrets. It is also the judge of AMRM tokens.
class KeyRing : public endpoints::yarn::TokenSource, public endpoints::yarn::TokenAuthority {
 public:
  KeyRing(env::Loop& loop, const fairlead::rm::Core& core, KeyTimes times);
  /// Stores rows, however often it must be tried, then calls `stored`.
  using Save = std::function<void(std::vector<env::Row> rows, std::function<void()> stored)>;
  /// The AMRM key that lay open to others last, and until when it is believed of attempts that hold a token of it; the
  /// last NM key that did, which nodes believe as long.
  struct LaidOpen {
    int32_t key = 0;
    base::WallTime until;
    std::optional<int32_t> node_key;
    FL_FIELDS(key, until, node_key)
  };
  struct Stored {
    std::vector<std::pair<std::string, endpoints::yarn::MasterKeys>> keys;  // by the name of their kind
    LaidOpen laid_open;
  };
  static base::Result<Stored> Load(env::Store& store);
  /// The attempts that an earlier run has left running.
  using Attempts = std::set<model::ApplicationAttemptId>;
  /// Takes the stored keys, makes those that are missing, and begins to roll. Gives the rows that must be stored before
  /// a key is used; later ones go to `save`. With `laid_open` others could read the stored keys, and write them: each
  /// is replaced at once. The AMRM key that lay open is believed of `running` attempts alone, for ten minutes at most,
  /// in which their masters are given tokens of the new one. Nodes get two new keys, one at their registration and one
  /// with the next heartbeat, so that they keep none that lay open but for attempts that have used it there.
  std::vector<env::Row> Start(const Stored& stored, Attempts running, bool laid_open, Save save);

  endpoints::yarn::RpcToken AmRmToken(const model::ApplicationAttemptId& attempt) const;
  endpoints::yarn::RpcToken NmRpcToken(const model::ApplicationAttemptId& attempt,
                                       const model::rm::NodeAddress& address, const std::string& user) const;
  /// By what a master's page knows the proxy's requests: text, the same for the attempt's whole life, over restarts and
  /// takeovers, too.
  std::string PageSecret(const model::ApplicationAttemptId& attempt) const;
  /// Signs the tokens by which clients know themselves to the attempt's master (ClientToAMTokenSecretManager); as
  /// lasting as that secret.
  std::string ClientToMasterKey(const model::ApplicationAttemptId& attempt) const;
  const endpoints::yarn::MasterKeys& amrm() const { return amrm_.keys; }
  const endpoints::yarn::MasterKeys& node() const { return node_.keys; }
  const endpoints::yarn::MasterKeys& container() const { return container_.keys; }

  /// The AMRM key of a token lay open to others: its master needs new tokens of every kind.
  bool LayOpen(int32_t amrm_key) const { return laid_open_.until.ms != 0 && amrm_key == laid_open_.key; }
  /// And its time is over, also for who has logged in with it before.
  bool IsOver(int32_t amrm_key) const { return LayOpen(amrm_key) && !amrm().Find(amrm_key); }
  /// For nodes: which NM keys lay open, and how long they are still good; nothing where none did.
  std::optional<wire::yarn::FairleadLaidOpenProto> LaidOpenNodeKeys() const;

  // TokenSource
  wire::hadoop_rpc::TokenProto ContainerToken(const model::rm::ContainerInfo& container, model::AppIndex app) override;
  wire::hadoop_rpc::TokenProto NmToken(const model::ApplicationAttemptId& attempt, model::NodeIndex node,
                                       model::AppIndex app) override;
  wire::yarn::NodeReportProto NodeReport(model::NodeIndex node) override;
  model::rm::NodeAddress AddressOf(model::NodeIndex node) override;
  // TokenAuthority
  base::Result<endpoints::yarn::TokenSecret> Secret(std::string_view identifier) const override;

 private:
  struct Kind {
    const char* name;
    std::optional<base::Duration> roll;  // none: it does not roll
    base::Duration activation;
    env::Timer roll_timer, activation_timer;
    endpoints::yarn::MasterKeys keys;
  };
  std::array<Kind*, 4> Kinds() { return {&amrm_, &node_, &container_, &page_}; }
  std::string RandomKey();
  void Replace(Kind& kind);
  /// The current AMRM key lay open, and the next is not alone yet.
  bool AmRmLaidOpen() const { return amrm().next && laid_open_.until.ms != 0 && amrm().current.id == laid_open_.key; }
  void RollLater(Kind& kind);
  void Roll(Kind& kind);
  void ActivateLater(Kind& kind, base::Duration after);
  /// How long it is still believed.
  base::Duration LaidOpenFor() const;
  static env::Row RowOf(const Kind& kind, const endpoints::yarn::MasterKeys& keys);

  env::Loop& loop_;
  const fairlead::rm::Core& core_;
  const KeyTimes times_;
  Kind amrm_, node_, container_, page_;
  LaidOpen laid_open_;
  Attempts running_;  // as this run began
  Save save_;
};

}  // namespace fairlead::process::rm
