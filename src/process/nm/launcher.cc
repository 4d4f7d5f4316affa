// From the core's Launch to a plan for the supervisor (Hadoop: ContainerLaunch.call, sanitizeEnv).

#include <algorithm>

#include "base/text.h"
#include "endpoints/yarn/credentials.h"
#include "process/nm/launch_script.h"
#include "process/nm/layout.h"
#include "process/nm/node_manager.h"
#include "wire/hadoop_rpc/base64.h"

namespace fairlead::process::nm {

namespace ep = endpoints::yarn;
using model::ToString;

namespace {

bool IsNamePart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// "$NAME" replaced by what `find` gives (Apps.setEnvFromString); "" for unknown names.
std::string Substitute(const std::string& text, const std::function<std::string(const std::string&)>& find) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t end = i + 1;
    while (text[i] == '$' && end < text.size() && IsNamePart(text[end])) ++end;
    if (text[i] == '$' && end > i + 1) {
      out += find(text.substr(i + 1, end - i - 1));
      i = end - 1;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

base::Result<LaunchPlan> NodeManager::PlanLaunch(const model::nm::Launch& launch) {
  const model::nm::ContainerSpec& spec = launch.spec;
  base::Result<ep::LaunchContext> context = ep::LaunchContextOf(spec);
  if (!context) return base::Error{"the launch context cannot be read: " + context.error().message};
  base::Result<ep::Credentials> credentials = ep::ParseCredentials(context->tokens);
  if (!credentials) return base::Error{"the launch context's tokens cannot be read: " + credentials.error().message};

  LaunchPlan plan;
  plan.id = spec.id;
  plan.user = spec.user;
  plan.resources = spec.resources;
  plan.relaunch = launch.relaunch;
  const std::vector<std::string> locals = env_.dirs.good_local();
  const std::vector<std::string> logs = env_.dirs.good_logs();
  plan.local_dir = env_.dirs.PickLocal();
  if (plan.local_dir.empty() || logs.empty()) return base::Error{"no local or log directory of this node is usable"};
  if (launch.relaunch) plan.work_dir = ExistingWorkDir(spec.user, spec.id);
  if (plan.work_dir.empty()) plan.work_dir = WorkDir(plan.local_dir, spec.user, spec.id);
  for (const std::string& local : locals) plan.app_dirs.push_back(AppDir(local, spec.user, spec.id.attempt.app));
  for (const std::string& log : logs) plan.log_dirs.push_back(LogDir(log, spec.id));
  plan.tokens = ep::EncodeCredentials(*credentials);

  ScriptInput script;
  for (const auto& [name, value] : context->environment) script.environment[name] = value;
  script.node_variables = NodeVariables(plan, launch.localization_counters);
  for (const std::string& name : settings_.env_whitelist) {
    const auto own = settings_.environment.find(name);
    if (own != settings_.environment.end()) script.inherited.emplace_back(name, own->second);
  }
  script.admin = AdminVariables(script.environment);
  plan.links = launch.links;
  plan.debug_info = settings_.debug_info;
  for (const model::nm::Link& link : launch.links) script.links.emplace_back(link.link, link.path);
  script.commands = context->commands;
  script.log_dir = plan.log_dirs.front();
  script.debug_info = settings_.debug_info;
  plan.script = LaunchScript(script);
  return plan;
}

std::vector<std::pair<std::string, std::string>> NodeManager::NodeVariables(const LaunchPlan& plan,
                                                                            const std::string& counters) {
  std::vector<std::string> user_dirs;
  for (const std::string& local : env_.dirs.good_local()) user_dirs.push_back(UserDir(local, plan.user) + "/");
  std::vector<std::pair<std::string, std::string>> variables = {
      {"HADOOP_TOKEN_FILE_LOCATION", plan.work_dir + "/" + kTokenFile},
      {"CONTAINER_ID", ToString(plan.id)},
      {"NM_PORT", std::to_string(identity_.port)},
      {"NM_HOST", identity_.host},
      {"NM_HTTP_PORT", std::to_string(identity_.http_port)},
      {"LOCAL_DIRS", base::Joined(plan.app_dirs, ",")},
      {"LOCAL_USER_DIRS", base::Joined(user_dirs, ",")},
      {"LOG_DIRS", base::Joined(plan.log_dirs, ",")},
      {"USER", plan.user},
      {"LOGNAME", plan.user},
      {"HOME", settings_.user_home},
      {"PWD", plan.work_dir},
      {"LOCALIZATION_COUNTERS", counters},
      {"JVM_PID", "$$"},
  };
  for (const AuxService* service : env_.services) {
    variables.emplace_back("NM_AUX_SERVICE_" + service->name(), wire::hadoop_rpc::EncodeBase64(service->MetaData()));
  }
  return variables;
}

std::vector<std::pair<std::string, std::string>> NodeManager::AdminVariables(
    const std::map<std::string, std::string>& of_app) {
  std::vector<std::pair<std::string, std::string>> variables;
  size_t at = 0;
  while (at < settings_.admin_env.size()) {
    const size_t comma = std::min(settings_.admin_env.find(',', at), settings_.admin_env.size());
    const std::string entry = settings_.admin_env.substr(at, comma - at);
    at = comma + 1;
    const size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) continue;
    const std::string name = entry.substr(0, equals);
    const auto find = [&](const std::string& other) {
      if (const auto own = of_app.find(other); own != of_app.end()) return own->second;
      const auto agent = settings_.environment.find(other);
      return agent == settings_.environment.end() ? std::string() : agent->second;
    };
    const std::string value = Substitute(entry.substr(equals + 1), find);
    // A value that the application gives itself stays in front, as Apps.addToEnvironment has it; the usual
    // NAME=$NAME must not double it.
    const auto own = of_app.find(name);
    variables.emplace_back(name, own == of_app.end() || own->second == value ? value : own->second + ":" + value);
  }
  return variables;
}

}  // namespace fairlead::process::nm
