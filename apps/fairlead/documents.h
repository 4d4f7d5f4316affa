#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/described_json.h"
#include "endpoints/v1/apps.h"
#include "endpoints/v1/cluster.h"
#include "endpoints/v1/events.h"
#include "endpoints/v1/nodes.h"
#include "endpoints/v1/queues.h"

// What commands print with --json of their own; `fairlead schema` tells it. Answers of /fairlead/v1 they print as these
// came (endpoints/v1). Facts from YARN's protocols, which Hadoop's managers tell as well, have names in camelCase.

namespace fairlead::apps {

/// An answer of /fairlead/v1 as it came; null: there is none.
template <class T>
struct Passed {
  nlohmann::ordered_json json{};

  void AppendJson(std::string& out) const {
    out += json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  static std::string Schema(base::JsonSchemas& schemas) {
    return R"({"anyOf":[)" + schemas.Of<T>() + R"(,{"type":"null"}]})";
  }
};

/// Null: there is none.
template <class T>
struct OrNull {
  std::optional<T> value{};

  void AppendJson(std::string& out) const {
    if (!value) {
      out += "null";
    } else {
      base::WriteJson(out, *value);
    }
  }
  static std::string Schema(base::JsonSchemas& schemas) {
    return R"({"anyOf":[)" + schemas.Of<T>() + R"(,{"type":"null"}]})";
  }
};

/// {NAME: TEXT, ...}
struct Texts {
  std::map<std::string, std::string> by_name{};
  void AppendJson(std::string& out) const { out += nlohmann::ordered_json(by_name).dump(); }
  static std::string Schema(base::JsonSchemas& /*schemas*/) {
    return R"({"type":"object","additionalProperties":{"type":"string"}})";
  }
};

struct Size {
  int64_t memoryMib = 0, vcores = 0;
  FL_DESCRIBED("Size", (memoryMib, ""), (vcores, ""))
};

struct AppReport {
  std::string id{}, name{}, type{}, user{}, queue{}, state{}, finalStatus{};
  float progress = 0;
  int64_t startTime = 0, finishTime = 0;
  int32_t containers = 0;
  Size used{};
  std::string trackingUrl{}, diagnostics{};

  FL_DESCRIBED("AppReport", (id, "application_TIMESTAMP_NUMBER"), (name, ""), (type, ""), (user, ""), (queue, ""),
               (state, ""), (finalStatus, ""), (progress, "0 to 1"), (startTime, "milliseconds since 1970"),
               (finishTime, "0: not yet"), (containers, "that run"), (used, "by them"), (trackingUrl, ""),
               (diagnostics, ""))
};
struct AppAndDetail : AppReport {
  Passed<endpoints::v1::ApplicationDetail> fairlead{};
  Passed<std::vector<endpoints::v1::Event>> ended{};
  FL_DESCRIBED_BEYOND(AppReport, "AppAndDetail", (fairlead, "what only Fairlead's manager tells; null: of Hadoop's"),
                      (ended, "its last containers that have ended"))
};
struct AppWaits {
  std::string id{}, state{};
  Passed<std::vector<endpoints::v1::Pending>> pending{};
  FL_DESCRIBED("AppWaits", (id, ""), (state, ""), (pending, "null: Hadoop's manager does not tell"))
};

struct NodeReport {
  std::string id{}, state{}, rack{}, httpAddress{};
  int32_t containers = 0;
  Size used{}, capacity{};
  std::string health{};
  std::optional<std::string> version{};
  std::optional<Passed<std::vector<endpoints::v1::MaintenanceWindow>>> maintenance{};

  FL_DESCRIBED("NodeReport", (id, "HOST:PORT"), (state, ""), (rack, ""), (httpAddress, ""), (containers, ""),
               (used, ""), (capacity, ""), (health, "what it says of itself"),
               (version, "of Hadoop, as its agent tells; left out where another manager leads"),
               (maintenance, "windows of its host, if there are any"))
};
/// A node that does not serve.
struct NodeReason {
  std::string id{}, state{}, since{}, by{}, why{};
  FL_DESCRIBED("NodeReason", (id, ""), (state, ""), (since, "local time, or -"), (by, "who took it out, or -"),
               (why, ""))
};
struct NodeOrder {
  std::string id{}, state{};
  FL_DESCRIBED("NodeOrder", (id, ""), (state, "that it has now"))
};
struct NodeGivenBack : NodeOrder {
  bool agent_ended = false;
  FL_DESCRIBED_BEYOND(NodeOrder, "NodeGivenBack", (agent_ended, "its agent must be started again"))
};

struct Killed {
  std::string id{};
  bool killed = false;
  FL_DESCRIBED("Killed", (id, ""), (killed, "false: it is being killed"))
};

struct QueueSet {
  std::string file{}, differs{};
  bool written = false, in_use = false;
  FL_DESCRIBED("QueueSet", (file, "that holds the queues"), (differs, "lines, - those that go and + those that come"),
               (written, ""), (in_use, "the manager has read it"))
};

struct ManagerState {
  std::string id{}, page{}, state{}, version{};
  int64_t startedOn = 0, sessionMs = 0;
  FL_DESCRIBED("ManagerState", (id, "of one of several"), (page, ""),
               (state, "ACTIVE, STANDBY, does not answer, refuses the caller"), (version, "of Hadoop's protocols"),
               (startedOn, "milliseconds since 1970"), (sessionMs, "of its session with ZooKeeper; 0: it has none"))
};
struct ManagerScheduler {
  std::string profile{}, wishes{};
  int64_t unreadRows = 0;
  std::string unreadFirst{};
  Passed<endpoints::v1::Journal> journal{};
  FL_DESCRIBED("ManagerScheduler", (profile, ""), (wishes, ""), (unreadRows, "of its state, left out"),
               (unreadFirst, ""), (journal, "what is kept for fairlead replay"))
};
/// YARN's clusterMetrics, as they came.
struct Metrics {
  static std::string Schema(base::JsonSchemas& /*schemas*/) { return R"({"type":"object"})"; }
};
struct Status {
  std::vector<ManagerState> managers{};
  Passed<Metrics> metrics{};
  OrNull<ManagerScheduler> scheduler{};
  FL_DESCRIBED("Status", (managers, ""), (metrics, "null: no manager leads"),
               (scheduler, "null: no manager leads, or it is Hadoop's"))
};
struct LeaderMoved {
  std::string leader{}, before{};
  FL_DESCRIBED("LeaderMoved", (leader, ""), (before, "who led before, or empty"))
};

struct CredentialFileMade {
  std::string name{}, file{};
  FL_DESCRIBED("CredentialFileMade", (name, ""), (file, "carry it to the other machine"))
};
struct StateCopied {
  std::string file{};
  uint64_t bytes = 0, applications = 0;
  std::string set_aside{};
  FL_DESCRIBED("StateCopied", (file, ""), (bytes, ""), (applications, ""),
               (set_aside, "what was there before, or empty"))
};

struct Submitted {
  std::string id{};
  FL_DESCRIBED("Submitted", (id, ""))
};
struct JobEnded {
  std::string id{}, state{}, finalStatus{}, diagnostics{};
  int64_t elapsedMs = 0;
  FL_DESCRIBED("JobEnded", (id, ""), (state, ""), (finalStatus, ""), (diagnostics, ""), (elapsedMs, ""))
};

/// One picture of `top`.
struct Picture {
  Passed<endpoints::v1::Cluster> cluster{};
  Passed<std::vector<endpoints::v1::Queue>> queues{};
  Passed<std::vector<endpoints::v1::ListedApplication>> apps{};
  Passed<std::vector<endpoints::v1::Node>> nodes{};
  FL_DESCRIBED("Picture", (cluster, ""), (queues, ""), (apps, "that run or wait"), (nodes, ""))
};

struct CheckedManager {
  std::string profile{}, queues{}, state{};
  std::vector<std::string> warnings{};
  FL_DESCRIBED("CheckedManager", (profile, ""), (queues, "where they are from"), (state, "its directory"),
               (warnings, ""))
};
struct CheckedNode {
  uint64_t services = 0;
  std::string state{};
  std::vector<std::string> warnings{};
  FL_DESCRIBED("CheckedNode", (services, "auxiliary ones"), (state, "its directory"), (warnings, ""))
};
struct Checked {
  std::optional<Texts> keys{};
  std::optional<CheckedManager> rm{};
  std::optional<CheckedNode> nm{};
  FL_DESCRIBED("Checked", (keys, "with --show: as they are set"), (rm, ""), (nm, ""))
};

struct Key {
  std::string key{}, default_{}, meaning{};
  FL_DESCRIBED("Key", (key, ""), (default_, ""), (meaning, ""))
};
struct ProfileKeys {
  std::string name{}, about{};
  std::vector<Key> keys{};
  FL_DESCRIBED("ProfileKeys", (name, ""), (about, ""), (keys, ""))
};
struct DaemonsKeys {
  std::string daemon{};
  std::vector<Key> keys{};
  FL_DESCRIBED("DaemonsKeys", (daemon, ""), (keys, ""))
};
/// A short name of Fairlead's YAML.
struct ShortName {
  std::string name{}, key{}, meaning{};
  FL_DESCRIBED("ShortName", (name, ""), (key, "that it stands for"), (meaning, ""))
};

struct SeedFailure {
  uint64_t seed = 0;
  std::vector<std::string> violations{};
  FL_DESCRIBED("SeedFailure", (seed, ""), (violations, ""))
};
struct FaultRuns {
  int64_t seeds = 0;
  std::vector<SeedFailure> failures{};
  endpoints::v1::Counts faults{};
  bool all_fired = false;
  double simulated_seconds = 0, seconds = 0;
  FL_DESCRIBED("FaultRuns", (seeds, ""), (failures, ""), (faults, "how often each fired"),
               (all_fired, "none of them was never seen"), (simulated_seconds, ""), (seconds, ""))
};

struct VersionTold {
  std::string version{}, build{};
  FL_DESCRIBED("VersionTold", (version, ""), (build, ""))
};

}  // namespace fairlead::apps
