#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "wire/java_stream/graph.h"

// What applications and drivers say of themselves (org.apache.spark.deploy.{ApplicationDescription,
// DriverDescription}).

namespace fairlead::endpoints::spark {

/// org.apache.spark.resource.ResourceProfile, or a TaskResourceProfile, which says nothing of executors: what one
/// executor needs. 0: not said.
struct ResourceProfile {
  int32_t id = 0;
  int32_t cores = 0;
  int64_t memory_mib = 0;
  int64_t off_heap_mib = 0;
  int64_t pyspark_mib = 0;
  std::optional<int64_t> overhead_mib;
  std::vector<std::string> other;      // names of further resources ("gpu") with an amount above 0
  std::vector<int64_t> other_amounts;  // as `other`; not stored
  FL_FIELDS(id, cores, memory_mib, off_heap_mib, pyspark_mib, overhead_mib, other)
  friend bool operator==(const ResourceProfile&, const ResourceProfile&) = default;
};

/// How an executor is started; arguments hold placeholders ("{{EXECUTOR_ID}}").
struct Command {
  std::string main_class;
  std::vector<std::string> arguments;
  std::map<std::string, std::string> environment;
  std::vector<std::string> class_path;
  std::vector<std::string> library_path;
  std::vector<std::string> java_options;
  FL_FIELDS(main_class, arguments, environment, class_path, library_path, java_options)
};

struct ApplicationDescription {
  std::string name;
  std::string user;
  std::string ui_url;
  std::optional<int32_t> cores_max;               // spark.cores.max
  std::optional<int32_t> initial_executor_limit;  // 0 under dynamic allocation
  Command command;
  ResourceProfile profile;
  FL_FIELDS(name, user, ui_url, cores_max, initial_executor_limit, command, profile)
};

struct ResourceNeed {
  std::string name;
  int32_t amount = 0;
  FL_FIELDS(name, amount)
};

/// A driver for a worker to run (--deploy-mode cluster). Its command's arguments hold {{WORKER_URL}} and {{USER_JAR}}.
struct DriverDescription {
  std::string jar_url;
  int32_t memory_mib = 0;
  int32_t cores = 0;
  bool supervise = false;
  Command command;
  std::vector<ResourceNeed> resources;
  FL_FIELDS(jar_url, memory_mib, cores, supervise, command, resources)
};

class Fields;
class MessageWriter;
ResourceProfile ReadProfile(Fields& in, wire::java_stream::Ref object);
Command ReadCommand(Fields& in, wire::java_stream::Ref object);
wire::java_stream::Ref WriteCommand(MessageWriter& out, const Command& command);
ApplicationDescription ReadApplication(Fields& in, wire::java_stream::Ref object);
DriverDescription ReadDriver(Fields& in, wire::java_stream::Ref object);

}  // namespace fairlead::endpoints::spark
