#include "endpoints/spark/descriptions.h"

#include "endpoints/spark/message_values.h"
#include "endpoints/spark/object_fields.h"
#include "endpoints/spark/spark_build.h"

namespace fairlead::endpoints::spark {

namespace js = wire::java_stream;
using js::Ref;

namespace {

/// More memory than any machine has, so that sums cannot overflow.
constexpr int64_t kMemoryMibMax = int64_t{1} << 40;

}  // namespace

ResourceProfile ReadProfile(Fields& in, Ref object) {
  in.ExpectClass(object, {kResourceProfile, kTaskResourceProfile});
  ResourceProfile profile;
  profile.id = in.Int(object, "_id");
  const auto requests = in.Entries(object, "executorResources");
  if (requests.size() > kResourceKindsMax) in.Fail("executorResources", "too many kinds of resources");
  for (const auto& [key, request] : requests) {
    if (!in.ok()) break;
    const std::string name = in.TextAt(key, "executorResources");
    const int64_t amount = in.Long(request, "amount");
    if (amount < 0 || amount > kMemoryMibMax) in.Fail(name, "an amount of " + std::to_string(amount));
    if (name == "cores") {
      if (amount > INT32_MAX) in.Fail(name, "too many");
      profile.cores = static_cast<int32_t>(amount);
    } else if (name == "memory") {
      profile.memory_mib = amount;
    } else if (name == "offHeap") {
      profile.off_heap_mib = amount;
    } else if (name == "pyspark.memory") {
      profile.pyspark_mib = amount;
    } else if (name == "memoryOverhead") {
      profile.overhead_mib = amount;
    } else if (amount > 0) {
      profile.other.push_back(name);
      profile.other_amounts.push_back(amount);
    }
  }
  return profile;
}

namespace {

size_t BytesOf(const Command& command) {
  size_t bytes = command.main_class.size();
  for (const auto* texts : {&command.arguments, &command.class_path, &command.library_path, &command.java_options}) {
    for (const std::string& text : *texts) bytes += text.size();
  }
  for (const auto& [name, value] : command.environment) bytes += name.size() + value.size();
  return bytes;
}

}  // namespace

Command ReadCommand(Fields& in, Ref object) {
  Command command;
  command.main_class = in.Text(object, "mainClass");
  command.arguments = in.Texts(object, "arguments", kWordBytesMax);
  for (const auto& [key, value] : in.Entries(object, "environment")) {
    if (!in.ok()) break;
    command.environment[in.TextAt(key, "environment", kWordBytesMax)] = in.TextAt(value, "environment", kWordBytesMax);
  }
  command.class_path = in.Texts(object, "classPathEntries", kWordBytesMax);
  command.library_path = in.Texts(object, "libraryPathEntries", kWordBytesMax);
  command.java_options = in.Texts(object, "javaOpts", kWordBytesMax);
  if (BytesOf(command) > kCommandBytesMax) in.Fail("command", "its texts are too long together");
  return command;
}

Ref WriteCommand(MessageWriter& out, const Command& command) {
  js::Builder& builder = out.builder();
  const Ref made = builder.NewObject("org.apache.spark.deploy.Command");
  builder.SetRef(made, "mainClass", out.Text(command.main_class));
  builder.SetRef(made, "arguments", out.Texts(command.arguments));
  builder.SetRef(made, "environment", out.Variables(command.environment));
  builder.SetRef(made, "classPathEntries", out.Texts(command.class_path));
  builder.SetRef(made, "libraryPathEntries", out.Texts(command.library_path));
  builder.SetRef(made, "javaOpts", out.Texts(command.java_options));
  return made;
}

ApplicationDescription ReadApplication(Fields& in, Ref object) {
  in.ExpectClass(object, {"org.apache.spark.deploy.ApplicationDescription"});
  ApplicationDescription application;
  application.name = in.Text(object, "name");
  application.user = in.Text(object, "user");
  application.ui_url = in.Text(object, "appUiUrl");
  application.cores_max = in.OptionalInt(object, "maxCores");
  application.initial_executor_limit = in.OptionalInt(object, "initialExecutorLimit");
  application.command = ReadCommand(in, in.Object(object, "command"));
  application.profile = ReadProfile(in, in.Object(object, "defaultProfile"));
  return application;
}

DriverDescription ReadDriver(Fields& in, Ref object) {
  in.ExpectClass(object, {"org.apache.spark.deploy.DriverDescription"});
  DriverDescription driver;
  driver.jar_url = in.Text(object, "jarUrl", kWordBytesMax);
  driver.memory_mib = in.Int(object, "mem");
  driver.cores = in.Int(object, "cores");
  driver.supervise = in.Flag(object, "supervise");
  driver.command = ReadCommand(in, in.Object(object, "command"));
  const auto requests = in.Elements(object, "resourceReqs");
  if (requests.size() > kResourceKindsMax) in.Fail("resourceReqs", "too many kinds of resources");
  for (const Ref request : requests) {
    if (!in.ok()) break;
    driver.resources.push_back({in.Text(request, "resourceName"), in.Int(request, "amount")});
    if (driver.resources.back().amount < 0) in.Fail("resourceReqs", "an amount below 0");
  }
  if (driver.memory_mib < 0 || driver.cores < 0) in.Fail("driverDescription", "cores and memory cannot be below 0");
  return driver;
}

}  // namespace fairlead::endpoints::spark
