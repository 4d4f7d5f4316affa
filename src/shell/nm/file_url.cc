#include "shell/nm/file_url.h"

namespace fairlead::shell {

FileUrl ParseFileUrl(const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos || text.front() == '/') return {"file", "", text};
  FileUrl url;
  url.scheme = text.substr(0, colon);
  url.path = text.substr(colon + 1);
  if (!url.path.starts_with("//")) return url;
  const size_t slash = url.path.find('/', 2);
  url.authority = url.path.substr(2, slash == std::string::npos ? std::string::npos : slash - 2);
  url.path = slash == std::string::npos ? "/" : url.path.substr(slash);
  return url;
}

}  // namespace fairlead::shell
