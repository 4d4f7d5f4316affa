#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

// What goes between a driver and an executor once each has shown the other that it knows the application's secret:
// records of uint32 length | ciphertext | tag(16), AES-256-GCM. Each direction of each connection has a key of its own,
// and the nonce counts its records, so none can be left out, repeated, or come in another's place.

namespace fairlead::wire::engine {

inline constexpr size_t kNonceBytes = 32;
/// Of a record's ciphertext; longer ones are refused by their head.
inline constexpr size_t kRecordMax = 256 << 10;

/// 32 bytes each.
struct ChannelKeys {
  std::string to_executor;
  std::string to_driver;
};
/// Of one connection, by HMAC-SHA256 with the application's secret of the nonces that its two sides have chosen. Who
/// has the secret and what went over the wire has them, later too: there is no key exchange.
ChannelKeys KeysOf(std::string_view secret, std::string_view driver_nonce, std::string_view executor_nonce);

/// One direction of a connection, where it begins.
class Sealer {
 public:
  explicit Sealer(std::string_view key);
  ~Sealer();
  /// Appends `plain` in records that the peer can open by themselves. O(bytes).
  void Seal(std::string_view plain, std::string& wire);

 private:
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
};

/// Where it ends.
class Opener {
 public:
  explicit Opener(std::string_view key);
  ~Opener();
  /// Takes the next bytes, in any pieces, and appends to `plain` what is in records that are whole. An error for what
  /// the peer has not sealed, or not in this place; close the connection then. O(bytes).
  base::Status Open(std::string_view wire, std::string& plain);

 private:
  struct Cipher;
  std::unique_ptr<Cipher> cipher_;
  std::string pending_;  // less than a record
};

}  // namespace fairlead::wire::engine
