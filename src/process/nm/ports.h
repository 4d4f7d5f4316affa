#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"
#include "model/nm.h"
#include "process/http/server.h"

// What the node agent needs of its machine and cannot have through src/env: supervised containers, localization,
// directories with their health, auxiliary services. src/shell implements them for the real machine.

namespace fairlead::process::nm {

/// All that is needed to start one container.
struct LaunchPlan {
  model::ContainerId id;
  std::string user;
  model::Resources resources;
  std::string script;     // text of launch_container.sh
  std::string tokens;     // container_tokens, HDTS
  std::string local_dir;  // the local directory that holds work_dir
  std::string work_dir;
  std::vector<std::string> app_dirs;   // appcache/APP in every good local directory
  std::vector<std::string> log_dirs;   // container's log directory in every good log directory; [0] is <LOG_DIR>
  std::vector<model::nm::Link> links;  // to make in work_dir
  bool debug_info = false;             // yarn.nodemanager.log-container-debug-info.enabled
  bool relaunch = false;
};

/// Told on the loop's thread.
class ContainerEvents {
 public:
  virtual ~ContainerEvents() = default;
  virtual void OnContainerEvent(model::nm::Event event) = 0;
};

/// Containers as supervised process trees. Calls return at once; what came of them is told by the events
/// ContainerRunning, LaunchFailed, ContainerExited, ContainerAbsent and (from time to time) Usage.
class Containers {
 public:
  virtual ~Containers() = default;
  virtual void Start(ContainerEvents* events) = 0;
  virtual void Launch(LaunchPlan plan) = 0;
  /// Finds a container of an earlier run: running, ended meanwhile, or without a trace.
  virtual void Attach(const model::nm::ContainerSpec& spec) = 0;
  /// To the whole tree; for a container being launched or attached it takes effect when that is done.
  virtual void Signal(const model::ContainerId& id, model::nm::SignalKind kind) = 0;
  /// Makes links in the working directory of a container that was launched; what is there already stays.
  virtual void Link(const model::ContainerId& id, const std::string& user, const std::string& work_dir,
                    std::vector<model::nm::Link> links) = 0;
  virtual void Resize(const model::ContainerId& id, const model::Resources& resources) = 0;
  /// Removes what this port keeps of an ended container.
  virtual void Forget(const model::ContainerId& id) = 0;
};

/// A delegation token of an application's file system, as WebHDFS takes it.
struct FileSystemToken {
  std::string kind;     // "HDFS_DELEGATION_TOKEN", "WEBHDFS delegation", "SWEBHDFS delegation"
  std::string service;  // whose it is (SecurityUtil.buildTokenService)
  std::string text;     // Token.encodeToUrlString
  FL_FIELDS(kind, service, text)
  friend bool operator==(const FileSystemToken&, const FileSystemToken&) = default;
};

struct FetchPlan {
  model::nm::ResourceNumber number = 0;
  model::nm::LocalResource resource;
  std::string user;
  std::string local_dir;  // the local directory that holds `directory`
  std::string directory;  // to make; the resource comes into it under its own name
  std::vector<FileSystemToken> tokens = {};
  FL_FIELDS(number, resource, user, local_dir, directory, tokens)
};
struct Fetched {
  std::string path;
  int64_t bytes = 0;
  std::string error;     // as in ResourceFetched
  std::string thrown{};  // as in ResourceFetched
  bool given_up = false;
  FL_FIELDS(path, bytes, error, thrown)
};
class Localizer {
 public:
  virtual ~Localizer() = default;
  /// Copies, checks and unpacks off the loop; `done` runs on it. Nothing is left in the directory after an error.
  virtual void Fetch(FetchPlan plan, std::function<void(Fetched)> done) = 0;
  /// Gives up a fetch under way: its `done` hears `given_up`, unless it is just over.
  virtual void GiveUp(model::nm::ResourceNumber number) = 0;
};

/// Local and log directories, without those that failed their checks.
class NodeDirs {
 public:
  virtual ~NodeDirs() = default;
  virtual std::vector<std::string> all_local() const = 0;
  virtual std::vector<std::string> good_local() const = 0;
  virtual std::vector<std::string> all_logs() const = 0;
  virtual std::vector<std::string> good_logs() const = 0;
  /// The good local directory with the most free space; "" when there is none.
  virtual std::string PickLocal() = 0;
  /// Removes trees below these directories, as whoever owns them, off the loop; `done` runs on it with what went wrong.
  virtual void Remove(std::vector<std::string> paths, std::function<void(std::vector<std::string> errors)> done) = 0;
};

/// Log files of one application's containers.
struct LogQuery {
  model::ApplicationId app;
  std::vector<model::ContainerId> containers;  // of the application; empty: all that have logs here
  std::string file;                            // also its bytes [start, end); negative numbers count from its end
  int64_t start = 0;
  int64_t end = INT64_MAX;
  FL_FIELDS(app, containers, file, start, end)
};
struct LogFile {
  std::string name;
  int64_t size = 0;
  base::WallTime modified;
  FL_FIELDS(name, size, modified)
};
struct LogAnswer {
  std::map<model::ContainerId, std::vector<LogFile>> files;
  bool found = false;  // the query's file, then:
  std::string text;
  std::string error;  // why there is no text
  FL_FIELDS(files, found, text, error)
};
class ContainerLogs {
 public:
  virtual ~ContainerLogs() = default;
  /// Reads off the loop, as the application's user; `done` runs on it.
  virtual void Read(LogQuery query, std::function<void(LogAnswer)> done) = 0;
};

/// Which files are gathered, by Java's regular expressions found in their names; empty: no condition.
struct LogPatterns {
  std::string include;
  std::string exclude;
  FL_FIELDS(include, exclude)
};
/// The logs of one application on this node, to be brought to the cluster's place for them: all that are left at its
/// end, or before that those that may go (a roll).
struct AggregationPlan {
  model::ApplicationId app;
  std::string user;
  std::string node_id;  // host:port
  std::string view_acl;
  std::string modify_acl;
  LogPatterns at_end;                        // of files whose container has ended
  LogPatterns rolled;                        // of files that may go before
  std::vector<model::ContainerId> left_out;  // by the policy
  std::vector<model::ContainerId> live;
  std::vector<std::string> log_dirs;  // every log directory of the node
  base::WallTime now;
  bool rolls = false;  // its logs go in several files, each named by its time
  bool is_over = true;
  std::vector<FileSystemToken> tokens = {};
  FL_FIELDS(app, user, node_id, view_acl, modify_acl, at_end, rolled, left_out, live, log_dirs, now, rolls, is_over,
            tokens)
};
class LogAggregator {
 public:
  virtual ~LogAggregator() = default;
  /// Works off the loop; `done` runs on it, with an Error where not all was written, else with what of the plan could
  /// not be obeyed, or "". One plan of an application at a time. Every log goes to one file and to no second one, also
  /// when the process dies on the way and the work is done again, with a later `now` where the application rolls.
  virtual void Aggregate(AggregationPlan plan, std::function<void(const base::Result<std::string>& note)> done) = 0;
};

/// An auxiliary service (org.apache.hadoop.yarn.server.api.AuxiliaryService) that lives inside the node agent.
class AuxService {
 public:
  virtual ~AuxService() = default;
  /// The name in yarn.nodemanager.aux-services.
  virtual std::string name() const = 0;
  /// Meta data for StartContainersResponse and the environment NM_AUX_SERVICE_<name>.
  virtual std::string MetaData() const = 0;
  /// An application's first container brought `data` for this service (again after a restart of the agent).
  virtual void InitializeApplication(const std::string& user, const model::ApplicationId& app,
                                     const std::string& data) = 0;
  virtual void StopApplication(const model::ApplicationId& app) = 0;
  virtual void InitializeContainer(const model::ContainerId&, const std::string& /*user*/) {}
  virtual void StopContainer(const model::ContainerId&) {}
  /// What it counts, in Prometheus' text format; `done` may be called on another thread.
  virtual void TellMetrics(std::function<void(std::string)> done) { done(""); }
  /// Its page at /services/NAME/ of the agent's: `path` is what follows. False: it has no such thing. `done` may be
  /// called on another thread.
  virtual bool TellPage(const http::Request& /*request*/, const std::string& /*path*/,
                        std::function<void(http::Response)> /*done*/) {
    return false;
  }
  virtual bool has_page() const { return false; }
};

}  // namespace fairlead::process::nm
