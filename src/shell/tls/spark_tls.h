#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/hadoop_conf.h"
#include "shell/base/spark_keys.h"
#include "shell/tls/tls.h"

namespace fairlead::shell {

/// HTTPS of a Standalone daemon's page.
struct PageTls {
  TlsFiles files;
  std::optional<uint16_t> port;  // spark.ssl.standalone.port

  /// Where the page is when its port of HTTP is `plain`: 400 above, as Spark's (org.apache.spark.ui.JettyUtils).
  uint16_t PortBeside(uint16_t plain) const;
};

/// spark.ssl.standalone.*, and for what is not said there spark.ssl.* where that is enabled
/// (org.apache.spark.SSLOptions). fairlead.tls.certificate and .key, of `conf` or of Spark's properties, go before a
/// store, and without spark.ssl.standalone.enabled they enable it. Nothing: the page is HTTP. What is wrong is an error
/// of `keys`; what changes nothing here is a warning.
std::optional<PageTls> ReadPageTls(SparkKeys& keys, const config::HadoopConf& conf, std::vector<std::string>& warnings);

/// Whom a Master trusts that fetches others' pages: fairlead.tls.ca, of `conf` or of Spark's properties, else
/// spark.ssl.standalone.trustStore and .trustStorePassword, else spark.ssl.*; no paths: whom this machine trusts.
TlsFiles ReadPageTrust(SparkKeys& keys, const config::HadoopConf& conf);

}  // namespace fairlead::shell
