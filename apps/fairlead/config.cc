#include <CLI/CLI.hpp>
#include <cstdio>

#include "cluster_options.h"
#include "commands.h"
#include "profiles/profile.h"
#include "shell/base/settings.h"
#include "shell/nm/settings.h"
#include "shell/rm/settings.h"

namespace fairlead::apps {
namespace {

constexpr const char* kCommand = "config check";

void PrintWarnings(const char* daemon, const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::printf("%s: warning: %s\n", daemon, warning.c_str());
}

/// What `fairlead rm` would refuse, its queues and host lists included.
base::Status CheckRm(const config::Settings& settings, const std::string& conf_directory) {
  const auto rm = shell::ReadRmSettings(settings, conf_directory);
  if (!rm) return rm.error();
  PrintWarnings("rm", rm->warnings);
  std::printf("rm: profile %s, queues from %s, state in %s\n", rm->manager.profile.c_str(),
              !rm->allocation_file.empty() ? rm->allocation_file.c_str()
              : settings.queues            ? "Fairlead's YAML"
                                           : "Fairlead's defaults",
              rm->state_directory.c_str());
  return {};
}

base::Status CheckNm(const config::Settings& settings) {
  const auto nm = shell::ReadNmSettings(settings);
  if (!nm) return nm.error();
  PrintWarnings("nm", nm->warnings);
  std::printf("nm: %zu auxiliary services, state in %s\n", nm->services.size(), nm->state_directory.c_str());
  return {};
}

int Check(shell::SettingsSource& source, const std::string& daemon, bool show) {
  const auto settings = LoadSettings(source);
  if (!settings) return Complain(kCommand, settings.error().message, CodeOf(settings.error()));
  if (show) {
    for (const auto& [key, value] : settings->conf.Explicit()) std::printf("%s = %s\n", key.c_str(), value.c_str());
  }
  if (daemon != "nm") {
    if (const auto rm = CheckRm(*settings, source.hadoop_conf); !rm.ok()) {
      return Complain(kCommand, "rm: " + rm.error().message, kUsage);
    }
  }
  if (daemon != "rm") {
    if (const auto nm = CheckNm(*settings); !nm.ok()) return Complain(kCommand, "nm: " + nm.error().message, kUsage);
  }
  return kOk;
}

}  // namespace

void AddConfig(CLI::App& app, int& exit_code) {
  CLI::App* config = app.add_subcommand("config", "Check a configuration, or list the short names of Fairlead's YAML");
  config->require_subcommand(1);
  CLI::App* check = config->add_subcommand(
      "check", "Read a configuration as the daemons would: files, every key they use, queues and host lists");
  check->footer(
      "Examples:\n  fairlead config check --hadoop-conf /etc/hadoop/conf\n  fairlead config check --hadoop-conf "
      "/etc/hadoop/conf --daemon nm\n  fairlead config check --config fairlead.yaml --show\n\nExit status: 0 when the "
      "daemons would start on it; 2 with what is wrong, where, and what to write instead.");
  auto source = std::make_shared<shell::SettingsSource>();
  auto show = std::make_shared<bool>(false);
  auto daemon = std::make_shared<std::string>("all");
  check->add_option("--daemon", *daemon, "rm, nm or all (default)")->check(CLI::IsMember({"rm", "nm", "all"}));
  check->add_option("--hadoop-conf", source->hadoop_conf,
                    "directory of Hadoop's files (default: HADOOP_CONF_DIR, YARN_CONF_DIR, which daemons do not read)");
  check->add_option("--config", source->yaml, "Fairlead's own YAML file");
  check->add_option("--set", source->overrides, "KEY=VALUE; may be repeated");
  check->add_flag("--show", *show, "print every key that is set");
  check->callback([source, show, daemon, &exit_code] { exit_code = Check(*source, *daemon, *show); });

  CLI::App* list = config->add_subcommand(
      "profiles", "List the profiles of the scheduler, and the keys of each with their defaults");
  list->footer("Examples:\n  fairlead config profiles\n  fairlead config profiles --markdown");
  auto markdown = std::make_shared<bool>(false);
  list->add_flag("--markdown", *markdown, "as the tables of docs/configuration.md");
  list->callback([markdown] {
    for (const profiles::Profile& profile : profiles::All()) {
      if (*markdown) {
        std::printf("%s\n", profiles::Section(profile).c_str());
        continue;
      }
      std::printf("%s\n  %s\n", std::string(profile.name).c_str(), std::string(profile.about).c_str());
      for (const profiles::Setting& setting : profile.settings()) {
        std::printf("  %-58s %-14s %s\n", setting.key.c_str(), setting.fallback.c_str(), setting.meaning.c_str());
      }
    }
  });

  CLI::App* names =
      config->add_subcommand("names", "List the short names of Fairlead's YAML and the keys they stand for");
  names->footer("Examples:\n  fairlead config names\n  fairlead config names | grep queue");
  names->callback([] {
    for (const config::YamlEntry& entry : config::YamlEntries()) {
      std::printf("%-22s %-50s %s\n", entry.path, entry.key, entry.meaning);
    }
  });
}

}  // namespace fairlead::apps
