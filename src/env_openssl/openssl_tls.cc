#include "env_openssl/openssl_tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <utility>

namespace fairlead::env_openssl {

namespace {

using ContextPtr = std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>>;
using SessionPtr = std::unique_ptr<SSL, Freeing<SSL_free>>;

constexpr size_t kRead = 16 * 1024;       // one record
constexpr size_t kBufferKept = 2 * 1024;  // of bytes that have gone through, by a session that is idle
/// Of a client's handshake. Its first message is below 2 KiB, and nobody asks it for a certificate.
constexpr size_t kMessageMost = 16 * 1024;
/// Messages of a handshake that may come behind it, and one more for so many bytes of data. Programs renew their keys
/// after gigabytes; each time costs some 100 µs.
constexpr size_t kLaterMessagesMost = 32;
constexpr size_t kBytesForAnother = size_t{1} << 20;

bool IsAddress(const std::string& host) {
  std::array<unsigned char, sizeof(in6_addr)> ignored{};
  return ::inet_pton(AF_INET, host.c_str(), ignored.data()) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), ignored.data()) == 1;
}

/// Reads along what a client sends before it encrypts, for OpenSSL makes room for as much as a message claims.
class PlainMessages {
 public:
  static constexpr size_t kHead = 5;  // of a record: kind, version, length

  static size_t SizeOf(std::string_view head) { return kHead + Number(head.substr(3, 2)); }
  /// False: a message of this record is longer than it may be. `version`: what is spoken, if known.
  bool Take(std::string_view record, int version) {
    if (record[0] == SSL3_RT_CHANGE_CIPHER_SPEC) changed_ = true;
    // By TLS 1.3 plain messages may follow such a record, by TLS 1.2 encrypted ones.
    if (record[0] != SSL3_RT_HANDSHAKE || (changed_ && version == TLS1_2_VERSION)) return true;
    for (std::string_view bytes = record.substr(kHead); !bytes.empty();) {
      const size_t size = std::min(left_ > 0 ? left_ : kMessageHead - head_.size(), bytes.size());
      if (left_ > 0) {
        left_ -= size;
      } else if (head_ += bytes.substr(0, size); head_.size() == kMessageHead) {
        left_ = Number(std::exchange(head_, {}).substr(1));
        if (left_ > kMessageMost) return false;
      }
      bytes.remove_prefix(size);
    }
    return true;
  }

 private:
  static constexpr size_t kMessageHead = 4;  // kind, length
  static size_t Number(std::string_view bytes) {
    size_t number = 0;
    for (const char c : bytes) number = number << 8 | static_cast<unsigned char>(c);
    return number;
  }

  bool changed_ = false;
  std::string head_;  // of the next message, as far as it has come
  size_t left_ = 0;   // of the last one
};

class Session final : public env::TlsSession {
 public:
  /// `host`: of the server that is asked for; empty at the server.
  Session(SSL_CTX* context, const std::string& host) : ssl_(::SSL_new(context)), host_(host) {
    ::SSL_set_bio(ssl_.get(), NewBuffer(), NewBuffer());
    ::SSL_set_msg_callback(ssl_.get(), NoteMessage);
    ::SSL_set_msg_callback_arg(ssl_.get(), this);
    if (host.empty()) {
      ::SSL_set_accept_state(ssl_.get());
      return;
    }
    X509_VERIFY_PARAM* expected = ::SSL_get0_param(ssl_.get());
    if (IsAddress(host)) {
      ::X509_VERIFY_PARAM_set1_ip_asc(expected, host.c_str());
    } else {
      ::X509_VERIFY_PARAM_set1_host(expected, host.data(), host.size());
      ::SSL_set_tlsext_host_name(ssl_.get(), host.c_str());
    }
    ::SSL_set_connect_state(ssl_.get());
    ::SSL_do_handshake(ssl_.get());
  }

  base::Status Receive(std::string_view wire) override {
    ::ERR_clear_error();
    if (!established() && host_.empty()) return ReceiveFromClient(wire);
    Put(wire);
    return established() || Shake() ? Read() : broken_;
  }

  void Send(std::string_view plain) override {
    if (!established()) {
      waiting_ += plain;
    } else if (!plain.empty()) {
      Encrypt(plain);
    }
  }

  void End() override {
    if (established()) ::SSL_shutdown(ssl_.get());
    ::ERR_clear_error();
  }

  std::string TakeForPeer() override {
    BIO* out = ::SSL_get_wbio(ssl_.get());
    std::string bytes(::BIO_ctrl_pending(out), '\0');
    if (!bytes.empty()) ::BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    if (bytes.empty() && HasGrown(out)) ::SSL_set0_wbio(ssl_.get(), NewBuffer());
    return bytes;
  }
  std::string TakeReceived() override { return std::exchange(received_, {}); }
  bool established() const override { return ::SSL_is_init_finished(ssl_.get()) == 1; }
  bool ended() const override { return (::SSL_get_shutdown(ssl_.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

 private:
  /// Called by OpenSSL for each message, sent or received.
  static void NoteMessage(int sent, int, int kind, const void*, size_t, SSL* ssl, void* session) {
    auto& self = *static_cast<Session*>(session);
    if (sent != 0 || kind != SSL3_RT_HANDSHAKE || !self.in_ || ++self.later_messages_ <= self.LaterMost()) return;
    BIO_reset(::SSL_get_rbio(ssl));  // or it reads everything before it returns
  }
  size_t LaterMost() const { return kLaterMessagesMost + moved_ / kBytesForAnother; }

  static BIO* NewBuffer() {
    BIO* buffer = ::BIO_new(::BIO_s_mem());
    ::BIO_set_mem_eof_return(buffer, -1);  // nothing is there yet, not: nothing comes
    return buffer;
  }
  /// It keeps the room of the largest that went through it.
  static bool HasGrown(BIO* buffer) {
    BUF_MEM* memory = nullptr;
    ::BIO_get_mem_ptr(buffer, &memory);
    return memory != nullptr && memory->max > kBufferKept && ::BIO_ctrl_pending(buffer) == 0;
  }
  void Put(std::string_view wire) {
    ::BIO_write(::SSL_get_rbio(ssl_.get()), wire.data(), static_cast<int>(wire.size()));
  }
  /// The handshake goes on with what was put; false: it has failed, or waits for more.
  bool Shake() {
    const int done = ::SSL_do_handshake(ssl_.get());
    if (done != 1) {
      broken_ = Wants(done) ? base::Status() : Failure();
      return false;
    }
    in_ = true;
    if (!waiting_.empty()) Encrypt(std::exchange(waiting_, {}));
    return true;
  }
  /// A handshake record by record: none is given to OpenSSL unseen, or before it is whole.
  base::Status ReceiveFromClient(std::string_view wire) {
    arrived_ += wire;
    while (arrived_.size() >= PlainMessages::kHead) {
      const size_t size = PlainMessages::SizeOf(arrived_);
      const bool too_long = size > PlainMessages::kHead + SSL3_RT_MAX_ENCRYPTED_LENGTH;
      if (!too_long && arrived_.size() < size) return {};
      const std::string record = arrived_.substr(0, size);
      arrived_.erase(0, size);
      if (!messages_.Take(record, ::SSL_version(ssl_.get()))) return RefuseMessage();
      Put(record);
      if (Shake()) {
        Put(std::exchange(arrived_, {}));
        return Read();
      }
      if (!broken_.ok()) return broken_;
    }
    return {};
  }
  base::Error RefuseMessage() {
    constexpr std::string_view kIllegalParameter("\x15\x03\x03\x00\x02\x02\x2f", 7);  // what OpenSSL says to more
    ::BIO_write(::SSL_get_wbio(ssl_.get()), kIllegalParameter.data(), kIllegalParameter.size());
    return {"TLS: a handshake's message of more than 16 KiB"};
  }
  base::Status Read() {
    while (true) {
      const size_t before = received_.size();
      received_.resize(before + kRead);
      const int got = ::SSL_read(ssl_.get(), received_.data() + before, static_cast<int>(kRead));
      received_.resize(before + static_cast<size_t>(std::max(got, 0)));
      moved_ += static_cast<size_t>(std::max(got, 0));
      if (later_messages_ > LaterMost()) {
        End();
        return base::Error{"TLS: too many messages of a handshake behind it"};
      }
      if (got > 0) continue;
      if (!Wants(got) && !ended()) return Failure();
      if (HasGrown(::SSL_get_rbio(ssl_.get()))) ::SSL_set0_rbio(ssl_.get(), NewBuffer());
      return {};
    }
  }

  bool Wants(int result) const {
    const int error = ::SSL_get_error(ssl_.get(), result);
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
  }

  base::Error Failure() const {
    const long verified = ::SSL_get_verify_result(ssl_.get());
    if (!host_.empty() && verified != X509_V_OK) {
      ::ERR_clear_error();
      return {"the certificate of " + host_ + " is not trusted: " + ::X509_verify_cert_error_string(verified)};
    }
    return {"TLS: " + LastFailure()};
  }

  void Encrypt(std::string_view plain) {
    // Into memory: it never has to wait. A session that broke takes nothing, and its owner was told by Receive.
    while (!plain.empty()) {
      const int written =
          ::SSL_write(ssl_.get(), plain.data(), static_cast<int>(std::min(plain.size(), size_t{1} << 20)));
      if (written <= 0) return ::ERR_clear_error();
      moved_ += static_cast<size_t>(written);
      plain.remove_prefix(static_cast<size_t>(written));
    }
  }

  SessionPtr ssl_;
  const std::string host_;
  std::string waiting_;
  std::string received_;
  std::string arrived_;  // at the server, of a record of the handshake
  PlainMessages messages_;
  base::Status broken_;
  bool in_ = false;            // the handshake is over, though one may be under way again
  size_t later_messages_ = 0;  // since then
  size_t moved_ = 0;           // bytes of data, both ways
};

class OpensslTls final : public env::Tls {
 public:
  explicit OpensslTls(ContextPtr context) : context_(std::move(context)) {}
  std::unique_ptr<env::TlsSession> Accept() override { return std::make_unique<Session>(context_.get(), ""); }
  std::unique_ptr<env::TlsSession> Connect(const std::string& host) override {
    return std::make_unique<Session>(context_.get(), host);
  }

 private:
  ContextPtr context_;
};

ContextPtr NewContext(const SSL_METHOD* method) {
  ContextPtr context(::SSL_CTX_new(method));
  ::SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  ::SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // Clients keep their sessions, in tickets.
  ::SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  // An idle connection keeps no buffers; what is written is copied.
  ::SSL_CTX_set_mode(context.get(), SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE);
  return context;
}

using CipherNames = std::set<std::string, std::less<>>;

CipherNames NamesIn(const std::string& list) {
  CipherNames names;
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find_first_of(", \n\t", at), list.size());
    if (end > at) names.insert(list.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

/// Leaves what the context speaks without the excluded ones, and without those that are not enabled.
base::Status ChooseCiphers(SSL_CTX* context, const Ciphers& ciphers) {
  const CipherNames enabled = NamesIn(ciphers.enabled), excluded = NamesIn(ciphers.excluded);
  std::string older, newer;
  STACK_OF(SSL_CIPHER)* all = ::SSL_CTX_get_ciphers(context);
  for (int i = 0; i < sk_SSL_CIPHER_num(all); ++i) {
    const SSL_CIPHER* cipher = sk_SSL_CIPHER_value(all, i);
    const char* name = ::SSL_CIPHER_get_name(cipher);
    const char* standard = ::SSL_CIPHER_standard_name(cipher);
    const auto in = [&](const CipherNames& names) {
      return names.contains(name) || (standard != nullptr && names.contains(standard));
    };
    if (in(excluded) || (!enabled.empty() && !in(enabled))) continue;
    std::string& list = std::strcmp(::SSL_CIPHER_get_version(cipher), "TLSv1.3") == 0 ? newer : older;
    list += (list.empty() ? "" : ":") + std::string(name);
  }
  if (older.empty() && newer.empty()) return base::Error{"none of the ciphers that are asked for is spoken here"};
  ::SSL_CTX_set_ciphersuites(context, newer.c_str());
  if (older.empty()) {
    ::SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  } else {
    ::SSL_CTX_set_cipher_list(context, older.c_str());
  }
  if (newer.empty()) ::SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  return {};
}

}  // namespace

base::Result<std::shared_ptr<env::Tls>> MakeServerTls(const Certificates& own, const Ciphers& ciphers) {
  if (!own.key) return base::Error{"there is no private key in it"};
  const auto of_key = std::find_if(own.chain.begin(), own.chain.end(), [&](const CertificatePtr& one) {
    return ::X509_check_private_key(one.get(), own.key.get()) == 1;
  });
  ::ERR_clear_error();
  if (of_key == own.chain.end()) return base::Error{"there is no certificate of its private key in it"};
  ContextPtr context = NewContext(::TLS_server_method());
  if (::SSL_CTX_use_certificate(context.get(), of_key->get()) != 1 ||
      ::SSL_CTX_use_PrivateKey(context.get(), own.key.get()) != 1) {
    return base::Error{LastFailure()};
  }
  for (const CertificatePtr& one : own.chain) {
    if (one != *of_key) ::SSL_CTX_add1_chain_cert(context.get(), one.get());
  }
  ::SSL_CTX_set_options(context.get(), SSL_OP_CIPHER_SERVER_PREFERENCE);
  if (const base::Status chosen = ChooseCiphers(context.get(), ciphers); !chosen.ok()) return chosen.error();
  return std::shared_ptr<env::Tls>(std::make_shared<OpensslTls>(std::move(context)));
}

base::Result<std::shared_ptr<env::Tls>> MakeClientTls(const Certificates& authorities) {
  ContextPtr context = NewContext(::TLS_client_method());
  ::SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  X509_STORE* store = ::SSL_CTX_get_cert_store(context.get());
  // A certificate that signs itself is its own authority, so a server's alone may be trusted as well.
  ::X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  for (const auto* list : {&authorities.chain, &authorities.trusted}) {
    for (const CertificatePtr& one : *list) ::X509_STORE_add_cert(store, one.get());
  }
  if (authorities.chain.empty() && authorities.trusted.empty() &&
      ::SSL_CTX_set_default_verify_paths(context.get()) != 1) {
    return base::Error{"what this machine trusts cannot be read: " + LastFailure()};
  }
  return std::shared_ptr<env::Tls>(std::make_shared<OpensslTls>(std::move(context)));
}

}  // namespace fairlead::env_openssl
