#pragma once

#include <cstddef>
#include <string>

#include "wire/spark_transport/auth.h"
#include "wire/spark_transport/sasl.h"

namespace fairlead::wire::spark_transport {

/// How both sides of a connection show that they have the same secret (org.apache.spark.SecurityManager).
struct Security {
  std::string secret;             // empty: spark.authenticate is false, and nobody is asked
  std::string app_id{kSaslUser};  // whose secret it is, of who dials: an application's; by default the cluster's
  bool crypto = false;            // spark.network.crypto.enabled: AuthEngine's handshake, else SASL's
  AuthVersion version = AuthVersion::kV1;
  AuthCipher cipher = AuthCipher::kCtr;
  bool sasl_fallback = true;    // spark.network.crypto.saslFallback
  bool encrypt_sasl = false;    // spark.authenticate.enableSaslEncryption, of who dials
  bool always_encrypt = false;  // spark.network.sasl.serverAlwaysEncrypt, of who is dialled
  size_t sasl_block_max = 64 * 1024;
  bool authenticates() const { return !secret.empty(); }
};

}  // namespace fairlead::wire::spark_transport
