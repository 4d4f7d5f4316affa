#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "shell/nm/supervised_containers.h"

namespace fairlead::shell {

/// Makes this thread act on files as `user` (the raw calls change one thread, unlike glibc's); undone by the
/// destructor. Nobody: as before.
class FilesAs {
 public:
  explicit FilesAs(const UnixUser* user) : active_(user != nullptr) {
    if (!active_) return;
    const std::vector<gid_t> groups(user->groups.begin(), user->groups.end());
    ::syscall(SYS_setgroups, groups.size(), groups.data());
    ::syscall(SYS_setfsgid, user->group);
    ::syscall(SYS_setfsuid, user->user);
  }
  ~FilesAs() {
    if (!active_) return;
    ::syscall(SYS_setfsuid, ::geteuid());
    ::syscall(SYS_setfsgid, ::getegid());
    ::syscall(SYS_setgroups, size_t{0}, nullptr);
  }
  FilesAs(const FilesAs&) = delete;
  FilesAs& operator=(const FilesAs&) = delete;

 private:
  bool active_;
};

}  // namespace fairlead::shell
