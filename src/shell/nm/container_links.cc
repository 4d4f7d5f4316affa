#include "shell/nm/container_links.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace fairlead::shell {

base::Status MakeLinks(const std::string& work_dir, const std::vector<model::nm::Link>& links, bool replace) {
  base::Status first;
  for (const model::nm::Link& link : links) {
    const std::string name = work_dir + "/" + link.link;
    std::error_code error;
    if (link.link.find('/') != std::string::npos)
      std::filesystem::create_directories(std::filesystem::path(name).parent_path(), error);
    if (replace) ::unlink(name.c_str());
    const bool made = ::symlink(link.path.c_str(), name.c_str()) == 0 || (!replace && errno == EEXIST);
    if (!made && first) first = base::Error{"cannot link " + name + ": " + std::strerror(errno), errno};
  }
  return first;
}

}  // namespace fairlead::shell
