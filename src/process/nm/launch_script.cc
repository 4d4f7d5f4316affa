#include "process/nm/launch_script.h"

#include <algorithm>
#include <set>

namespace fairlead::process::nm {

namespace {

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNamePart(char c) { return IsNameStart(c) || (c >= '0' && c <= '9'); }

void Export(std::string& out, const std::string& name, const std::string& value) {
  out += "export " + name + "=\"" + value + "\"\n";
}

/// Depth first over the references, names in ascending order; a reference in a circle is ignored.
void Order(const std::map<std::string, std::string>& all, const std::string& name, std::set<std::string>& seen,
           std::vector<std::string>& ordered) {
  const auto at = all.find(name);
  if (at == all.end() || !seen.insert(name).second) return;
  for (const std::string& other : ReferredVariables(at->second)) Order(all, other, seen, ordered);
  ordered.push_back(name);
}

}  // namespace

std::string Expand(std::string_view text, std::string_view log_dir) {
  std::string out(text);
  ReplaceAll(out, "<LOG_DIR>", log_dir);
  ReplaceAll(out, "<CPS>", ":");
  ReplaceAll(out, "<ADD_OPENS>", "");
  ReplaceAll(out, "{{", "$");
  ReplaceAll(out, "}}", "");
  return out;
}

std::vector<std::string> ReferredVariables(std::string_view value) {
  std::vector<std::string> names;
  bool in_double_quotes = true;
  for (size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (c == '"') {
      in_double_quotes = !in_double_quotes;
    } else if (c == '\'' && !in_double_quotes) {
      const size_t end = value.find('\'', i + 1);
      if (end == std::string_view::npos) break;
      i = end;
    } else if (c == '\\') {
      ++i;
    } else if (c == '$') {
      size_t begin = i + 1;
      if (begin < value.size() && value[begin] == '{') ++begin;
      if (begin < value.size() && value[begin] == '#') ++begin;
      size_t end = begin;
      while (end < value.size() && (end == begin ? IsNameStart(value[end]) : IsNamePart(value[end]))) ++end;
      if (end > begin) {
        names.emplace_back(value.substr(begin, end - begin));
        i = end - 1;
      }
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string LaunchScript(const ScriptInput& input) {
  std::string out = "#!/bin/bash\n\nset -o pipefail -e\n";
  out += "export PRELAUNCH_OUT=\"" + input.log_dir + "/prelaunch.out\"\nexec >\"${PRELAUNCH_OUT}\"\n";
  out += "export PRELAUNCH_ERR=\"" + input.log_dir + "/prelaunch.err\"\nexec 2>\"${PRELAUNCH_ERR}\"\n";
  out += "echo \"Setting up env variables\"\n";

  std::map<std::string, std::string> variables;
  for (const auto& [name, value] : input.environment) variables[name] = Expand(value, input.log_dir);
  for (const auto& [name, value] : input.inherited) {
    if (!variables.contains(name)) out += "export " + name + "=${" + name + ":-\"" + value + "\"}\n";
  }
  for (const auto& [name, value] : input.admin) variables[name] = value;
  std::set<std::string> seen;
  for (const auto& [name, value] : input.node_variables) {
    Export(out, name, value);
    seen.insert(name);
  }
  std::vector<std::string> ordered;
  for (const auto& [name, value] : variables) Order(variables, name, seen, ordered);
  for (const std::string& name : ordered) Export(out, name, variables.at(name));

  out += "echo \"Setting up job resources\"\n";
  // The agent has made the links: the lines are for who runs the script by hand.
  for (const auto& [link, path] : input.links) {
    const size_t slash = link.rfind('/');
    out += "[ -L \"" + link + "\" ] || ";
    if (slash != std::string::npos) out += "mkdir -p \"" + link.substr(0, slash) + "\" && ";
    out += "ln -sf -- \"" + path + "\" \"" + link + "\"\n";
  }
  if (input.debug_info) out += "echo \"Copying debugging information\"\n";
  out += "echo \"Launching container\"\n";
  out += "exec /bin/bash -c \"";
  for (size_t i = 0; i < input.commands.size(); ++i) {
    if (i > 0) out += ' ';
    out += Expand(input.commands[i], input.log_dir);
  }
  out += "\"\n";
  return out;
}

}  // namespace fairlead::process::nm
