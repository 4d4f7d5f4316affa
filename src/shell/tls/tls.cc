#include "shell/tls/tls.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "env_openssl/openssl_tls.h"

namespace fairlead::shell {

using config::HadoopConf;
using process::tls::TlsFilesSource;

namespace {

constexpr char kPolicy[] = "yarn.http.policy";
constexpr char kStrict[] = "hadoop.http.header.Strict-Transport-Security";
constexpr char kKey[] = "fairlead.tls.key";
constexpr char kOfShuffles[] = "mapreduce.shuffle.ssl.enabled";
constexpr char kAuthorities[] = "fairlead.tls.ca";
constexpr char kKeystore[] = "ssl.server.keystore.";
constexpr char kServersTrust[] = "ssl.server.truststore.";
constexpr char kReload[] = "ssl.server.stores.reload.interval";
constexpr char kTruststore[] = "ssl.client.truststore.";
constexpr char kClients[] = "hadoop.ssl.require.client.cert";

std::string Value(const HadoopConf& conf, const std::string& key) { return conf.IsSet(key) ? conf.String(key) : ""; }

/// With the keys of the configuration that lead to the fault, and what to do.
base::Error Explained(const TlsFiles& files, const base::Error& fault) {
  const TlsFiles::Keys& keys = files.keys;
  const std::string& path = files.paths.front();
  const std::string text = keys.location + ": " + fault.message;
  const bool of_key = fault.code == env_openssl::kKeyPassword;
  if (fault.code != env_openssl::kStorePassword && !of_key) return base::Error{text, fault.code};
  if (keys.password.empty()) {
    return base::Error{text + "; it has a password, for which there is no key here; 'openssl pkey -in " +
                       files.paths.back() + " -out NEW' writes one without"};
  }
  if (files.password.empty()) return base::Error{text + "; " + keys.password + " is not set"};
  if (of_key && files.key_password.empty()) {
    return base::Error{text + "; " + keys.key_password + " is not set, and " + keys.password + " does not open it"};
  }
  if (of_key) return base::Error{text + "; is " + keys.key_password + " right?"};
  return base::Error{text + "; is " + keys.password + " right? 'keytool -list -keystore " + path + "' asks for it"};
}

std::function<base::Result<std::string>()> ReaderOf(const TlsFiles& files, env::Disk& disk) {
  return [files, &disk]() -> base::Result<std::string> {
    base::Result<std::string> bytes = env_openssl::ReadCertificateFiles(files.paths, disk);
    if (!bytes.ok()) return Explained(files, bytes.error());
    return bytes;
  };
}

base::Result<std::shared_ptr<env::Tls>> OpenOnce(const TlsFilesSource& source) {
  const base::Result<std::string> bytes = source.read();
  if (!bytes.ok()) return bytes.error();
  return source.make(*bytes);
}

/// When files are looked at, and what of ssl-server.xml only seems to say so.
void ReadReloading(const HadoopConf& conf, TlsFiles& out) {
  out.look = std::max(conf.Time(kReload, out.look), base::Duration());
  if (out.look.ns == 0) {
    out.warnings.push_back(std::string(kReload) +
                           " is 0: a changed certificate counts from the next start on, as in Hadoop");
  }
  const auto written = conf.Explicit();
  const auto first = written.lower_bound(kServersTrust);
  if (first != written.end() && first->first.starts_with(kServersTrust)) {
    out.warnings.push_back(std::string(kServersTrust) +
                           "* has no effect: clients are asked for no certificates; when changed files "
                           "are looked at is " +
                           kReload);
  }
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

bool TrustsByFile(const HadoopConf& conf) { return IsHttpsOnly(conf) || conf.IsSet(kAuthorities); }

TlsFiles ReadServerTls(const HadoopConf& conf, const std::string& asked) {
  TlsFiles out;
  ReadReloading(conf, out);
  // Whoever has no certificate would come in. YARN's pages ask nobody for one, whatever the key says.
  if (asked == kOfShuffles && conf.Bool(kClients, false)) {
    conf.Refuse(kClients,
                "true is not supported: reducers are asked for no certificates, so everybody would come in; write "
                "false");
  }
  out.excluded = Value(conf, "ssl.server.exclude.cipher.list");
  if (const std::string own = Value(conf, kCertificateKey); !own.empty()) {
    out.keys = {kCertificateKey, "", ""};
    out.paths = {own};
    if (const std::string key = Value(conf, kKey); !key.empty()) out.paths.push_back(key);
    return out;
  }
  const std::string prefix = kKeystore;
  const std::string store = Value(conf, prefix + "location");
  out.keys = {prefix + "location", prefix + "password", prefix + "keypassword"};
  out.password = Value(conf, prefix + "password");
  out.key_password = Value(conf, prefix + "keypassword");
  if (!store.empty()) {
    out.paths = {store};
  } else {
    conf.Refuse(asked, Value(conf, asked) + " needs a key and its certificate: write " + prefix +
                           "location and .password into ssl-server.xml beside this file, or " + kCertificateKey +
                           " and " + kKey + " (PEM)");
  }
  if (out.password.empty() && !store.empty() && !Value(conf, "hadoop.security.credential.provider.path").empty()) {
    conf.Refuse(prefix + "location", "passwords of credential providers are not read; write " + prefix + "password");
  }
  return out;
}

TlsFiles ReadTrust(const HadoopConf& conf) {
  const std::string prefix = kTruststore;
  TlsFiles files;
  files.keys.location = kAuthorities;
  std::string path = Value(conf, kAuthorities);
  if (path.empty()) {
    files.keys = {prefix + "location", prefix + "password", ""};
    files.password = Value(conf, files.keys.password);
    path = Value(conf, files.keys.location);
  }
  if (!path.empty()) files.paths = {path};
  return files;
}

TlsFilesSource ServerSource(const TlsFiles& files, env::Disk& disk) {
  const auto make = [files](const std::string& bytes) -> base::Result<std::shared_ptr<env::Tls>> {
    const auto own = env_openssl::ReadCertificates(files.paths.front(), bytes, {files.password, files.key_password});
    if (!own.ok()) return Explained(files, own.error());
    auto tls = env_openssl::MakeServerTls(*own, {files.enabled, files.excluded});
    if (!tls.ok()) return Explained(files, {files.paths.front() + ": " + tls.error().message});
    return tls;
  };
  return {ReaderOf(files, disk), make, files.look, nullptr};
}

TlsFilesSource TrustSource(const TlsFiles& files, env::Disk& disk) {
  const auto make = [files](const std::string& bytes) -> base::Result<std::shared_ptr<env::Tls>> {
    if (files.paths.empty()) return env_openssl::MakeClientTls({});
    const auto authorities = env_openssl::ReadCertificates(files.paths.front(), bytes, {files.password, ""});
    if (!authorities.ok()) return Explained(files, authorities.error());
    if (authorities->chain.empty() && authorities->trusted.empty()) {
      return Explained(files, {files.paths.front() + " holds no certificate that could be trusted"});
    }
    return env_openssl::MakeClientTls(*authorities);
  };
  return {ReaderOf(files, disk), make, files.look, nullptr};
}

base::Result<std::shared_ptr<env::Tls>> OpenServerTls(const TlsFiles& files, env::Disk& disk) {
  return OpenOnce(ServerSource(files, disk));
}

base::Result<std::shared_ptr<env::Tls>> OpenClientTls(const HadoopConf& conf, env::Disk& disk) {
  return OpenOnce(TrustSource(ReadTrust(conf), disk));
}

}  // namespace fairlead::shell
