#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "env/net.h"
#include "process/rpc/rpc_client.h"

namespace fairlead::process::rpc {

/// The addresses of a service with one leading member (yarn.resourcemanager.ha.rm-ids), and which of them to ask
/// (org.apache.hadoop.yarn.client.ConfiguredRMFailoverProxyProvider).
class Members {
 public:
  Members(env::Endpoint alone) : addresses_{std::move(alone)} {}
  /// At least one.
  Members(std::vector<env::Endpoint> addresses) : addresses_(std::move(addresses)) {}

  const env::Endpoint& current() const { return addresses_[at_]; }
  /// Told of each call that failed: where another member may answer differently, it is the next to be asked.
  void Failed(const RpcError& error) {
    if (!IsRefusal(error)) at_ = (at_ + 1) % addresses_.size();
  }

 private:
  std::vector<env::Endpoint> addresses_;
  size_t at_ = 0;
};

}  // namespace fairlead::process::rpc
