#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "env/alive.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/timer.h"
#include "process/peers/peer_table.h"
#include "process/spark_master/executor_source.h"
#include "process/spark_rpc/guest.h"

namespace fairlead::process::spark_master {

struct SparkMasterSettings {
  env::Endpoint listen{"127.0.0.1", 7077};
  std::string host;  // as which everybody knows this daemon
  std::vector<endpoints::spark::SparkBuild> builds;
  /// How long a driver is called back after a restart until it counts as gone.
  base::Duration call_back_for = base::Duration::Seconds(60);
  spark_rpc::Security security;
  /// Of one of several masters (env::Elector::MayAct); not set: it may for ever. Once it may not, nothing more is said
  /// to anybody and `on_lapsed` is called, perhaps several times.
  std::function<bool()> may_act;
  std::function<void()> on_lapsed;
  /// Of drivers, workers and whoever calls; who has registered nothing goes first.
  peers::PeerLimits peers{.connections_max = 10'000, .per_address_max = 5'000, .bytes_max = size_t{32} << 20};
};

/// The Standalone Master's side towards drivers (org.apache.spark.deploy.master.Master, StandaloneAppClient): whoever
/// connects with `--master spark://HOST:PORT` becomes an application, whose executors come from a source. On the loop's
/// thread.
class SparkMaster final : private Peers {
 public:
  /// Goes on with the applications that the source has stored, whose drivers are called back. The source outlives it.
  static base::Result<std::unique_ptr<SparkMaster>> Start(env::Loop& loop, env::Net& net, env::Log& log,
                                                          SparkMasterSettings settings, ExecutorSource& source);
  ~SparkMaster() override;

  env::Endpoint local() const { return listener_->local(); }
  size_t connections() const { return peers_.size(); }
  size_t applications() const { return drivers_.size(); }
  const spark_rpc::Refusals& refusals() const { return refusals_; }

 private:
  using ApplicationKey = uint64_t;
  struct Driver {
    std::unique_ptr<Application> application;
    PeerId peer = 0;   // 0: its driver is not connected
    size_t bytes = 0;  // that are remembered of it
  };
  /// A member once it has registered as a driver or belongs to the source.
  struct Peer final : spark_rpc::Guest {
    ApplicationKey application = 0;  // 0: has registered none
    bool member = false;             // the source's
  };

  SparkMaster(env::Loop& loop, env::Net& net, env::Log& log, SparkMasterSettings settings, ExecutorSource& source);
  base::Status Recover();
  void CallBack(ApplicationKey key, base::Instant until);
  Application::Callbacks CallbacksOf(ApplicationKey key);
  PeerId AddPeer(std::unique_ptr<env::Stream> stream, ApplicationKey application, bool member);
  void ConnectTo(const endpoints::spark::RpcAddress& address,
                 std::function<void(base::Result<std::unique_ptr<env::Stream>>)> done);
  void OnAccepted(std::unique_ptr<env::Stream> stream);
  void OnBytes(PeerId id);
  void Sweep();
  void OnMessage(PeerId id, spark_rpc::Incoming message);
  void OnDriverMessage(PeerId id, endpoints::spark::DriverMessage message, std::optional<int64_t> request,
                       size_t bytes);
  void Answer(PeerId id, std::optional<int64_t> request, bool value);
  void OnClosed(PeerId id, const std::string& reason);
  static base::Status Keep(const endpoints::spark::SparkBuild& build,
                           endpoints::spark::RegisterApplication& registration);
  /// `bytes`: of the message.
  void Register(PeerId id, endpoints::spark::RegisterApplication registration, size_t bytes);
  void Tell(const Driver& driver, const std::string& content);
  void TellRegistered(const Driver& driver);
  const endpoints::spark::SparkBuild* BuildOf(int64_t suid) const;
  /// The application of a connection, when `id` is its.
  Application* ApplicationOf(const Peer& peer, const std::string& id) const;
  endpoints::spark::RpcAddress Address() const { return {settings_.host, local().port}; }

  // Peers:
  bool MayAct() override;
  void Send(PeerId peer, const endpoints::spark::RpcAddress& receiver, const std::string& endpoint,
            const std::string& content) override;
  void Reply(PeerId peer, int64_t request, const std::string& content) override;
  void Refuse(PeerId peer, int64_t request, const std::string& why) override;
  void Close(PeerId peer, const std::string& reason) override;
  void CloseFor(spark_rpc::Refusal kind, PeerId peer, const std::string& reason) override;
  std::string AddressOf(PeerId peer) const override;
  bool Keep(PeerId peer, size_t bytes) override;
  void Know(PeerId peer) override;
  void Ask(PeerId peer, const endpoints::spark::RpcAddress& receiver, const std::string& endpoint,
           const std::string& content, std::function<void()> done) override;
  spark_rpc::Refusals& refusals() override { return refusals_; }
  void Connect(const endpoints::spark::RpcAddress& address,
               std::function<void(std::optional<PeerId> peer)> done) override;

  env::Loop& loop_;
  env::Net& net_;
  env::Log& log_;
  const SparkMasterSettings settings_;
  ExecutorSource& source_;
  std::unique_ptr<env::Listener> listener_;
  spark_rpc::Refusals refusals_;
  peers::PeerTable table_;  // before the peers, which have seats
  std::map<PeerId, Peer> peers_;
  std::map<ApplicationKey, Driver> drivers_;
  uint64_t next_id_ = 1;
  env::Timer sweep_timer_{loop_};
  env::Alive alive_;
};

}  // namespace fairlead::process::spark_master
