#include "shell/tls/tls.h"

#include <utility>

#include "base/text.h"
#include "env_openssl/openssl_tls.h"

namespace fairlead::shell {

using config::HadoopConf;

namespace {

constexpr char kPolicy[] = "yarn.http.policy";
constexpr char kStrict[] = "hadoop.http.header.Strict-Transport-Security";
constexpr char kCertificate[] = "fairlead.tls.certificate";
constexpr char kKey[] = "fairlead.tls.key";
constexpr char kAuthorities[] = "fairlead.tls.ca";
constexpr char kKeystore[] = "ssl.server.keystore.";
constexpr char kTruststore[] = "ssl.client.truststore.";
constexpr uint64_t kFileMost = uint64_t{16} << 20;

std::string Value(const HadoopConf& conf, const std::string& key) { return conf.IsSet(key) ? conf.String(key) : ""; }

base::Result<env_openssl::Certificates> ReadFiles(const std::vector<std::string>& paths, env::Disk& disk,
                                                  const env_openssl::StorePasswords& passwords) {
  std::string bytes;
  for (const std::string& path : paths) {
    const base::Result<std::string> read = disk.ReadFile(path, kFileMost);
    if (!read.ok()) return read.error();
    bytes += *read;
  }
  return env_openssl::ReadCertificates(paths.front(), bytes, passwords);
}

}  // namespace

bool IsHttpsOnly(const HadoopConf& conf) {
  const std::string policy = conf.String(kPolicy, "HTTP_ONLY");
  const std::string read = base::Lowered(policy);  // HttpConfig.Policy.fromString minds no case
  if (read == "https_only") return true;
  if (read != "http_only" && !read.empty()) {
    conf.Refuse(kPolicy,
                policy + " is not supported: YARN's daemons have one web port each; write HTTPS_ONLY or HTTP_ONLY");
  }
  return false;
}

std::string WebScheme(const HadoopConf& conf) { return IsHttpsOnly(conf) ? "https://" : "http://"; }

std::string WebAddressKey(const HadoopConf& conf, const std::string& prefix) {
  return prefix + (IsHttpsOnly(conf) ? ".https.address" : ".address");
}

std::string StrictTransport(const HadoopConf& conf) {
  const std::string value = Value(conf, kStrict);
  return IsHttpsOnly(conf) ? value : "";
}

TlsFiles ReadServerTls(const HadoopConf& conf, const std::string& asked) {
  TlsFiles out;
  out.look = conf.Time("ssl.server.stores.reload.interval", out.look);
  out.excluded = Value(conf, "ssl.server.exclude.cipher.list");
  if (const std::string own = Value(conf, kCertificate); !own.empty()) {
    out.paths = {own};
    if (const std::string key = Value(conf, kKey); !key.empty()) out.paths.push_back(key);
    return out;
  }
  const std::string prefix = kKeystore;
  const std::string store = Value(conf, prefix + "location");
  out.password = Value(conf, prefix + "password");
  out.key_password = Value(conf, prefix + "keypassword");
  if (!store.empty()) {
    out.paths = {store};
  } else {
    conf.Refuse(asked, Value(conf, asked) + " needs a key and its certificate: write " + prefix +
                           "location and .password into ssl-server.xml beside this file, or " + kCertificate + " and " +
                           kKey + " (PEM)");
  }
  if (out.password.empty() && !store.empty() && !Value(conf, "hadoop.security.credential.provider.path").empty()) {
    conf.Refuse(prefix + "location", "passwords of credential providers are not read; write " + prefix + "password");
  }
  return out;
}

base::Result<std::shared_ptr<env::Tls>> OpenServerTls(const TlsFiles& files, env::Disk& disk) {
  const auto own = ReadFiles(files.paths, disk, {files.password, files.key_password});
  if (!own.ok()) return own.error();
  auto tls = env_openssl::MakeServerTls(*own, {files.enabled, files.excluded});
  if (!tls.ok()) return base::Error{files.paths.front() + ": " + tls.error().message};
  return tls;
}

base::Result<std::shared_ptr<env::Tls>> OpenClientTls(const HadoopConf& conf, env::Disk& disk) {
  const std::string prefix = kTruststore;
  std::string path = Value(conf, kAuthorities);
  const std::string password = path.empty() ? Value(conf, prefix + "password") : "";
  if (path.empty()) path = Value(conf, prefix + "location");
  if (path.empty()) return env_openssl::MakeClientTls({});
  const auto authorities = ReadFiles({path}, disk, {password, ""});
  if (!authorities.ok()) return authorities.error();
  if (authorities->chain.empty() && authorities->trusted.empty()) {
    return base::Error{path + " holds no certificate that could be trusted"};
  }
  return env_openssl::MakeClientTls(*authorities);
}

}  // namespace fairlead::shell
