#include "env_posix/private_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace fairlead::env_posix {
namespace {

constexpr mode_t kOpenToWriters = S_IWGRP | S_IWOTH;
constexpr mode_t kOpen = S_IRWXG | S_IRWXO;

base::Error Errno(const std::string& what, const std::string& path, int error = errno) {
  return {"cannot " + what + " " + path + ": " + std::strerror(error), error};
}

std::string Octal(mode_t mode) {
  char text[8];
  std::snprintf(text, sizeof text, "%04o", mode & 07777U);
  return text;
}

base::Error Refused(const std::string& path, const std::string& why, const std::string& remedy, int code = EPERM) {
  return {path + " is refused: " + why + ". " + remedy, code};
}

base::Error BelongsTo(const std::string& path, uid_t owner) {
  return Refused(
      path, "it belongs to user " + std::to_string(owner) + ", and this process is user " + std::to_string(::geteuid()),
      "Name another directory, or give this one to the right user (chown) if its contents are trusted");
}

/// A directory above a private one: who can change it can put another one in our directory's place.
base::Status CheckParent(const std::string& path) {
  struct stat info;
  if (::lstat(path.c_str(), &info) < 0) return errno == ENOENT ? base::Status{} : Errno("look at", path);
  if (info.st_uid != 0 && info.st_uid != ::geteuid()) return BelongsTo(path, info.st_uid);
  if (S_ISDIR(info.st_mode) && (info.st_mode & kOpenToWriters) != 0 && (info.st_mode & S_ISVTX) == 0) {
    return Refused(path, "others may write there (mode " + Octal(info.st_mode) + "), and private files lie below it",
                   "Close it (chmod go-w), or name another directory");
  }
  return {};
}

/// Every directory above `path`, down from the root; a trusted link is followed, and where it leads is checked as well.
base::Status CheckParents(const std::filesystem::path& path) {
  const std::filesystem::path parent = path.parent_path();
  std::filesystem::path part;
  for (const std::filesystem::path& name : parent) {
    part /= name;
    if (base::Status trusted = CheckParent(part); !trusted.ok()) return trusted;
  }
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(parent, error);
  if (error) return Errno("look at", parent, error.value());
  return real == parent ? base::Status{} : CheckParents(real / path.filename());
}

base::Status MakeParents(const std::filesystem::path& path) {
  std::filesystem::path part;
  for (const std::filesystem::path& name : path.parent_path()) {
    part /= name;
    if (::mkdir(part.c_str(), 0755) == 0) {
      if (::chmod(part.c_str(), 0755) < 0) return Errno("set the mode of", part);
    } else if (errno != EEXIST) {
      struct stat info;  // a read-only file system says so before it says that the directory exists
      const int error = errno;
      if (::stat(part.c_str(), &info) < 0) return Errno("create", part, error);
    }
  }
  return {};
}

/// Closes what `info` tells of, `name` in the open `directory`, or refuses it.
base::Status Close(int directory, const char* name, const std::string& path, const struct stat& info,
                   std::vector<std::string>& closed) {
  if (S_ISLNK(info.st_mode)) {
    return Refused(path, "it is a link", "Name the directory itself, or remove the link", ELOOP);
  }
  if (info.st_uid != ::geteuid()) return BelongsTo(path, info.st_uid);
  const bool is_socket = S_ISSOCK(info.st_mode);  // reachable through the directory alone
  if ((info.st_mode & kOpen) == 0 || is_socket) return {};
  if ((info.st_mode & kOpenToWriters) != 0) {
    return Refused(path, "others may write it (mode " + Octal(info.st_mode) + ")",
                   "Close it (chmod go-rwx) if its contents are trusted");
  }
  if (::fchmodat(directory, name, info.st_mode & 0700, 0) < 0) return Errno("close", path);
  closed.push_back(path + " was open to other users (mode " + Octal(info.st_mode) + ") and is closed now");
  return {};
}

base::Status CloseEntries(DIR* directory, const std::string& path, std::vector<std::string>& closed) {
  while (const dirent* entry = ::readdir(directory)) {
    const std::string name = entry->d_name;
    struct stat info;
    if (name == "." || name == "..") continue;
    const int fd = ::dirfd(directory);
    if (::fstatat(fd, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) < 0) continue;
    if (base::Status done = Close(fd, name.c_str(), path + "/" + name, info, closed); !done.ok()) return done;
  }
  return {};
}

}  // namespace

base::Result<std::vector<std::string>> MakePrivateDirectory(const std::string& path) {
  std::filesystem::path whole = std::filesystem::path(path).lexically_normal();
  if (!whole.is_absolute()) {
    std::error_code error;
    whole = std::filesystem::absolute(whole, error).lexically_normal();
    if (error) return Errno("find", path, error.value());
  }
  if (!whole.has_filename()) whole = whole.parent_path();  // "DIR/"
  if (base::Status trusted = CheckParents(whole); !trusted.ok()) return trusted.error();
  if (base::Status made = MakeParents(whole); !made.ok()) return made.error();
  const bool made = ::mkdir(whole.c_str(), 0700) == 0;
  if (!made && errno != EEXIST) {
    struct stat info;
    const int error = errno;
    if (::lstat(whole.c_str(), &info) < 0) return Errno("create", whole, error);
  }
  const int fd = ::open(whole.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;
  std::vector<std::string> closed;
  if (fd < 0) {
    const int error = errno;
    if (::lstat(whole.c_str(), &info) == 0) {
      if (base::Status looked = Close(AT_FDCWD, whole.c_str(), whole, info, closed); !looked.ok())
        return looked.error();
    }
    return Errno("open", whole, error);
  }
  if (made && ::fchmod(fd, 0700) < 0) {
    const base::Error error = Errno("set the mode of", whole);
    ::close(fd);
    return error;
  }
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(fd), &::closedir);
  if (::fstat(fd, &info) < 0) return Errno("look at", whole);
  // By its descriptor: nobody can put another one in its place meanwhile.
  if (base::Status done = Close(fd, ".", whole, info, closed); !done.ok()) return done.error();
  if (base::Status done = CloseEntries(directory.get(), whole, closed); !done.ok()) return done.error();
  return closed;
}

base::Status MakePrivateFile(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return errno == EEXIST ? base::Status{} : Errno("create", path);
  const bool closed = ::fchmod(fd, 0600) == 0;
  const int error = errno;
  ::close(fd);
  return closed ? base::Status{} : Errno("set the mode of", path, error);
}

}  // namespace fairlead::env_posix
