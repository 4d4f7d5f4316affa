#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "env/alive.h"
#include "env/elector.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "process/rm/ports.h"
#include "process/rm/resource_manager.h"
#include "process/rpc/rpc_client.h"

namespace fairlead::process::rm {

struct LeadershipOptions {
  std::string id;  // yarn.resourcemanager.ha.id
  PortAddresses ports;
  PortSecurity security;
  std::string manager_server;                     // which principal a member may say it has, or a pattern
  std::map<std::string, env::Endpoint> admin_of;  // of every member, for what they ask each other
  model::AccessList admin_acl;
  std::function<std::vector<std::string>(const std::string&)> groups_of;
  /// Read again for each leadership: the configuration's files may have changed, and what `store` has of it.
  std::function<base::Result<ResourceManagerOptions>(env::Store& store)> manager;
  std::function<void(ResourceManager&)> on_active;
  /// The manager is about to end.
  std::function<void()> on_standby;
  /// This process can take no part (env::Elector::Listener::refused).
  std::function<void(const base::Error&)> on_refused;
};

/// One of several resource managers. It makes a ResourceManager when it is elected, ends it when it is not the leader
/// any more, and answers HAServiceProtocol all the time. While another leads, calls are refused at once with a
/// StandbyException: since they came the leader has been asked, and has answered. While nobody is known to lead, they
/// wait (ports.h).
class Leadership {
 public:
  Leadership(env::Loop& loop, env::Net& net, env::Log& log, std::unique_ptr<env::Elector> elector,
             LeadershipOptions options);
  ~Leadership();

  /// Opens the ports and competes.
  base::Status Start();

  /// Null unless this process leads and may act now.
  ResourceManager* acting() { return elector_->MayAct() ? manager_.get() : nullptr; }
  std::optional<std::string> leader() const { return elector_->Leader(); }
  base::Duration session_time() const { return elector_->SessionTime(); }
  /// A row of another manager that leads (env::Elector::Seen).
  std::optional<std::string> Seen(const std::string& table, const std::string& key) const {
    return elector_->Seen(table, key);
  }
  const PortAddresses& bound() const { return ports_->bound(); }

 private:
  void Elected(std::unique_ptr<env::Store> store);
  void Deposed(const std::string& why);

  void OnWaiting();
  /// Asks the others whether they lead, again and again while something waits and nobody does. One that does is a
  /// reason to refuse what has waited since before it was asked. What came later may come from the dying leader: its
  /// callers would go back there, and sleep for half a minute.
  void Probe();

  // HAServiceProtocol
  void OnHaCall(const rpc::IncomingCall& call);
  void ToActive(const rpc::IncomingCall& call);
  void ToStandby(const rpc::IncomingCall& call);
  bool MayTransition(const rpc::IncomingCall& call);
  /// Where the leader's administrators call it; null when it is us or unknown.
  const env::Endpoint* LeaderAdmin() const;
  /// Asks the leader to step down for the sake of `asked`, as soon as one is known.
  void AskToYield(rpc::CallToken asked, const std::string& user);
  void AnswerTransitions(std::vector<rpc::CallToken>& calls);

  env::Loop& loop_;
  env::Net& net_;
  env::Log& log_;
  const LeadershipOptions options_;
  rpc::RpcClient client_;
  std::unique_ptr<Ports> ports_;
  std::unique_ptr<env::Elector> elector_;
  std::unique_ptr<env::Store> store_;
  std::unique_ptr<ResourceManager> manager_;
  bool probing_ = false;                    // nobody is known to lead, and something waits
  uint64_t question_ = 0;                   // the last one to the others
  std::vector<rpc::CallToken> to_active_;   // transitions that wait until this process leads,
  std::vector<rpc::CallToken> to_standby_;  // and until it does not
  env::Alive alive_;
};

}  // namespace fairlead::process::rm
