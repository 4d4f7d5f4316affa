#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "env/alive.h"
#include "env/loop.h"
#include "env/net.h"
#include "process/driver/job_driver.h"
#include "process/peers/peer_table.h"

namespace fairlead::process::driver {

/// Listens for the application's executors, lets in those that know its secret and run the same build, shows them that
/// the driver knows it, too, and makes each connection an ExecutorLink of the JobDriver, whose messages are sealed
/// (wire/engine/channel.h). On the loop's thread.
class ExecutorServer {
 public:
  struct Callbacks {
    /// A new executor; gives where its shuffle files are served (port 0: nowhere), or an error to refuse it.
    std::function<base::Result<ExecutorInfo>(const wire::engine::Hello& hello)> admit;
    /// Its connection broke; `index` is gone for the JobDriver already. Called before the loss is told when the reason
    /// can be known better elsewhere (the container's exit): return true to tell it yourself.
    std::function<bool(const std::string& executor_id, model::tasks::ExecutorIndex index, const std::string& reason)>
        on_lost;
    std::function<void(const std::string& executor_id, model::tasks::ExecutorIndex index)> on_ready;
  };
  ExecutorServer(env::Loop& loop, env::Net& net, JobDriver& driver, std::string secret, std::string build_id,
                 Callbacks callbacks);
  ~ExecutorServer();

  base::Result<env::Endpoint> Listen(const env::Endpoint& endpoint);
  /// Tells every executor to end; connections close once that is sent.
  void ShutDown(const std::string& reason);
  /// Tells one executor to end.
  void Dismiss(model::tasks::ExecutorIndex executor, const std::string& reason);
  /// Executors connected now.
  size_t connected() const;

 private:
  class Peer;
  void Remove(uint64_t peer);

  env::Loop& loop_;
  env::Net& net_;
  JobDriver& driver_;
  const std::string secret_;
  const std::string build_id_;
  Callbacks callbacks_;
  std::unique_ptr<env::Listener> listener_;
  peers::PeerTable table_{{.connections_max = 10'000, .per_address_max = 5'000}};
  std::map<uint64_t, std::unique_ptr<Peer>> peers_;  // by the number of their connection
  uint64_t last_peer_ = 0;
  std::string farewell_;  // not empty: it is shut down
  env::Alive alive_;
};

}  // namespace fairlead::process::driver
