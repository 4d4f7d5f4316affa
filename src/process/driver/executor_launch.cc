#include "process/driver/executor_launch.h"

namespace fairlead::process::driver {

namespace wy = wire::yarn;

namespace {

wy::LocalResourceProto JobFile(const ExecutorLaunch& launch) {
  wy::LocalResourceProto job;
  job.resource = wy::URLProto{};
  std::string path = launch.job_url;
  const size_t scheme_end = path.find("://");
  job.resource->scheme = scheme_end == std::string::npos ? "file" : path.substr(0, scheme_end);
  if (scheme_end != std::string::npos) path.erase(0, scheme_end + 3);
  const size_t slash = path.find('/');
  if (slash != std::string::npos && slash > 0) {
    const std::string authority = path.substr(0, slash);
    const base::Result<env::Endpoint> endpoint = env::ParseEndpoint(authority, 65535);
    job.resource->host = endpoint.ok() ? endpoint->host : authority;
    if (endpoint.ok() && endpoint->port != 65535) job.resource->port = endpoint->port;
    path.erase(0, slash);
  }
  job.resource->file = path;
  job.size = launch.job_size;
  job.timestamp = launch.job_timestamp_ms;
  job.type = wy::LocalResourceTypeProto::kFile;
  job.visibility = wy::LocalResourceVisibilityProto::kApplication;
  return job;
}

}  // namespace

wy::ContainerLaunchContextProto LaunchContext(const ExecutorLaunch& launch,
                                              const application::ExecutorContainer& executor) {
  wy::ContainerLaunchContextProto context;
  context.local_resources.push_back({"job", JobFile(launch)});
  const bool shuffle_service = launch.shuffle_service && executor.shuffle_service;
  std::map<std::string, std::string> environment = launch.environment;
  if (!shuffle_service) {
    for (const auto& [name, value] : launch.environment_without_service) environment[name] = value;
  }
  for (const auto& [name, value] : environment) context.environment.push_back({name, value});
  std::string command = "exec";
  for (const std::string& word : launch.command) command += " " + word;
  command += " " + executor.executor_id + " 1><LOG_DIR>/stdout 2><LOG_DIR>/stderr";
  context.command.push_back(std::move(command));
  context.tokens = launch.tokens;
  if (shuffle_service) application::AddShuffleService(context, launch.shuffle_secret);
  return context;
}

}  // namespace fairlead::process::driver
