#include "shell/spark/spark_properties.h"

#include <fstream>
#include <sstream>

#include "endpoints/spark/command_words.h"

namespace fairlead::shell {

namespace {

bool IsReadKey(std::string_view key) { return key.starts_with("spark.") || key.starts_with("fairlead."); }

}  // namespace

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

}  // namespace fairlead::shell
