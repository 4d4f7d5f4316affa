#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::endpoints::rest {

/// A daemon's configuration as /conf shows it (org.apache.hadoop.conf.ConfServlet). Values that are secrets by their
/// keys' names are not kept.
class Configuration {
 public:
  struct Property {
    std::string key;
    std::string value;
    std::string source;  // "yarn-site.xml"
  };
  /// `sensitive`: keys whose values are hidden besides those that always are; it is those that
  /// hadoop.security.sensitive-config-keys matches.
  explicit Configuration(std::vector<Property> properties, const std::vector<std::string>& sensitive = {});

  /// All of them, or the one that is called `name`; nullopt: none is. Cost: the answer.
  std::optional<std::string> Render(bool json, std::string_view name) const;

  /// Does the key's name say that its value is a secret?
  static bool IsSecret(std::string_view key);

 private:
  std::vector<Property> properties_;  // by key
};

}  // namespace fairlead::endpoints::rest
