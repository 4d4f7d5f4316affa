#include "cluster_options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdlib>

#include "shell/callers/credential.h"

namespace fairlead::apps {

void AddClusterOptions(CLI::App& command, ClusterOptions& options) {
  command.add_option("--hadoop-conf", options.source.hadoop_conf,
                     "directory of Hadoop's files (default: HADOOP_CONF_DIR, YARN_CONF_DIR)");
  command.add_option("--config", options.source.yaml, "Fairlead's own YAML file");
  command.add_option("--set", options.source.overrides, "KEY=VALUE of one Hadoop or fairlead.* key; may be repeated");
  command.add_option("--user", options.user, "act as this user (default: HADOOP_USER_NAME, else yours)");
  const auto trust = [&options](const std::string& file) {
    options.source.overrides.push_back("fairlead.tls.ca=" + file);
  };
  command.add_option_function<std::string>(
      "--ca", trust,
      "certificates that HTTPS pages are trusted by (PEM, PKCS#12, JKS; default: ssl-client.xml, else this machine's)");
  command.add_flag("--json", options.json, "print JSON");
}

base::Result<config::Settings> LoadSettings(shell::SettingsSource& source) {
  for (const char* variable : {"HADOOP_CONF_DIR", "YARN_CONF_DIR"}) {
    const char* value = std::getenv(variable);
    if (source.hadoop_conf.empty() && source.yaml.empty() && value != nullptr) source.hadoop_conf = value;
  }
  auto settings = shell::LoadSettings(source);
  if (settings.ok()) return settings;
  return base::Error{settings.error().message, settings.error().code == ENOENT ? int{shell::kRmNotFound} : 0};
}

base::Result<Cluster> OpenCluster(const ClusterOptions& options) {
  shell::SettingsSource source = options.source;
  auto settings = LoadSettings(source);
  if (!settings) return settings.error();
  const std::string path = shell::CredentialPath("client");
  if (base::Status joined = shell::AddCredential(path, source, settings->conf); !joined.ok()) return joined.error();
  auto client = shell::YarnClient::Create(settings->conf, options.user.empty() ? shell::CurrentUser() : options.user);
  if (!client) return client.error();
  return Cluster{std::move(settings).value(), std::move(client).value(), std::move(source)};
}

ExitCode CodeOf(const base::Error& error) {
  switch (error.code) {
    case shell::kRmUnreachable:
      return kUnreachable;
    case shell::kRmNotFound:
      return kNotFound;
    case shell::kRmRefused:
    case kAnotherManager:
      return kFailed;
    default:
      return kUsage;
  }
}

}  // namespace fairlead::apps
