#include "shell/base/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fairlead::shell {
namespace {

/// ssl.server.keystore.location, which ssl-server.xml says, where yarn-site.xml has this.
std::string StoreWhere(const std::string& key, const std::string& value) {
  const auto directory = std::filesystem::temp_directory_path() / ("fairlead_settings_" + std::to_string(::getpid()));
  std::filesystem::create_directories(directory);
  const auto write = [&](const char* name, const std::string& of, const std::string& is) {
    std::ofstream(directory / name) << "<configuration><property><name>" << of << "</name><value>" << is
                                    << "</value></property></configuration>";
  };
  write("yarn-site.xml", key, value);
  write("ssl-server.xml", "ssl.server.keystore.location", "/etc/rm.jks");
  SettingsSource source;
  source.hadoop_conf = directory;
  const auto settings = LoadSettings(source);
  std::filesystem::remove_all(directory);
  EXPECT_TRUE(settings.ok()) << settings.error().message;
  return settings.ok() ? settings->conf.String("ssl.server.keystore.location") : "";
}

TEST(LoadSettings, FilesOfStoresAreReadWhereTlsIsSpoken) {
  EXPECT_EQ(StoreWhere("yarn.http.policy", "HTTPS_ONLY"), "/etc/rm.jks");
  EXPECT_EQ(StoreWhere("mapreduce.shuffle.ssl.enabled", "true"), "/etc/rm.jks");
  EXPECT_EQ(StoreWhere("mapreduce.shuffle.ssl.enabled", "false"), "") << "with its passwords it is not for everybody";
  EXPECT_EQ(StoreWhere("yarn.http.policy", "HTTP_ONLY"), "");
}

}  // namespace
}  // namespace fairlead::shell
