#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "env/tls.h"
#include "env_openssl/certificates.h"

namespace fairlead::env_openssl {

/// TLS 1.2 and 1.3 by OpenSSL. A server shows `own`, which has a key and a certificate of that key.
/// `excluded`: names of ciphers, Java's (TLS_RSA_WITH_AES_128_CBC_SHA) or OpenSSL's, separated by commas, that are not
/// spoken; a name that is unknown is not spoken anyway.
base::Result<std::shared_ptr<env::Tls>> MakeServerTls(const Certificates& own, const std::string& excluded);

/// A client that trusts `authorities` (chain or trusted, either); without any, those that the machine trusts.
base::Result<std::shared_ptr<env::Tls>> MakeClientTls(const Certificates& authorities);

}  // namespace fairlead::env_openssl
