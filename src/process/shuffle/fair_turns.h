#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <string>
#include <unordered_map>

namespace fairlead::process::shuffle {

/// Whose connection may send next: deficit round robin (Shreedhar and Varghese) among the applications that have
/// connections waiting, first come first served within one. However many connections an application has, it sends as
/// many bytes as any other that wants to. Cost: O(1) a turn.
class FairTurns {
 public:
  explicit FairTurns(int64_t quantum_bytes) : quantum_(quantum_bytes) {}

  /// The connection wants to send. Once until it gets its turn.
  void Wait(const std::string& app, uint64_t connection);
  /// One round: every waiting application gets its quantum. `turn` sends at most about `bytes` and gives how many it
  /// sent; it may Wait() again.
  void Round(const std::function<int64_t(uint64_t connection, int64_t bytes)>& turn);
  bool waiting() const { return !apps_.empty(); }

 private:
  struct App {
    std::string name;
    int64_t deficit = 0;
    std::deque<uint64_t> connections;
  };
  const int64_t quantum_;
  std::list<App> apps_;  // those with waiting connections, in the order of their turns
  std::unordered_map<std::string, std::list<App>::iterator> by_name_;
};

}  // namespace fairlead::process::shuffle
