#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "model/refusal.h"

namespace fairlead::process::ask {

/// Tokens of calls to the scheduler of a future, and why the first call of a change was refused.
class Calls {
 public:
  uint64_t Token() { return ++last_; }
  /// Of a call for a change: "the job in root.a".
  uint64_t TokenFor(const std::string& what);
  /// Of a call that is no change's nothing is kept.
  void Refused(uint64_t token, const model::Refused& refused);
  void Refuse(const std::string& what, const model::Refused& refused);
  base::Status status() const;

 private:
  uint64_t last_ = 0;
  std::map<uint64_t, std::string> changes_;
  std::string first_;  // empty: none was refused
};

}  // namespace fairlead::process::ask
