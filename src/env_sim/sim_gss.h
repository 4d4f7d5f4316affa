#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "env/gss.h"
#include "env/loop.h"

namespace fairlead::env_sim {

/// A realm of Kerberos in one process: tickets are names and numbers that the realm remembers, and protection is a sum.
/// It refuses what the real one refuses: tickets that it did not give, for another service, or shown twice.
class SimRealm {
 public:
  /// Outlives every context. `_HOST` stands for the host as it is given.
  std::unique_ptr<env::Gss> As(env::Loop& loop, const std::string& principal);

  /// While it says nothing, whoever wants a ticket waits.
  void SetSilent(bool silent) { silent_ = silent; }
  /// Its ticket has ended.
  void Expire(const std::string& principal) { expired_.insert(principal); }
  /// Tickets that were given.
  uint64_t given() const { return last_; }

 private:
  friend class SimContext;
  bool silent_ = false;
  uint64_t last_ = 0;
  std::set<std::string> expired_;
  std::set<std::string> valid_;  // what clients send with their tickets; each once
};

}  // namespace fairlead::env_sim
