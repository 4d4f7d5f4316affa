#include <cstdint>
#include <string>

#include "process/rm/token_identifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fairlead::endpoints::yarn::RpcToken token;
  token.identifier.assign(reinterpret_cast<const char*>(data), size);
  static_cast<void>(fairlead::process::rm::ReadIdentifier(token));
  return 0;
}
