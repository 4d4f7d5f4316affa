#include "shell/tls/spark_tls.h"

#include <set>

namespace fairlead::shell {

namespace {

constexpr const char* kOwnKey = "fairlead.tls.key";
constexpr const char* kOwnAuthorities = "fairlead.tls.ca";
constexpr int64_t kTlsPortMax = 65535;

/// One of the keys below spark.ssl.standalone, else below spark.ssl where that is enabled.
class TlsKeys {
 public:
  explicit TlsKeys(SparkKeys& keys) : keys_(keys), general_(keys.Bool("spark.ssl.enabled", false)) {}

  bool general() const { return general_; }
  std::string KeyOf(const std::string& name) const {
    const std::string own = "spark.ssl.standalone." + name;
    return keys_.Has(own) || !general_ ? own : "spark.ssl." + name;
  }
  std::string Text(const std::string& name) const { return keys_.String(KeyOf(name), ""); }

 private:
  SparkKeys& keys_;
  const bool general_;
};

/// A key of Fairlead, of the configuration or of Spark's properties.
std::string OwnValue(SparkKeys& keys, const config::HadoopConf& conf, const char* key) {
  return conf.IsSet(key) ? conf.String(key) : keys.Own(key);
}

/// What a store or PEM files are read by.
void ReadKeyFiles(SparkKeys& keys, const TlsKeys& tls, const std::string& certificate, const std::string& key,
                  TlsFiles& files) {
  if (!certificate.empty()) {
    files.keys = {std::string("spark.") + kCertificateKey, "", ""};
    files.paths = {certificate};
    if (!key.empty()) files.paths.push_back(key);
    return;
  }
  const std::string store = tls.Text("keyStore");
  if (store.empty()) {
    return keys.Refuse(tls.KeyOf("enabled"), std::string("true needs a key and its certificate: set ") +
                                                 "spark.ssl.standalone.keyStore and .keyStorePassword, or spark." +
                                                 kCertificateKey + " and spark." + kOwnKey + " (PEM)");
  }
  for (const char* name : {"keyStore", "keyStorePassword", "keyPassword"}) {
    if (tls.Text(name).starts_with("${")) keys.Refuse(tls.KeyOf(name), "is not filled in here: write the value itself");
  }
  files.keys = {tls.KeyOf("keyStore"), tls.KeyOf("keyStorePassword"), tls.KeyOf("keyPassword")};
  files.paths = {store};
  files.password = tls.Text("keyStorePassword");
  files.key_password = tls.Text("keyPassword");
}

}  // namespace

uint16_t PageTls::PortBeside(uint16_t plain) const {
  if (port) return *port;
  constexpr int kBeside = 400, kFirstFree = 1024, kPorts = 65536;
  if (plain == 0) return 0;
  return static_cast<uint16_t>((plain + kBeside - kFirstFree) % (kPorts - kFirstFree) + kFirstFree);
}

std::optional<PageTls> ReadPageTls(SparkKeys& keys, const config::HadoopConf& conf,
                                   std::vector<std::string>& warnings) {
  const std::string certificate = OwnValue(keys, conf, kCertificateKey);
  const TlsKeys tls(keys);
  if (!keys.Bool("spark.ssl.standalone.enabled", tls.general() || !certificate.empty())) return std::nullopt;
  PageTls page;
  ReadKeyFiles(keys, tls, certificate, OwnValue(keys, conf, kOwnKey), page.files);
  page.files.enabled = tls.Text("enabledAlgorithms");
  constexpr const char* kPageTlsPort = "spark.ssl.standalone.port";
  if (keys.Has(kPageTlsPort)) page.port = static_cast<uint16_t>(keys.Int(kPageTlsPort, 0, 0, kTlsPortMax));
  // Whoever has no certificate would come in.
  const std::string ask = tls.KeyOf("needClientAuth");
  if (keys.Bool(ask, false)) keys.Refuse(ask, "true is not supported: clients are asked for no certificates here");
  const std::string protocol = tls.Text("protocol");
  static const std::set<std::string> kSpoken = {"", "TLS", "TLSv1.2", "TLSv1.3"};
  if (!kSpoken.contains(protocol)) {
    warnings.push_back(tls.KeyOf("protocol") + "=" + protocol + " changes nothing: TLS 1.2 and 1.3 are spoken");
  }
  return page;
}

TlsFiles ReadPageTrust(SparkKeys& keys, const config::HadoopConf& conf) {
  TlsFiles files;
  files.keys.location = std::string("spark.") + kOwnAuthorities;
  std::string path = OwnValue(keys, conf, kOwnAuthorities);
  if (path.empty()) {
    const TlsKeys tls(keys);
    for (const char* name : {"trustStore", "trustStorePassword"}) {
      if (tls.Text(name).starts_with("${"))
        keys.Refuse(tls.KeyOf(name), "is not filled in here: write the value itself");
    }
    files.keys = {tls.KeyOf("trustStore"), tls.KeyOf("trustStorePassword"), ""};
    files.password = tls.Text("trustStorePassword");
    path = tls.Text("trustStore");
  }
  if (!path.empty()) files.paths = {path};
  return files;
}

}  // namespace fairlead::shell
