#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "env/server_pattern.h"

// A pattern of the configuration, and behind its line what a server says that it is.

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::env;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t line = text.find('\n');
  const std::string pattern = text.substr(0, line);
  const std::string said = line == std::string::npos ? "rm/rm1.example.com" : text.substr(line + 1);
  (void)IsServerPattern(pattern);
  if (!CheckServerPattern(pattern).ok()) return 0;  // daemons do not start then
  const auto fits = FittingServer(pattern, said, [](const std::string&) { return std::string("EXAMPLE.COM"); });
  if (fits.ok() && *fits != said + "@EXAMPLE.COM") std::abort();
  return 0;
}
