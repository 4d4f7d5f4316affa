#include "shell/spark/spark_security.h"

#include <fstream>
#include <sstream>

#include "wire/spark_transport/auth.h"
#include "wire/spark_transport/sasl.h"

namespace fairlead::shell {

namespace st = wire::spark_transport;

namespace {

constexpr const char* kAuthenticate = "spark.authenticate";
constexpr const char* kSecret = "spark.authenticate.secret";
constexpr const char* kSecretFile = "spark.authenticate.secret.file";
constexpr const char* kCrypto = "spark.network.crypto.enabled";

std::string ReadSecret(SparkKeys& keys) {
  std::string secret = keys.Text(kSecret, "");
  if (const std::string path = keys.Text(kSecretFile, ""); secret.empty() && !path.empty()) {
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
  const bool authenticate = keys.Flag(kAuthenticate, false);
  security.crypto = keys.Flag(kCrypto, false);
  if (!authenticate && security.crypto) keys.Refuse(kCrypto, "is true: set spark.authenticate=true and the secret");
  if (!authenticate) return security;
  security.secret = ReadSecret(keys);
  security.sasl_fallback = keys.Flag("spark.network.crypto.saslFallback", true);
  security.encrypt_sasl = keys.Flag("spark.authenticate.enableSaslEncryption", false);
  security.always_encrypt = keys.Flag("spark.network.sasl.serverAlwaysEncrypt", false);
  const bool second = keys.Number("spark.network.crypto.authEngineVersion", 1, 1, 2) == 2;
  security.version = second ? st::AuthVersion::kV2 : st::AuthVersion::kV1;
  const std::string cipher = keys.Text("spark.network.crypto.cipher", "AES/CTR/NoPadding");
  if (cipher != "AES/CTR/NoPadding" && cipher != "AES/GCM/NoPadding") {
    keys.Refuse("spark.network.crypto.cipher", cipher + " is neither AES/CTR/NoPadding nor AES/GCM/NoPadding");
  }
  security.cipher = cipher == "AES/GCM/NoPadding" ? st::AuthCipher::kGcm : st::AuthCipher::kCtr;
  return security;
}

}  // namespace fairlead::shell
