#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "endpoints/spark/spark_build.h"
#include "env/log.h"
#include "env/loop.h"
#include "env/net.h"
#include "env/store.h"
#include "process/peers/peer_table.h"
#include "process/spark_master/driver_connection.h"
#include "process/spark_master/spark_application.h"

namespace fairlead::process::spark_master {

struct SparkMasterSettings {
  env::Endpoint listen{"127.0.0.1", 7077};
  ApplicationSettings application;
  std::vector<endpoints::spark::SparkBuild> builds;
  /// A connection that has registered nothing for this long is closed.
  base::Duration registration_within = base::Duration::Seconds(10);
  /// A message that is not whole.
  base::Duration message_within = base::Duration::Seconds(30);
  /// How long a driver is called back after a restart until it counts as gone.
  base::Duration call_back_for = base::Duration::Seconds(60);
  /// Of drivers and whoever calls; who has registered nothing goes first.
  peers::PeerLimits peers{.connections_max = 10'000, .per_address_max = 5'000, .bytes_max = size_t{32} << 20};
};

/// The Standalone Master's side towards drivers (org.apache.spark.deploy.master.Master, StandaloneAppClient): whoever
/// connects with `--master spark://HOST:PORT` becomes an application of the cluster. On the loop's thread.
class SparkMaster {
 public:
  /// Goes on with the applications in `store`, whose drivers are called back; `store` may be null: then applications
  /// end with this process.
  static base::Result<std::unique_ptr<SparkMaster>> Start(env::Loop& loop, env::Net& net, env::Store* store,
                                                          env::Log& log, SparkMasterSettings settings);
  ~SparkMaster();

  env::Endpoint local() const { return listener_->local(); }
  size_t connections() const { return peers_.size(); }
  size_t applications() const { return applications_.size(); }

 private:
  using PeerId = uint64_t;
  using ApplicationKey = uint64_t;
  struct Application {
    std::unique_ptr<SparkApplication> machine;
    PeerId peer = 0;  // 0: its driver is not connected
  };
  struct Peer final : peers::Peer {
    void Evict() override { connection->Close("there are too many connections, or they hold too much"); }
    size_t HeldBytes() const override { return connection->held_bytes(); }
    bool Overdue(base::Instant now, const SparkMasterSettings& settings);

    std::unique_ptr<DriverConnection> connection;
    std::unique_ptr<peers::PeerTable::Seat> seat;
    base::Instant since;
    ApplicationKey application = 0;  // 0: has registered none
    base::Instant message_since;     // of the one that is not whole
    uint64_t messages = 0;           // at the last look
  };

  SparkMaster(env::Loop& loop, env::Net& net, env::Store* store, env::Log& log, SparkMasterSettings settings);
  base::Status Recover();
  void CallBack(ApplicationKey key, const StoredApplication& stored, const std::string& id, base::Instant until);
  SparkApplication& AddApplication(ApplicationKey key, const endpoints::spark::SparkBuild& build,
                                   endpoints::spark::RegisterApplication registration);
  PeerId AddPeer(std::unique_ptr<env::Stream> stream, ApplicationKey application);
  void OnAccepted(std::unique_ptr<env::Stream> stream);
  void OnBytes(PeerId id);
  void Sweep();
  void OnMessage(PeerId id, endpoints::spark::DriverMessage message, std::optional<int64_t> request);
  void Answer(PeerId id, std::optional<int64_t> request, bool value);
  void OnClosed(PeerId id, const std::string& reason);
  void Register(PeerId id, endpoints::spark::RegisterApplication registration);
  void Tell(const Application& application, const std::string& content);
  void TellRegistered(const Application& application);
  const endpoints::spark::SparkBuild* BuildOf(int64_t suid) const;
  /// The application of a connection, when `id` is its.
  SparkApplication* ApplicationOf(const Peer& peer, const std::string& id) const;
  void Close(PeerId id, const std::string& reason);
  endpoints::spark::RpcAddress Address() const;

  env::Loop& loop_;
  env::Net& net_;
  env::Store* const store_;
  env::Log& log_;
  SparkMasterSettings settings_;
  std::unique_ptr<env::Listener> listener_;
  peers::PeerTable table_;  // before the peers, which have seats
  std::map<PeerId, Peer> peers_;
  std::map<ApplicationKey, Application> applications_;
  uint64_t next_id_ = 1;
  env::Loop::TimerId sweep_timer_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace fairlead::process::spark_master
