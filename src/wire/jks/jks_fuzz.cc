#include <cstdint>
#include <string_view>

#include "wire/jks/jks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  namespace jks = fairlead::wire::jks;
  if (const auto store = jks::Parse(bytes, ""); store.ok()) {
    for (const jks::Key& key : store->keys) static_cast<void>(jks::Unprotect(key.sealed, "changeit"));
  }
  static_cast<void>(jks::Unprotect(bytes, "changeit"));
  return 0;
}
