#include "wire/spark_transport/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "wire/spark_transport/tls_test_keys.h"

namespace fairlead::wire::spark_transport {
namespace {

using testing::HasSubstr;

const TestKeys& Keys() {
  static const TestKeys keys;
  return keys;
}

/// OpenSSL's client, over memory.
class Client {
 public:
  explicit Client(int max_version = TLS1_3_VERSION) : context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_, max_version);
    ssl_ = SSL_new(context_);
    SSL_set_bio(ssl_, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(ssl_);
  }
  ~Client() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  void Receive(const std::string& bytes) {
    BIO_write(SSL_get_rbio(ssl_), bytes.data(), static_cast<int>(bytes.size()));
    char buffer[20000];
    for (int n = SSL_read(ssl_, buffer, sizeof buffer); n > 0; n = SSL_read(ssl_, buffer, sizeof buffer)) {
      plain.append(buffer, static_cast<size_t>(n));
    }
  }
  void Send(const std::string& text) { SSL_write(ssl_, text.data(), static_cast<int>(text.size())); }
  void End() { SSL_shutdown(ssl_); }
  std::string Output() {
    std::string out(BIO_ctrl_pending(SSL_get_wbio(ssl_)), '\0');
    if (!out.empty()) BIO_read(SSL_get_wbio(ssl_), out.data(), static_cast<int>(out.size()));
    return out;
  }
  bool connected() const { return SSL_is_init_finished(ssl_) == 1; }
  std::string version() const { return SSL_get_version(ssl_); }
  std::string suite() const { return SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl_)); }

  std::string plain;

 private:
  SSL_CTX* context_;
  SSL* ssl_;
};

/// Moves bytes both ways until none are left; what the server received in plain.
std::string Exchange(Client& client, TlsServer& server, base::Status* failure = nullptr) {
  std::string plain;
  std::string to_client;
  client.Receive("");
  for (std::string bytes = client.Output(); !bytes.empty(); bytes = client.Output()) {
    to_client.clear();
    // Byte by byte: no boundary is taken for granted.
    for (const char c : bytes) {
      const base::Status status = server.Receive({&c, 1}, plain, to_client);
      if (status.ok()) continue;
      if (failure != nullptr) *failure = status;
      return plain;
    }
    client.Receive(to_client);
  }
  return plain;
}

class EveryKey : public testing::TestWithParam<bool> {
 protected:
  TlsKeys keys() const { return GetParam() ? Keys().pem : Keys().pkcs12; }
};

TEST_P(EveryKey, BytesArriveBothWaysInBothVersions) {
  const auto context = TlsContext::Make(keys());
  ASSERT_TRUE(context.ok()) << context.error().message;
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    TlsServer server(**context);
    Client client(version);
    Exchange(client, server);
    ASSERT_TRUE(client.connected());
    client.Send("a request");
    EXPECT_EQ(Exchange(client, server), "a request");
    const std::string answer(100'000, 'x');
    std::string out;
    server.Send(answer, out);
    EXPECT_EQ(out.find("xxxx"), std::string::npos);
    client.Receive(out);
    EXPECT_EQ(client.plain, answer);
    EXPECT_FALSE(server.peer_ended());
    client.End();
    Exchange(client, server);
    EXPECT_TRUE(server.peer_ended());
  }
}
INSTANTIATE_TEST_SUITE_P(Tls, EveryKey, testing::Bool());

TEST(Tls, ProtocolAndSuitesAreJavasNames) {
  TlsKeys keys = Keys().pem;
  keys.protocol = "TLSv1.2";
  keys.cipher_suites = {"TLS_NO_SUCH_WITH_NAME", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"};
  auto context = TlsContext::Make(keys);
  ASSERT_TRUE(context.ok()) << context.error().message;
  {
    TlsServer server(**context);
    Client client;
    Exchange(client, server);
    EXPECT_EQ(client.version(), "TLSv1.2");
    EXPECT_EQ(client.suite(), "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384");
  }
  keys.protocol = "";
  keys.cipher_suites = {"TLS_CHACHA20_POLY1305_SHA256"};
  context = TlsContext::Make(keys);
  ASSERT_TRUE(context.ok()) << context.error().message;
  TlsServer server(**context);
  Client client;
  Exchange(client, server);
  EXPECT_EQ(client.suite(), "TLS_CHACHA20_POLY1305_SHA256");
}

TEST(Tls, WhoDoesNotSpeakItIsRefused) {
  const auto context = TlsContext::Make(Keys().pem);
  ASSERT_TRUE(context.ok());
  TlsServer server(**context);
  std::string plain;
  std::string out;
  // A frame in the clear: 17 bytes of length, type 3.
  EXPECT_FALSE(server.Receive(std::string("\0\0\0\0\0\0\0\x11\x03", 9), plain, out).ok());
  EXPECT_EQ(plain, "");
  TlsKeys newest = Keys().pem;
  newest.protocol = "TLSv1.3";
  const auto strict = TlsContext::Make(newest);
  ASSERT_TRUE(strict.ok());
  TlsServer strict_server(**strict);
  Client old(TLS1_2_VERSION);
  base::Status failure;
  Exchange(old, strict_server, &failure);
  EXPECT_FALSE(failure.ok());
}

TEST(Tls, ADamagedRecordGivesNoBytes) {
  const auto context = TlsContext::Make(Keys().pem);
  ASSERT_TRUE(context.ok());
  TlsServer server(**context);
  Client client;
  Exchange(client, server);
  client.Send("a request");
  std::string bytes = client.Output();
  bytes[bytes.size() - 3] ^= 1;
  std::string plain;
  std::string out;
  EXPECT_FALSE(server.Receive(bytes, plain, out).ok());
  EXPECT_EQ(plain, "");
}

TEST(Tls, WrongKeysAreNamed) {
  const auto error = [](TlsKeys keys) {
    const auto context = TlsContext::Make(keys);
    return context.ok() ? "none" : context.error().message;
  };
  EXPECT_THAT(error({}), HasSubstr("keyStore, or privateKey and certChain"));
  TlsKeys keys = Keys().pkcs12;
  keys.key_store_password = "other";
  EXPECT_THAT(error(keys), HasSubstr("keyStorePassword"));
  keys.key_store = "\xfe\xed\xfe\xed and so on";
  EXPECT_THAT(error(keys), HasSubstr("keytool -importkeystore"));
  keys.key_store = "nothing known";
  EXPECT_THAT(error(keys), HasSubstr("not PKCS12"));
  keys = Keys().pem;
  keys.private_key_password = "";
  EXPECT_THAT(error(keys), HasSubstr("privateKey"));
  keys = Keys().pem;
  keys.cert_chain = "nothing";
  EXPECT_THAT(error(keys), HasSubstr("certChain"));
  keys = Keys().pem;
  keys.cert_chain = TestKeys().pem.cert_chain;
  EXPECT_NE(error(keys), "none") << "the certificate of another key";
  keys = Keys().pem;
  keys.protocol = "SSLv3";
  EXPECT_THAT(error(keys), HasSubstr("TLSv1.2"));
  keys.protocol = "";
  keys.cipher_suites = {"TLS_NO_SUCH_WITH_NAME"};
  EXPECT_THAT(error(keys), HasSubstr("enabledAlgorithms"));
}

}  // namespace
}  // namespace fairlead::wire::spark_transport
