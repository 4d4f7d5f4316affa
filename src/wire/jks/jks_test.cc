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

}  // namespace
}  // namespace fairlead::wire::jks
