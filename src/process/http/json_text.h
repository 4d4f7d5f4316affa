#pragma once

#include <string>

namespace fairlead::process::http {

/// The JSON as text. Bytes of strangers that are no UTF-8 become U+FFFD: the library would throw, and end the daemon.
template <class Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace fairlead::process::http
