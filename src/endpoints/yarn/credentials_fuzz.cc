// Credentials in both formats: what can be read must be written and read again unchanged.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "endpoints/yarn/credentials.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::endpoints::yarn;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)ParseWritableToken(bytes);
  const auto parsed = ParseCredentials(bytes);
  if (!parsed.ok()) return 0;
  for (const auto format : {CredentialsFormat::kWritable, CredentialsFormat::kProtobuf}) {
    const auto again = ParseCredentials(EncodeCredentials(*parsed, format));
    FL_CHECK(again.ok() && *again == *parsed, "credentials do not survive");
  }
  return 0;
}
