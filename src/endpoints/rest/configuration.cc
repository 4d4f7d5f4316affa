#include "endpoints/rest/configuration.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "endpoints/rest/document.h"

namespace fairlead::endpoints::rest {

bool Configuration::IsSecret(std::string_view key) {
  std::string lower(key);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* end : {"secret", "password", "passwd", "passphrase", "credential", "credentials", "store.pass",
                          "token", "zk-auth", "zk.auth", ".key", "-key", "private-key"}) {
    if (lower.ends_with(end)) return true;
  }
  // What Hadoop's default of hadoop.security.sensitive-config-keys names besides.
  for (const char* part :
       {"secret.key", "secretkey", "secret-key", "secretaccesskey", "encryption.key", "session.key", "account.key",
        "oauth2.", "fs.gs.auth.", "fs.gs.encryption.", "fs.gs.proxy.", "sensitive-config-keys"}) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return false;
}

Configuration::Configuration(std::vector<Property> properties, const std::vector<std::string>& sensitive)
    : properties_(std::move(properties)) {
  std::ranges::sort(properties_, {}, &Property::key);
  for (Property& property : properties_) {
    const bool named = std::ranges::find(sensitive, property.key) != sensitive.end();
    if (named || IsSecret(property.key)) property.value = "<redacted>";
  }
}

std::optional<std::string> Configuration::Render(bool json, std::string_view name) const {
  const auto document = [json](const Property& property) {
    return Document::Object()
        .Add(json ? "key" : "name", property.key)
        .Add("value", property.value)
        .Add(json ? "resource" : "source", property.source);
  };
  if (!name.empty()) {
    const auto found = std::ranges::lower_bound(properties_, name, {}, &Property::key);
    if (found == properties_.end() || found->key != name) return std::nullopt;
    const Document one = document(*found);
    return json ? one.ToJson("property") : Document::Object().Add("property", one).ToXml("configuration");
  }
  Document::List all;
  for (const Property& property : properties_) all.push_back(document(property));
  Document list = Document::Object().Add(json ? "properties" : "property", Document(std::move(all)));
  return json ? list.ToJson("") : list.ToXml("configuration");
}

}  // namespace fairlead::endpoints::rest
