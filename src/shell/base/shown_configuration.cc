#include "shell/base/shown_configuration.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace fairlead::shell {

namespace {

constexpr char kSensitive[] = "hadoop.security.sensitive-config-keys";

/// Regular expressions with commas or white space between; nothing: one of them cannot be read.
std::optional<std::vector<std::regex>> PatternsOf(const config::HadoopConf& conf) {
  std::vector<std::regex> patterns;
  try {
    for (const std::string& part : conf.List(kSensitive)) {
      std::istringstream words(part);
      for (std::string word; words >> word;) patterns.emplace_back(word);
    }
  } catch (const std::regex_error&) {
    return std::nullopt;
  }
  return patterns;
}

}  // namespace

std::shared_ptr<const endpoints::rest::Configuration> ShownConfiguration(const config::HadoopConf& conf) {
  if (conf.Bool("hadoop.security.instrumentation.requires.admin", false)) return nullptr;
  const auto patterns = PatternsOf(conf);
  std::vector<endpoints::rest::Configuration::Property> properties;
  std::vector<std::string> sensitive;
  for (const auto& [key, raw] : conf.Explicit()) {
    const std::string file = std::filesystem::path(conf.OriginOf(key).file).filename();
    properties.push_back({key, conf.String(key), file});
    const auto matches = [&key = key](const std::regex& one) { return std::regex_search(key, one); };
    if (!patterns || std::ranges::any_of(*patterns, matches)) sensitive.push_back(key);
  }
  return std::make_shared<endpoints::rest::Configuration>(std::move(properties), sensitive);
}

}  // namespace fairlead::shell
