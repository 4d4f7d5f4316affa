#include "process/login/spnego.h"

#include <cstdint>

namespace fairlead::process::login {
namespace {

/// Takes the element in front of `rest` (DER): its body, as far as it is there; nothing where the tag differs.
std::string_view Take(std::string_view& rest, uint8_t tag) {
  if (rest.size() < 2 || static_cast<uint8_t>(rest[0]) != tag) return rest = {};
  size_t length = static_cast<uint8_t>(rest[1]);
  rest.remove_prefix(2);
  if (length >= 0x80) {
    size_t bytes = length - 0x80;
    if (bytes == 0 || bytes > sizeof(uint32_t) || bytes > rest.size()) return rest = {};
    for (length = 0; bytes > 0; --bytes) {
      length = length << 8 | static_cast<uint8_t>(rest[0]);
      rest.remove_prefix(1);
    }
  }
  const std::string_view body = rest.substr(0, length);
  rest.remove_prefix(body.size());
  return body;
}

}  // namespace

size_t OfferedMechanismBytes(std::string_view token) {
  constexpr uint8_t kApplication = 0x60, kObjectId = 0x06, kFirst = 0xa0, kSequence = 0x30;
  std::string_view initial = Take(token, kApplication);
  Take(initial, kObjectId);  // SPNEGO's own
  for (const uint8_t tag : {kFirst, kSequence, kFirst}) {
    const std::string_view inner = Take(initial, tag);
    initial = inner;
  }
  return Take(initial, kSequence).size();
}

}  // namespace fairlead::process::login
