#include "shell/base/logging.h"

#include <spdlog/sinks/dup_filter_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "base/text.h"

namespace fairlead::shell {
namespace {

constexpr size_t kFileBytes = 64u << 20;
constexpr size_t kFilesKept = 5;

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

/// How often one sentence may be said, so that who causes a warning as often as he likes fills no disk.
class Allowance {
 public:
  /// False: this line is one too many. `left_out`: how many were since the last that was written.
  bool Take(std::string_view sentence, int64_t& left_out) {
    const std::lock_guard lock(mutex_);
    const auto now = std::chrono::steady_clock::now();
    if (said_.size() >= kSentencesMax) said_.clear();
    Said& said = said_.try_emplace(std::string(sentence), Said{now}).first->second;
    if (now - said.since >= kWindow) {
      said.since = now;
      said.lines = 0;
    }
    if (++said.lines > kLinesMax) {
      ++said.left_out;
      return false;
    }
    left_out = std::exchange(said.left_out, 0);
    return true;
  }

 private:
  static constexpr std::chrono::seconds kWindow{10};
  static constexpr int64_t kLinesMax = 100;
  static constexpr size_t kSentencesMax = 1000;
  struct Said {
    std::chrono::steady_clock::time_point since;
    int64_t lines = 0;
    int64_t left_out = 0;
  };
  std::mutex mutex_;
  std::map<std::string, Said, std::less<>> said_;
};

class SpdLog final : public env::Log {
 public:
  SpdLog(const std::string& daemon, const std::string& file, env::LogLevel level) {
    auto unrepeated = std::make_shared<spdlog::sinks::dup_filter_sink_mt>(std::chrono::seconds(1));
    if (file.empty()) {
      unrepeated->add_sink(std::make_shared<spdlog::sinks::stderr_sink_mt>());
    } else {
      unrepeated->add_sink(std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kFileBytes, kFilesKept));
    }
    logger_ = std::make_shared<spdlog::logger>(daemon, unrepeated);
    logger_->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %^%L%$ %n %v", spdlog::pattern_time_type::utc);
    logger_->set_level(Level(level));
    logger_->flush_on(spdlog::level::info);
  }

  void Write(env::LogLevel level, std::string_view what, const Fields& fields) override {
    int64_t left_out = 0;
    if (level == env::LogLevel::kWarn && !warnings_.Take(what, left_out)) return;
    std::string line(what);
    for (const auto& [key, value] : fields) {
      line += ' ';
      line += key;
      line += '=';
      line += NeedsQuotes(value) ? Quoted(value) : value;
    }
    if (left_out > 0) line += " left_out=" + std::to_string(left_out);
    logger_->log(Level(level), spdlog::string_view_t(base::VisibleText(line)));
  }

 private:
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
  Allowance warnings_;
  std::shared_ptr<spdlog::logger> logger_;
};

}  // namespace

std::unique_ptr<env::Log> MakeLog(const std::string& daemon, const std::string& file, env::LogLevel level) {
  return std::make_unique<SpdLog>(daemon, file, level);
}

}  // namespace fairlead::shell
