#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "endpoints/spark/descriptions.h"
#include "endpoints/spark/rpc_message.h"
#include "env_sim/world.h"
#include "process/spark_rpc/connection.h"

namespace fairlead::sim {

/// A driver in client mode as Spark's StandaloneAppClient: registers with every master until one has taken it, says to
/// whoever calls it back that it knows, and asks for executors. Where its master is gone and no other one calls, or its
/// application is removed, it begins again as another application.
class SimDriver {
 public:
  /// `number` tells it from others: its host is driverNUMBER.
  SimDriver(env_sim::World& world, int number, int masters, endpoints::spark::ApplicationDescription application);
  ~SimDriver();

  /// Empty until it is registered.
  const std::string& id() const { return id_; }
  /// How many executors it shall have.
  int32_t wanted() const { return wanted_; }
  void Want(int32_t executors) { wanted_ = executors; }
  /// Whether its master has said that it knows how many.
  bool settled() const { return !id_.empty() && known_ == wanted_; }

  /// Says what there is to be said; to be called now and then. `executors` are those that run, as they would have
  /// registered with it; it has those killed that are too many.
  void Turn(const std::vector<std::string>& executors);

 private:
  using PeerId = uint64_t;
  struct Peer {
    std::unique_ptr<process::spark_rpc::Connection> connection;
    bool closed = false;
  };
  void Add(std::unique_ptr<env::Stream> stream, bool registers);
  void OnMessage(PeerId peer, const wire::java_stream::Graph& message);
  void Send(PeerId peer, const std::string& content);
  void Register();
  void BeginAnew();
  void AskForExecutors();
  void KillSurplus(const std::vector<std::string>& executors);
  /// Of its master; `then` gets whether it was answered with true.
  void Ask(const std::string& content, std::function<void(bool)> then);

  env_sim::World& world_;
  env_sim::Machine& machine_;
  const int masters_;
  const endpoints::spark::ApplicationDescription application_;
  const endpoints::spark::RpcAddress address_;
  std::unique_ptr<env::Listener> listener_;
  std::map<PeerId, Peer> peers_;
  PeerId last_peer_ = 0;
  PeerId master_ = 0;  // 0: none is known
  std::string id_;
  base::Instant next_try_;
  base::Instant alone_since_;
  int32_t wanted_ = 0;
  int32_t known_ = -1;  // to its master; -1: nobody can say
  bool asks_ = false;   // and has no answer yet
};

}  // namespace fairlead::sim
