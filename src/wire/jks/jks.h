#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// Java's own key store, "JKS" (sun.security.provider.JavaKeyStore, KeyProtector): what keytool wrote before Java 9, and
// what many clusters' ssl-server.xml names.

namespace fairlead::wire::jks {

struct Key {
  std::string alias;
  std::string sealed;              // EncryptedPrivateKeyInfo, for Unprotect
  std::vector<std::string> chain;  // certificates in DER, the key's own first
};

struct Store {
  std::vector<Key> keys;
  std::vector<std::string> trusted;  // certificates in DER
};

/// Error::code of Parse: a wrong password.
inline constexpr int kOtherPassword = 1;

/// Begins as a JKS does.
bool IsJks(std::string_view bytes);

/// Reads a store of at most 16 MiB. With a password its digest is checked: an error means another password, or a
/// changed file; without one nothing is checked, as Java does with stores of trusted certificates.
base::Result<Store> Parse(std::string_view bytes, std::string_view password);

/// The private key, PKCS#8 in DER. The protection is Java's of 1996: a stream of SHA-1 digests, and a digest over the
/// result; whoever has the file guesses passwords fast.
base::Result<std::string> Unprotect(std::string_view sealed, std::string_view password);

}  // namespace fairlead::wire::jks
