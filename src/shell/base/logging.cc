#include "shell/base/logging.h"

#include <spdlog/sinks/dup_filter_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string>

#include "base/text.h"
#include "shell/base/log_allowance.h"

namespace fairlead::shell {
namespace {

bool NeedsQuotes(const std::string& value) {
  return value.empty() || value.find_first_of(" \t\n\"=") != std::string::npos;
}

std::string Quoted(const std::string& value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

class SpdLog final : public DaemonLog {
 public:
  SpdLog(const std::string& daemon, const LogOptions& options) {
    spdlog::sink_ptr out;
    if (options.file.empty()) {
      out = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      out = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(options.file, options.file_mib << 20,
                                                                   options.files_kept);
    }
    auto unrepeated = std::make_shared<spdlog::sinks::dup_filter_sink_mt>(std::chrono::seconds(1));
    unrepeated->add_sink(out);
    logger_ = std::make_shared<spdlog::logger>(daemon, unrepeated);
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%L%$ %n %v", spdlog::pattern_time_type::utc);
    audit_ = std::make_shared<spdlog::logger>(daemon, out);
    for (const auto& logger : {logger_, audit_}) {
      logger->set_level(Level(options.level));
      logger->flush_on(spdlog::level::info);
    }
  }

  ~SpdLog() override {
    TellLeftOut(allowance_.TakeLeftOut());
    for (LogAllowance* const kind : {said_, operations_}) {
      TellLeftOut(kind[0].TakeLeftOut());
      TellLeftOut(kind[1].TakeLeftOut());
    }
  }

  void WriteAudit(env::AuditResult result, std::string_view words, const Fields& fields) override {
    const bool failure = result == env::AuditResult::kFailure;
    std::string line = "audit: " + base::VisibleText(Shortened(words, LogAllowance::kLineBytesMax));
    const char* between = words.empty() ? "" : "\t";
    for (const auto& [key, text] : fields) {
      line += between;
      line += std::string(key) + "=" + base::VisibleText(Shortened(text, LogAllowance::kValueBytesMax));
      between = "\t";
    }
    int64_t left_out = 0;
    // The bytes are the bound, at the level that is written freely.
    LogAllowance& allowance = (fields.empty() ? said_ : operations_)[failure ? 1 : 0];
    if (!allowance.Take(env::LogLevel::kInfo, "", line.size(), Now(), left_out)) return;
    TellLeftOut(left_out);
    audit_->log(failure ? spdlog::level::warn : spdlog::level::info, spdlog::string_view_t(line));
  }

  void Write(env::LogLevel level, std::string_view what, const Fields& fields) override {
    std::string line(what);
    for (const auto& [key, text] : fields) {
      const std::string value = Shortened(text, LogAllowance::kValueBytesMax);
      line += ' ';
      line += key;
      line += '=';
      line += NeedsQuotes(value) ? Quoted(value) : value;
    }
    line = base::VisibleText(Shortened(line, LogAllowance::kLineBytesMax));
    int64_t left_out = 0;
    if (!allowance_.Take(level, what, line.size(), Now(), left_out)) return;
    TellLeftOut(left_out);
    logger_->log(Level(level), spdlog::string_view_t(line));
  }

 private:
  void TellLeftOut(int64_t lines) {
    if (lines > 0) logger_->log(spdlog::level::warn, "{} more lines left out", lines);
  }
  static spdlog::level::level_enum Level(env::LogLevel level) {
    switch (level) {
      case env::LogLevel::kDebug:
        return spdlog::level::debug;
      case env::LogLevel::kInfo:
        return spdlog::level::info;
      case env::LogLevel::kWarn:
        return spdlog::level::warn;
      case env::LogLevel::kError:
        return spdlog::level::err;
    }
    return spdlog::level::info;
  }
  static base::Instant Now() { return {std::chrono::steady_clock::now().time_since_epoch().count()}; }
  LogAllowance allowance_;
  LogAllowance said_[2], operations_[2];  // of audit lines in words, and in fields: successes, failures
  std::shared_ptr<spdlog::logger> logger_;
  std::shared_ptr<spdlog::logger> audit_;  // into the same, past the filter of repeats
};

}  // namespace

env::Audit AuditIn(DaemonLog& log) {
  return env::Audit([&log](env::AuditResult result, std::string_view words, const env::Log::Fields& fields) {
    log.WriteAudit(result, words, fields);
  });
}

std::unique_ptr<DaemonLog> MakeLog(const std::string& daemon, const LogOptions& options) {
  return std::make_unique<SpdLog>(daemon, options);
}

}  // namespace fairlead::shell
