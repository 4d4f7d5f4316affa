#include <cstddef>
#include <cstdint>
#include <string_view>

#include "endpoints/rest/request_body.h"
#include "endpoints/yarn/rm_decode.h"

/// Any bytes, as JSON and as XML, give a submission that the resource manager's decoder takes or refuses, or an error.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace rest = fairlead::endpoints::rest;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* type : {"application/json", "application/xml"}) {
    const auto body = rest::ParseBody(type, text, "application-submission-context");
    if (!body.ok()) {
      if (body.error().message.empty()) __builtin_trap();
      continue;
    }
    (void)rest::Text(*body, "state");
    (void)rest::SmallNumber(*body, "priority", 0);
    const auto submission = rest::SubmissionOf(*body);
    if (submission.ok())
      (void)fairlead::endpoints::yarn::ToSubmission(*submission, {"ann", {"staff"}, "127.0.0.1"}).ok();
  }
  return 0;
}
