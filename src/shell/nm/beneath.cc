#include "shell/nm/beneath.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace fairlead::shell {

namespace {

constexpr int kDepthMax = 100;         // of a tree that is copied or given modes
constexpr int kRemovalDepthMax = 150;  // two open descriptors for each step
constexpr size_t kListMax = 100'000;   // of one directory
constexpr int64_t kCopyStep = int64_t{8} << 20;

int OpenBeneath(int root, const std::string& below, uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, below.empty() ? "." : below.c_str(), &how, sizeof how));
}

/// Calls f(part) for each name of a relative path until it gives false.
template <class F>
bool ForEachPart(const std::string& path, F&& f) {
  for (size_t at = 0; at < path.size();) {
    const size_t slash = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, slash - at);
    at = slash + 1;
    if (!part.empty() && !f(part)) return false;
  }
  return true;
}

using Dir = std::unique_ptr<DIR, int (*)(DIR*)>;
/// A reader of the directory with a descriptor of its own.
Dir ReaderOf(int directory) {
  const int own = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return {own < 0 ? nullptr : ::fdopendir(own), ::closedir};
}
bool IsDots(const char* name) { return std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0; }

/// An open file that is regular, or a directory where those are taken.
base::Result<Fd> Checked(Fd fd, const std::string& name, bool directories) {
  struct stat info {};
  if (!fd.valid() || ::fstat(fd.get(), &info) < 0) return ErrnoOf("cannot read " + name);
  if (S_ISREG(info.st_mode) || (directories && S_ISDIR(info.st_mode))) return fd;
  return base::Error{name + " is not a regular file" + (directories ? " or directory" : ""), EINVAL};
}

}  // namespace

Fd::~Fd() {
  if (fd_ >= 0) ::close(fd_);
}

base::Error ErrnoOf(const std::string& what) {
  const int error = errno;
  return {what + ": " + std::strerror(error), error};
}

base::Status Budget::TakeEntry() {
  if (--entries < 0) return base::Error{"there are too many files", E2BIG};
  if (std::chrono::steady_clock::now() > deadline) return base::Error{"it takes too long", ETIMEDOUT};
  return {};
}

base::Status Budget::TakeBytes(int64_t count) {
  bytes -= count;
  if (bytes < 0) return base::Error{"it is larger than allowed", EFBIG};
  if (std::chrono::steady_clock::now() > deadline) return base::Error{"it takes too long", ETIMEDOUT};
  return {};
}

std::string Below(const std::string& root, const std::string& path) {
  if (root.empty() || path.size() <= root.size() + 1 || !path.starts_with(root) || path[root.size()] != '/') return {};
  const std::string below = path.substr(root.size() + 1);
  const bool plain = ForEachPart(below, [](const std::string& part) { return part != "." && part != ".."; });
  return plain && below.front() != '/' ? below : "";
}

base::Result<Fd> OpenRoot(const std::string& path) {
  Fd fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd.valid()) return ErrnoOf("cannot open " + path);
  return fd;
}

base::Status MakeRoot(const std::string& path, mode_t mode) {
  Fd at(::open(path.starts_with('/') ? "/" : ".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  size_t done = 0;
  const bool all = ForEachPart(path, [&](const std::string& part) {
    done = path.find(part, done) + part.size();
    const bool made = ::mkdirat(at.get(), part.c_str(), 0755) == 0;
    if (!made && errno != EEXIST) return false;
    Fd next(::openat(at.get(), part.c_str(), (made ? O_RDONLY : O_PATH) | O_DIRECTORY | O_CLOEXEC));
    if (!next.valid()) return false;
    // Whatever the umask is.
    if (made && ::fchmod(next.get(), done == path.size() ? mode : 0755) < 0) return false;
    at = std::move(next);
    return true;
  });
  if (!all) return ErrnoOf("cannot make " + path);
  return {};
}

base::Status CheckIsSafe(const struct stat& info, const std::string& name, uint32_t ours, uint32_t ours_group) {
  if (info.st_uid != 0 && info.st_uid != ours) {
    return base::Error{name + " belongs to user id " + std::to_string(info.st_uid) +
                       ", who could exchange what lies in it; give it to the node agent's user"};
  }
  const bool group_may = (info.st_mode & S_IWGRP) != 0 && info.st_gid != 0 && info.st_gid != ours_group;
  const bool others_may = group_may || (info.st_mode & S_IWOTH) != 0;
  if (others_may && (info.st_mode & S_ISVTX) == 0)
    return base::Error{name + " can be written by others, who could exchange what lies in it; take their right away"};
  return {};
}

base::Status CheckRootIsSafe(const std::string& path, uint32_t ours, uint32_t ours_group) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) {
    if (errno == ENOENT && path.rfind('/') != 0 && path.rfind('/') != std::string::npos)
      return CheckRootIsSafe(path.substr(0, path.rfind('/')), ours, ours_group);
    return ErrnoOf(path);
  }
  for (std::string at(real.get());; at.resize(std::max<size_t>(1, at.rfind('/')))) {
    struct stat info {};
    if (::lstat(at.c_str(), &info) < 0) return ErrnoOf(at);
    if (base::Status safe = CheckIsSafe(info, at, ours, ours_group); !safe) return safe;
    if (at == "/") return {};
  }
}

base::Result<Fd> OpenDirectory(int root, const std::string& below) {
  Fd fd(OpenBeneath(root, below, O_RDONLY | O_DIRECTORY));
  if (!fd.valid()) return ErrnoOf("cannot open " + below);
  return fd;
}

base::Result<Fd> OpenRegular(int root, const std::string& below) {
  return Checked(Fd(OpenBeneath(root, below, O_RDONLY | O_NONBLOCK | O_NOCTTY)), below, false);
}

base::Result<Fd> OpenSource(const std::string& path) {
  // Looked at before it is opened, since a device may act on being opened, and again after it.
  struct stat info {};
  if (::stat(path.c_str(), &info) < 0) return ErrnoOf("cannot read " + path);
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return base::Error{path + " is not a regular file or directory", EINVAL};
  return Checked(Fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)), path, true);
}

bool IsPublic(const struct stat& info) {
  const mode_t wanted = S_ISDIR(info.st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
  return (info.st_mode & wanted) == wanted;
}

base::Result<Fd> OpenPublicSource(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  if (!real) return ErrnoOf("cannot read " + path);
  const std::string resolved(real.get());
  const base::Error secret{path + " is not publicly accessible", EACCES};
  Fd at(::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  bool passable = true;
  const bool opened = ForEachPart(resolved, [&](const std::string& part) {
    struct stat above {};
    passable = ::fstat(at.get(), &above) == 0 && (above.st_mode & S_IXOTH) != 0;
    if (passable) at = Fd(::openat(at.get(), part.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    return passable && at.valid();
  });
  if (!passable) return secret;
  if (!opened) return ErrnoOf("cannot read " + path);
  struct stat info {};
  if (::fstat(at.get(), &info) < 0) return ErrnoOf("cannot read " + path);
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return base::Error{path + " is not a regular file or directory", EINVAL};
  if (!IsPublic(info)) return secret;
  // What was judged is what is read: the name must still lead to the same file.
  base::Result<Fd> fd = OpenSource(resolved);
  struct stat again {};
  if (!fd) return fd;
  if (::fstat(fd->get(), &again) < 0 || again.st_ino != info.st_ino || again.st_dev != info.st_dev || !IsPublic(again))
    return secret;
  return fd;
}

base::Result<Fd> MakeDirectories(int root, const std::string& below, mode_t mode) {
  base::Result<Fd> at = Fd(OpenBeneath(root, "", O_PATH | O_DIRECTORY));
  if (!at->valid()) return ErrnoOf("cannot open the directory above " + below);
  std::string failed;
  const bool all = ForEachPart(below, [&](const std::string& part) {
    failed = part;
    if (part == "." || part == "..") {
      errno = EINVAL;
      return false;
    }
    bool made = ::mkdirat(at->get(), part.c_str(), mode) == 0;
    if (!made && errno != EEXIST) return false;
    Fd next(OpenBeneath(at->get(), part, O_DIRECTORY | (made ? O_RDONLY : O_PATH)));
    if (!next.valid() && (errno == ENOTDIR || errno == ELOOP)) {  // a file or a link in the way
      if (::unlinkat(at->get(), part.c_str(), 0) < 0 || ::mkdirat(at->get(), part.c_str(), mode) < 0) return false;
      made = true;
      next = Fd(OpenBeneath(at->get(), part, O_RDONLY | O_DIRECTORY));
    }
    struct stat info {};
    if (!next.valid() || ::fstat(next.get(), &info) < 0) return false;
    // A new directory has the bit that hands the group down where the one above has it. A chmod by a user who is not of
    // that group, such as the agent's, takes the bit away: only where the umask makes one necessary.
    const bool as_wanted = (info.st_mode & 0777) == mode;
    if (made && !as_wanted && ::fchmod(next.get(), mode | (info.st_mode & S_ISGID)) < 0) return false;
    *at = std::move(next);
    return true;
  });
  if (!all) return ErrnoOf("cannot make " + failed + " of " + below);
  return at;
}

base::Result<Fd> MakeNewDirectory(int parent, const std::string& name, mode_t mode, Budget& budget) {
  if (base::Status removed = RemoveTree(parent, name, budget); !removed) return removed.error();
  return MakeDirectories(parent, name, mode);
}

base::Result<Fd> CreateFile(int parent, const std::string& name, mode_t mode) {
  ::unlinkat(parent, name.c_str(), 0);
  Fd fd(::openat(parent, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!fd.valid() || ::fchmod(fd.get(), mode) < 0) return ErrnoOf("cannot write " + name);
  return fd;
}

base::Status WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return ErrnoOf("cannot write");
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return {};
}

base::Status WriteFile(int parent, const std::string& name, std::string_view bytes, mode_t mode) {
  const base::Result<Fd> file = CreateFile(parent, name, mode);
  if (!file) return file.error();
  if (base::Status written = WriteAll(file->get(), bytes); !written) return ErrnoOf("cannot write " + name);
  return {};
}

base::Result<std::vector<DirectoryEntry>> List(int directory, size_t entries_max) {
  const Dir dir = ReaderOf(directory);
  if (!dir) return ErrnoOf("cannot list");
  std::vector<DirectoryEntry> found;
  while (const dirent* entry = ::readdir(dir.get())) {
    if (IsDots(entry->d_name)) continue;
    DirectoryEntry& e = found.emplace_back();
    e.name = entry->d_name;
    if (::fstatat(directory, e.name.c_str(), &e.info, AT_SYMLINK_NOFOLLOW) < 0) found.pop_back();
    if (found.size() >= entries_max) break;
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return found;
}

base::Result<std::string> ReadRange(int fd, int64_t from, int64_t to) {
  std::string bytes(static_cast<size_t>(std::max<int64_t>(0, to - from)), '\0');
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n = ::pread(fd, bytes.data() + done, bytes.size() - done, from + static_cast<int64_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return ErrnoOf("cannot read");
    if (n == 0) break;
    done += static_cast<size_t>(n);
  }
  bytes.resize(done);
  return bytes;
}

base::Result<std::string> ReadTail(int root, const std::string& below, int64_t bytes_max) {
  const base::Result<Fd> file = OpenRegular(root, below);
  if (!file) return file.error();
  struct stat info {};
  if (::fstat(file->get(), &info) < 0) return ErrnoOf("cannot read " + below);
  return ReadRange(file->get(), std::max<int64_t>(0, info.st_size - bytes_max), info.st_size);
}

base::Status CopyBytes(int from, int to, Budget& budget) {
  struct stat info {};
  if (::fstat(from, &info) < 0) return ErrnoOf("cannot read");
  if (info.st_size > budget.bytes) return base::Error{"it is larger than allowed", EFBIG};
  int64_t left = info.st_size;
  bool in_kernel = true;
  std::string buffer;
  while (left > 0) {
    const auto step = static_cast<size_t>(std::min(left, kCopyStep));
    ssize_t n = in_kernel ? ::copy_file_range(from, nullptr, to, nullptr, step, 0) : 0;
    if (n < 0 && errno == EINTR) continue;
    in_kernel &= n > 0;
    if (!in_kernel) {
      buffer.resize(step);
      n = ::read(from, buffer.data(), step);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return ErrnoOf("cannot read");
      if (n == 0) return {};  // cut meanwhile
      if (base::Status written = WriteAll(to, {buffer.data(), static_cast<size_t>(n)}); !written) return written;
    }
    left -= n;
    if (base::Status taken = budget.TakeBytes(n); !taken) return taken;
  }
  return {};
}

namespace {

base::Status CopyInto(int from, int to, Budget& budget, bool only_public, int depth) {
  if (depth > kDepthMax) return base::Error{"it is deeper than " + std::to_string(kDepthMax) + " directories", ELOOP};
  const base::Result<std::vector<DirectoryEntry>> entries = List(from, kListMax);
  if (!entries) return entries.error();
  if (entries->size() >= kListMax) return base::Error{"there are too many files", E2BIG};
  for (const DirectoryEntry& entry : *entries) {
    if (base::Status taken = budget.TakeEntry(); !taken) return taken;
    const bool directory = S_ISDIR(entry.info.st_mode);
    if (!directory && !S_ISREG(entry.info.st_mode)) continue;
    base::Result<Fd> source = directory ? OpenDirectory(from, entry.name) : OpenRegular(from, entry.name);
    struct stat info {};
    if (!source) return source.error();
    if (::fstat(source->get(), &info) < 0) return ErrnoOf(entry.name);
    if (only_public && !IsPublic(info)) return base::Error{entry.name + " in it is not publicly accessible", EACCES};
    base::Result<Fd> target = directory ? MakeDirectories(to, entry.name, 0700) : CreateFile(to, entry.name, 0600);
    if (!target) return target.error();
    base::Status copied = directory ? CopyInto(source->get(), target->get(), budget, only_public, depth + 1)
                                    : CopyBytes(source->get(), target->get(), budget);
    if (!copied) return base::Error{entry.name + ": " + copied.error().message, copied.error().code};
  }
  return {};
}

base::Result<int64_t> SetModesBelow(int directory, mode_t directories, mode_t files, Budget& budget, int depth) {
  if (depth > kDepthMax) return base::Error{"it is deeper than " + std::to_string(kDepthMax) + " directories", ELOOP};
  const base::Result<std::vector<DirectoryEntry>> entries = List(directory, SIZE_MAX);
  if (!entries) return entries.error();
  int64_t bytes = 0;
  for (const DirectoryEntry& entry : *entries) {
    if (base::Status taken = budget.TakeEntry(); !taken) return taken.error();
    if (S_ISDIR(entry.info.st_mode)) {
      const base::Result<Fd> below = OpenDirectory(directory, entry.name);
      if (!below) return below.error();
      const base::Result<int64_t> sum = SetModesBelow(below->get(), directories, files, budget, depth + 1);
      if (!sum) return sum;
      bytes += *sum;
    } else if (S_ISREG(entry.info.st_mode)) {
      const base::Result<Fd> file = OpenRegular(directory, entry.name);
      if (!file) return file.error();
      if (::fchmod(file->get(), files) < 0) return ErrnoOf("chmod " + entry.name);
      bytes += entry.info.st_size;
    }
  }
  struct stat info {};
  if (::fstat(directory, &info) < 0 || ::fchmod(directory, directories | (info.st_mode & S_ISGID)) < 0)
    return ErrnoOf("chmod");
  return bytes;
}

/// A removal: directories below kRemovalDepthMax are moved up beside the first ones, so that neither descriptors nor
/// stack grow with the depth of the tree.
class Removal {
 public:
  Removal(int top, Budget& budget) : top_(top), budget_(budget) {}

  base::Status Run() {
    do {
      moved_ = false;
      if (base::Status done = Clear(top_, 0); !done) return done;
    } while (moved_);
    return {};
  }

 private:
  base::Status Clear(int directory, int depth) {
    const Dir dir = ReaderOf(directory);
    if (!dir) {
      if (errno == ENOENT) return {};
      return ErrnoOf("cannot list");
    }
    base::Status first;
    while (const dirent* entry = ::readdir(dir.get())) {
      if (IsDots(entry->d_name)) continue;
      if (base::Status taken = budget_.TakeEntry(); !taken) return taken;
      const base::Status gone = One(directory, entry->d_name, depth);
      if (!gone && gone.error().code == ETIMEDOUT) return gone;
      if (!gone && first) first = gone;
    }
    return first;
  }

  base::Status One(int directory, const char* name, int depth) {
    if (::unlinkat(directory, name, 0) == 0 || errno == ENOENT) return {};
    if (errno != EISDIR && errno != EPERM) return ErrnoOf(std::string("cannot remove ") + name);
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    if (depth >= kRemovalDepthMax) {
      ::fchmodat(directory, name, 0700, 0);
      const std::string fresh = ".fairlead-removed-" + std::to_string(::getpid()) + "-" + std::to_string(++moves_);
      if (::renameat(directory, name, top_, fresh.c_str()) < 0) return ErrnoOf(std::string("cannot move ") + name);
      moved_ = true;
      return {};
    }
    Fd below(OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY));
    struct stat info {};
    if (below.valid() && ::fstat(below.get(), &info) == 0 && (info.st_mode & 0700) != 0700) ::fchmod(below.get(), 0700);
    if (!below.valid() && errno == EACCES) {  // its owner may have closed it
      ::fchmodat(directory, name, 0700, 0);
      below = Fd(OpenBeneath(directory, name, O_RDONLY | O_DIRECTORY));
    }
    if (!below.valid()) return ErrnoOf(std::string("cannot remove ") + name);
    if (base::Status cleared = Clear(below.get(), depth + 1); !cleared) return cleared;
    // What somebody puts into it meanwhile is told, not fought over.
    if (::unlinkat(directory, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
    return ErrnoOf(std::string("cannot remove ") + name);
  }

  const int top_;
  Budget& budget_;
  bool moved_ = false;
  int moves_ = 0;
};

}  // namespace

base::Status CopyTree(int from, int to, Budget& budget, bool only_public) {
  return CopyInto(from, to, budget, only_public, 0);
}

base::Result<int64_t> SetModes(int directory, mode_t directories, mode_t files, Budget& budget) {
  return SetModesBelow(directory, directories, files, budget, 0);
}

base::Status RemoveContents(int directory, Budget& budget) { return Removal(directory, budget).Run(); }

base::Status RemoveTree(int parent, const std::string& name, Budget& budget) {
  if (::unlinkat(parent, name.c_str(), 0) == 0 || errno == ENOENT) return {};
  if (errno != EISDIR && errno != EPERM) return ErrnoOf("cannot remove " + name);
  ::fchmodat(parent, name.c_str(), 0700, 0);
  const base::Result<Fd> directory = OpenDirectory(parent, name);
  if (!directory) {
    if (directory.error().code == ENOENT) return {};
    return directory.error();
  }
  if (base::Status cleared = RemoveContents(directory->get(), budget); !cleared) return cleared;
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return ErrnoOf("cannot remove " + name);
}

}  // namespace fairlead::shell
