#include "config/keys.h"

#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace fairlead::config {

std::string KeyValue<double>::Text(double value, Range /*range*/) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string KeyValue<std::vector<std::string>>::Text(const std::vector<std::string>& value, Range /*range*/) {
  return base::Joined(value, ",");
}

std::string TextOfHadoopDefault(const char* key) {
  const char* value = HadoopDefault(key);
  FL_CHECK(value != nullptr, key);
  return *value == '\0' ? "none" : value;
}

void RefuseUnsupported(const HadoopConf& conf, std::span<const Unsupported> table) {
  for (const Unsupported& entry : table) {
    if (!conf.IsSet(entry.key)) continue;
    const std::string value = conf.String(entry.key);
    const bool any = std::string_view(entry.refused) == "*";
    if (any ? value == entry.accepted || value.empty() : value != entry.refused) continue;
    conf.Refuse(entry.key, std::string(entry.reason) + "; " + entry.remedy);
  }
}

void AppendSettings(std::span<const Unsupported> table, std::vector<Setting>& out) {
  for (const Unsupported& entry : table) {
    const bool any = std::string_view(entry.refused) == "*";
    const std::string what = any ? "every value but " + std::string(*entry.accepted == 0 ? "none" : entry.accepted)
                                 : std::string(entry.refused);
    out.push_back({entry.key, "", what + " is refused: " + entry.reason});
  }
}

std::string Markdown(const std::vector<Setting>& settings) {
  std::string text = "| key | default | meaning |\n| --- | --- | --- |\n";
  for (const Setting& setting : settings)
    text += "| `" + setting.key + "` | " + setting.fallback + " | " + setting.meaning + " |\n";
  return text;
}

}  // namespace fairlead::config
