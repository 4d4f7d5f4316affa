#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "config/capacity_change.h"
#include "env/store.h"
#include "model/queues.h"

namespace fairlead::process::rm {

/// The row of kSchedulerConfTable.
struct SchedulerConfRecord {
  int64_t version = 0;  // grows with each change
  config::Properties keys;
  FL_FIELDS(version, keys)
};
inline constexpr char kSchedulerConfTable[] = "rm/scheduler-conf";
/// Nothing: none was stored yet. An error names the row that cannot be read: other queues are no replacement for it.
base::Result<std::optional<SchedulerConfRecord>> LoadSchedulerConf(env::Store& store);

struct SchedulerConfOptions {
  SchedulerConfRecord start;  // version 0: of the file, and to be stored
  bool kept = true;           // false: a restart begins with the file again
  bool queue_admins = false;  // who administers the queues may change them, too
  /// The file's keys now.
  std::function<base::Result<config::Properties>()> read_file;
  std::function<model::QueueTree(const config::Properties& keys, std::vector<std::string>& warnings)> parse;
};

/// The keys of the CapacityScheduler's queues where `yarn schedulerconf` changes them (MutableCSConfigurationProvider).
/// One change is made at a time: taken into use by the scheduler, then stored, then acknowledged.
class SchedulerConf {
 public:
  /// Takes keys into use; `done` gets what the scheduler has against them.
  using Use = std::function<void(const config::Properties& keys, std::function<void(const base::Status&)> done)>;
  using Store = std::function<void(std::vector<env::Row> rows, std::function<void()> stored)>;
  SchedulerConf(SchedulerConfOptions options, Use use, Store store)
      : options_(std::move(options)), use_(std::move(use)), store_(std::move(store)), now_(options_.start) {}

  /// What is to be stored before anything else; empty for most.
  std::vector<env::Row> AtStart();
  /// In use.
  const SchedulerConfRecord& now() const { return now_; }
  const SchedulerConfOptions& options() const { return options_; }

  using Done = std::function<void(const base::Status&)>;
  /// An error is why not, in Hadoop's words; all stays as it is then.
  void Change(config::CapacityChange change, Done done);
  /// The file's keys again.
  void Format(Done done);

 private:
  /// The keys that are to follow those in use.
  using Make = std::function<base::Result<config::Properties>(const config::Properties& now)>;
  void Add(Make make, Done done);
  void Next();
  void Ended(const base::Status& status);
  env::Row Row() const;

  SchedulerConfOptions options_;
  Use use_;
  Store store_;
  SchedulerConfRecord now_;
  std::deque<std::pair<Make, Done>> waiting_;  // the first is being made
};

}  // namespace fairlead::process::rm
