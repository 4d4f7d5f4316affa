#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/tls.h"
#include "env_openssl/certificates.h"

namespace fairlead::env_openssl {

/// Names of ciphers, Java's (TLS_RSA_WITH_AES_128_CBC_SHA) or OpenSSL's, separated by commas; one that is unknown is
/// not spoken anyway.
struct Ciphers {
  std::string enabled = {};   // no others are spoken; empty: all are
  std::string excluded = {};  // are not spoken
};

/// TLS 1.2 and 1.3 by OpenSSL. A server shows `own`, which has a key and a certificate of that key.
base::Result<std::shared_ptr<env::Tls>> MakeServerTls(const Certificates& own, const Ciphers& ciphers = {});

/// A client that trusts `authorities` (chain or trusted, either); without any, those that the machine trusts.
base::Result<std::shared_ptr<env::Tls>> MakeClientTls(const Certificates& authorities);

}  // namespace fairlead::env_openssl
