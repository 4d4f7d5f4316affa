#include <cstddef>
#include <cstdint>

#include "wire/spark_transport/auth.h"
#include "wire/spark_transport/sasl.h"

// Handshake messages and encrypted streams of any content end in an error or an answer, never in a crash.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::spark_transport;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)AnswerAuthChallenge(bytes, "secret", AuthVersion::kV1, AuthRandom{});
  (void)DecodeSaslMessage(bytes);
  SaslServer server("nonce", "secret", false);
  (void)server.Respond("");
  (void)server.Respond(bytes);
  SaslClient client("cnonce", "secret", true);
  (void)client.Respond(bytes);
  std::string plain;
  (void)MakeGcmCipher(std::string(16, 'k'), nullptr)->Decrypt(bytes, plain);
  for (const char* cipher : {"3des", "rc4", "rc4-40"}) {
    (void)MakeSealingCipher({cipher, std::string(16, 'k')}, true, 1 << 16)->Decrypt(bytes, plain);
  }
  return 0;
}
