#include "shell/nm/container_setup.h"

#include <unistd.h>

#include <cerrno>

#include "process/nm/layout.h"
#include "shell/nm/beneath.h"
#include "shell/nm/directory_info.h"

namespace fairlead::shell {

namespace {

constexpr mode_t kDirectoryMode = 0710;

base::Result<Fd> MakePlace(const Place& place) {
  const base::Result<Fd> root = OpenRoot(place.root);
  if (!root) return root.error();
  return MakeDirectories(root->get(), place.below, kDirectoryMode);
}

base::Status LinkBelow(int work_dir, const std::vector<model::nm::Link>& links, bool replace) {
  base::Status first;
  for (const model::nm::Link& link : links) {
    const size_t slash = link.link.rfind('/');
    const base::Result<Fd> holder =
        MakeDirectories(work_dir, slash == std::string::npos ? "" : link.link.substr(0, slash), 0755);
    bool made = false;
    if (holder) {
      const std::string name = link.link.substr(slash == std::string::npos ? 0 : slash + 1);
      if (replace) ::unlinkat(holder->get(), name.c_str(), 0);
      made = ::symlinkat(link.path.c_str(), holder->get(), name.c_str()) == 0 || (!replace && errno == EEXIST);
    }
    if (!made && first) first = ErrnoOf("cannot link " + link.link);
  }
  return first;
}

}  // namespace

base::Status SetUpContainer(const ContainerSetup& setup) {
  for (const Place& place : setup.app_dirs) {
    if (const base::Result<Fd> made = MakePlace(place); !made) return made.error();
  }
  const base::Result<Fd> work_dir = MakePlace(setup.work_dir);
  if (!work_dir) return work_dir.error();
  if (const base::Result<Fd> tmp = MakeDirectories(work_dir->get(), "tmp", kDirectoryMode); !tmp) return tmp.error();
  base::Result<Fd> first_log_dir = Fd();
  for (const Place& place : setup.log_dirs) {
    base::Result<Fd> made = MakePlace(place);
    if (!made) return made.error();
    if (!first_log_dir->valid()) *first_log_dir = std::move(*made);
  }
  if (base::Status written = WriteFile(work_dir->get(), process::nm::kLaunchScript, setup.script, 0700); !written)
    return written;
  if (base::Status written = WriteFile(work_dir->get(), process::nm::kTokenFile, setup.tokens, 0600); !written)
    return written;
  if (base::Status linked = LinkBelow(work_dir->get(), setup.links, true); !linked) return linked;
  if (::fchdir(work_dir->get()) < 0) return ErrnoOf("cannot enter the working directory");
  if (setup.debug_info && first_log_dir->valid()) {
    [[maybe_unused]] const base::Status copied =
        WriteFile(first_log_dir->get(), process::nm::kLaunchScript, setup.script, 0640);
    [[maybe_unused]] const base::Status listed =
        WriteFile(first_log_dir->get(), "directory.info", DirectoryInfo(), 0640);
  }
  return {};
}

base::Status MakeLinks(const Place& work_dir, const std::vector<model::nm::Link>& links, bool replace) {
  const base::Result<Fd> root = OpenRoot(work_dir.root);
  if (!root) return root.error();
  const base::Result<Fd> directory = OpenDirectory(root->get(), work_dir.below);
  if (!directory) return directory.error();
  return LinkBelow(directory->get(), links, replace);
}

}  // namespace fairlead::shell
