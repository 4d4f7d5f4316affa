#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead::wire::digest_md5 {

/// What is beside a message's text: its MAC, type and number.
inline constexpr size_t kMacBytes = 10;
inline constexpr size_t kTailBytes = 6;

/// Protects what follows a login, seen from one side (RFC 2831, 2.3 and 2.4): text | HMAC-MD5 | 0001 | number; a cipher
/// encrypts text and HMAC, padded to its blocks. Each direction counts its messages: they arrive in the order
/// in which they were sealed, once each, or are refused. Cost: the text's length.
class Sealer {
 public:
  /// `session_key`: H(A1). `cipher`: 3des, des, rc4, rc4-56 or rc4-40; empty: integrity alone. Null: no such cipher, or
  /// no such key.
  static std::unique_ptr<Sealer> Make(std::string_view session_key, std::string_view cipher, bool of_client);
  ~Sealer();
  Sealer(const Sealer&) = delete;
  Sealer& operator=(const Sealer&) = delete;

  std::string Seal(std::string_view text);
  /// The text. After an error the connection is of no use any more.
  base::Result<std::string> Open(std::string_view sealed);

 private:
  struct Direction;
  Sealer(std::unique_ptr<Direction> out, std::unique_ptr<Direction> in);
  std::unique_ptr<Direction> out_;
  std::unique_ptr<Direction> in_;
};

}  // namespace fairlead::wire::digest_md5
