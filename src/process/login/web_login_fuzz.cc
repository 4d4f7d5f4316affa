// Cookies, tokens in addresses, Negotiate headers and credentials that say anything.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/check.h"
#include "endpoints/yarn/url_token.h"
#include "process/login/cookie.h"
#include "process/login/web_login.h"
#include "wire/hadoop_rpc/base64.h"

namespace {

using namespace fairlead;

/// On which nothing happens later.
class StandingLoop final : public env::Loop {
 public:
  base::Instant Now() const override { return {}; }
  base::WallTime Wall() const override { return {}; }
  TimerId At(base::Instant, Callback) override { return 0; }
  void Cancel(TimerId) override {}
  void Post(Callback) override {}
  void Offload(Callback, Callback) override {}
  void RandomBytes(std::span<uint8_t> bytes) override { std::ranges::fill(bytes, uint8_t{0}); }
};

/// A stranger at a door of fairlead.auth=credentials, who shows `said`.
void Knock(const std::string& said) {
  using namespace process;
  StandingLoop loop;
  login::WebLoginOptions options;
  options.security.mode = login::WebMode::kCallers;
  options.credential = [](std::string_view identifier) -> base::Result<endpoints::yarn::TokenSecret> {
    if (identifier != "fl1.laptop.1") return base::Error{"the credential is not known here"};
    return endpoints::yarn::TokenSecret{"a secret that nobody knows", "alice"};
  };
  login::WebLogin door(loop, std::move(options));
  http::Request request;
  request.method = "GET";
  request.target = "/cluster";
  request.headers = {{"Authorization", said}};
  int answers = 0;
  door.Enter(
      request,
      [&](const http::Response& response) {
        FL_CHECK(response.status == 401, "a stranger who is told more");
        ++answers;
      },
      [](const http::Request&, const auto&) { FL_CHECK(false, "a stranger who is let in"); });
  FL_CHECK(answers == 1, "a stranger who waits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace process;
  const std::string text(reinterpret_cast<const char*>(data), size);
  Knock(text);
  FL_CHECK(!login::Verify(text, "a secret that nobody knows", "kerberos", 0), "a cookie that nobody signed");
  http::Request request;
  request.headers = {{"Cookie", text}};
  FL_CHECK(!login::FindCookie(request, "a secret that nobody knows", "kerberos", 0), "a cookie that nobody signed");
  // What is signed comes back as it was.
  if (const auto cookie = login::Sign({text, text, "kerberos", 1}, "s")) {
    const auto read = login::Verify(*cookie, "s", "kerberos", 0);
    FL_CHECK(read && read->user == text && read->principal == text, "a cookie that says another thing");
  }
  if (const auto token = endpoints::yarn::DecodeUrlToken(text); token.ok()) {
    const auto again = endpoints::yarn::DecodeUrlToken(endpoints::yarn::EncodeUrlToken(*token));
    FL_CHECK(again.ok() && *again == *token, "a token that changes");
  }
  (void)fairlead::wire::hadoop_rpc::DecodeBase64(text);
  return 0;
}
