#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::process::nm {

/// What a container's launch script is made of.
struct ScriptInput {
  std::map<std::string, std::string> environment;                   // of the launch context, not yet expanded
  std::vector<std::pair<std::string, std::string>> node_variables;  // set by the agent, in order; not overridable
  std::vector<std::pair<std::string, std::string>> inherited;       // the agent's own, unless the application sets them
  std::vector<std::pair<std::string, std::string>> admin;           // forced, may refer to the application's variables
  std::vector<std::pair<std::string, std::string>> links;           // link in the working directory -> path
  std::vector<std::string> commands;
  std::string log_dir;
  bool debug_info = true;  // the agent writes it before the script runs (shell/nm/directory_info.h)
};

/// "<LOG_DIR>", "<CPS>", "{{X}}" and "<ADD_OPENS>" replaced as Hadoop's ContainerLaunch.expandEnvironment does (plain
/// text replacement).
std::string Expand(std::string_view text, std::string_view log_dir);

/// launch_container.sh in the shape of Hadoop's (ContainerExecutor.writeLaunchEnv, UnixShellScriptBuilder): clients
/// quote their commands and values for exactly this: values in double quotes, the command in a second bash inside
/// double quotes. Variables come after those that their values refer to.
std::string LaunchScript(const ScriptInput& input);

/// Names of the variables that a value inside double quotes refers to, as bash reads it.
std::vector<std::string> ReferredVariables(std::string_view value);

}  // namespace fairlead::process::nm
