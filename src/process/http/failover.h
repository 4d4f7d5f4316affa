#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"

namespace fairlead::process::http {

/// Which of several servers of a service to ask; one of them serves (RetryPolicies.FailoverOnNetworkExceptionRetry,
/// with the defaults of dfs.client.failover.*).
class Failover {
 public:
  /// Begins with the server that served last.
  Failover(size_t servers, size_t last) : servers_(servers), at_(last % servers) {}
  size_t at() const { return at_; }
  /// That one does not serve. How long to wait before the next one is asked; nothing: it is enough.
  std::optional<base::Duration> Next();

 private:
  size_t servers_;
  size_t at_;
  int failovers_ = 0;
};

/// Error::code of a request that reached nobody.
inline constexpr int kNotConnected = 1;

/// Of a REST answer of Hadoop's, {"RemoteException":{"exception":...,"message":...}}; nothing: it is no such.
struct RemoteException {
  std::string name;
  std::string message;
  /// Another server of the same service is the one that serves.
  bool is_standby() const { return name == "StandbyException"; }
};
std::optional<RemoteException> ReadRemoteException(std::string_view body);

}  // namespace fairlead::process::http
