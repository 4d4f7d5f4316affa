#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::env {

enum class LogLevel : uint8_t { kDebug, kInfo, kWarn, kError };

/// Where a machine says what it does. One line an event: `what` is a fixed sentence without a final period, `fields`
/// are the ids and numbers that go with it.
class Log {
 public:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;
  virtual ~Log() = default;
  virtual void Write(LogLevel level, std::string_view what, const Fields& fields) = 0;

  void Info(std::string_view what, const Fields& fields = {}) { Write(LogLevel::kInfo, what, fields); }
  void Warn(std::string_view what, const Fields& fields = {}) { Write(LogLevel::kWarn, what, fields); }
  void Error(std::string_view what, const Fields& fields = {}) { Write(LogLevel::kError, what, fields); }
};

/// Says nothing (tests).
class NullLog final : public Log {
 public:
  void Write(LogLevel, std::string_view, const Fields&) override {}
};

}  // namespace fairlead::env
