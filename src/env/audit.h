#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "env/log.h"

namespace fairlead::env {

enum class AuditResult : uint8_t { kSuccess, kFailure };

/// Where a daemon says who logged in, who was refused and who changed what: one line each time, none counted in place
/// of another. Words as Hadoop's SecurityLogger has them, or fields as its RMAuditLogger has them (KEY=value, tabs
/// between). Whatever strangers wrote may be given as it is: the writer makes it one visible line. Of successes and of
/// failures so many bytes are written each, so that a flood of failures hides no success. Empty: nowhere.
class Audit {
 public:
  using Write = std::function<void(AuditResult, std::string_view words, const Log::Fields& fields)>;
  Audit() = default;
  explicit Audit(Write write) : write_(std::move(write)) {}

  void Success(std::string_view words, const Log::Fields& fields = {}) const {
    if (write_) write_(AuditResult::kSuccess, words, fields);
  }
  void Failure(std::string_view words, const Log::Fields& fields = {}) const {
    if (write_) write_(AuditResult::kFailure, words, fields);
  }

 private:
  Write write_;
};

}  // namespace fairlead::env
