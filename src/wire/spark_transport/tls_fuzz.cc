#include <cstddef>
#include <cstdint>

#include "wire/spark_transport/tls.h"
#include "wire/spark_transport/tls_test_keys.h"

// Bytes of any content towards a TLS server, and as a keystore: an error or an answer, never a crash, never plain
// bytes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::spark_transport;
  static const auto context = *TlsContext::Make(TestKeys().pem);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  TlsServer server(*context);
  std::string plain;
  std::string out;
  if (server.Receive(bytes.substr(0, size / 2), plain, out).ok())
    (void)server.Receive(bytes.substr(size / 2), plain, out);
  if (!plain.empty()) __builtin_trap();
  if (!bytes.starts_with('\x30')) return 0;  // no DER: not worth the time that a context takes
  TlsKeys keys;
  keys.key_store = bytes;
  (void)TlsContext::Make(keys);
  return 0;
}
