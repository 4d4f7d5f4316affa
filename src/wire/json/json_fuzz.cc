#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/check.h"
#include "wire/json/json.h"

/// Any text gives a value or an error. A value is what nlohmann's own reader makes of the text, and can be written.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace wj = fairlead::wire::json;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = wj::Parse(text, wj::kRequest);
  const auto ordered = wj::ParseOrdered(text, wj::kRequest);
  FL_CHECK(parsed.ok() == ordered.ok(), "one of the two readers refuses it");
  if (!parsed.ok()) return 0;
  const std::string written = parsed->dump();
  FL_CHECK(nlohmann::json::parse(text).dump() == written, "another value than the library's");
  FL_CHECK(nlohmann::json::parse(ordered->dump()).dump() == written, "another value with its order");
  return 0;
}
