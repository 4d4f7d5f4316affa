#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/id_pattern.h"
#include "endpoints/spark/spark_build.h"
#include "endpoints/spark/worker_messages.h"
#include "endpoints/spark/worker_use.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/peers/peer_table.h"
#include "process/spark_rpc/guest.h"

namespace fairlead::process::spark_worker {

/// As what a worker registers, where, and how long it tries.
struct MasterLinkSettings {
  env::Endpoint listen{"127.0.0.1", 0};
  std::string host;  // as which everybody knows this worker
  std::vector<endpoints::spark::RpcAddress> masters;
  int32_t cores = 1;
  int32_t memory_mib = 1024;
  endpoints::spark::Resources resources;
  base::Duration heartbeat = base::Duration::Seconds(15);  // a quarter of spark.worker.timeout
  /// As long as Spark's worker tries by default (spark.worker.initialRegistrationRetries, .maxRegistrationRetries).
  base::Duration patience = base::Duration::Seconds(660);
  spark_rpc::Security security;
  /// What its machine uses since the last call, for a master of ours that decides by it. May read files. Null: not
  /// told.
  std::function<endpoints::spark::WorkerUse(base::Instant now)> measure;
  endpoints::spark::IdPattern ids = *endpoints::spark::WorkerIds("worker-%s-%s-%d");  // spark.worker.idPattern
  /// Of a worker that was here before, whose place this one takes; empty: none was.
  std::string id;
};

/// The worker behind a link.
class MasterLinkOwner {
 public:
  /// An order of the master that this worker has.
  virtual void Take(const endpoints::spark::MasterMessage& order) = 0;
  /// All that runs.
  virtual endpoints::spark::WorkerSchedulerStateResponse State() const = 0;
  /// It is known whether the master is one of ours, which waits for a worker that is away.
  virtual void OnMaster(bool is_ours) = 0;
  /// A master has the end of the run `key`.
  virtual void OnEndKnown(const std::string& key) = 0;
  /// No master has taken it for too long, or the one it asked refused it.
  virtual void OnGivenUp(const std::string& why) = 0;

 protected:
  ~MasterLinkOwner() = default;
};

/// A worker's connections, and which master it has: asks the configured ones until one registers it, follows one that
/// takes over only once the present one is gone or silent, and sends the end of each run until a master has it. Orders
/// start programs: none is taken but from the master that this worker has. On the loop's thread.
class MasterLink {
 public:
  /// All outlive it.
  struct Context {
    env::Loop& loop;
    env::Net& net;
    env::Log& log;
    const endpoints::spark::SparkBuild& build;
    const MasterLinkSettings& settings;
    MasterLinkOwner& owner;
  };
  explicit MasterLink(const Context& context) : context_(context) {}

  /// Its port is known from then on, and its id.
  base::Status Listen();
  /// Begins to look for a master. `web_url`: of this worker's pages.
  void Begin(const std::string& web_url);

  /// To the master, if there is one.
  void Send(const endpoints::spark::WorkerMessage& message);
  /// The same as a question, so that a refusal is seen.
  void Report(const endpoints::spark::WorkerMessage& message);
  /// The end of the run `key`; OnEndKnown follows. At most some thousands wait; then the first is given up.
  void ReportEnd(const std::string& key, endpoints::spark::WorkerMessage message);
  /// A master of ours need not wait for this worker; calls `done` when it knows, or in a second at the latest.
  void Leave(const std::function<void()>& done);

  const std::string& id() const { return id_; }
  endpoints::spark::EndpointReference Self() const;
  bool registered() const { return master_.peer != 0; }
  const std::string& master_url() const { return master_.url; }
  const std::string& master_web_url() const { return master_.web_url; }
  const spark_rpc::Refusals& refusals() const { return refusals_; }
  env::Endpoint local() const { return listener_->local(); }

 private:
  using PeerId = uint64_t;
  using Answer = spark_rpc::Connection::Answer;
  struct Present {
    PeerId peer = 0;  // 0: not registered
    bool is_ours = false;
    endpoints::spark::EndpointReference reference;
    std::string url;
    std::string web_url;
  };
  /// It says that it is the master now, while there is one, which is asked.
  struct Rival {
    PeerId peer = 0;
    endpoints::spark::MasterChanged said;
    env::Loop::TimerId timer = 0;
  };
  /// Executors and drivers keep one connection each, masters two.
  static constexpr peers::PeerLimits kPeerLimits{};

  PeerId AddPeer(std::unique_ptr<env::Stream> stream, spark_rpc::Connection::Side side);
  void Sweep();
  void OnMessage(PeerId id, spark_rpc::Incoming message);
  void OnClosed(PeerId id, const std::string& reason);
  void SendTo(PeerId peer, const endpoints::spark::WorkerMessage& message);
  /// False: there is no master.
  bool Ask(const std::string& endpoint, const std::string& content, Answer answer);
  void SendEnd(const std::string& key);
  void OnEndKnown(const std::string& key);

  void TryMasters();
  void Register(const endpoints::spark::RpcAddress& master);
  /// Whether a connection that this worker has not made may speak for a master: it has the secret, or comes from an
  /// address where a configured master was found.
  bool IsBelieved(PeerId peer) const;
  void Follow(PeerId peer, const endpoints::spark::MasterChanged& message);
  void FollowRival();
  void RefuseRival(const std::string& why);
  void SetMaster(PeerId peer, const endpoints::spark::EndpointReference& master, const std::string& web_url);
  /// Whether it is one of ours; `then` when that is known.
  void LearnMaster(std::function<void()> then);
  void Beat();
  /// As long as the master has a use for it.
  void TellUse();

  void On(PeerId peer, const endpoints::spark::RegisteredWorker& message);
  void On(PeerId peer, const endpoints::spark::RegisterWorkerFailed& message);
  void On(PeerId peer, const endpoints::spark::ReconnectWorker& message);
  void On(PeerId peer, const endpoints::spark::MasterChanged& message);

  const Context context_;
  std::string id_;
  std::string web_url_;
  std::unique_ptr<env::Listener> listener_;
  spark_rpc::Refusals refusals_;
  peers::PeerTable table_{kPeerLimits};  // before the peers, which have seats
  std::map<PeerId, spark_rpc::Guest> peers_;
  PeerId last_peer_ = 0;
  Present master_;
  std::set<PeerId> asked_;                  // masters that have not answered
  std::set<std::string> master_addresses_;  // where configured masters were found
  std::optional<Rival> rival_;
  std::map<std::string, endpoints::spark::WorkerMessage> ends_;  // that no master knows for certain
  base::Instant alone_since_;
  env::Timer retry_timer_{context_.loop};
  env::Timer beat_timer_{context_.loop};
  env::Timer use_timer_{context_.loop};
  env::Timer sweep_timer_{context_.loop};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_worker
