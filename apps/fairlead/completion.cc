#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/text.h"
#include "base/version.h"
#include "commands.h"
#include "documents.h"
#include "version.h"

namespace fairlead::apps {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// "a b" of an option whose check names its values: "TEXT:{a,b}".
std::string MembersOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || type.find("->") != std::string::npos) return "";
  std::string members = type.substr(begin + 1, end - begin - 1);
  std::replace(members.begin(), members.end(), ',', ' ');
  return members;
}

/// Every word that may follow `app`: its subcommands, long options, and what its bare words may be.
std::string Words(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : Commands(app)) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
    if (option->get_positional() && !MembersOf(*option).empty()) words += MembersOf(*option) + " ";
  }
  return words;
}

/// What a command's bare words are, as `fairlead values` lists them; "": nothing of the cluster's.
std::string ValuesOf(const CLI::App& command) {
  const std::string& name = command.get_name();
  if (name == "kill") return "active";
  if (name == "node") return "nodes";
  if (name == "queue") return "queues";
  if (name == "why" || name == "when") return "active";
  return name == "app" || name == "logs" || name == "history" ? "apps" : "";
}

/// What an option's value is, as `fairlead values` lists it; "": nothing of the cluster's.
std::string ValuesOf(const CLI::Option& option) {
  for (const auto& [name, values] : {std::pair{"--queue", "queues"},
                                     {"--node", "nodes"},
                                     {"--app", "apps"},
                                     {"--lose-node", "nodes"},
                                     {"--drain", "nodes"},
                                     {"--kill", "active"}}) {
    if (option.check_name(name)) return values;
  }
  return "";
}

bool TakesValue(const CLI::Option& option) {
  return !option.get_lnames().empty() && option.get_items_expected_max() > 0;
}

/// What follows an option that takes a value: one of those that are known, else a file.
std::string BashAfterOptions(const CLI::App& command) {
  std::string out = "; case \"$before\" in";
  for (const CLI::Option* option : command.get_options()) {
    if (!TakesValue(*option)) continue;
    std::string names;
    for (const std::string& name : option->get_lnames()) names += (names.empty() ? "--" : "|--") + name;
    out += " " + names + ") words=\"" + MembersOf(*option) + "\" values=" + ValuesOf(*option) + " ;;";
  }
  return out + " esac ;;\n";
}

/// One function for bash; zsh takes it through bashcompinit. Bash makes words of what stands between colons, and of
/// what is offered then wants the part behind the last one.
std::string BashScript(const CLI::App& root, bool zsh) {
  std::string out = zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  out += R"bash(_fairlead() {
  local words values= word="${COMP_WORDS[COMP_CWORD]}" at=$((COMP_CWORD - 1)) before
  while [ $at -gt 1 ] && { [ "${COMP_WORDS[at]}" = : ] || [ "${word:0:1}" = : ]; }; do
    word="${COMP_WORDS[at]}$word" at=$((at - 1))
  done
  before="${COMP_WORDS[at]}"
  local -a cluster=()
  for ((at = 2; at < COMP_CWORD - 1; ++at)); do
    case "${COMP_WORDS[at]}" in
      --hadoop-conf|--config|--user) cluster+=("${COMP_WORDS[at]}" "${COMP_WORDS[at+1]/#\~/$HOME}") ;;
    esac
  done
  case "${COMP_WORDS[1]} ${COMP_WORDS[2]}" in
)bash";
  for (const CLI::App* sub : Commands(root)) {
    const std::string values = ValuesOf(*sub);
    const std::string known = values.empty() ? "" : " values=" + values;
    const std::vector<const CLI::App*> below = Commands(*sub);
    for (const CLI::App* one : below) {
      out += "    '" + sub->get_name() + " " + one->get_name() + "') words=\"" + Words(*one) + "\"" + known +
             BashAfterOptions(*one);
    }
    out += "    '" + sub->get_name() + " '*) words=\"" + Words(*sub) + "\"" + (below.empty() ? known : "") +
           BashAfterOptions(*sub);
  }
  out += "    *) words=\"" + Words(root) + "\" ;;\n  esac\n";
  out += "  [ \"$COMP_CWORD\" = 1 ] && words=\"" + Words(root) + "\" values=\n";
  return out + R"bash(  [ -n "$values" ] && words="$words $(fairlead values $values "${cluster[@]}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "$COMP_WORDBREAKS" in *:*) COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}") ;; esac
}
complete -o default -F _fairlead fairlead
)bash";
}

/// A text as one word of fish.
std::string FishQuoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out + "'";
}

std::string FishScript(const CLI::App& root) {
  std::string out = R"fish(function __fairlead_values
  set -l given (commandline -opc)
  for at in (seq (count $given))
    contains -- $given[$at] --hadoop-conf --config --user; and set -a argv $given[$at] $given[(math $at + 1)]
  end
  fairlead values $argv 2>/dev/null
end
)fish";
  for (const CLI::App* sub : Commands(root)) {
    const std::string name = sub->get_name();
    out += "complete -c fairlead -n __fish_use_subcommand -f -a " + name + " -d " + FishQuoted(sub->get_description()) +
           "\n";
    const std::string after = "complete -c fairlead -n '__fish_seen_subcommand_from " + name + "' ";
    for (const CLI::App* below : Commands(*sub)) {
      out += after + "-a " + below->get_name() + " -d " + FishQuoted(below->get_description()) + "\n";
    }
    if (const std::string values = ValuesOf(*sub); !values.empty()) {
      out += after + "-f -a '(__fairlead_values " + values + ")'\n";
    }
    for (const CLI::Option* option : sub->get_options()) {
      const std::string members = MembersOf(*option), from = ValuesOf(*option);
      const std::string known = !from.empty() ? "(__fairlead_values " + from + ")" : members;
      if (option->get_positional() && !members.empty()) out += after + "-f -a " + FishQuoted(members) + "\n";
      const std::string takes = !TakesValue(*option) ? "" : known.empty() ? " -r" : " -x -a " + FishQuoted(known);
      for (const std::string& option_name : option->get_lnames()) {
        out += after + "-l " + option_name + " -d " + FishQuoted(option->get_description()) + takes + "\n";
      }
    }
  }
  return out;
}

}  // namespace

int Complain(const std::string& command, const std::string& message, ExitCode code) {
  std::fprintf(stderr, "fairlead%s%s: %s\n", command.empty() ? "" : " ", base::VisibleText(command).c_str(),
               base::VisibleText(message, base::Lines::kKept).c_str());
  return code;
}

void AddCompletion(CLI::App& app, int& exit_code) {
  CLI::App* version = app.add_subcommand("version", "Print the version");
  auto json = std::make_shared<bool>(false);
  version->add_flag("--json", *json, "print JSON");
  version->footer("Examples:\n  fairlead version\n  fairlead version --json");
  version->callback([json] {
    if (*json) {
      std::puts(endpoints::v1::Text(VersionTold{base::Version(), kBuildType}).c_str());
    } else {
      std::printf("fairlead %s (%s)\n", base::Version(), kBuildType);
    }
  });
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->footer(
      "Examples:\n  fairlead completion bash > /etc/bash_completion.d/fairlead\n"
      "  fairlead completion fish > ~/.config/fish/completions/fairlead.fish");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, shell] {
    std::fputs((*shell == "fish" ? FishScript(app) : BashScript(app, *shell == "zsh")).c_str(), stdout);
  });
  (void)exit_code;
}

}  // namespace fairlead::apps
