#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/budget.h"
#include "base/result.h"

// What a connection's bytes go through once both sides have agreed on encryption. Primitives are OpenSSL's.

namespace fairlead::wire::spark_transport {

/// A message of a handshake, whose fields are copied once.
inline constexpr base::BudgetKind kLoginKind{
    "a message of Spark's authentication", 1 << 20, 1, {.floor = 64 << 10, .per_byte = 1, .most = 2 << 20}, {}, {}};

/// Fills the span with randomness fit for keys; given from outside, so that sessions can be replayed.
using RandomFill = std::function<void(std::span<uint8_t>)>;

/// Both directions of one connection, each with its state.
class ChannelCipher {
 public:
  virtual ~ChannelCipher() = default;
  /// Takes the next bytes from the peer and appends what can be decrypted. An error means: close the connection.
  virtual base::Status Decrypt(std::string_view bytes, std::string& plain) = 0;
  /// Appends the encrypted form of `plain`, which the peer can decrypt by itself.
  virtual void Encrypt(std::string_view plain, std::string& out) = 0;
};

/// AES/CTR/NoPadding, one key stream a direction without end (CtrTransportCipher). Key of 16 or 32 bytes, IVs of 16.
std::unique_ptr<ChannelCipher> MakeCtrCipher(std::string_view key, std::string_view decrypt_iv,
                                             std::string_view encrypt_iv);

/// AES/GCM/NoPadding (GcmTransportCipher of Spark 4): messages of int64 length, counting itself | Tink's
/// AES-GCM-HKDF stream of 32 KiB segments whose key is bound to the length. Key of 16 or 32 bytes. One message is
/// checked and given out segment by segment.
std::unique_ptr<ChannelCipher> MakeGcmCipher(std::string_view key, RandomFill random);

// ---- primitives used by the handshakes -----------------------------------------------------------------------------

/// RFC 5869 with SHA-256; an empty salt is 32 zero bytes.
std::string HkdfSha256(std::string_view secret, std::string_view salt, std::string_view info, size_t bytes);
/// nonce(12) || ciphertext || tag(16), as Tink's AesGcmJce; the error says only that it failed.
std::string AesGcmSeal(std::string_view key, std::string_view nonce, std::string_view plain,
                       std::string_view associated);
base::Result<std::string> AesGcmOpen(std::string_view key, std::string_view sealed, std::string_view associated);
/// Same bytes? In time that depends on the length alone.
bool EqualInConstantTime(std::string_view a, std::string_view b);

}  // namespace fairlead::wire::spark_transport
