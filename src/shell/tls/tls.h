#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "config/hadoop_conf.h"
#include "env/disk.h"
#include "env/tls.h"
#include "process/tls/watched_tls.h"

// Hadoop's keys about TLS: yarn.http.policy, ssl-server.xml and ssl-client.xml; and Fairlead's own, fairlead.tls.*.

namespace fairlead::shell {

inline constexpr char kCertificateKey[] = "fairlead.tls.certificate";

/// Whether yarn.http.policy is HTTPS_ONLY; what is neither that nor HTTP_ONLY is an error of the configuration.
bool IsHttpsOnly(const config::HadoopConf& conf);
/// "http://" or "https://", of every web port of the cluster's daemons.
std::string WebScheme(const config::HadoopConf& conf);
/// The key of a daemon's web address: PREFIX.https.address or PREFIX.address ("yarn.resourcemanager.webapp").
std::string WebAddressKey(const config::HadoopConf& conf, const std::string& prefix);
/// The value of hadoop.http.header.Strict-Transport-Security where pages are HTTPS; empty: no such header.
std::string StrictTransport(const config::HadoopConf& conf);

/// Files with a key and its certificates.
struct TlsFiles {
  /// In which keys of the configuration that stands, for errors; no password: there is no key for one.
  struct Keys {
    std::string location, password, key_password;
  };
  Keys keys;
  std::vector<std::string> paths;                     // read as one text where they are several (PEM)
  std::string password;                               // of the store
  std::string key_password;                           // empty: the same
  std::string excluded;                               // ciphers
  std::string enabled;                                // the only ciphers; empty: all
  base::Duration look = base::Duration::Seconds(10);  // how often they are read again; 0: never
  std::vector<std::string> warnings;
};
/// What web ports show: fairlead.tls.certificate and .key, else ssl.server.keystore.*. That there is nothing is an
/// error of `asked`, the key that asks for TLS.
TlsFiles ReadServerTls(const config::HadoopConf& conf, const std::string& asked = "yarn.http.policy");

/// Whether clients trust what a file says, because pages are HTTPS or fairlead.tls.ca is set.
bool TrustsByFile(const config::HadoopConf& conf);
/// Where it stands what a client trusts: fairlead.tls.ca, else ssl.client.truststore.*; no paths: what this machine
/// trusts.
TlsFiles ReadTrust(const config::HadoopConf& conf);
/// Reads that, once.
base::Result<std::shared_ptr<env::Tls>> OpenClientTls(const config::HadoopConf& conf, env::Disk& disk);
/// Reads the files into what a port shows, once.
base::Result<std::shared_ptr<env::Tls>> OpenServerTls(const TlsFiles& files, env::Disk& disk);

/// The files of a port, or of a client, for who reads them again when they have changed. `disk` has to outlive it.
process::tls::TlsFilesSource ServerSource(const TlsFiles& files, env::Disk& disk);
process::tls::TlsFilesSource TrustSource(const TlsFiles& files, env::Disk& disk);

}  // namespace fairlead::shell
