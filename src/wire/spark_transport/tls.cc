#include "wire/spark_transport/tls.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <array>

#include "base/check.h"

namespace fairlead::wire::spark_transport {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Bio = std::unique_ptr<BIO, Free<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Pkcs12 = std::unique_ptr<PKCS12, Free<PKCS12_free>>;
using SslContext = std::unique_ptr<SSL_CTX, Free<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Free<SSL_free>>;

void FreeCertificates(STACK_OF(X509) * stack) { sk_X509_pop_free(stack, X509_free); }
using Certificates = std::unique_ptr<STACK_OF(X509), Free<FreeCertificates>>;

/// First bytes of Java's own keystore format.
constexpr std::string_view kJksMagic = "\xfe\xed\xfe\xed";
/// Most plain text of a TLS record.
constexpr size_t kRecordBytes = 16 * 1024;

base::Error OpenSslError(const std::string& what) {
  std::array<char, 200> text{};
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return base::Error{what};
  ERR_error_string_n(code, text.data(), text.size());
  return base::Error{what + ": " + text.data()};
}

Bio Reading(std::string_view bytes) { return Bio(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size()))); }

int GivePassword(char* out, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (static_cast<int>(text.size()) > size) return -1;
  std::copy(text.begin(), text.end(), out);
  return static_cast<int>(text.size());
}

base::Status UsePem(SSL_CTX* context, const TlsKeys& keys) {
  const Bio key_text = Reading(keys.private_key);
  auto* password = const_cast<std::string*>(&keys.private_key_password);
  const Key key(PEM_read_bio_PrivateKey(key_text.get(), nullptr, GivePassword, password));
  if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1) return OpenSslError("privateKey is no usable PEM key");
  const Bio chain = Reading(keys.cert_chain);
  const Certificate own(PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr));
  if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
    return OpenSslError("certChain has no usable certificate");
  }
  while (Certificate next{PEM_read_bio_X509(chain.get(), nullptr, nullptr, nullptr)}) {
    if (SSL_CTX_add1_chain_cert(context, next.get()) != 1) return OpenSslError("certChain");
  }
  ERR_clear_error();  // the end of the text is reported as an error
  return {};
}

base::Status UseKeyStore(SSL_CTX* context, const TlsKeys& keys) {
  if (keys.key_store.starts_with(kJksMagic)) {
    return base::Error{
        "the keystore is in Java's own format JKS; convert it with: keytool -importkeystore -srckeystore FILE "
        "-destkeystore FILE.p12 -deststoretype pkcs12"};
  }
  const Bio bytes = Reading(keys.key_store);
  const Pkcs12 store(d2i_PKCS12_bio(bytes.get(), nullptr));
  if (!store) return OpenSslError("the keystore is not PKCS12");
  EVP_PKEY* key = nullptr;
  X509* own = nullptr;
  STACK_OF(X509)* others = nullptr;
  if (PKCS12_parse(store.get(), keys.key_store_password.c_str(), &key, &own, &others) != 1) {
    return OpenSslError("the keystore cannot be opened with keyStorePassword");
  }
  const Key owned_key(key);
  const Certificate owned_certificate(own);
  const Certificates owned_others(others);
  if (key == nullptr || own == nullptr || SSL_CTX_use_certificate(context, own) != 1 ||
      SSL_CTX_use_PrivateKey(context, key) != 1) {
    return OpenSslError("the keystore holds no usable key with its certificate");
  }
  for (int i = 0; i < sk_X509_num(others); ++i) {
    if (SSL_CTX_add1_chain_cert(context, sk_X509_value(others, i)) != 1) return OpenSslError("the keystore's chain");
  }
  return {};
}

base::Status UseProtocols(SSL_CTX* context, const TlsKeys& keys) {
  const bool any = keys.protocol.empty();
  if (!any && keys.protocol != "TLSv1.2" && keys.protocol != "TLSv1.3") {
    return base::Error{"protocol '" + keys.protocol + "': write TLSv1.2 or TLSv1.3"};
  }
  SSL_CTX_set_min_proto_version(context, keys.protocol == "TLSv1.3" ? TLS1_3_VERSION : TLS1_2_VERSION);
  SSL_CTX_set_max_proto_version(context, keys.protocol == "TLSv1.2" ? TLS1_2_VERSION : TLS1_3_VERSION);
  if (keys.cipher_suites.empty()) return {};
  std::string older;  // 1.2's, by OpenSSL's names
  std::string newer;  // 1.3's
  for (const std::string& suite : keys.cipher_suites) {
    const bool is_newer = suite.starts_with("TLS_") && suite.find("_WITH_") == std::string::npos;
    const char* name = is_newer ? suite.c_str() : OPENSSL_cipher_name(suite.c_str());
    std::string& list = is_newer ? newer : older;
    if (std::string_view(name) == "(NONE)") continue;  // as Java: what is not supported is left out
    list += (list.empty() ? "" : ":") + std::string(name);
  }
  if (!older.empty() && SSL_CTX_set_cipher_list(context, older.c_str()) != 1) return OpenSslError("enabledAlgorithms");
  if (!newer.empty() && SSL_CTX_set_ciphersuites(context, newer.c_str()) != 1) return OpenSslError("enabledAlgorithms");
  if (older.empty() && newer.empty()) return base::Error{"enabledAlgorithms: none of them is known"};
  if (older.empty()) SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  if (newer.empty()) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  return {};
}

}  // namespace

struct TlsContext::State {
  SslContext context;
};

TlsContext::TlsContext(std::unique_ptr<State> state) : state_(std::move(state)) {}
TlsContext::~TlsContext() = default;

base::Result<std::shared_ptr<const TlsContext>> TlsContext::Make(const TlsKeys& keys) {
  auto state = std::make_unique<State>();
  state->context.reset(SSL_CTX_new(TLS_server_method()));
  SSL_CTX* context = state->context.get();
  if (context == nullptr) return OpenSslError("TLS");
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION);
  const bool pem = !keys.private_key.empty() && !keys.cert_chain.empty();
  if (!pem && keys.key_store.empty()) return base::Error{"give keyStore, or privateKey and certChain"};
  const base::Status used = pem ? UsePem(context, keys) : UseKeyStore(context, keys);
  if (!used.ok()) return used.error();
  if (SSL_CTX_check_private_key(context) != 1) return OpenSslError("the key is not the certificate's");
  if (const base::Status protocols = UseProtocols(context, keys); !protocols.ok()) return protocols.error();
  return std::shared_ptr<const TlsContext>(new TlsContext(std::move(state)));
}

struct TlsServer::State {
  Ssl ssl;
  BIO* in = nullptr;   // owned by ssl
  BIO* out = nullptr;  // owned by ssl

  void TakeOutput(std::string& to) {
    const size_t waiting = BIO_ctrl_pending(out);
    const size_t at = to.size();
    to.resize(at + waiting);
    if (waiting > 0) FL_CHECK(BIO_read(out, to.data() + at, static_cast<int>(waiting)) > 0, "TLS output");
  }
};

TlsServer::TlsServer(const TlsContext& context) : state_(std::make_unique<State>()) {
  state_->ssl.reset(SSL_new(context.state_->context.get()));
  FL_CHECK(state_->ssl != nullptr, "SSL_new");
  state_->in = BIO_new(BIO_s_mem());
  state_->out = BIO_new(BIO_s_mem());
  FL_CHECK(state_->in != nullptr && state_->out != nullptr, "BIO_new");
  SSL_set_bio(state_->ssl.get(), state_->in, state_->out);
  SSL_set_accept_state(state_->ssl.get());
}

TlsServer::~TlsServer() = default;

base::Status TlsServer::Receive(std::string_view bytes, std::string& plain, std::string& out) {
  ERR_clear_error();
  FL_CHECK(BIO_write(state_->in, bytes.data(), static_cast<int>(bytes.size())) == static_cast<int>(bytes.size()),
           "TLS input");
  int read = 0;
  do {
    const size_t at = plain.size();
    plain.resize(at + kRecordBytes);
    read = SSL_read(state_->ssl.get(), plain.data() + at, kRecordBytes);
    plain.resize(at + static_cast<size_t>(std::max(read, 0)));
  } while (read > 0);
  const int reason = SSL_get_error(state_->ssl.get(), read);
  state_->TakeOutput(out);
  if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_ZERO_RETURN) return {};
  return OpenSslError("TLS");
}

void TlsServer::Send(std::string_view plain, std::string& out) {
  ERR_clear_error();
  while (!plain.empty()) {
    const size_t piece = std::min(plain.size(), kRecordBytes);
    // Memory takes everything: less than all means that the session has ended, and its bytes with it.
    if (SSL_write(state_->ssl.get(), plain.data(), static_cast<int>(piece)) != static_cast<int>(piece)) break;
    plain.remove_prefix(piece);
  }
  state_->TakeOutput(out);
}

void TlsServer::End(std::string& out) {
  ERR_clear_error();
  SSL_shutdown(state_->ssl.get());
  state_->TakeOutput(out);
}

bool TlsServer::peer_ended() const { return (SSL_get_shutdown(state_->ssl.get()) & SSL_RECEIVED_SHUTDOWN) != 0; }

}  // namespace fairlead::wire::spark_transport
