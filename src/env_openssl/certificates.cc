#include "env_openssl/certificates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "wire/jks/jks.h"

namespace fairlead::env_openssl {

namespace {

using BioPtr = std::unique_ptr<BIO, Freeing<BIO_free>>;
using ProviderPtr = std::unique_ptr<OSSL_PROVIDER, Freeing<OSSL_PROVIDER_unload>>;
using Pkcs12Ptr = std::unique_ptr<PKCS12, Freeing<PKCS12_free>>;

constexpr uint64_t kFileMost = uint64_t{16} << 20;
constexpr size_t kCertificatesMax = 2000;  // Java's own list of authorities has some 150

const unsigned char* Bytes(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

BioPtr Reader(std::string_view bytes) {
  return BioPtr(::BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

CertificatePtr Certificate(std::string_view der) {
  const unsigned char* at = Bytes(der);
  return CertificatePtr(::d2i_X509(nullptr, &at, static_cast<long>(der.size())));
}

/// Asked for the password of a PEM key; without this OpenSSL asks at the terminal.
int GivePassword(char* out, int size, int, void* password) {
  const auto& text = *static_cast<const std::string*>(password);
  if (text.size() > static_cast<size_t>(size)) return -1;
  text.copy(out, text.size());
  return static_cast<int>(text.size());
}

base::Result<Certificates> ReadPem(const std::string& name, std::string_view bytes, std::string password) {
  Certificates out;
  const BioPtr certificates = Reader(bytes);
  while (out.chain.size() < kCertificatesMax) {
    X509* next = ::PEM_read_bio_X509(certificates.get(), nullptr, GivePassword, &password);
    if (next == nullptr) break;
    out.chain.emplace_back(next);
  }
  ::ERR_clear_error();
  if (bytes.find("PRIVATE KEY-----") != std::string_view::npos) {
    out.key.reset(::PEM_read_bio_PrivateKey(Reader(bytes).get(), nullptr, GivePassword, &password));
    const bool sealed = bytes.find("ENCRYPTED") != std::string_view::npos;
    if (!out.key) {
      return base::Error{name + ": the private key cannot be read: " + LastFailure(), sealed ? kKeyPassword : 0};
    }
  }
  return out;
}

/// Old programs encrypt PKCS#12 with RC2, which OpenSSL has in a provider of its own.
void LoadOldCiphers() {
  static const ProviderPtr standard(::OSSL_PROVIDER_load(nullptr, "default"));
  static const ProviderPtr legacy(::OSSL_PROVIDER_load(nullptr, "legacy"));
  ::ERR_clear_error();
}

base::Result<Certificates> ReadPkcs12(const std::string& name, std::string_view bytes, const std::string& password) {
  const unsigned char* at = Bytes(bytes);
  const Pkcs12Ptr store(::d2i_PKCS12(nullptr, &at, static_cast<long>(bytes.size())));
  if (!store) return base::Error{name + " is no PKCS#12: " + LastFailure()};
  EVP_PKEY* key = nullptr;
  X509* own = nullptr;
  STACK_OF(X509)* others = nullptr;
  bool read = ::PKCS12_parse(store.get(), password.c_str(), &key, &own, &others) == 1;
  if (!read && ERR_GET_REASON(::ERR_peek_last_error()) != PKCS12_R_MAC_VERIFY_FAILURE) {
    LoadOldCiphers();
    read = ::PKCS12_parse(store.get(), password.c_str(), &key, &own, &others) == 1;
  }
  if (!read) return base::Error{name + " cannot be opened with its password: " + LastFailure(), kStorePassword};
  Certificates out;
  out.key.reset(key);
  if (own != nullptr) out.chain.emplace_back(own);
  for (int i = 0; i < sk_X509_num(others); ++i) out.chain.emplace_back(sk_X509_value(others, i));
  sk_X509_free(others);
  return out;
}

base::Result<Certificates> ReadJks(const std::string& name, std::string_view bytes, const StorePasswords& passwords) {
  base::Result<wire::jks::Store> store = wire::jks::Parse(bytes, passwords.store);
  if (!store.ok()) {
    const bool other = store.error().code == wire::jks::kOtherPassword;
    return base::Error{name + ": " + store.error().message, other ? kStorePassword : 0};
  }
  Certificates out;
  for (const std::string& der : store->trusted) {
    if (CertificatePtr one = Certificate(der)) out.trusted.push_back(std::move(one));
  }
  if (store->keys.empty()) return out;
  const wire::jks::Key& first = store->keys.front();
  base::Result<std::string> plain =
      wire::jks::Unprotect(first.sealed, passwords.key.empty() ? passwords.store : passwords.key);
  if (!plain.ok()) return base::Error{name + ", key " + first.alias + ": " + plain.error().message, kKeyPassword};
  const unsigned char* at = Bytes(*plain);
  out.key.reset(::d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(plain->size())));
  ::OPENSSL_cleanse(plain->data(), plain->size());
  if (!out.key) return base::Error{name + ", key " + first.alias + ": " + LastFailure()};
  for (const std::string& der : first.chain) {
    CertificatePtr one = Certificate(der);
    if (!one) return base::Error{name + ", certificate of " + first.alias + ": " + LastFailure()};
    out.chain.push_back(std::move(one));
  }
  return out;
}

}  // namespace

std::string LastFailure() {
  const unsigned long code = ::ERR_peek_last_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  ::ERR_clear_error();
  return reason != nullptr ? reason : "it cannot be read";
}

base::Result<Certificates> ReadCertificates(const std::string& name, std::string_view bytes,
                                            const StorePasswords& passwords) {
  if (wire::jks::IsJks(bytes)) return ReadJks(name, bytes, passwords);
  if (bytes.find("-----BEGIN ") != std::string_view::npos) {
    return ReadPem(name, bytes, passwords.key.empty() ? passwords.store : passwords.key);
  }
  if (bytes.starts_with('\x30')) return ReadPkcs12(name, bytes, passwords.store);
  return base::Error{name + " is neither PEM nor PKCS#12 nor JKS; 'keytool -importkeystore -srckeystore " + name +
                     " -destkeystore " + name + ".p12 -deststoretype PKCS12' makes one that is"};
}

base::Result<std::string> ReadCertificateFiles(const std::vector<std::string>& paths, env::Disk& disk) {
  std::string bytes;
  for (const std::string& path : paths) {
    std::error_code unknown;
    if (std::filesystem::is_fifo(path, unknown)) return base::Error{path + " is a pipe; write its bytes to a file"};
    const base::Result<std::string> read = disk.ReadFile(path, kFileMost);
    if (!read.ok()) return read.error();
    bytes += *read;
  }
  return bytes;
}

}  // namespace fairlead::env_openssl
