#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "base/version.h"
#include "commands.h"
#include "version.h"

namespace fairlead::apps {
namespace {

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// Every word that may follow `app`: its subcommands and long options.
std::string Words(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : Commands(app)) words += sub->get_name() + " ";
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

/// What a command's bare words are, as `fairlead values` lists them; "": nothing of the cluster's.
std::string ValuesOf(const CLI::App& command) {
  const std::string& name = command.get_name();
  if (name == "kill") return "active";
  if (name == "node") return "nodes";
  if (name == "queue") return "queues";
  if (name == "why") return "active";
  return name == "app" || name == "logs" || name == "history" ? "apps" : "";
}

/// One function for bash; zsh takes it through bashcompinit.
std::string BashScript(const CLI::App& root, bool zsh) {
  std::string out = zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  out += "_fairlead() {\n  local words values=\n  case \"${COMP_WORDS[1]} ${COMP_WORDS[2]}\" in\n";
  for (const CLI::App* sub : Commands(root)) {
    const std::string values = ValuesOf(*sub);
    const std::string known = values.empty() ? "" : " values=" + values;
    const std::vector<const CLI::App*> below = Commands(*sub);
    for (const CLI::App* one : below) {
      out += "    '" + sub->get_name() + " " + one->get_name() + "') words=\"" + Words(*one) + "\"" + known + " ;;\n";
    }
    out += "    '" + sub->get_name() + " '*) words=\"" + Words(*sub) + "\"" + (below.empty() ? known : "") + " ;;\n";
  }
  out += "    *) words=\"" + Words(root) + "\" ;;\n  esac\n";
  out += "  [ \"$COMP_CWORD\" = 1 ] && words=\"" + Words(root) + "\" values=\n";
  out += "  [ \"${COMP_WORDS[COMP_CWORD-1]}\" = --queue ] && words= values=queues\n";
  out += "  [ -n \"$values\" ] && words=\"$words $(fairlead values $values 2>/dev/null)\"\n";
  out += "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n";
  return out + "complete -o default -F _fairlead fairlead\n";
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
  std::string out;
  for (const CLI::App* sub : Commands(root)) {
    const std::string name = sub->get_name();
    out += "complete -c fairlead -n __fish_use_subcommand -f -a " + name + " -d " + FishQuoted(sub->get_description()) +
           "\n";
    const std::string after = "complete -c fairlead -n '__fish_seen_subcommand_from " + name + "' ";
    for (const CLI::App* below : Commands(*sub)) {
      out += after + "-a " + below->get_name() + " -d " + FishQuoted(below->get_description()) + "\n";
    }
    if (const std::string values = ValuesOf(*sub); !values.empty()) {
      out += after + "-f -a '(fairlead values " + values + " 2>/dev/null)'\n";
    }
    for (const CLI::Option* option : sub->get_options()) {
      for (const std::string& option_name : option->get_lnames()) {
        out += after + "-l " + option_name + " -d " + FishQuoted(option->get_description()) +
               (option_name == "queue" ? " -x -a '(fairlead values queues 2>/dev/null)'" : "") + "\n";
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
      std::printf("{\"version\":\"%s\",\"build\":\"%s\"}\n", base::Version(), kBuildType);
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
