#include "process/spark_worker/launch.h"

#include <algorithm>
#include <boost/algorithm/string/join.hpp>
#include <boost/algorithm/string/replace.hpp>

namespace fairlead::process::spark_worker {

namespace es = endpoints::spark;

namespace {

using Placeholders = std::map<std::string, std::string>;

/// The arguments; a whole one may be a placeholder.
std::vector<std::string> Filled(const std::vector<std::string>& arguments, const Placeholders& placeholders) {
  std::vector<std::string> out;
  for (const std::string& argument : arguments) {
    const auto found = placeholders.find(argument);
    out.push_back(found != placeholders.end() ? found->second : argument);
  }
  return out;
}

/// What executors and drivers have in common.
env::SpawnRequest JavaProcess(const LaunchSettings& settings, const es::Command& command, int64_t memory_mib,
                              const std::vector<std::string>& arguments, const std::string& directory) {
  env::SpawnRequest request;
  request.directory = directory;
  request.stdout_path = directory + "/stdout";
  request.stderr_path = directory + "/stderr";
  request.environment = settings.environment;
  for (const auto& [name, value] : command.environment) request.environment[name] = value;
  request.environment["SPARK_HOME"] = settings.spark_home;
  if (!command.library_path.empty()) {
    std::string& path = request.environment["LD_LIBRARY_PATH"];
    path = boost::algorithm::join(command.library_path, ":") + (path.empty() ? "" : ":" + path);
  }
  std::vector<std::string> class_path = command.class_path;
  class_path.insert(class_path.end(), settings.class_path.begin(), settings.class_path.end());
  request.argv = {settings.java, "-cp", boost::algorithm::join(class_path, ":"),
                  "-Xmx" + std::to_string(memory_mib) + "M"};
  for (const std::string& option : command.java_options) {
    // The secret reaches processes by their environment alone.
    if (!option.starts_with("-Dspark.authenticate.secret")) request.argv.push_back(option);
  }
  request.argv.push_back(command.main_class);
  request.argv.insert(request.argv.end(), arguments.begin(), arguments.end());
  return request;
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out.push_back('\\');
    if (static_cast<unsigned char>(c) >= ' ') out.push_back(c);
  }
  return out + "\"";
}

}  // namespace

env::SpawnRequest ExecutorProcess(const LaunchSettings& settings, const es::LaunchExecutor& launch,
                                  const std::string& directory, const std::vector<std::string>& local_dirs) {
  const std::string id = std::to_string(launch.executor);
  const Placeholders placeholders = {
      {"{{WORKER_URL}}", settings.worker_url}, {"{{EXECUTOR_ID}}", id},
      {"{{HOSTNAME}}", settings.host},         {"{{CORES}}", std::to_string(launch.cores)},
      {"{{APP_ID}}", launch.application},      {"{{RESOURCE_PROFILE_ID}}", std::to_string(launch.profile)},
  };
  es::Command command = launch.description.command;
  for (std::string& option : command.java_options) {
    boost::algorithm::replace_all(option, "{{APP_ID}}", launch.application);
    boost::algorithm::replace_all(option, "{{EXECUTOR_ID}}", id);
  }
  std::vector<std::string> arguments = Filled(command.arguments, placeholders);
  if (!launch.resources.empty()) arguments.insert(arguments.end(), {"--resourcesFile", directory + "/resources.json"});
  env::SpawnRequest request = JavaProcess(settings, command, launch.memory_mib, arguments, directory);
  request.environment["SPARK_EXECUTOR_DIRS"] = boost::algorithm::join(local_dirs, ":");
  request.environment["SPARK_LAUNCH_WITH_SCALA"] = "0";
  const std::string logs =
      settings.log_url + "/logPage/?appId=" + launch.application + "&executorId=" + id + "&logType=";
  request.environment["SPARK_LOG_URL_STDOUT"] = logs + "stdout";
  request.environment["SPARK_LOG_URL_STDERR"] = logs + "stderr";
  return request;
}

env::SpawnRequest DriverProcess(const LaunchSettings& settings, const es::LaunchDriver& launch,
                                const std::string& directory, const std::string& jar) {
  es::Command command = launch.description.command;
  if (!launch.resources.empty()) {
    command.java_options.push_back("-Dspark.driver.resourcesFile=" + directory + "/resources.json");
  }
  const std::vector<std::string> arguments =
      Filled(command.arguments, {{"{{WORKER_URL}}", settings.worker_url}, {"{{USER_JAR}}", jar}});
  env::SpawnRequest request = JavaProcess(settings, command, launch.description.memory_mib, arguments, directory);
  const std::string logs = settings.log_url + "/logPage/?driverId=" + launch.driver + "&logType=";
  request.environment["SPARK_DRIVER_LOG_URL_STDOUT"] = logs + "stdout";
  request.environment["SPARK_DRIVER_LOG_URL_STDERR"] = logs + "stderr";
  return request;
}

std::string LogHead(const std::string& kind, const env::SpawnRequest& request) {
  return "Spark " + kind + " Command: \"" + boost::algorithm::join(request.argv, "\" \"") + "\"\n" +
         std::string(40, '=') + "\n\n";
}

std::string ResourcesFile(const es::Resources& resources, const std::string& component) {
  std::string json = "[";
  for (const auto& [name, addresses] : resources) {
    std::vector<std::string> quoted;
    for (const std::string& address : addresses) quoted.push_back(Quoted(address));
    json += (json.size() > 1 ? "," : "") + std::string("{\"id\":{\"componentName\":") + Quoted(component) +
            ",\"resourceName\":" + Quoted(name) + "},\"addresses\":[" + boost::algorithm::join(quoted, ",") + "]}";
  }
  return json + "]";
}

bool IsDirectoryName(const std::string& id) {
  constexpr size_t kLengthMax = 200;
  return !id.empty() && id.size() <= kLengthMax && id.front() != '.' && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
}

}  // namespace fairlead::process::spark_worker
