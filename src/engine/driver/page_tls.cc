#include "engine/driver/page_tls.h"

#include <vector>

#include "engine/settings/spark_settings.h"
#include "env_openssl/openssl_tls.h"

namespace fairlead::engine {

namespace {

constexpr base::Duration kLook = base::Duration::Seconds(10);

base::Error Named(const base::Error& error) {
  return {std::string(kPageCertificate) + " and " + kPageKey + ": " + error.message};
}

base::Result<std::shared_ptr<env::Tls>> MakeTls(const std::string& name, const std::string& bytes) {
  const auto own = env_openssl::ReadCertificates(name, bytes, {});
  if (!own.ok()) return Named(own.error());
  auto tls = env_openssl::MakeServerTls(*own);
  if (!tls.ok()) return Named({name + ": " + tls.error().message});
  return tls;
}

}  // namespace

base::Result<std::unique_ptr<PageTls>> PageTls::Open(env::Loop& loop, env::Net& net, env::Disk& disk,
                                                     const std::map<std::string, std::string>& settings,
                                                     std::function<void(const std::string&)> on_news) {
  const auto certificate = settings.find(kPageCertificate);
  if (certificate == settings.end()) return std::unique_ptr<PageTls>();
  std::vector<std::string> paths = {certificate->second};
  if (const auto key = settings.find(kPageKey); key != settings.end()) paths.push_back(key->second);
  process::tls::TlsFilesSource source;
  source.read = [paths, &disk]() -> base::Result<std::string> {
    base::Result<std::string> bytes = env_openssl::ReadCertificateFiles(paths, disk);
    if (!bytes.ok()) return Named(bytes.error());
    return bytes;
  };
  source.make = [name = paths.front()](const std::string& bytes) { return MakeTls(name, bytes); };
  source.look = kLook;
  source.on_changed = [on_news = std::move(on_news)](const base::Status& status) {
    on_news(status.ok()
                ? "the certificate of the page has changed"
                : "the changed certificate of the page is refused; the earlier one stays: " + status.error().message);
  };
  std::unique_ptr<PageTls> out(new PageTls(loop, net, std::move(source)));
  if (!out->tls_.opened().ok()) return out->tls_.opened().error();
  return out;
}

}  // namespace fairlead::engine
