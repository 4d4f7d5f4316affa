#pragma once

#include <memory>
#include <string>
#include <vector>

namespace fairlead::env_zookeeper {

/// A real ZooKeeper server (Debian's package "zookeeper") on a free port of loopback, in a directory of its own, with a
/// tick of 100 ms; for tests. Ends with the object.
class TestServer {
 public:
  /// `properties`: Java's, "jute.maxbuffer=65536".
  static std::unique_ptr<TestServer> Start(const std::vector<std::string>& properties = {});
  virtual ~TestServer() = default;
  virtual const std::string& address() const = 0;
  virtual void Stop() = 0;      // SIGSTOP
  virtual void Continue() = 0;  // SIGCONT
  /// Kills it and starts it over the same state.
  virtual void Restart() = 0;
};

}  // namespace fairlead::env_zookeeper
