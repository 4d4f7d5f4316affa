// Real sessions that talk to each other in memory, with certificates that are made here.
#include "env_openssl/openssl_tls.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>
#include <vector>

#include "base/sanitized.h"

namespace fairlead::env_openssl {
namespace {

/// openssl pkcs12 -export -legacy: the certificate is encrypted by RC2 with 40 bits, as Java 8 and older programs do.
constexpr char kOldStore[] =
    "MIIDqAIBAzCCA24GCSqGSIb3DQEHAaCCA18EggNbMIIDVzCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB"
    "MBwGCiqGSIb3DQEMAQYwDgQI1MkraVcRodECAggAgIIB8I1Y7+OcufCLrBfBVf4Es+T4B6PncCfqDvpfnsE3N5jf7gP2YBcSN5g/"
    "UG/97PH3p5uxc8BKq/hrXZrOKwZhly7lbD3GFqe2GWpxCc/N7La53+qnrnZgBQVrdkP3FEFJxAjrAi5E9VulVN5ebAYvf2LcQKm2"
    "QHjtCgabr3rYfWLggKdrqCQhSG9y0cEYU+5Ets/6cuCkIVFCkSdd5FVIjLYDYXiRAV21i4l3VoCqXXRQ16THg010xjLjmOcHJ26M"
    "Z75KvFeZYMYAPhN7hAzWKit9T9DEUs5Vb7S6fayVA1a/Ij+iOaQAqw4GbKcfhBZ0AP6DN41l6OZG8f7PiOvVskngNOXDW7xSQ1ZF"
    "veDcq8ysA0zVlCpDAB2SrP2BXalijUU9Pha6kx+hd6u2LmGSy8qKOjHWTfo/8E3dFCOHilyroVoWOWBd/5V1jisyoat9jVuFfEME"
    "nN/Ysh0GNJCvB63yrbByd8xteCtzveaBPItaO/bMStWbUAByXDzQeSxYzVkiAPPA/NnjMfE4DB6nai+gNs0relRZTtmjbjq4xRYB"
    "iA1DLEMreo4pXffbcpn9yjMOjv81fwRYWkqXAA01AfOHGZ86fShA6MwuqbJi8YOrkjcVBo54skczXZtuK6Uzs39SiGTp69jRHuVj"
    "jeAz1X8wggEYBgkqhkiG9w0BBwGgggEJBIIBBTCCAQEwgf4GCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIIMl6"
    "dZ3S3AICAggABIGQcEP3S7oPBjsJkHMIG/7MxxX7EOj1IGC9zSTUbbZRkBfIAiBuRzxhUh0wuSK0IHbxyh5489nOALolSg1Svxi8"
    "V9XcqjMxDthDlSC8NupGCr6FyWeCj8GO/KNRvVziGI4LeeeTHVIfcxiPFrnkPVnsCOAZYGJ/Epq+ge/JYbseM88YnEWcMjuyBDol"
    "KpYIRB2aMTgwEQYJKoZIhvcNAQkUMQQeAgBhMCMGCSqGSIb3DQEJFTEWBBTJerWvKC/qIhDEKy9wK9on+BuJJzAxMCEwCQYFKw4D"
    "AhoFAAQUyewapzhAoqy9dUwoMJxte/LzuIcECCreHFsvYV0tAgIIAA==";

std::string FromBase64(std::string text) {
  std::string out(text.size(), '\0');
  const int size =
      ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(size));
  return out;
}

struct Made {
  KeyPtr key;
  CertificatePtr certificate;
};

Made Make(const std::string& host) {
  Made out;
  out.key.reset(::EVP_EC_gen("prime256v1"));
  out.certificate.reset(::X509_new());
  X509* x509 = out.certificate.get();
  ::X509_set_version(x509, 2);
  ::ASN1_INTEGER_set(::X509_get_serialNumber(x509), 1);
  ::X509_gmtime_adj(::X509_getm_notBefore(x509), -3600);
  ::X509_gmtime_adj(::X509_getm_notAfter(x509), 3600);
  ::X509_set_pubkey(x509, out.key.get());
  X509_NAME* name = ::X509_get_subject_name(x509);
  ::X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(host.c_str()), -1, -1,
                               0);
  ::X509_set_issuer_name(x509, name);
  X509_EXTENSION* names = ::X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + host).c_str());
  ::X509_add_ext(x509, names, -1);
  ::X509_EXTENSION_free(names);
  ::X509_sign(x509, out.key.get(), ::EVP_sha256());
  return out;
}

std::string Written(BIO* bio) {
  char* bytes = nullptr;
  const long size = ::BIO_get_mem_data(bio, &bytes);
  std::string out(bytes, static_cast<size_t>(size));
  ::BIO_free(bio);
  return out;
}

std::string Pem(const Made& made) {
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509(bio, made.certificate.get());
  ::PEM_write_bio_PrivateKey(bio, made.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return Written(bio);
}

std::string Pkcs12(const Made& made) {
  PKCS12* store = ::PKCS12_create("changeit", "rm", made.key.get(), made.certificate.get(), nullptr, 0, 0, 0, 0, 0);
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::i2d_PKCS12_bio(bio, store);
  ::PKCS12_free(store);
  return Written(bio);
}

/// Carries bytes between the two until nothing moves; what the client says of it.
base::Status Talk(env::TlsSession& client, env::TlsSession& server) {
  while (true) {
    const std::string to_server = client.TakeForPeer();
    if (!to_server.empty()) static_cast<void>(server.Receive(to_server));
    const std::string to_client = server.TakeForPeer();
    if (to_client.empty() && to_server.empty()) return {};
    if (to_client.empty()) continue;
    if (base::Status taken = client.Receive(to_client); !taken.ok()) return taken;
  }
}

std::shared_ptr<env::Tls> Server(const std::string& bytes, const Ciphers& ciphers = {}) {
  auto own = ReadCertificates("file", bytes, {"changeit", ""});
  EXPECT_TRUE(own.ok()) << own.error().message;
  auto tls = MakeServerTls(*own, ciphers);
  EXPECT_TRUE(tls.ok()) << tls.error().message;
  return *tls;
}

std::shared_ptr<env::Tls> ClientThatTrusts(const std::string& pem) {
  auto tls = MakeClientTls(*ReadCertificates("file", pem, {}));
  EXPECT_TRUE(tls.ok());
  return *tls;
}

TEST(OpensslTls, BytesGoBothWaysAndAnEndIsTold) {
  const Made made = Make("rm.example.com");
  const auto server = Server(Pem(made))->Accept();
  const auto client = ClientThatTrusts(Pem(made))->Connect("rm.example.com");
  const std::string question(100'000, 'q');
  client->Send(question);
  ASSERT_TRUE(Talk(*client, *server).ok());
  EXPECT_TRUE(client->established() && server->established());
  EXPECT_EQ(server->TakeReceived(), question);
  server->Send("answer");
  server->End();
  ASSERT_TRUE(Talk(*client, *server).ok());
  EXPECT_EQ(client->TakeReceived(), "answer");
  EXPECT_TRUE(client->ended());
  EXPECT_FALSE(server->ended());
}

/// Bytes of the heap that are in use.
size_t InUse() {
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

// process/tls counts as much for an established connection.
TEST(OpensslTls, AnIdleSessionKeepsNoBuffers) {
  if (base::kAddressesWatched || base::kThreadsWatched) GTEST_SKIP() << "a sanitizer's heap is not counted so";
  const Made made = Make("a");
  const auto shown = Server(Pem(made)), trusting = ClientThatTrusts(Pem(made));
  constexpr size_t kSessions = 1000;
  std::vector<std::unique_ptr<env::TlsSession>> kept;
  kept.reserve(kSessions);
  size_t before = 0;
  for (size_t i = 0; i <= kSessions; ++i) {
    if (i == 1) before = InUse();  // what OpenSSL makes once is there
    auto server = shown->Accept();
    {
      const auto client = trusting->Connect("a");
      client->Send(std::string(50'000, 'q'));
      ASSERT_TRUE(Talk(*client, *server).ok());
      EXPECT_EQ(server->TakeReceived().size(), 50'000U);
      server->Send(std::string(200'000, 'a'));
      ASSERT_TRUE(Talk(*client, *server).ok());
      EXPECT_EQ(client->TakeReceived().size(), 200'000U);
    }
    if (i > 0) kept.push_back(std::move(server));
  }
  const size_t each = (InUse() - before) / kSessions;
  RecordProperty("bytes", static_cast<int>(each));
  EXPECT_LE(each, 16U << 10);
  EXPECT_GT(each, 1U << 10) << "nothing was counted";
}

TEST(OpensslTls, ReadsPkcs12OfNewAndOldPrograms) {
  const Made made = Make("rm.example.com");
  for (const std::string& bytes : {Pkcs12(made), FromBase64(kOldStore)}) {
    const auto read = ReadCertificates("file", bytes, {"changeit", ""});
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_TRUE(MakeServerTls(*read).ok());
  }
  EXPECT_EQ(ReadCertificates("file", Pkcs12(made), {"changeme", ""}).error().message,
            "file cannot be opened with its password: mac verify failure");
}

TEST(OpensslTls, OnlyATrustedCertificateOfThatNameIsTaken) {
  const Made made = Make("rm.example.com");
  const auto tls = Server(Pem(made));
  const auto other_name = ClientThatTrusts(Pem(made))->Connect("other.example.com");
  auto server = tls->Accept();
  EXPECT_EQ(Talk(*other_name, *server).error().message,
            "the certificate of other.example.com is not trusted: hostname mismatch");
  EXPECT_FALSE(other_name->established());
  const auto stranger = ClientThatTrusts(Pem(Make("rm.example.com")))->Connect("rm.example.com");
  server = tls->Accept();
  EXPECT_FALSE(Talk(*stranger, *server).ok());
  const auto unasked = (*MakeClientTls({}))->Connect("rm.example.com");
  server = tls->Accept();
  EXPECT_EQ(Talk(*unasked, *server).error().message,
            "the certificate of rm.example.com is not trusted: self-signed certificate");
}

TEST(OpensslTls, GarbageEndsTheSessionWithAnAlert) {
  const auto server = Server(Pem(Make("a")))->Accept();
  EXPECT_FALSE(server->Receive("\x16\x03\x01\x02garbage that is no hello at all").ok() &&
               server->Receive(std::string(2000, 'x')).ok());
  EXPECT_FALSE(server->TakeForPeer().empty());
  EXPECT_FALSE(server->established());
}

/// A client that speaks as no honest one does: OpenSSL's own, in memory.
class Stranger {
 public:
  explicit Stranger(int version, SSL_SESSION* known = nullptr, const char* groups = nullptr) {
    ::SSL_CTX_set_min_proto_version(context_.get(), version);
    ::SSL_CTX_set_max_proto_version(context_.get(), version);
    ::SSL_CTX_set_options(context_.get(), SSL_OP_NO_TICKET);
    if (groups != nullptr) SSL_CTX_set1_groups_list(context_.get(), groups);
    ssl_.reset(::SSL_new(context_.get()));
    ::SSL_set_bio(ssl_.get(), ::BIO_new(::BIO_s_mem()), ::BIO_new(::BIO_s_mem()));
    ::SSL_set_connect_state(ssl_.get());
    if (known != nullptr) ::SSL_set_session(ssl_.get(), known);
  }
  SSL* ssl() { return ssl_.get(); }
  std::string TakeForPeer() {
    BIO* out = ::SSL_get_wbio(ssl());
    std::string bytes(::BIO_ctrl_pending(out), '\0');
    if (!bytes.empty()) ::BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }
  void Take(const std::string& bytes) {
    ::BIO_write(::SSL_get_rbio(ssl()), bytes.data(), static_cast<int>(bytes.size()));
  }
  bool Shake(env::TlsSession& server) {
    while (::SSL_do_handshake(ssl()) != 1) {
      if (!server.Receive(TakeForPeer()).ok()) return false;
      Take(server.TakeForPeer());
    }
    return server.Receive(TakeForPeer()).ok() && server.established();
  }
  std::string KeyUpdates(int count) {
    std::string bytes;
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(::SSL_key_update(ssl(), SSL_KEY_UPDATE_REQUESTED), 1);
      EXPECT_EQ(::SSL_do_handshake(ssl()), 1);
      bytes += TakeForPeer();
    }
    return bytes;
  }

 private:
  std::unique_ptr<SSL_CTX, Freeing<SSL_CTX_free>> context_{::SSL_CTX_new(::TLS_client_method())};
  std::unique_ptr<SSL, Freeing<SSL_free>> ssl_;
};

std::string Record(const std::string& body) {
  return std::string("\x16\x03\x01", 3) + static_cast<char>(body.size() >> 8) + static_cast<char>(body.size()) + body;
}

TEST(OpensslTls, KeysThatAreRenewedWithoutEndEndTheSession) {
  const auto server = Server(Pem(Make("a")))->Accept();
  Stranger client(TLS1_3_VERSION);
  ASSERT_TRUE(client.Shake(*server));
  server->TakeForPeer();
  EXPECT_TRUE(server->Receive(client.KeyUpdates(32)).ok());
  const size_t an_answer = server->TakeForPeer().size() / 32;
  EXPECT_GT(an_answer, 0U);
  EXPECT_FALSE(server->Receive(client.KeyUpdates(2000)).ok());
  EXPECT_LE(server->TakeForPeer().size(), 3 * an_answer) << "none is looked at behind the one that was too many";
}

TEST(OpensslTls, ManyBytesAllowForNewKeysAndSingleOnesDoNot) {
  const auto server = Server(Pem(Make("a")))->Accept();
  Stranger client(TLS1_3_VERSION);
  ASSERT_TRUE(client.Shake(*server));
  const auto send = [&](size_t bytes) {
    const std::string data(bytes, 'x');
    EXPECT_EQ(::SSL_write(client.ssl(), data.data(), static_cast<int>(bytes)), static_cast<int>(bytes));
    return server->Receive(client.TakeForPeer()).ok();
  };
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(send(size_t{1} << 20) && server->Receive(client.KeyUpdates(1)).ok()) << i;
  int dripped = 0;
  while (dripped < 100 && send(1) && server->Receive(client.KeyUpdates(1)).ok()) ++dripped;
  EXPECT_EQ(dripped, 32);
}

TEST(OpensslTls, AHelloThatClaimsMoreThanItsBoundIsRefusedByItsHead) {
  const auto tls = Server(Pem(Make("a")));
  const std::string head("\x01\x01\xff\xb8", 4);  // 131,000 bytes
  EXPECT_FALSE(tls->Accept()->Receive(Record(head + std::string(100, 'x'))).ok());
  const auto in_pieces = tls->Accept();
  EXPECT_TRUE(in_pieces->Receive(Record(head.substr(0, 1)) + Record(head.substr(1, 2))).ok());
  EXPECT_FALSE(in_pieces->Receive(Record(head.substr(3))).ok());
  const auto half = tls->Accept();
  EXPECT_TRUE(half->Receive(Record(head).substr(0, 7)).ok()) << "a record is read when it is whole";
  const auto within = tls->Accept();
  EXPECT_TRUE(within->Receive(Record(std::string("\x01\x00\x40\x00", 4))).ok()) << "16 KiB may be claimed";
}

TEST(OpensslTls, SoIsTheSecondHelloOfAClientThatIsAskedAgain) {
  const auto server = Server(Pem(Make("a")))->Accept();
  Stranger client(TLS1_3_VERSION, nullptr, "X25519:P-256");
  EXPECT_NE(::SSL_do_handshake(client.ssl()), 1);
  std::string hello = client.TakeForPeer();
  const std::string curve("\x00\x1d", 2);  // X25519, as one that may be and as the one whose key is there
  for (size_t at = hello.find(curve, 80); at != hello.npos; at = hello.find(curve, at))
    hello.replace(at, 2, "\x0a\x0a");
  const base::Status taken = server->Receive(hello + Record(std::string("\x01\x01\xff\xb8", 4)));
  ASSERT_FALSE(taken.ok());
  EXPECT_EQ(taken.error().message, "TLS: a handshake's message of more than 16 KiB");
  EXPECT_GT(server->TakeForPeer().size(), 80U) << "it was asked again";
}

TEST(OpensslTls, AServerKeepsNoSessions) {
  const auto tls = Server(Pem(Make("a")));
  Stranger first(TLS1_2_VERSION);
  auto server = tls->Accept();
  ASSERT_TRUE(first.Shake(*server));
  server->End();
  const std::unique_ptr<SSL_SESSION, Freeing<SSL_SESSION_free>> session(::SSL_get1_session(first.ssl()));
  Stranger again(TLS1_2_VERSION, session.get());
  server = tls->Accept();
  ASSERT_TRUE(again.Shake(*server));
  EXPECT_EQ(::SSL_session_reused(again.ssl()), 0);
}

TEST(OpensslTls, NoOthersThanTheEnabledCiphersAreSpoken) {
  const Made made = Make("a");
  const auto only_here = Server(Pem(made), {.enabled = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"});
  const auto client_of = [&] { return ClientThatTrusts(Pem(made))->Connect("a"); };
  auto server = only_here->Accept();
  auto client = client_of();
  EXPECT_TRUE(Talk(*client, *server).ok());
  EXPECT_TRUE(client->established());
  const auto own = ReadCertificates("file", Pem(made), {});
  EXPECT_EQ(MakeServerTls(*own, {.enabled = "TLS_RSA_WITH_NOTHING"}).error().message,
            "none of the ciphers that are asked for is spoken here");
  EXPECT_FALSE(MakeServerTls(*own, {.enabled = "TLS_AES_128_GCM_SHA256", .excluded = "TLS_AES_128_GCM_SHA256"}).ok());
}

TEST(OpensslTls, ExcludedCiphersAreNotSpoken) {
  const Made made = Make("a");
  const auto tls = Server(Pem(made), {.excluded = "TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256,"
                                                  "TLS_AES_128_GCM_SHA256,TLS_AES_128_CCM_SHA256"});
  const auto server = tls->Accept();
  const auto client = ClientThatTrusts(Pem(made))->Connect("a");
  EXPECT_TRUE(Talk(*client, *server).ok());  // by TLS 1.2
  EXPECT_TRUE(client->established());
}

TEST(OpensslTls, WhatIsNoStoreOrHasNoKeyIsRefused) {
  EXPECT_NE(ReadCertificates("file", "\xCE\xCE\xCE\xCE...", {}).error().message.find("keytool -importkeystore"),
            std::string::npos);
  const Made one = Make("a"), other = Make("a");
  BIO* bio = ::BIO_new(::BIO_s_mem());
  ::PEM_write_bio_X509(bio, one.certificate.get());
  ::PEM_write_bio_PrivateKey(bio, other.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  const auto mixed = ReadCertificates("file", Written(bio), {});
  ASSERT_TRUE(mixed.ok());
  EXPECT_EQ(MakeServerTls(*mixed).error().message, "there is no certificate of its private key in it");
  EXPECT_FALSE(ReadCertificates("file", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", {}).ok());
}

}  // namespace
}  // namespace fairlead::env_openssl
