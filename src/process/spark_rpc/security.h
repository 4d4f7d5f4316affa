#pragma once

#include <cstddef>
#include <string>

#include "wire/spark_transport/auth.h"

namespace fairlead::process::spark_rpc {

/// How both sides of a connection show that they have the cluster's secret (org.apache.spark.SecurityManager).
struct Security {
  std::string secret;   // empty: spark.authenticate is false, and nobody is asked
  bool crypto = false;  // spark.network.crypto.enabled: AuthEngine's handshake, else SASL's
  wire::spark_transport::AuthVersion version = wire::spark_transport::AuthVersion::kV1;
  wire::spark_transport::AuthCipher cipher = wire::spark_transport::AuthCipher::kCtr;
  bool sasl_fallback = true;    // spark.network.crypto.saslFallback
  bool encrypt_sasl = false;    // spark.authenticate.enableSaslEncryption, of who dials
  bool always_encrypt = false;  // spark.network.sasl.serverAlwaysEncrypt, of who is dialled
  size_t sasl_block_max = 64 * 1024;
  bool authenticates() const { return !secret.empty(); }
};

}  // namespace fairlead::process::spark_rpc
