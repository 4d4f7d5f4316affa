#include <cstddef>
#include <cstdint>

#include "wire/java_stream/class_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fairlead::wire::java_stream;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ClassCatalog catalog;
  const auto file = ParseClassFile(bytes);
  const ClassSource source = [&](std::string_view name) -> std::optional<std::string_view> {
    return file.ok() && name == file->name ? std::optional(bytes) : std::nullopt;
  };
  if (file.ok()) (void)AddClass(file->name, source, catalog).ok();
  return 0;
}
