#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "process/nm/ports.h"
#include "shell/nm/beneath.h"
#include "shell/nm/errand.h"
#include "shell/nm/pattern.h"

// The log files of one application on this node, and the one file that they go to.

namespace fairlead::shell {

struct LogSource {
  std::string name;
  std::string root;   // the log directory
  std::string below;  // where it lies there
};
/// By container, each by name.
using LogSources = std::map<std::string, std::vector<LogSource>>;

/// Which files a plan wants: at the application's end those of the patterns for ended containers; before, of running
/// containers those that may go, of ended ones both (AggregatedLogFormat.LogValue).
class LogChoice {
 public:
  /// Fails where a pattern for rolled files cannot be read: without it, files that are still written would go. One of
  /// the others that cannot be read, or is not given, decides nothing.
  static base::Result<LogChoice> Of(const process::nm::AggregationPlan& plan);
  /// Which of them cannot be read, and why; or "".
  const std::string& unread() const { return unread_; }
  bool Takes(const model::ContainerId& container, const std::string& file) const;

 private:
  struct Rule {
    std::optional<Pattern> include, exclude;
    bool Takes(const std::string& file) const {
      return (!include || include->IsFoundIn(file)) && !(exclude && exclude->IsFoundIn(file));
    }
  };
  Rule at_end_, rolled_;
  std::string unread_;
  std::set<model::ContainerId> left_out_, live_;
  bool is_over_ = true;
};

/// Files of the application's containers below LOG_DIR/APPLICATION/`below` of all log directories, where `takes` says
/// so (empty: all). Regular files alone, without links.
using TakesLog = std::function<bool(const model::ContainerId&, const std::string&)>;
LogSources FindLogs(const process::nm::AggregationPlan& plan, const std::string& below, const TakesLog& takes);

/// Writes one TFile or IFile with these logs to the open file. Each log has exactly the length that it had when its
/// turn came, though it may grow.
base::Status WriteLogFile(int file, const process::nm::AggregationPlan& plan, const LogSources& logs,
                          const LogAggregationOptions& options);

/// host_port, by which readers know a node's files (LogAggregationUtils.getNodeString).
std::string LogFileName(const process::nm::AggregationPlan& plan);

}  // namespace fairlead::shell
