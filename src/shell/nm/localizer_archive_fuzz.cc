#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "shell/nm/beneath.h"
#include "shell/nm/localizer_archive.h"

/// Any bytes as an archive: nothing may appear outside of the target directory.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace fs = std::filesystem;
  static const fs::path root = [] {
    char name[] = "/tmp/fl_archive_fuzz_XXXXXX";
    return fs::path(::mkdtemp(name));
  }();
  fs::remove_all(root / "box");
  fs::create_directories(root / "box/into");
  const std::string archive = root / "archive";
  std::ofstream(archive, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto file = fairlead::shell::OpenSource(archive), into = fairlead::shell::OpenRoot(root / "box/into");
  [[maybe_unused]] const fairlead::base::Status status =
      fairlead::shell::Unpack(file->get(), into->get(), {1 << 20, 1000});
  for (const fs::directory_entry& entry : fs::directory_iterator(root / "box")) {
    if (entry.path().filename() != "into") std::abort();
  }
  return 0;
}
