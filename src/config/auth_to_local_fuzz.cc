// Rules and principals that say anything.
#include <cstddef>
#include <cstdint>

#include "base/check.h"
#include "config/auth_to_local.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using fairlead::config::AuthToLocal;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view rules = bytes.substr(0, bytes.find('\0'));
  const std::string principal(bytes.substr(std::min(bytes.size(), rules.size() + 1)));
  const auto parsed = AuthToLocal::Parse(rules, AuthToLocal::Mechanism::kHadoop, "R");
  if (!parsed.ok()) return 0;
  const auto name = parsed->ShortName(principal);
  if (name.ok() && principal.find_first_of("/@") != std::string::npos) {
    FL_CHECK(name->find_first_of("/@") == std::string::npos && !name->empty(), "a name that is not short");
  }
  return 0;
}
