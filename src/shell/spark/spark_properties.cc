#include "shell/spark/spark_properties.h"

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "endpoints/spark/command_words.h"
#include "shell/base/open_ports.h"
#include "shell/shuffle/settings.h"

namespace fairlead::shell {

namespace {

bool IsReadKey(std::string_view key) { return key.starts_with("spark.") || key.starts_with("fairlead."); }

}  // namespace

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

SparkProperties PropertiesInJavaOptions(std::string_view options) {
  SparkProperties properties;
  for (const std::string& word : endpoints::spark::CommandWords(options)) {
    const size_t equals = word.find('=');
    if (!word.starts_with("-D") || equals == std::string::npos || !IsReadKey(std::string_view(word).substr(2)))
      continue;
    properties[word.substr(2, equals - 2)] = word.substr(equals + 1);
  }
  return properties;
}

base::Result<SparkProperties> ReadSparkProperties(const std::string& file, const std::string& spark_home,
                                                  const std::vector<const char*>& variables) {
  SparkProperties properties;
  for (const char* variable : variables) {
    for (auto& [key, value] : PropertiesInJavaOptions(Variable(variable))) properties.emplace(key, value);
  }
  std::string path = file;
  if (path.empty()) {
    const std::string conf = Variable("SPARK_CONF_DIR");
    path = (conf.empty() ? spark_home + "/conf" : conf) + "/spark-defaults.conf";
  }
  std::ifstream in(path);
  if (!in && !file.empty()) return base::Error{"cannot read " + file};
  std::stringstream text;
  text << in.rdbuf();
  for (const auto& [key, value] : ParseSparkProperties(text.str())) {
    if (IsReadKey(key)) properties.emplace(key, value);
  }
  return properties;
}

std::string SparkKeys::Text(const std::string& key, const std::string& otherwise) const {
  const auto found = properties_.find(key);
  return found != properties_.end() ? found->second : otherwise;
}

std::string SparkKeys::Own(const std::string& key) const { return Text(key, Text("spark." + key, "")); }

std::vector<std::string> SparkKeys::Callers() const {
  std::vector<std::string> uids;
  boost::algorithm::split(uids, Own(kCallersKey), boost::algorithm::is_any_of(", "));
  std::erase(uids, "");
  return uids;
}

bool SparkKeys::Flag(const std::string& key, bool otherwise) {
  const std::string text = Text(key, otherwise ? "true" : "false");
  if (text != "true" && text != "false") Refuse(key, text + " is neither true nor false");
  return text == "true";
}

int64_t SparkKeys::Number(const std::string& key, int64_t otherwise, int64_t min, int64_t max) {
  const std::string text = Text(key, std::to_string(otherwise));
  int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < min || number > max) {
    Refuse(key, text + " is no number from " + std::to_string(min) + " to " + std::to_string(max));
    return otherwise;
  }
  return number;
}

int64_t SparkKeys::Seconds(const std::string& key, int64_t otherwise) {
  const auto seconds = ParseSparkSeconds(Text(key, std::to_string(otherwise)));
  if (seconds.ok()) return *seconds;
  Refuse(key, seconds.error().message);
  return otherwise;
}

void SparkKeys::Refuse(const std::string& key, const std::string& why) {
  if (error_.empty()) error_ = key + ": " + why;
}

}  // namespace fairlead::shell
