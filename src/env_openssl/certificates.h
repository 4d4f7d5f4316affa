#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "env/disk.h"

namespace fairlead::env_openssl {

template <auto Free>
struct Freeing {
  template <class T>
  void operator()(T* value) const {
    Free(value);
  }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, Freeing<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Freeing<X509_free>>;

/// A private key with the certificates that show whose it is, its own first; or certificates that are trusted.
struct Certificates {
  KeyPtr key;  // null: there is none
  std::vector<CertificatePtr> chain;
  std::vector<CertificatePtr> trusted;
};

struct StorePasswords {
  std::string store;
  std::string key;  // empty: as the store's
};

/// Error::code of ReadCertificates: that is missing, or another one.
inline constexpr int kStorePassword = -1, kKeyPassword = -2;  // no errno has them

/// Reads PEM, PKCS#12 or Java's JKS, whichever `bytes` are; `name` begins the error, which says how to convert what is
/// none of them. In JKS and PKCS#12 the first private key counts.
base::Result<Certificates> ReadCertificates(const std::string& name, std::string_view bytes,
                                            const StorePasswords& passwords);

/// The bytes of the files at `paths`, 16 MiB each at most, one behind the other. A pipe is an error: whoever opens one
/// waits. Files are read, so it blocks.
base::Result<std::string> ReadCertificateFiles(const std::vector<std::string>& paths, env::Disk& disk);

/// What OpenSSL says of its last failure; empties its list.
std::string LastFailure();

}  // namespace fairlead::env_openssl
