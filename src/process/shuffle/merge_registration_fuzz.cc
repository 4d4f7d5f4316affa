#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "process/shuffle/merge_registration.h"

// What an executor says of its shuffle manager, and of where merged files lie: directories beside its own, or none.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string manager(reinterpret_cast<const char*>(data), size);
  const auto dirs = fairlead::process::shuffle::ReadMergeDirs({"/r/app/blockmgr-1"}, 64, manager, {"/r"});
  if (!dirs.ok() || !*dirs) return 0;
  for (const auto& dir : (*dirs)->dirs.dirs) {
    const bool beside = dir.root == 0 && dir.below_root.starts_with("app/") &&
                        fairlead::process::shuffle::IsOneName(dir.below_root.substr(4));
    if (!beside) std::abort();
  }
  return 0;
}
