#include <CLI/CLI.hpp>
#include <cstdio>

#include "cluster_options.h"
#include "commands.h"
#include "shell/settings.h"

namespace fairlead::apps {
namespace {

int Check(const shell::SettingsSource& source, bool show) {
  const auto settings = shell::LoadSettings(source);
  if (!settings) return Complain("config check", settings.error().message, kUsage);
  if (show) {
    for (const auto& [key, value] : settings->conf.Explicit()) std::printf("%s = %s\n", key.c_str(), value.c_str());
  }
  std::puts("the files are well-formed");
  return kOk;
}

}  // namespace

void AddConfig(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Check a configuration, or list the short names of Fairlead's YAML");
  config->require_subcommand(1);
  CLI::App* check =
      config->add_subcommand("check", "Read a configuration as a daemon would; errors name file, line and column");
  check->footer(
      "Examples:\n  fairlead config check --hadoop-conf /etc/hadoop/conf\n  fairlead config check --config "
      "fairlead.yaml --show");
  auto source = std::make_shared<shell::SettingsSource>();
  auto show = std::make_shared<bool>(false);
  check->add_option("--hadoop-conf", source->hadoop_conf, "directory of Hadoop's files");
  check->add_option("--config", source->yaml, "Fairlead's own YAML file");
  check->add_option("--set", source->overrides, "KEY=VALUE; may be repeated");
  check->add_flag("--show", *show, "print every key that is set");
  check->callback([source, show, &exit_code] { exit_code = Check(*source, *show); });

  CLI::App* names =
      config->add_subcommand("names", "List the short names of Fairlead's YAML and the keys they stand for");
  names->callback([] {
    for (const config::YamlEntry& entry : config::YamlEntries()) {
      std::printf("%-22s %-50s %s\n", entry.path, entry.key, entry.meaning);
    }
  });
}

}  // namespace fairlead::apps
