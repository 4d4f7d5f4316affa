#include "process/http/static_file.h"

#include <boost/algorithm/string/replace.hpp>

namespace fairlead::process::http {

Response StaticResponse(const Request& request, const StaticFile& file, const std::string& base) {
  Response response;
  response.content_type = file.content_type;
  response.headers = {{"Content-Security-Policy",
                       "default-src 'none'; connect-src 'self'; img-src 'self'; "
                       "script-src 'self'; style-src 'self'; base-uri 'none'"},
                      {"X-Content-Type-Options", "nosniff"},
                      {"X-Frame-Options", "SAMEORIGIN"},
                      {"Cache-Control", "no-cache"}};
  if (!base.empty()) {
    response.body = file.bytes;
    boost::algorithm::replace_all(response.body, "=\"./", "=\"" + HtmlEscape(base) + "/");
    return response;
  }
  response.headers.emplace_back("ETag", file.etag);
  if (FindHeader(request.headers, "If-None-Match") == file.etag) {
    response.status = 304;
  } else {
    response.body = file.bytes;
  }
  return response;
}

}  // namespace fairlead::process::http
