// Cookies, tokens in addresses and Negotiate headers that say anything.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "process/login/cookie.h"
#include "process/login/web_login.h"
#include "wire/hadoop_rpc/base64.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::process;
  const std::string text(reinterpret_cast<const char*>(data), size);
  FL_CHECK(!login::Verify(text, "a secret that nobody knows", "kerberos", 0), "a cookie that nobody signed");
  http::Request request;
  request.headers = {{"Cookie", text}};
  FL_CHECK(!login::FindCookie(request, "a secret that nobody knows", "kerberos", 0), "a cookie that nobody signed");
  // What is signed comes back as it was.
  if (const auto cookie = login::Sign({text, text, "kerberos", 1}, "s")) {
    const auto read = login::Verify(*cookie, "s", "kerberos", 0);
    FL_CHECK(read && read->user == text && read->principal == text, "a cookie that says another thing");
  }
  if (const auto token = login::DecodeUrlToken(text); token.ok()) {
    const auto again = login::DecodeUrlToken(login::EncodeUrlToken(*token));
    FL_CHECK(again.ok() && *again == *token, "a token that changes");
  }
  (void)fairlead::wire::hadoop_rpc::DecodeBase64(text);
  return 0;
}
