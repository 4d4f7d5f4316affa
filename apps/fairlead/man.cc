#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "base/text.h"
#include "base/version.h"
#include "commands.h"

// `fairlead man`: the manual pages, made from what --help is made from.

namespace fairlead::apps {
namespace {

/// Text of ours as troff shows it literally.
std::string Roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\' || c == '-') out += '\\';
    out += c;
    line_begins = c == '\n';
  }
  return out;
}

void Heading(const std::string& text) { std::printf(".SH %s\n", text.c_str()); }

void Options(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    const std::string value = option->get_items_expected_max() == 0 || option->get_positional() ? "" : " VALUE";
    std::printf(".TP\n.B %s\n%s\n", Roff(option->get_name(option->get_positional(), true) + value).c_str(),
                Roff(option->get_description()).c_str());
  }
}

std::vector<const CLI::App*> Commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* sub) { return !sub->get_group().empty(); });
}

/// `words` are "fairlead submit", the page's name "fairlead-submit"; for man(1), section 1.
void Page(const CLI::App& app, const std::string& words, const std::string& exit_codes) {
  std::string name = words;
  std::replace(name.begin(), name.end(), ' ', '-');
  std::printf(".TH %s 1 \"\" \"Fairlead %s\"\n", Roff(base::Uppered(name)).c_str(), base::Version());
  const std::string description = app.get_description();
  Heading("NAME");
  std::printf("%s \\- %s\n", Roff(name).c_str(), Roff(description.substr(0, description.find(':'))).c_str());
  Heading("SYNOPSIS");
  std::printf(".B %s\n%s[OPTIONS]", Roff(words).c_str(), Commands(app).empty() ? "" : "COMMAND ");
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) std::printf(" %s", Roff(base::Uppered(option->get_name(true))).c_str());
  }
  std::printf("\n");
  Heading("DESCRIPTION");
  std::printf("%s\n", Roff(description).c_str());
  if (!Commands(app).empty()) {
    Heading("COMMANDS");
    for (const CLI::App* sub : Commands(app)) {
      std::printf(".TP\n.B %s\n%s\n", Roff(sub->get_name()).c_str(), Roff(sub->get_description()).c_str());
    }
  }
  Heading("OPTIONS");
  Options(app);
  if (!app.get_footer().empty() && app.get_footer() != exit_codes) {
    Heading("EXAMPLES");
    std::printf(".nf\n%s\n.fi\n", Roff(app.get_footer()).c_str());
  }
  Heading("EXIT STATUS");
  std::printf("%s\n", Roff(exit_codes).c_str());
}

}  // namespace

void AddMan(CLI::App& app, int& exit_code) {
  CLI::App* man = app.add_subcommand("man", "Print a manual page");
  man->footer("Examples:\n  fairlead man submit | man -l -\n  fairlead man > /usr/local/share/man/man1/fairlead.1");
  auto words = std::make_shared<std::vector<std::string>>();
  man->add_option("command", *words, "the command (default: fairlead itself)");
  man->callback([&app, &exit_code, words] {
    const CLI::App* page = &app;
    std::string name = "fairlead";
    for (const std::string& word : *words) {
      const auto subs = page->get_subcommands([&](const CLI::App* sub) { return sub->get_name() == word; });
      if (subs.empty()) {
        exit_code = Complain("man", "there is no command '" + word + "'; fairlead --help lists them", kUsage);
        return;
      }
      page = subs.front();
      name += " " + word;
    }
    Page(*page, name, app.get_footer());
  });
}

}  // namespace fairlead::apps
