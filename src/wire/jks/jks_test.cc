#include "wire/jks/jks.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <algorithm>

namespace fairlead::wire::jks {
namespace {

/// keytool -genkeypair -alias rm -keyalg EC -storetype JKS -storepass changeit -keypass secret1
constexpr char kStore[] =
    "/u3+7QAAAAIAAAABAAAAAQACcm0AAAGiJOJ1MAAAAH8wfTAOBgorBgEEASoCEQEBBQAEa19/8/fNkKd4IlrY7LKPAXjvAzkWDA9E"
    "xku8T/SIRc6a1D2n2BPinUQSmS+w0nrkidJM34OJ0a971C2bhgblbR6SBArKN88UihujjH+Xe3McEBH8lObjbe996Ug1QrlyfCZy"
    "Lwt4Vw2PAfPWAAAAAQAFWC41MDkAAAFiMIIBXjCCAQOgAwIBAgIINarag+/IP6owCgYIKoZIzj0EAwIwFDESMBAGA1UEAxMJbG9j"
    "YWxob3N0MCAXDTI2MTEyOTAxMTkxMFoYDzIxMjYxMTA1MDExOTEwWjAUMRIwEAYDVQQDEwlsb2NhbGhvc3QwWTATBgcqhkjOPQIB"
    "BggqhkjOPQMBBwNCAARmJbXVNG+2rKDkl4CY69EvY2VfbY5+JqTG/4dwwFgwdZfvYQZ6yl+twqHy0DQrTxcOH9VXCGpw/1kKp55d"
    "Ag+yoz0wOzAdBgNVHQ4EFgQUBM20RY+F5TmIXI8RbMzGD7fa0wYwGgYDVR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMAoGCCqGSM49"
    "BAMCA0kAMEYCIQC0DxPYA+bSeE5hJy8FP12vlfh0AtyaEni7HCfFqbgA1AIhAKGRtu7k/AdCKGBWIDtpRDGYZXeKquzCa6oE4u9N"
    "M89leiTs0u3aGL66Pw572DSRwSPGJa4=";

std::string FromBase64(std::string text) {
  std::string out(text.size(), '\0');
  const int size =
      ::EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  out.resize(static_cast<size_t>(size) - static_cast<size_t>(std::count(text.begin(), text.end(), '=')));
  return out;
}

TEST(Jks, ReadsWhatKeytoolWrote) {
  const auto store = Parse(FromBase64(kStore), "changeit");
  ASSERT_TRUE(store.ok()) << store.error().message;
  ASSERT_EQ(store->keys.size(), 1U);
  EXPECT_EQ(store->keys[0].alias, "rm");
  ASSERT_EQ(store->keys[0].chain.size(), 1U);
  const auto key = Unprotect(store->keys[0].sealed, "secret1");
  ASSERT_TRUE(key.ok()) << key.error().message;
  EXPECT_EQ(key->front(), '\x30');
}

TEST(Jks, ADifferentPasswordOrAChangedFileIsRefused) {
  std::string bytes = FromBase64(kStore);
  EXPECT_FALSE(Parse(bytes, "changeme").ok());
  EXPECT_TRUE(Parse(bytes, "").ok());  // nothing is checked
  const auto store = Parse(bytes, "");
  EXPECT_EQ(Unprotect(store->keys[0].sealed, "changeit").error().message, "the key's password is another one");
  bytes[40] = static_cast<char>(~bytes[40]);
  EXPECT_EQ(Parse(bytes, "changeit").error().message, "the password is another one, or the file was changed");
}

TEST(Jks, ACutFileIsRefused) {
  const std::string bytes = FromBase64(kStore);
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Parse(std::string_view(bytes).substr(0, size), "changeit").ok()) << size;
  }
  std::string many = bytes;
  many[8] = '\x7F';  // entries
  EXPECT_FALSE(Parse(many, "").ok());
}

std::string Counted(uint32_t number) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
  return out;
}

TEST(Jks, BytesAndCertificatesAreBounded) {
  // A store without entries, and what follows it.
  const auto empty = [](size_t more) {
    return "\xFE\xED\xFE\xED" + Counted(2) + Counted(0) + std::string(more, '\0') + std::string(20, 'd');
  };
  EXPECT_TRUE(Parse(empty(0), "").ok());
  EXPECT_EQ(Parse(empty(1), "").error().message, "the file is cut");
  EXPECT_EQ(Parse(empty(size_t{16} << 20), "").error().message, "this is no JKS");
  // One key and its certificates, all empty.
  const auto chain = [](uint32_t certificates) {
    std::string bytes = "\xFE\xED\xFE\xED" + Counted(1) + Counted(1) + Counted(1) + std::string(2 + 8 + 4, '\0');
    bytes += Counted(certificates) + std::string(4 * size_t{certificates}, '\0');
    return bytes + std::string(20, 'd');
  };
  const auto whole = Parse(chain(100), "");
  ASSERT_TRUE(whole.ok()) << whole.error().message;
  EXPECT_EQ(whole->keys[0].chain.size(), 100U);
  EXPECT_FALSE(Parse(chain(101), "").ok());
}

}  // namespace
}  // namespace fairlead::wire::jks
