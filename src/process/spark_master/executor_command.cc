#include "process/spark_master/executor_command.h"

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <map>
#include <vector>

#include "base/text.h"

namespace fairlead::process::spark_master {

namespace wy = wire::yarn;
namespace es = endpoints::spark;

namespace {

/// `text` as it stands between double quotes of bash.
std::string InDoubleQuotes(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"' || c == '$' || c == '`') out.push_back('\\');
    out.push_back(c);
  }
  return out;
}

bool IsVariableName(const std::string& name) {
  const auto good = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && good(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return good(c) || (c >= '0' && c <= '9'); });
}

/// An option of spark.executor.extraJavaOptions with the two placeholders that may stand in it.
std::string JavaOption(std::string option, const ExecutorCommand& command,
                       const application::ExecutorContainer& executor) {
  boost::algorithm::replace_all(option, "{{APP_ID}}", command.application);
  boost::algorithm::replace_all(option, "{{EXECUTOR_ID}}", executor.executor_id);
  return option;
}

/// The class path as Spark's launcher puts it together for a worker; the last two are the node's own (or come by
/// spark.executorEnv).
std::string ClassPath(const ExecutorCommand& command) {
  std::vector<std::string> entries = command.description->command.class_path;
  entries.push_back(command.spark_home + "/conf");
  entries.push_back(command.spark_home + "/jars/*");
  return QuotedTwice(base::Joined(entries, ":")) +
         "'${HADOOP_CONF_DIR:+:$HADOOP_CONF_DIR}${SPARK_DIST_CLASSPATH:+:$SPARK_DIST_CLASSPATH}'";
}

/// An executor of `--master yarn` reads the port from the node's Hadoop files; one of `spark://` knows only its
/// driver's settings. What stands on its command line goes before them (SparkConf.isExecutorStartupConf).
std::vector<std::string> JavaOptions(const ExecutorCommand& command, const application::ExecutorContainer& executor) {
  static const std::string kPort = "-Dspark.shuffle.service.port=";
  std::vector<std::string> options;
  bool has_port = !executor.shuffle_service || command.shuffle_port == 0;
  for (const std::string& option : command.description->command.java_options) {
    has_port = has_port || option.starts_with(kPort);
    options.push_back(JavaOption(option, command, executor));
  }
  if (!has_port) options.push_back(kPort + std::to_string(command.shuffle_port));
  return options;
}

/// The arguments with their placeholders filled. The worker's address is left out: an executor that watches one ends
/// with it.
std::vector<std::string> Arguments(const ExecutorCommand& command, const application::ExecutorContainer& executor) {
  const std::map<std::string, std::string> placeholders = {
      {"{{EXECUTOR_ID}}", executor.executor_id},
      {"{{HOSTNAME}}", executor.node.host},
      {"{{CORES}}", std::to_string(command.profile->cores)},
      {"{{APP_ID}}", command.application},
      {"{{RESOURCE_PROFILE_ID}}", std::to_string(command.profile->id)},
  };
  std::vector<std::string> out;
  const std::vector<std::string>& given = command.description->command.arguments;
  for (size_t i = 0; i < given.size(); ++i) {
    if (given[i] == "--worker-url") {
      ++i;
      continue;
    }
    const auto found = placeholders.find(given[i]);
    out.push_back(found != placeholders.end() ? found->second : given[i]);
  }
  return out;
}

std::map<std::string, std::string> Environment(const ExecutorCommand& command,
                                               const application::ExecutorContainer& executor) {
  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : command.description->command.environment) {
    if (IsVariableName(name)) variables[name] = InDoubleQuotes(value);
  }
  variables["SPARK_HOME"] = InDoubleQuotes(command.spark_home);
  variables["SPARK_LAUNCH_WITH_SCALA"] = "0";
  const std::vector<std::string>& libraries = command.description->command.library_path;
  if (!libraries.empty()) {
    variables["LD_LIBRARY_PATH"] =
        InDoubleQuotes(base::Joined(libraries, ":")) + "${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}";
  }
  if (!executor.node_http_address.empty()) {
    const std::string logs = command.web_scheme + executor.node_http_address + "/node/containerlogs/" +
                             executor.container_id + "/" + command.user + "/";
    variables["SPARK_LOG_URL_STDOUT"] = InDoubleQuotes(logs + "stdout?start=-4096");
    variables["SPARK_LOG_URL_STDERR"] = InDoubleQuotes(logs + "stderr?start=-4096");
  }
  return variables;
}

}  // namespace

std::string QuotedTwice(const std::string& word) {
  std::string single = "'";
  for (const char c : word) single += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return InDoubleQuotes(single + "'");
}

wy::ContainerLaunchContextProto ExecutorLaunchContext(const ExecutorCommand& command,
                                                      const application::ExecutorContainer& executor) {
  const es::Command& given = command.description->command;
  wy::ContainerLaunchContextProto context;
  for (auto& [name, value] : Environment(command, executor)) context.environment.push_back({name, value});
  std::vector<std::string> words = {"-Xmx" + std::to_string(command.profile->memory_mib) + "M"};
  for (std::string& option : JavaOptions(command, executor)) words.push_back(std::move(option));
  words.push_back(given.main_class);
  for (std::string& argument : Arguments(command, executor)) words.push_back(std::move(argument));
  // The node's Java, of its JAVA_HOME where it has one.
  std::string line = "exec ${JAVA_HOME:+$JAVA_HOME/bin/}java -cp " + ClassPath(command);
  for (const std::string& word : words) line += " " + QuotedTwice(word);
  line += " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
  context.command.push_back(std::move(line));
  if (executor.shuffle_service) application::AddShuffleService(context);
  return context;
}

}  // namespace fairlead::process::spark_master
