#pragma once

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
Response StaticResponse(const Request& request, const StaticFile& file);

}  // namespace fairlead::process::http
