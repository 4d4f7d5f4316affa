#pragma once

#include <string>
#include <string_view>

#include "process/http/http.h"

namespace fairlead::process::http {

/// A file of web/, compiled into the binary (tools/embed.py).
struct StaticFile {
  std::string_view name;
  std::string_view content_type;
  std::string_view etag;  // quoted, of the bytes
  std::string_view bytes;
};

/// 200 with the file, or 304 when the request names its ETag. The policy lets a page run and style itself with nothing
/// but such files.
/// With a `base`, links of the page that begin with "./" begin with it instead: where a proxy shows the page, whose
/// address may have no final slash.
Response StaticResponse(const Request& request, const StaticFile& file, const std::string& base = "");

}  // namespace fairlead::process::http
