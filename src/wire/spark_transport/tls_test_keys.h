#pragma once

#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>

#include <string>

#include "wire/spark_transport/tls.h"

namespace fairlead::wire::spark_transport {

inline std::string TextOf(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  std::string out(bytes, static_cast<size_t>(size));
  BIO_free(bio);
  return out;
}

/// A fresh EC key with a certificate it signed itself, in every form a server may be given.
struct TestKeys {
  TestKeys() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* certificate = X509_new();
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    BIO* bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PKCS8PrivateKey(bio, key, EVP_aes_128_cbc(), "pw", 2, nullptr, nullptr);
    pem.private_key = TextOf(bio);
    pem.private_key_password = "pw";
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, certificate);
    pem.cert_chain = TextOf(bio);
    PKCS12* store = PKCS12_create("store pw", "name", key, certificate, nullptr, 0, 0, 0, 0, 0);
    bio = BIO_new(BIO_s_mem());
    i2d_PKCS12_bio(bio, store);
    pkcs12.key_store = TextOf(bio);
    pkcs12.key_store_password = "store pw";
    PKCS12_free(store);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  TlsKeys pem;
  TlsKeys pkcs12;
};

}  // namespace fairlead::wire::spark_transport
