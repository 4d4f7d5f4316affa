#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace fairlead::env_posix {

/// For tests: a directory of this object's own below `parent`, removed with it.
class TestDirectory {
 public:
  explicit TestDirectory(const std::filesystem::path& parent = std::filesystem::temp_directory_path())
      : path_((parent / "fairlead-test-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~TestDirectory() {
    std::error_code gone;
    if (!path_.empty()) std::filesystem::remove_all(path_, gone);
  }
  TestDirectory(const TestDirectory&) = delete;
  TestDirectory& operator=(const TestDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace fairlead::env_posix
