#include "engine/driver/page_tls.h"

#include <filesystem>
#include <system_error>

#include "engine/settings/spark_settings.h"
#include "env_openssl/openssl_tls.h"

namespace fairlead::engine {

namespace {

constexpr uint64_t kFileMost = uint64_t{1} << 20;

base::Error Named(const base::Error& error) {
  return {std::string(kPageCertificate) + " and " + kPageKey + ": " + error.message};
}

}  // namespace

base::Result<std::unique_ptr<PageTls>> PageTls::Open(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                     const std::map<std::string, std::string>& settings) {
  const auto certificate = settings.find(kPageCertificate);
  if (certificate == settings.end()) return std::unique_ptr<PageTls>();
  std::string pem;
  for (const char* name : {kPageCertificate, kPageKey}) {
    const auto path = settings.find(name);
    if (path == settings.end()) continue;  // the certificate's file has the key, too
    std::error_code unknown;
    if (std::filesystem::is_fifo(path->second, unknown)) {
      return Named({path->second + " is a pipe, for which a driver would wait"});
    }
    const base::Result<std::string> read = disk.ReadFile(path->second, kFileMost);
    if (!read.ok()) return Named(read.error());
    pem += *read;
  }
  const auto own = env_openssl::ReadCertificates(certificate->second, pem, {});
  if (!own.ok()) return Named(own.error());
  auto tls = env_openssl::MakeServerTls(*own);
  if (!tls.ok()) return Named({certificate->second + ": " + tls.error().message});
  return std::make_unique<PageTls>(loop, net, std::move(*tls));
}

}  // namespace fairlead::engine
