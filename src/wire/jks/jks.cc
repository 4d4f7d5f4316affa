#include "wire/jks/jks.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace fairlead::wire::jks {

namespace {

constexpr std::string_view kMagic = "\xFE\xED\xFE\xED";
constexpr std::string_view kSeasoning = "Mighty Aphrodite";  // before what is digested
constexpr size_t kBytesMax = size_t{16} << 20;
constexpr uint32_t kChainMax = 100;
constexpr size_t kDigest = SHA_DIGEST_LENGTH;
/// 1.3.6.1.4.1.42.2.17.1.1, in DER.
constexpr std::string_view kProtector = "\x06\x0A\x2B\x06\x01\x04\x01\x2A\x02\x11\x01\x01";
constexpr uint32_t kPrivateKey = 1;
constexpr uint32_t kTrusted = 2;

/// Takes big-endian numbers and counted bytes off the front; after the first that is cut all are empty.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  uint64_t Number(size_t width) {
    uint64_t value = 0;
    for (const char c : Take(width)) value = value << 8 | static_cast<unsigned char>(c);
    return value;
  }
  std::string_view Take(uint64_t size) {
    if (size > rest_.size()) {
      cut_ = true;
      rest_ = {};
    }
    const std::string_view out = rest_.substr(0, cut_ ? 0 : size);
    rest_.remove_prefix(out.size());
    return out;
  }
  std::string_view Counted(size_t width) { return Take(Number(width)); }
  bool cut() const { return cut_; }
  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
  bool cut_ = false;
};

/// UTF-16, high byte first; passwords beyond ASCII as Java has them in UTF-8 up to three bytes a letter.
std::string Wide(std::string_view utf8) {
  std::string out;
  for (size_t i = 0; i < utf8.size(); ++i) {
    const auto first = static_cast<unsigned char>(utf8[i]);
    const size_t more = first < 0x80 ? 0 : first < 0xE0 ? 1 : 2;
    uint32_t letter = more == 0 ? first : first & (more == 1 ? 0x1FU : 0x0FU);
    for (size_t k = 0; k < more && i + 1 < utf8.size(); ++k)
      letter = letter << 6 | (static_cast<unsigned char>(utf8[++i]) & 0x3FU);
    out.push_back(static_cast<char>(letter >> 8));
    out.push_back(static_cast<char>(letter));
  }
  return out;
}

std::string Sha1(std::string_view text) {
  std::array<unsigned char, kDigest> digest{};
  ::SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string ReadOneCertificate(Reader& reader, uint64_t version) {
  if (version == 2) reader.Counted(2);  // "X.509"
  return std::string(reader.Counted(4));
}

Key ReadKey(Reader& reader, uint64_t version, std::string alias) {
  Key key{std::move(alias), std::string(reader.Counted(4)), {}};
  const uint64_t count = std::min<uint64_t>(reader.Number(4), kChainMax);
  for (uint64_t i = 0; i < count && !reader.cut(); ++i) key.chain.push_back(ReadOneCertificate(reader, version));
  return key;
}

/// The content of the next value of DER with that tag; nullopt of any other.
bool Enter(Reader& reader, unsigned char tag, std::string_view& content) {
  if (reader.Number(1) != tag) return false;
  uint64_t size = reader.Number(1);
  if (size >= 0x80) size = (size & 0x7F) > 4 ? UINT64_MAX : reader.Number(size & 0x7F);
  content = reader.Take(size);
  return !reader.cut();
}

}  // namespace

bool IsJks(std::string_view bytes) { return bytes.starts_with(kMagic); }

base::Result<Store> Parse(std::string_view bytes, std::string_view password) {
  if (!IsJks(bytes) || bytes.size() > kBytesMax || bytes.size() < kMagic.size() + kDigest) {
    return base::Error{"this is no JKS"};
  }
  const std::string_view content = bytes.substr(0, bytes.size() - kDigest);
  Reader reader(content.substr(kMagic.size()));
  const uint64_t version = reader.Number(4);
  if (version != 1 && version != 2) return base::Error{"a JKS of version " + std::to_string(version) + " is not known"};
  Store store;
  for (uint64_t left = reader.Number(4); left > 0 && !reader.cut(); --left) {
    const uint64_t tag = reader.Number(4);
    std::string alias(reader.Counted(2));
    reader.Number(8);  // when it was made
    if (tag == kPrivateKey) {
      store.keys.push_back(ReadKey(reader, version, std::move(alias)));
    } else if (tag == kTrusted) {
      store.trusted.push_back(ReadOneCertificate(reader, version));
    } else {
      return base::Error{"an entry of a kind that is not known"};
    }
  }
  if (reader.cut() || !reader.empty()) return base::Error{"the file is cut"};
  if (password.empty()) return store;
  std::string digested = Wide(password).append(kSeasoning).append(content);
  const bool same = Sha1(digested) == bytes.substr(content.size());
  ::OPENSSL_cleanse(digested.data(), digested.size());
  if (!same) return base::Error{"the password is another one, or the file was changed", kOtherPassword};
  return store;
}

base::Result<std::string> Unprotect(std::string_view sealed, std::string_view password) {
  Reader outer(sealed);
  std::string_view sequence, algorithm, protected_key;
  if (!Enter(outer, 0x30, sequence)) return base::Error{"the private key is no EncryptedPrivateKeyInfo"};
  Reader inner(sequence);
  if (!Enter(inner, 0x30, algorithm) || !algorithm.starts_with(kProtector) || !Enter(inner, 0x04, protected_key) ||
      protected_key.size() < 2 * kDigest) {
    return base::Error{"the private key is protected in a way that is not known"};
  }
  std::string wide = Wide(password);
  std::string last(protected_key.substr(0, kDigest));  // the salt
  std::string key(protected_key.substr(kDigest, protected_key.size() - 2 * kDigest));
  for (size_t at = 0; at < key.size(); ++at) {
    if (at % kDigest == 0) last = Sha1(wide + last);
    key[at] = static_cast<char>(key[at] ^ last[at % kDigest]);
  }
  const bool same = Sha1(wide + key) == protected_key.substr(protected_key.size() - kDigest);
  ::OPENSSL_cleanse(wide.data(), wide.size());
  if (same) return key;
  ::OPENSSL_cleanse(key.data(), key.size());
  return base::Error{"the key's password is another one"};
}

}  // namespace fairlead::wire::jks
