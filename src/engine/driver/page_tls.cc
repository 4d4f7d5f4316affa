#include "engine/driver/page_tls.h"

#include <vector>

#include "engine/settings/spark_settings.h"
#include "env_openssl/openssl_tls.h"

namespace fairlead::engine {

namespace {

base::Error Named(const base::Error& error) {
  return {std::string(kPageCertificate) + " and " + kPageKey + ": " + error.message};
}

}  // namespace

base::Result<std::unique_ptr<PageTls>> PageTls::Open(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                     const std::map<std::string, std::string>& settings) {
  const auto certificate = settings.find(kPageCertificate);
  if (certificate == settings.end()) return std::unique_ptr<PageTls>();
  std::vector<std::string> paths = {certificate->second};
  if (const auto key = settings.find(kPageKey); key != settings.end()) paths.push_back(key->second);
  const auto own = env_openssl::ReadCertificateFiles(paths, disk, {});
  if (!own.ok()) return Named(own.error());
  auto tls = env_openssl::MakeServerTls(*own);
  if (!tls.ok()) return Named({certificate->second + ": " + tls.error().message});
  return std::make_unique<PageTls>(loop, net, std::move(*tls));
}

}  // namespace fairlead::engine
