#include "env/net.h"

#include <charconv>

namespace fairlead::env {

std::string Endpoint::ToString() const {
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool IsLoopback(std::string_view host) { return host == "localhost" || host == "::1" || host.starts_with("127."); }

base::Result<Endpoint> ParseEndpoint(std::string_view text, uint16_t default_port) {
  const auto malformed = [&] { return base::Error{"'" + std::string(text) + "' is not HOST:PORT"}; };
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == std::string_view::npos) return malformed();
    host = text.substr(1, end - 1);
    if (end + 1 < text.size()) {
      if (text[end + 1] != ':') return malformed();
      port = text.substr(end + 2);
    }
  } else if (const size_t colon = text.rfind(':'); colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty() || host.find(':') != std::string_view::npos) return malformed();
  }
  Endpoint endpoint{std::string(host), default_port};
  if (host.empty()) return malformed();
  if (!port.empty()) {
    const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc() || stop != port.data() + port.size()) return malformed();
  } else if (default_port == 0) {
    return malformed();
  }
  return endpoint;
}

}  // namespace fairlead::env
