#include "wire/engine/proof.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace fairlead::wire::engine {

std::string Authenticated(std::string_view secret, std::string_view what, std::string_view of) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  std::string text(what);
  text.append(1, '\0').append(of);
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size);
  return std::string(reinterpret_cast<const char*>(digest), size);
}

std::string ProofOf(std::string_view secret, std::string_view driver_nonce, Hello hello) {
  hello.proof.clear();
  std::string text(driver_nonce);
  AppendFrame(text, std::move(hello));
  return Authenticated(secret, "an executor's hello", text);
}

std::string AnswerTo(std::string_view secret, std::string_view driver_nonce, const Hello& hello) {
  return Authenticated(secret, "the driver's answer", std::string(driver_nonce) + hello.proof);
}

bool SameProof(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fairlead::wire::engine
