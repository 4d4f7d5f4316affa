#include <cstdint>
#include <cstdlib>
#include <string>

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/pattern.h"

/// What a submitter writes into a resource besides its bytes: a pattern (up to the first line end) that names of
/// entries are held against, and names of files and links. A pattern takes bounded time and memory, no name leads out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const size_t end = all.find('\n');
  const std::string name = end == std::string::npos ? all : all.substr(end + 1);
  if (const auto pattern = fairlead::shell::Pattern::Read(all.substr(0, end))) {
    [[maybe_unused]] const bool matches = pattern->MatchesAll(name);
  }
  const std::string below = fairlead::shell::Below("/local/dir", "/local/dir/" + name);
  if (("/" + below + "/").find("/../") != std::string::npos || below.starts_with('/')) std::abort();
  if (fairlead::process::nm::IsPlainName(name) && (name.find('/') != std::string::npos || name == "..")) std::abort();
  if (fairlead::process::nm::IsPlainLink(name) && ("/" + name + "/").find("/../") != std::string::npos) std::abort();
  return 0;
}
