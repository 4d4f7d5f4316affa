#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/text.h"
#include "commands.h"
#include "version.h"

namespace fairlead::apps {
namespace {

/// Every word that may follow `app`: its subcommands and long options.
std::string Words(const CLI::App& app) {
  std::string words;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
    words += sub->get_name() + " ";
  }
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) words += "--" + name + " ";
  }
  return words;
}

/// One function for bash; zsh takes it through bashcompinit.
std::string Script(const CLI::App& root, bool zsh) {
  std::string out = zsh ? "autoload -U +X bashcompinit && bashcompinit\n" : "";
  out += "_fairlead() {\n  local words\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const CLI::App* sub : root.get_subcommands([](const CLI::App* s) { return !s->get_group().empty(); })) {
    out += "    " + sub->get_name() + ") words=\"" + Words(*sub) + "\" ;;\n";
  }
  out += "    *) words=\"" + Words(root) + "\" ;;\n  esac\n";
  out += "  [ \"$COMP_CWORD\" = 1 ] && words=\"" + Words(root) + "\"\n";
  out += "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n}\n";
  return out + "complete -o default -F _fairlead fairlead\n";
}

}  // namespace

int Complain(const std::string& command, const std::string& message, ExitCode code) {
  std::fprintf(stderr, "fairlead %s: %s\n", command.c_str(), base::VisibleText(message, base::Lines::kKept).c_str());
  return code;
}

void AddCompletion(CLI::App& app, int& exit_code) {
  CLI::App* version = app.add_subcommand("version", "Print the version");
  auto json = std::make_shared<bool>(false);
  version->add_flag("--json", *json, "print JSON");
  version->callback([json] {
    if (*json) {
      std::printf("{\"version\":\"%s\",\"build\":\"%s\"}\n", kVersion, kBuildType);
    } else {
      std::printf("fairlead %s (%s)\n", kVersion, kBuildType);
    }
  });
  CLI::App* completion = app.add_subcommand("completion", "Print a completion script for a shell");
  completion->footer("Example: fairlead completion bash > /etc/bash_completion.d/fairlead");
  auto shell = std::make_shared<std::string>();
  completion->add_option("shell", *shell, "bash or zsh")->required()->check(CLI::IsMember({"bash", "zsh"}));
  completion->callback([&app, shell] { std::fputs(Script(app, *shell == "zsh").c_str(), stdout); });
  (void)exit_code;
}

}  // namespace fairlead::apps
