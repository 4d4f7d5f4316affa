#include "wire/engine/channel.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "wire/engine/proof.h"

namespace fairlead::wire::engine {
namespace {

constexpr size_t kTagBytes = 16;
constexpr size_t kLengthBytes = 4;

using CipherContext = std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)>;  // whose end wipes the key

unsigned char* At(std::string& text, size_t at) { return reinterpret_cast<unsigned char*>(text.data()) + at; }
const unsigned char* At(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

CipherContext WithKey(std::string_view key, int encrypt) {
  FL_CHECK(key.size() == 32, "a key of another length");
  CipherContext context(EVP_CIPHER_CTX_new(), &EVP_CIPHER_CTX_free);
  FL_CHECK(EVP_CipherInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, At(key), nullptr, encrypt) == 1, "AES-GCM");
  return context;
}

/// Makes the context ready for the next record.
void NextRecord(EVP_CIPHER_CTX* context, uint64_t& number) {
  unsigned char nonce[12] = {};
  for (size_t i = 0; i < 8; ++i) nonce[4 + i] = static_cast<unsigned char>(number >> (56 - 8 * i));
  ++number;
  FL_CHECK(EVP_CipherInit_ex(context, nullptr, nullptr, nullptr, nonce, -1) == 1, "AES-GCM");
}

}  // namespace

ChannelKeys KeysOf(std::string_view secret, std::string_view driver_nonce, std::string_view executor_nonce) {
  const std::string nonces = std::string(driver_nonce) + std::string(executor_nonce);
  return {Authenticated(secret, "key of what the driver sends", nonces),
          Authenticated(secret, "key of what the executor sends", nonces)};
}

struct Sealer::Cipher {
  CipherContext context;
  uint64_t records;
};

Sealer::Sealer(std::string_view key) : cipher_(new Cipher{WithKey(key, 1), 0}) {}
Sealer::~Sealer() = default;

void Sealer::Seal(std::string_view plain, std::string& wire) {
  EVP_CIPHER_CTX* context = cipher_->context.get();
  while (!plain.empty()) {
    const std::string_view piece = plain.substr(0, kRecordMax);
    plain.remove_prefix(piece.size());
    base::ByteWriter(wire).U32(static_cast<uint32_t>(piece.size()));
    const size_t at = wire.size();
    wire.resize(at + piece.size() + kTagBytes);
    int written = 0;
    NextRecord(context, cipher_->records);
    const int size = static_cast<int>(piece.size());
    FL_CHECK(EVP_CipherUpdate(context, At(wire, at), &written, At(piece), size) == 1, "AES-GCM");
    FL_CHECK(EVP_CipherFinal_ex(context, At(wire, at + piece.size()), &written) == 1, "AES-GCM");
    FL_CHECK(EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_GCM_GET_TAG, kTagBytes, At(wire, at + piece.size())) == 1,
             "AES-GCM");
  }
}

struct Opener::Cipher {
  /// Appends what is in the record; false: it is not the peer's next one.
  bool Open(std::string_view sealed, std::string_view tag, std::string& plain) {
    const size_t at = plain.size();
    plain.resize(at + sealed.size());
    int written = 0;
    NextRecord(context.get(), records);
    const bool good =
        EVP_CipherUpdate(context.get(), At(plain, at), &written, At(sealed), static_cast<int>(sealed.size())) == 1 &&
        EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, kTagBytes, const_cast<char*>(tag.data())) == 1 &&
        EVP_CipherFinal_ex(context.get(), At(plain, at + sealed.size()), &written) == 1;
    if (!good) plain.resize(at);
    return good;
  }
  CipherContext context;
  uint64_t records;
};

Opener::Opener(std::string_view key) : cipher_(new Cipher{WithKey(key, 0), 0}) {}
Opener::~Opener() = default;

base::Status Opener::Open(std::string_view wire, std::string& plain) {
  pending_.append(wire);
  std::string_view rest = pending_;
  while (rest.size() >= kLengthBytes) {
    const auto length = base::BigEndian<uint32_t>(rest);
    if (length == 0 || length > kRecordMax) return base::Error{"a sealed record of an impossible length"};
    if (rest.size() < kLengthBytes + length + kTagBytes) break;
    if (!cipher_->Open(rest.substr(kLengthBytes, length), rest.substr(kLengthBytes + length, kTagBytes), plain)) {
      return base::Error{"a sealed record was changed on its way, or is not the next one"};
    }
    rest.remove_prefix(kLengthBytes + length + kTagBytes);
  }
  pending_.erase(0, pending_.size() - rest.size());
  return {};
}

}  // namespace fairlead::wire::engine
