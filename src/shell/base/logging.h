#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "env/audit.h"
#include "env/log.h"

namespace fairlead::shell {

/// Where a daemon logs, how much it says, and how much of it is kept.
struct LogOptions {
  std::string file;  // empty: stderr
  env::LogLevel level = env::LogLevel::kInfo;
  uint64_t file_mib = 64;   // a file that has grown to this is set aside, rm.log as rm.1.log
  uint64_t files_kept = 5;  // of those set aside
};

/// A log that takes audit lines as well.
class DaemonLog : public env::Log {
 public:
  virtual void WriteAudit(env::AuditResult result, std::string_view words, const Fields& fields) = 0;
};

/// What writes into `log`, which outlives it.
env::Audit AuditIn(DaemonLog& log);

/// A log of one daemon on stderr or in a rotated file: "2026-01-31T12:00:00.123Z INFO rm what key=value". Lines of one
/// text that repeat within a second are counted instead of written; of warnings with one sentence more than 100 in ten
/// seconds are, since strangers may cause some. Audit lines begin with "audit: ", failures' at WARN; of them none is
/// counted instead of written, within an allowance of bytes for successes and one for failures, of those in words and
/// of those in fields each.
std::unique_ptr<DaemonLog> MakeLog(const std::string& daemon, const LogOptions& options);

}  // namespace fairlead::shell
