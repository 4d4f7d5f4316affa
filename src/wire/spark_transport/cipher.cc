#include "wire/spark_transport/cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace fairlead::wire::spark_transport {
namespace {

struct FreeContext {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_CIPHER_CTX, FreeContext>;

const uint8_t* Bytes(std::string_view text) { return reinterpret_cast<const uint8_t*>(text.data()); }
uint8_t* Bytes(std::string& text, size_t at) { return reinterpret_cast<uint8_t*>(text.data()) + at; }

constexpr size_t kTagBytes = 16;

// ---- CTR -----------------------------------------------------------------------------------------------------------

class CtrStream {
 public:
  CtrStream(std::string_view key, std::string_view iv) : context_(EVP_CIPHER_CTX_new()) {
    FL_CHECK((key.size() == 16 || key.size() == 32) && iv.size() == 16, "AES-CTR key or IV of a wrong length");
    const EVP_CIPHER* cipher = key.size() == 16 ? EVP_aes_128_ctr() : EVP_aes_256_ctr();
    FL_CHECK(EVP_EncryptInit_ex(context_.get(), cipher, nullptr, Bytes(key), Bytes(iv)) == 1, "AES-CTR");
  }
  /// Encryption and decryption are the same.
  void Append(std::string_view in, std::string& out) {
    const size_t at = out.size();
    out.resize(at + in.size());
    while (!in.empty()) {
      const size_t piece = std::min<size_t>(in.size(), 1 << 24);
      int written = 0;
      FL_CHECK(EVP_EncryptUpdate(context_.get(), Bytes(out, out.size() - in.size()), &written, Bytes(in),
                                 static_cast<int>(piece)) == 1,
               "AES-CTR");
      in.remove_prefix(piece);
    }
  }

 private:
  Context context_;
};

class CtrCipher final : public ChannelCipher {
 public:
  CtrCipher(std::string_view key, std::string_view decrypt_iv, std::string_view encrypt_iv)
      : in_(key, decrypt_iv), out_(key, encrypt_iv) {}
  base::Status Decrypt(std::string_view bytes, std::string& plain) override {
    in_.Append(bytes, plain);
    return {};
  }
  void Encrypt(std::string_view plain, std::string& out) override { out_.Append(plain, out); }

 private:
  CtrStream in_;
  CtrStream out_;
};

// ---- GCM -----------------------------------------------------------------------------------------------------------

/// One AES-GCM operation; false when the tag does not match.
bool GcmSegment(std::string_view key, std::string_view nonce, std::string_view in, bool encrypt,
                std::string_view associated, std::string& out) {
  const Context context(EVP_CIPHER_CTX_new());
  const EVP_CIPHER* cipher = key.size() == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
  EVP_CIPHER_CTX* c = context.get();
  FL_CHECK(EVP_CipherInit_ex(c, cipher, nullptr, Bytes(key), Bytes(nonce), encrypt ? 1 : 0) == 1, "AES-GCM");
  int written = 0;
  if (!associated.empty()) {
    FL_CHECK(EVP_CipherUpdate(c, nullptr, &written, Bytes(associated), static_cast<int>(associated.size())) == 1,
             "AES-GCM");
  }
  std::string_view tag;
  if (!encrypt) {
    if (in.size() < kTagBytes) return false;
    tag = in.substr(in.size() - kTagBytes);
    in.remove_suffix(kTagBytes);
  }
  const size_t at = out.size();
  out.resize(at + in.size());
  FL_CHECK(EVP_CipherUpdate(c, Bytes(out, at), &written, Bytes(in), static_cast<int>(in.size())) == 1, "AES-GCM");
  uint8_t nothing[kTagBytes];
  if (encrypt) {
    FL_CHECK(EVP_CipherFinal_ex(c, nothing, &written) == 1, "AES-GCM");
    out.resize(out.size() + kTagBytes);
    EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_GET_TAG, kTagBytes, Bytes(out, out.size() - kTagBytes));
    return true;
  }
  EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_GCM_SET_TAG, kTagBytes, const_cast<char*>(tag.data()));
  if (EVP_CipherFinal_ex(c, nothing, &written) == 1) return true;
  out.resize(at);
  return false;
}

constexpr size_t kCipherSegment = 32 * 1024;
constexpr size_t kPlainSegment = kCipherSegment - kTagBytes;
constexpr size_t kNoncePrefix = 7;

std::string Int64(uint64_t value) {
  std::string out;
  base::ByteWriter(out).U64(value);
  return out;
}

/// prefix | int32 segment number | 1 for the last one (Tink's StreamSegmentEncrypter).
std::string SegmentNonce(std::string_view prefix, uint32_t number, bool last) {
  std::string out(prefix);
  base::ByteWriter writer(out);
  writer.U32(number);
  writer.U8(last ? 1 : 0);
  return out;
}

class GcmCipher final : public ChannelCipher {
 public:
  GcmCipher(std::string_view key, RandomFill random)
      : key_(key), header_bytes_(1 + key.size() + kNoncePrefix), random_(std::move(random)) {
    FL_CHECK(key.size() == 16 || key.size() == 32, "AES-GCM key of a wrong length");
  }

  base::Status Decrypt(std::string_view bytes, std::string& plain) override {
    pending_.append(bytes);
    size_t used = 0;
    while (true) {
      const base::Result<size_t> step = Step(std::string_view(pending_).substr(used), plain);
      if (!step.ok()) return step.error();
      if (*step == 0) break;
      used += *step;
    }
    pending_.erase(0, used);
    return {};
  }

  void Encrypt(std::string_view plain, std::string& out) override {
    if (plain.empty()) return;
    const size_t segments = (plain.size() + kPlainSegment - 1) / kPlainSegment;
    const std::string length = Int64(8 + header_bytes_ + plain.size() + segments * kTagBytes);
    std::string random(key_.size() + kNoncePrefix, '\0');
    random_({reinterpret_cast<uint8_t*>(random.data()), random.size()});
    const std::string_view salt = std::string_view(random).substr(0, key_.size());
    const std::string_view prefix = std::string_view(random).substr(key_.size());
    const std::string key = HkdfSha256(key_, salt, length, key_.size());
    out.append(length).push_back(static_cast<char>(header_bytes_));
    out.append(random);
    for (size_t i = 0; i < segments; ++i) {
      GcmSegment(key, SegmentNonce(prefix, static_cast<uint32_t>(i), i + 1 == segments),
                 plain.substr(i * kPlainSegment, kPlainSegment), true, {}, out);
    }
  }

 private:
  /// Consumes a header or one segment; 0: needs more.
  base::Result<size_t> Step(std::string_view in, std::string& plain) {
    if (left_ == 0) return ReadHeader(in);
    const size_t segment = std::min<uint64_t>(left_, kCipherSegment);
    if (in.size() < segment) return size_t{0};
    const bool last = segment == left_;
    if (!GcmSegment(message_key_, SegmentNonce(prefix_, segment_++, last), in.substr(0, segment), false, {}, plain)) {
      return base::Error{"an encrypted message was changed on its way"};
    }
    left_ -= segment;
    return segment;
  }

  base::Result<size_t> ReadHeader(std::string_view in) {
    if (in.size() < 8 + header_bytes_) return size_t{0};
    const auto length = base::BigEndian<uint64_t>(in);
    if (length > static_cast<uint64_t>(INT64_MAX) || length < 8 + header_bytes_ + kTagBytes) {
      return base::Error{"an encrypted message of an impossible length"};
    }
    if (static_cast<uint8_t>(in[8]) != header_bytes_)
      return base::Error{"an encrypted message with a header of another key size"};
    const std::string_view salt = in.substr(9, key_.size());
    prefix_ = in.substr(9 + key_.size(), kNoncePrefix);
    message_key_ = HkdfSha256(key_, salt, in.substr(0, 8), key_.size());
    left_ = length - 8 - header_bytes_;
    segment_ = 0;
    return 8 + header_bytes_;
  }

  const std::string key_;
  const size_t header_bytes_;
  const RandomFill random_;
  std::string pending_;  // less than one segment
  uint64_t left_ = 0;    // ciphertext of the current message still to come
  uint32_t segment_ = 0;
  std::string message_key_;
  std::string prefix_;
};

}  // namespace

std::unique_ptr<ChannelCipher> MakeCtrCipher(std::string_view key, std::string_view decrypt_iv,
                                             std::string_view encrypt_iv) {
  return std::make_unique<CtrCipher>(key, decrypt_iv, encrypt_iv);
}

std::unique_ptr<ChannelCipher> MakeGcmCipher(std::string_view key, RandomFill random) {
  return std::make_unique<GcmCipher>(key, std::move(random));
}

std::string HkdfSha256(std::string_view secret, std::string_view salt, std::string_view info, size_t bytes) {
  const auto hmac = [](std::string_view key, std::string_view text) {
    std::string out(32, '\0');
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), Bytes(text), text.size(), Bytes(out, 0), nullptr);
    return out;
  };
  const std::string zeros(32, '\0');
  const std::string extracted = hmac(salt.empty() ? std::string_view(zeros) : salt, secret);
  std::string out, block;
  for (char i = 1; out.size() < bytes; ++i) {
    block.append(info).push_back(i);
    block = hmac(extracted, block);
    out.append(block);
  }
  out.resize(bytes);
  return out;
}

std::string AesGcmSeal(std::string_view key, std::string_view nonce, std::string_view plain,
                       std::string_view associated) {
  std::string out(nonce);
  GcmSegment(key, nonce, plain, true, associated, out);
  return out;
}

base::Result<std::string> AesGcmOpen(std::string_view key, std::string_view sealed, std::string_view associated) {
  constexpr size_t kNonce = 12;
  std::string out;
  if (sealed.size() < kNonce + kTagBytes ||
      !GcmSegment(key, sealed.substr(0, kNonce), sealed.substr(kNonce), false, associated, out)) {
    return base::Error{"cannot be decrypted with this key"};
  }
  return out;
}

bool EqualInConstantTime(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fairlead::wire::spark_transport
