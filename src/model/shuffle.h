#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/fields.h"
#include "base/time.h"
#include "model/store_row.h"

// Events and effects of the shuffle core: which executors of which applications keep blocks in which directories, who
// may ask for them, and when they are forgotten (Spark: ExternalShuffleBlockResolver, ShuffleSecretManager). Variant
// indices and field lists are only ever appended: journals and the store hold them.

namespace fairlead::model::shuffle {

/// One local directory of an executor. Blocks are only ever opened below a root of the service.
struct LocalDir {
  static constexpr uint32_t kNoRoot = UINT32_MAX;
  std::string path;         // as the executor spelled it; what GetLocalDirsForExecutors answers
  uint32_t root = kNoRoot;  // index into Config::local_roots; kNoRoot: outside of all, nothing is opened there
  std::string below_root;   // without "..", "." and doubled slashes; empty: the root itself
  FL_FIELDS(path, root, below_root)
};

/// What an executor registered (ExecutorShuffleInfo).
struct Executor {
  std::vector<LocalDir> dirs;
  int32_t sub_dirs_per_local_dir = 64;
  std::string shuffle_manager;
  /// Different for every registration, also of the same executor: caches use it as the key.
  uint64_t generation = 0;
  FL_FIELDS(dirs, sub_dirs_per_local_dir, shuffle_manager, generation)
};

// ---- events --------------------------------------------------------------------------------------------------------

/// A row of the store, at start.
struct Restore {
  static constexpr std::string_view kName = "restore";
  std::string table;
  std::string key;
  std::string value;
  FL_FIELDS(table, key, value)
};
/// An executor wants to be served. Answered by Answered once it is stored.
struct RegisterExecutor {
  static constexpr std::string_view kName = "register_executor";
  uint64_t token = 0;
  std::string app;
  std::string executor;
  std::vector<std::string> local_dirs;
  int32_t sub_dirs_per_local_dir = 64;
  std::string shuffle_manager;
  FL_FIELDS(token, app, executor, local_dirs, sub_dirs_per_local_dir, shuffle_manager)
};
/// An application begins, with its secret (YARN: AuxiliaryService.initializeApplication). Answered once stored.
struct StartApp {
  static constexpr std::string_view kName = "start_app";
  uint64_t token = 0;
  std::string app;
  std::string secret;
  FL_FIELDS(token, app, secret)
};
/// An application ended: nothing of it will be asked for. Answered once that is stored.
struct StopApp {
  static constexpr std::string_view kName = "stop_app";
  uint64_t token = 0;
  std::string app;
  bool remove_dirs = false;
  FL_FIELDS(token, app, remove_dirs)
};
/// An executor is gone; its blocks stay, files that the service never serves may go.
struct ExecutorGone {
  static constexpr std::string_view kName = "executor_gone";
  std::string app;
  std::string executor;
  FL_FIELDS(app, executor)
};
/// Answer to Persist. `error` empty: on stable storage.
struct Persisted {
  static constexpr std::string_view kName = "persisted";
  uint64_t txn = 0;
  std::string error;
  FL_FIELDS(txn, error)
};
/// Answer to Probe, for one application.
struct Probed {
  static constexpr std::string_view kName = "probed";
  std::string app;
  bool dirs_exist = true;   // any of its directories; true when a disk does not say
  int64_t connections = 0;  // open ones that belong to it
  base::Duration idle;      // since anything of it was last asked for
  FL_FIELDS(app, dirs_exist, connections, idle)
};

/// From now on no executor may register; the end is announced by Drained.
struct Drain {
  static constexpr std::string_view kName = "drain";
  base::Duration idle;   // an application without connections and questions for so long counts as done
  base::Duration limit;  // Drained comes then at the latest
  FL_FIELDS(idle, limit)
};

using Event = std::variant<Restore, RegisterExecutor, StartApp, StopApp, ExecutorGone, Persisted, Probed, Drain>;

// ---- effects -------------------------------------------------------------------------------------------------------

using model::StoreRow;
/// Store all rows or none, then answer with Persisted.
struct Persist {
  static constexpr std::string_view kName = "persist";
  uint64_t txn = 0;
  std::vector<StoreRow> rows;
  FL_FIELDS(txn, rows)
};
/// Outcome of the event with this token. `error` is the first line of Spark's exception; empty: success.
struct Answered {
  static constexpr std::string_view kName = "answered";
  uint64_t token = 0;
  std::string error;
  FL_FIELDS(token, error)
};
/// Remove these directories whole; nobody will ask for them.
struct RemoveDirs {
  static constexpr std::string_view kName = "remove_dirs";
  std::string app;
  std::vector<LocalDir> dirs;
  FL_FIELDS(app, dirs)
};
/// Remove below these directories every file that the service never serves.
struct RemoveUnserved {
  static constexpr std::string_view kName = "remove_unserved";
  std::string app;
  std::vector<LocalDir> dirs;
  bool keep_rdd_blocks = false;
  FL_FIELDS(app, dirs, keep_rdd_blocks)
};
/// Look whether these directories are still there; answer with Probed.
struct Probe {
  static constexpr std::string_view kName = "probe";
  std::string app;
  std::vector<LocalDir> dirs;
  FL_FIELDS(app, dirs)
};
/// For people: an application was forgotten without anybody saying so.
struct Forgotten {
  static constexpr std::string_view kName = "forgotten";
  std::string app;
  std::string reason;
  FL_FIELDS(app, reason)
};

/// Nothing more will be asked for, or the limit has passed: the service may end. Once.
struct Drained {
  static constexpr std::string_view kName = "drained";
  std::string reason;
  FL_FIELDS(reason)
};

using Effect = std::variant<Persist, Answered, RemoveDirs, RemoveUnserved, Probe, Forgotten, Drained>;

}  // namespace fairlead::model::shuffle
