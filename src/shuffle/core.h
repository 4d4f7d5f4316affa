#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "model/shuffle.h"

// The shuffle core: the registry of executors and secrets.

namespace fairlead::shuffle {

struct Config {
  /// Directories below which executors' directories must lie; normalized, absolute.
  std::vector<std::string> local_roots;
  /// Spark 4.3 refuses a directory outside of the roots at registration; 3.5 takes it (and Fairlead then serves nothing
  /// from it).
  bool refuse_foreign_dirs = true;
  /// On YARN (4.x): the application's id must be a component of each directory.
  bool app_scoped_dirs = false;
  /// spark.shuffle.service.fetch.rdd.enabled: RDD blocks survive their executor.
  bool keep_rdd_blocks = false;
  /// Nobody tells a separate service of an application's end. It is forgotten when its directories were gone in two
  /// looks in a row and no connection was open; or, whatever its directories, idle for `app_idle_max` without one.
  bool sweep = true;
  base::Duration sweep_interval = base::Duration::Seconds(600);
  base::Duration app_idle_max = base::Duration::Seconds(7 * 24 * 3600);
  /// While it drains it looks so often whether anything is still asked for.
  base::Duration drain_interval = base::Duration::Seconds(1);
  size_t executors_max = 1'000'000;
  /// Memory of all registrations, and of one application's; a real executor's takes 1 to 4 KiB.
  size_t bytes_max = 256 << 20;
  size_t app_bytes_max = 64 << 20;
  /// While there is no more room it looks for directories that are gone so often.
  base::Duration full_interval = base::Duration::Seconds(10);
};

/// The registry at one moment, shared with other threads. Lookups are O(log apps + log executors).
class Registry {
 public:
  using ExecutorRef = std::shared_ptr<const model::shuffle::Executor>;
  struct App {
    std::optional<std::string> secret;
    std::vector<std::pair<std::string, ExecutorRef>> executors;  // by id
    size_t bytes = 0;                                            // of them
  };

  const App* FindApp(std::string_view app) const;
  /// nullptr: not registered.
  const model::shuffle::Executor* Find(std::string_view app, std::string_view executor) const;
  ExecutorRef FindShared(std::string_view app, std::string_view executor) const;
  const std::map<std::string, std::shared_ptr<const App>, std::less<>>& apps() const { return apps_; }
  size_t executors() const { return executors_; }
  /// Memory of them all.
  size_t bytes() const { return bytes_; }

 private:
  friend class Core;
  std::map<std::string, std::shared_ptr<const App>, std::less<>> apps_;
  size_t executors_ = 0;
  size_t bytes_ = 0;
};

/// Places `path` below one of `roots` (both absolute): the longest root that is a prefix of it, component by component,
/// after "." and ".." are resolved by name. LocalDir::root is kNoRoot when there is none or the path is relative.
model::shuffle::LocalDir PlaceDir(std::string path, std::span<const std::string> roots);

/// A service that is told to stop and waits until nothing is asked for.
struct Draining {
  base::Duration idle;
  base::Instant until;
  std::set<std::string> quiet;  // applications that were idle at the last look
  bool told = false;
};

/// State machine of the registry. Invariants: (1) what a Persist without its Persisted would add is not in the
/// registry; (2) executors of an application are in order of their ids; (3) no answer is given twice.
/// Cost of a Step: O(events + executors of the applications that change).
class Core {
 public:
  explicit Core(Config config);

  using Effects = std::vector<model::shuffle::Effect>;
  void Step(base::Instant now, std::span<const model::shuffle::Event> in, Effects& out);
  /// Can this row be read? Step passes over those that cannot: who restores looks first.
  static base::Status CheckRow(const model::shuffle::Restore& row);
  /// When Step must be called even without an event.
  base::Instant NextDeadline() const;

  /// The registry after the last Step; a new object whenever it changed.
  std::shared_ptr<const Registry> View() const { return registry_; }
  /// Empty when all invariants hold, else what is wrong.
  std::string CheckInvariants() const;
  uint64_t StateHash() const;
  /// Registrations that found no room.
  uint64_t refused() const { return refused_; }

 private:
  /// Of an application whose directories were gone at the last look, without an open connection.
  struct Gone {
    int looks = 0;
    base::Instant since;
  };
  struct Pending {
    uint64_t token = 0;
    bool answer = false;
    std::string app;
    std::string executor;                // of a registration
    Registry::ExecutorRef registration;  // set: to be added
    std::optional<std::string> secret;   // set: to be added
    size_t bytes = 0;                    // of the registration
  };

  void On(base::Instant now, const model::shuffle::Restore& event, Effects& out);
  void On(base::Instant now, const model::shuffle::RegisterExecutor& event, Effects& out);
  void On(base::Instant now, const model::shuffle::StartApp& event, Effects& out);
  void On(base::Instant now, const model::shuffle::StopApp& event, Effects& out);
  void On(base::Instant now, const model::shuffle::ExecutorGone& event, Effects& out);
  void On(base::Instant now, const model::shuffle::Persisted& event, Effects& out);
  void On(base::Instant now, const model::shuffle::Probed& event, Effects& out);
  void On(base::Instant now, const model::shuffle::Drain& event, Effects& out);
  void Sweep(Effects& out);
  void LookIfDrained(base::Instant now, Effects& out);

  /// Takes the application out and gives the rows that remove it from the store.
  std::vector<model::shuffle::StoreRow> Forget(const std::string& app);
  uint64_t SendPersist(std::vector<model::shuffle::StoreRow> rows, Pending pending, Effects& out);
  /// Why a registration of so many bytes finds none; empty: it does. What is gone for longest goes for it.
  std::string MakeRoom(base::Instant now, const std::string& app, size_t bytes, Effects& out);
  std::string Validate(const model::shuffle::RegisterExecutor& event, const model::shuffle::Executor& executor) const;
  Registry::App& Edit(const std::string& app);
  Registry& Edit();
  void AddExecutor(const std::string& app, const std::string& executor, Registry::ExecutorRef registration);

  const Config config_;
  std::shared_ptr<const Registry> registry_;
  std::shared_ptr<Registry> draft_;  // being changed in this Step
  std::map<std::string, std::shared_ptr<Registry::App>> draft_apps_;
  std::map<uint64_t, Pending> pending_;
  std::map<std::string, Gone> gone_;
  size_t pending_bytes_ = 0;
  uint64_t refused_ = 0;
  uint64_t last_txn_ = 0;
  uint64_t last_generation_ = 0;
  bool started_ = false;
  base::Instant next_sweep_;
  std::optional<Draining> draining_;
};

/// Tables of the store and the keys and values of their rows.
inline constexpr std::string_view kExecutorTable = "shuffle_executors";
inline constexpr std::string_view kAppTable = "shuffle_apps";

}  // namespace fairlead::shuffle
