#include "wire/digest_md5/sealer.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <array>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "wire/digest_md5/digest_md5.h"

namespace fairlead::wire::digest_md5 {
namespace {

constexpr uint16_t kMessageType = 1;

/// A key stream or block chain that goes on from message to message.
class Chain {
 public:
  virtual ~Chain() = default;
  /// Encrypts or decrypts in place; `bytes`: whole blocks.
  virtual void Apply(std::string& bytes) = 0;
};

/// RFC 6229's cipher; OpenSSL 3 keeps it in a provider that is often not installed.
class Rc4 final : public Chain {
 public:
  explicit Rc4(std::string_view key) {
    for (size_t i = 0; i < 256; ++i) state_[i] = static_cast<uint8_t>(i);
    for (size_t i = 0, j = 0; i < 256; ++i) {
      j = (j + state_[i] + static_cast<uint8_t>(key[i % key.size()])) & 255;
      std::swap(state_[i], state_[j]);
    }
  }
  void Apply(std::string& bytes) override {
    for (char& c : bytes) {
      i_ = (i_ + 1) & 255;
      j_ = (j_ + state_[i_]) & 255;
      std::swap(state_[i_], state_[j_]);
      c = static_cast<char>(static_cast<uint8_t>(c) ^ state_[(state_[i_] + state_[j_]) & 255]);
    }
  }

 private:
  std::array<uint8_t, 256> state_;
  size_t i_ = 0;
  size_t j_ = 0;
};

/// Triple DES with two keys of seven bytes, or DES as triple DES with one, in CBC without padding of its own.
class DesChain final : public Chain {
 public:
  DesChain(std::string_view sealing_key, bool triple, bool encrypt)
      : context_(EVP_CIPHER_CTX_new(), EVP_CIPHER_CTX_free) {
    std::array<unsigned char, 24> keys{};
    for (size_t i = 0; i < 3; ++i) Spread(sealing_key.substr(triple ? 7 * (i % 2) : 0, 7), keys.data() + 8 * i);
    const auto* start = reinterpret_cast<const unsigned char*>(sealing_key.data()) + 8;
    FL_CHECK(EVP_CipherInit_ex(context_.get(), EVP_des_ede3_cbc(), nullptr, keys.data(), start, encrypt ? 1 : 0) == 1,
             "3DES");
    EVP_CIPHER_CTX_set_padding(context_.get(), 0);
    OPENSSL_cleanse(keys.data(), keys.size());
  }
  void Apply(std::string& bytes) override {
    auto* at = reinterpret_cast<unsigned char*>(bytes.data());
    int written = 0;
    FL_CHECK(EVP_CipherUpdate(context_.get(), at, &written, at, static_cast<int>(bytes.size())) == 1, "3DES");
  }

 private:
  /// Seven bits a byte, and one of parity that nobody reads.
  static void Spread(std::string_view seven, unsigned char* eight) {
    uint64_t bits = 0;
    for (const char c : seven) bits = bits << 8 | static_cast<uint8_t>(c);
    for (size_t i = 8; i-- > 0; bits >>= 7) eight[i] = static_cast<unsigned char>((bits & 0x7f) << 1);
  }
  std::unique_ptr<EVP_CIPHER_CTX, void (*)(EVP_CIPHER_CTX*)> context_;
};

bool Known(std::string_view cipher) {
  return cipher.empty() || cipher == "3des" || cipher == "des" || cipher == "rc4" || cipher == "rc4-56" ||
         cipher == "rc4-40";
}

base::Error Refuse(std::string_view what) { return {"DIGEST-MD5: a protected message " + std::string(what), 0}; }

}  // namespace

/// One direction: its keys, chain and count.
struct Sealer::Direction {
  Direction(std::string_view session, std::string_view cipher, bool to_server, bool encrypt) {
    const std::string way = to_server ? "client-to-server" : "server-to-client";
    signing_key = Md5(std::string(session) + "Digest session key to " + way + " signing key magic constant");
    if (cipher.empty()) return;
    const size_t part = cipher == "rc4-56" ? 7 : cipher == "rc4-40" ? 5 : 16;
    std::string sealing =
        Md5(std::string(session.substr(0, part)) + "Digest H(A1) to " + way + " sealing key magic constant");
    if (cipher.starts_with("rc4")) {
      chain = std::make_unique<Rc4>(sealing);
    } else {
      chain = std::make_unique<DesChain>(sealing, cipher == "3des", encrypt);
      block = 8;
    }
    OPENSSL_cleanse(sealing.data(), sealing.size());
  }
  ~Direction() { OPENSSL_cleanse(signing_key.data(), signing_key.size()); }
  Direction(const Direction&) = delete;
  Direction& operator=(const Direction&) = delete;

  std::string Mac(std::string_view text) const {
    std::string message;
    base::ByteWriter(message).U32(number);
    message += text;
    return HmacMd5(signing_key, message).substr(0, kMacBytes);
  }
  /// How much of a decrypted text and its padding is text; nothing: the padding is none.
  std::optional<size_t> TextOf(std::string_view padded) const {
    if (block == 1) return padded.size();
    if (padded.empty()) return std::nullopt;
    const auto padding = static_cast<uint8_t>(padded.back());
    if (padding == 0 || padding > block || padding > padded.size()) return std::nullopt;
    return padded.size() - padding;
  }

  std::string signing_key;
  std::unique_ptr<Chain> chain;  // null: integrity alone
  size_t block = 1;              // of the cipher
  uint32_t number = 0;           // of the next message
};

Sealer::Sealer(std::unique_ptr<Direction> out, std::unique_ptr<Direction> in)
    : out_(std::move(out)), in_(std::move(in)) {}
Sealer::~Sealer() = default;

std::unique_ptr<Sealer> Sealer::Make(std::string_view session_key, std::string_view cipher, bool of_client) {
  if (!Known(cipher) || session_key.size() != 16) return nullptr;
  return std::unique_ptr<Sealer>(new Sealer(std::make_unique<Direction>(session_key, cipher, of_client, true),
                                            std::make_unique<Direction>(session_key, cipher, !of_client, false)));
}

std::string Sealer::Seal(std::string_view text) {
  std::string out(text);
  if (out_->block > 1) {
    const size_t padding = out_->block - (text.size() + kMacBytes) % out_->block;
    out.append(padding, static_cast<char>(padding));
  }
  out += out_->Mac(text);
  if (out_->chain) out_->chain->Apply(out);
  base::ByteWriter tail(out);
  tail.U16(kMessageType);
  tail.U32(out_->number++);
  return out;
}

base::Result<std::string> Sealer::Open(std::string_view sealed) {
  if (sealed.size() < kMacBytes + kTailBytes) return Refuse("is cut");
  const std::string_view tail = sealed.substr(sealed.size() - kTailBytes);
  std::string body(sealed.substr(0, sealed.size() - kTailBytes));
  if (base::BigEndian<uint16_t>(tail) != kMessageType || base::BigEndian<uint32_t>(tail.substr(2)) != in_->number) {
    return Refuse("came out of turn");
  }
  if (body.size() % in_->block != 0) return Refuse("is cut");
  if (in_->chain) in_->chain->Apply(body);
  const std::string mac = body.substr(body.size() - kMacBytes);
  body.resize(body.size() - kMacBytes);
  const std::optional<size_t> length = in_->TextOf(body);
  if (length) body.resize(*length);
  const bool good = length && Same(mac, in_->Mac(body));
  ++in_->number;
  if (!good) return Refuse("was changed");
  return body;
}

}  // namespace fairlead::wire::digest_md5
