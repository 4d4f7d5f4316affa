#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "endpoints/v1/amount.h"

namespace fairlead::endpoints::v1 {

/// Tasks of one type, in profile `tdw`.
struct TaskCounts {
  std::string type{};
  int64_t granted = 0, waiting = 0, missing = 0;

  FL_DESCRIBED("TaskCounts", (type, "jobtracker, map or reduce"), (granted, ""), (waiting, ""),
               (missing, "of those that wait: so many would bring pools to their minima"))
};

/// The most that a queue may use; where nothing bounds it, commands say null.
struct MostAmount : Amount {
  using Amount::Amount;
  static std::string Schema(base::JsonSchemas& schemas) {
    const std::string amount = Amount::Schema(schemas);
    return schemas.closed() ? R"({"anyOf":[)" + amount + R"(,{"type":"null"}]})" : amount;
  }
};

/// A queue with its shares as they are now.
struct Queue {
  std::string name{}, parent{};
  bool leaf = true;
  std::string policy{};
  double weight = 1;
  Amount fair_share{}, steady_share{}, min_share{};
  MostAmount max_share{};
  Amount demand{}, used{}, master_used{};
  int32_t runnable_apps = 0, waiting_apps = 0;
  bool preemptable = true;
  std::optional<std::vector<TaskCounts>> tasks{};
  std::optional<int64_t> past_ppm{};
  std::optional<std::string> budget{};
  std::optional<int64_t> max_running_apps{};
  std::optional<double> max_am_share{};
  std::optional<int64_t> priority{}, start_time{};

  FL_DESCRIBED("Queue", (name, "root.a.b"), (parent, "empty: it is root"), (leaf, ""), (policy, "how it orders"),
               (weight, ""), (fair_share, "of what is asked for now"), (steady_share, "if all queues asked"),
               (min_share, "guaranteed"), (max_share, "2^31 and more: no bound"), (demand, "used, and asked for"),
               (used, ""), (master_used, "by masters alone"), (runnable_apps, ""), (waiting_apps, "not yet activated"),
               (preemptable, "containers may be taken from it"), (tasks, "by type, where the profile counts them"),
               (past_ppm, "what it used in the past, decayed, in millionths of the cluster; profile fairlead"),
               (budget, "how much of its budget is used, for people"), (max_running_apps, "as configured"),
               (max_am_share, "as configured"), (priority, "as configured"), (start_time, "as configured"))
};
struct Queues {
  Amount cluster{};
  std::vector<Queue> queues{};
  FL_DESCRIBED("Queues", (cluster, "capacity"), (queues, "parents before children"))
};

struct QueuesRefreshed {
  bool refreshed = true;
  std::string file{};
  FL_DESCRIBED("QueuesRefreshed", (refreshed, ""), (file, "that holds the queues, or empty"))
};
/// What would differ in the queues' file, or does now.
struct QueueFileChange {
  std::string file{}, differs{}, version{};
  FL_DESCRIBED("QueueFileChange", (file, ""), (differs, "lines, - those that go and + those that come"),
               (version, "of the file that this is about"))
};

}  // namespace fairlead::endpoints::v1
