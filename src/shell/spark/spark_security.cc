#include "shell/spark/spark_security.h"

#include <fstream>
#include <sstream>

#include "shell/spark/standalone_keys.h"
#include "wire/spark_transport/sasl.h"

namespace fairlead::shell {

namespace st = wire::spark_transport;

namespace {

constexpr const char* kAuthenticate = "spark.authenticate";
constexpr const char* kSecret = "spark.authenticate.secret";
constexpr const char* kSecretFile = "spark.authenticate.secret.file";
constexpr const char* kCrypto = "spark.network.crypto.enabled";

std::string ReadSecret(SparkKeys& keys) {
  std::string secret = keys.String(kSecret, "");
  if (const std::string path = keys.String(kSecretFile, ""); secret.empty() && !path.empty()) {
    // Spark takes a file's secret as Base64 of its bytes.
    std::ifstream in(path, std::ios::binary);
    std::stringstream bytes;
    bytes << in.rdbuf();
    if (!in || bytes.str().empty()) keys.Refuse(kSecretFile, "cannot read " + path);
    secret = st::Base64(bytes.str());
  }
  if (secret.empty()) secret = Variable("_SPARK_AUTH_SECRET");
  if (secret.empty()) keys.Refuse(kAuthenticate, "is true: say the secret, too (spark.authenticate.secret)");
  return secret;
}

}  // namespace

process::spark_rpc::Security ReadSparkSecurity(SparkKeys& keys) {
  process::spark_rpc::Security security;
  ReadSecurityKeys(keys, security);
  const bool authenticate = keys.Bool(kAuthenticate, false);
  if (!authenticate && security.crypto) keys.Refuse(kCrypto, "is true: set spark.authenticate=true and the secret");
  if (!authenticate) return {};
  security.secret = ReadSecret(keys);
  return security;
}

}  // namespace fairlead::shell
