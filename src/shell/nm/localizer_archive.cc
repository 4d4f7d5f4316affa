#include "shell/nm/localizer_archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <vector>

#include "shell/nm/beneath.h"

namespace fairlead::shell {

namespace {

/// Opens below `root` without ever leaving it, links included.
int OpenBeneath(int root, const std::string& path, uint64_t flags, uint64_t mode = 0) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

struct CleanName {
  std::vector<std::string> parts;
  bool good = true;
};

/// "./a//b/" -> a, b. Not good: absolute, "..", too long, a NUL.
CleanName Clean(const std::string& name) {
  CleanName clean;
  if (name.empty() || name.front() == '/' || name.size() > 4096) return {{}, false};
  size_t at = 0;
  while (at <= name.size()) {
    const size_t slash = std::min(name.find('/', at), name.size());
    const std::string part = name.substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    if (part == ".." || part.size() > 255) return {{}, false};
    clean.parts.push_back(part);
  }
  return clean;
}

/// Whether a link in directory depth `depth` with this target stays inside, read as text.
bool LinkStaysInside(size_t depth, const std::string& target) {
  if (target.empty() || target.front() == '/') return false;
  auto level = static_cast<int64_t>(depth);
  size_t at = 0;
  while (at <= target.size()) {
    const size_t slash = std::min(target.find('/', at), target.size());
    const std::string part = target.substr(at, slash - at);
    at = slash + 1;
    if (part.empty() || part == ".") continue;
    level += part == ".." ? -1 : 1;
    if (level < 0) return false;
  }
  return true;
}

class Unpacker {
 public:
  Unpacker(int into, const LocalizerLimits& limits)
      : root_(::openat(into, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)), limits_(limits) {}

  base::Status Run(archive* in, const std::function<bool(const std::string&)>& wanted) {
    if (!root_.valid()) return ErrnoOf("cannot open the archive's directory");
    archive_entry* entry = nullptr;
    for (;;) {
      const int got = ::archive_read_next_header(in, &entry);
      if (got == ARCHIVE_EOF) return {};
      if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
        return base::Error{std::string("damaged archive: ") + Text(::archive_error_string(in))};
      if (++entries_ > limits_.entries_max) return base::Error{"the archive has too many entries"};
      const std::string name = Text(::archive_entry_pathname(entry));
      if (wanted && !wanted(name)) continue;
      if (base::Status done = OneEntry(in, entry, name); !done) return done;
    }
  }

 private:
  static std::string Text(const char* text) { return text ? text : ""; }
  static base::Error Outside(const std::string& name) {
    return {"the archive's entry " + name + " would lie outside of its directory"};
  }

  base::Status OneEntry(archive* in, archive_entry* entry, const std::string& name) {
    const CleanName clean = Clean(name);
    if (!clean.good) return Outside(name);
    if (clean.parts.empty()) return {};
    base::Result<Fd> parent = Parent(clean.parts);
    if (!parent) return parent.error();
    const std::string& last = clean.parts.back();
    if (const char* target = ::archive_entry_hardlink(entry)) return HardLink(*parent, last, target);
    switch (::archive_entry_filetype(entry)) {
      case AE_IFDIR:
        if (::mkdirat(parent->get(), last.c_str(), 0755) < 0 && errno != EEXIST)
          return base::Error{"cannot make " + name + ": " + std::strerror(errno)};
        return {};
      case AE_IFLNK: {
        const std::string target = Text(::archive_entry_symlink(entry));
        if (!LinkStaysInside(clean.parts.size() - 1, target)) return Outside(name + " -> " + target);
        ::unlinkat(parent->get(), last.c_str(), 0);
        if (::symlinkat(target.c_str(), parent->get(), last.c_str()) < 0)
          return base::Error{"cannot link " + name + ": " + std::strerror(errno)};
        return {};
      }
      case AE_IFREG:
        return WriteFile(in, *parent, last, (::archive_entry_perm(entry) & 0111) != 0);
      default:
        return base::Error{"the archive's entry " + name + " is neither file, directory nor link"};
    }
  }

  /// The directory of an entry, made as needed, never left.
  base::Result<Fd> Parent(const std::vector<std::string>& parts) {
    Fd at(::fcntl(root_.get(), F_DUPFD_CLOEXEC, 10));
    std::string path;
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      path += (path.empty() ? "" : "/") + parts[i];
      if (::mkdirat(at.get(), parts[i].c_str(), 0755) < 0 && errno != EEXIST)
        return base::Error{"cannot make " + path + ": " + std::strerror(errno)};
      Fd next(OpenBeneath(root_.get(), path, O_RDONLY | O_DIRECTORY));
      if (next.get() < 0) return Outside(path);
      at = std::move(next);
    }
    return at;
  }

  base::Status HardLink(const Fd& parent, const std::string& last, const std::string& target) {
    const CleanName clean = Clean(target);
    if (!clean.good || clean.parts.empty()) return Outside(last + " = " + target);
    std::string path;
    for (const std::string& part : clean.parts) path += (path.empty() ? "" : "/") + part;
    const Fd file(OpenBeneath(root_.get(), path, O_PATH | O_NOFOLLOW));
    struct stat info {};
    if (file.get() < 0 || ::fstat(file.get(), &info) < 0 || !S_ISREG(info.st_mode))
      return Outside(last + " = " + target);
    const size_t slash = path.rfind('/');
    const Fd source_parent(
        OpenBeneath(root_.get(), slash == std::string::npos ? "." : path.substr(0, slash), O_RDONLY | O_DIRECTORY));
    if (::linkat(source_parent.get(), clean.parts.back().c_str(), parent.get(), last.c_str(), 0) < 0)
      return base::Error{"cannot link " + last + ": " + std::strerror(errno)};
    return {};
  }

  base::Status WriteFile(archive* in, const Fd& parent, const std::string& last, bool executable) {
    ::unlinkat(parent.get(), last.c_str(), 0);
    const Fd out(::openat(parent.get(), last.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                          executable ? 0755 : 0644));
    if (out.get() < 0) return base::Error{"cannot write " + last + ": " + std::strerror(errno)};
    for (;;) {
      const void* block = nullptr;
      size_t size = 0;
      la_int64_t offset = 0;
      const int got = ::archive_read_data_block(in, &block, &size, &offset);
      if (got == ARCHIVE_EOF) return {};
      if (got != ARCHIVE_OK) return base::Error{std::string("damaged archive: ") + Text(::archive_error_string(in))};
      bytes_ += static_cast<int64_t>(size);
      if (bytes_ > limits_.bytes_max || offset > limits_.bytes_max)
        return base::Error{"the archive unpacks to more than " + std::to_string(limits_.bytes_max) + " bytes"};
      size_t done = 0;
      while (done < size) {
        const ssize_t n = ::pwrite(out.get(), static_cast<const char*>(block) + done, size - done,
                                   offset + static_cast<la_int64_t>(done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return base::Error{"cannot write " + last + ": " + std::strerror(errno)};
        done += static_cast<size_t>(n);
      }
    }
  }

  Fd root_;
  const LocalizerLimits limits_;
  int64_t entries_ = 0;
  int64_t bytes_ = 0;
};

}  // namespace

bool IsArchiveName(const std::string& name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  for (const char* suffix : {".jar", ".zip", ".tar", ".tgz", ".tar.gz"}) {
    if (lower.ends_with(suffix)) return true;
  }
  return false;
}

base::Status Unpack(int file, int into, const LocalizerLimits& limits,
                    const std::function<bool(const std::string& name)>& wanted) {
  const std::unique_ptr<archive, int (*)(archive*)> in(::archive_read_new(), ::archive_read_free);
  ::archive_read_support_filter_gzip(in.get());
  ::archive_read_support_format_tar(in.get());
  ::archive_read_support_format_zip_seekable(in.get());
  ::archive_read_support_format_empty(in.get());
  if (::archive_read_open_fd(in.get(), file, 1 << 16) != ARCHIVE_OK) {
    const char* why = ::archive_error_string(in.get());
    return base::Error{std::string("cannot read the archive: ") + (why ? why : "")};
  }
  return Unpacker(into, limits).Run(in.get(), wanted);
}

}  // namespace fairlead::shell
