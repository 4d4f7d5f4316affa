#pragma once

#include <string>

namespace fairlead::shell {

/// scheme://authority/path; a bare path is one of "file".
struct FileUrl {
  std::string scheme;
  std::string authority;
  std::string path;
};
FileUrl ParseFileUrl(const std::string& text);

}  // namespace fairlead::shell
