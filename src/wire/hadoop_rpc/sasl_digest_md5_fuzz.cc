// DIGEST-MD5 with a hostile peer on either side.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "wire/hadoop_rpc/base64.h"
#include "wire/hadoop_rpc/sasl_digest_md5.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::hadoop_rpc;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  DigestMd5Server server("nonce");
  const auto password = [](std::string_view) -> fairlead::base::Result<std::string> { return std::string("secret"); };
  FL_CHECK(!server.Verify(bytes, password).ok(), "a digest was guessed");
  DigestMd5Client client("user", "secret", "cnonce");
  const auto response = client.Respond(bytes);
  if (response.ok()) {
    const auto fields = fairlead::wire::digest_md5::ParseFields(*response);
    FL_CHECK(fields && fields->at("cnonce") == "cnonce", "the response cannot be read");
  }
  FL_CHECK(!client.CheckRspauth(bytes).ok(), "a proof was guessed");
  if (const auto decoded = DecodeBase64(bytes)) FL_CHECK(DecodeBase64(EncodeBase64(*decoded)) == decoded, "base64");
  return 0;
}
