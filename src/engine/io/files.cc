#include "engine/io/files.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "engine/io/job_files.h"
#include "engine/io/web_hdfs.h"
#include "engine/records/errors.h"
#include "engine/settings/job_settings.h"
#include "engine/settings/name_nodes.h"

namespace fairlead::engine {

namespace {
[[noreturn]] void Throw(const char* what, const std::string& path, int error) {
  throw TaskError(std::string("cannot ") + what + " " + path + ": " + std::strerror(error));
}
}  // namespace

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileDescriptor::~FileDescriptor() {
  if (fd_ >= 0) ::close(fd_);
}

std::string ResolveUserPath(const std::string& path) {
  const std::string local = path.starts_with("file://") ? path.substr(7) : path;
  if (local.starts_with(WebHdfs::kScheme) || local.starts_with("hdfs://"))
    return ResolveHdfsPath(local, Environment(kEnvNameNodes));
  if (const size_t scheme = local.find("://"); scheme != std::string::npos) {
    throw JobError(path + ": no library for paths of the kind " + path.substr(0, scheme) + "://");
  }
  const std::filesystem::path base = Environment(kEnvWorkingDirectory, std::filesystem::current_path().string());
  return (base / local).lexically_normal().string();
}

FileDescriptor OpenForReading(const std::string& path) {
  FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) Throw("read", path, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) Throw("read", path, errno);
  if (S_ISDIR(info.st_mode)) Throw("read", path, EISDIR);
  return file;
}

FileDescriptor CreateFile(const std::string& path, uint32_t mode) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file.valid()) Throw("create", path, errno);
  return file;
}

uint64_t FileSize(int file, const std::string& path) {
  struct stat info {};
  if (::fstat(file, &info) != 0) Throw("read", path, errno);
  return static_cast<uint64_t>(info.st_size);
}

size_t ReadAt(int file, const std::string& path, uint64_t offset, char* out, size_t n) {
  size_t done = 0;
  while (done < n) {
    const ssize_t got = ::pread(file, out + done, n - done, static_cast<off_t>(offset + done));
    if (got < 0) {
      if (errno == EINTR) continue;
      Throw("read", path, errno);
    }
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

void WriteAll(int file, const std::string& path, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0) {
      if (errno == EINTR) continue;
      Throw("write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(put));
  }
}

void WriteAll(int file, const std::string& path, std::vector<iovec>& pieces) {
  size_t first = 0;
  while (first < pieces.size()) {
    const int count = static_cast<int>(std::min<size_t>(pieces.size() - first, IOV_MAX));
    const ssize_t put = ::writev(file, pieces.data() + first, count);
    if (put < 0) {
      if (errno == EINTR) continue;
      Throw("write", path, errno);
    }
    size_t left = static_cast<size_t>(put);
    while (first < pieces.size() && left >= pieces[first].iov_len) left -= pieces[first++].iov_len;
    if (first < pieces.size()) {
      pieces[first].iov_base = static_cast<char*>(pieces[first].iov_base) + left;
      pieces[first].iov_len -= left;
    }
  }
  pieces.clear();
}

void MakeDirectories(const std::string& path, uint32_t mode) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) Throw("create directory", path, error.value());
  if (mode != 0755) ::chmod(path.c_str(), mode);
}

void RenameFile(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) Throw("rename", from + " to " + to, errno);
}

void RemoveAll(const std::string& path) noexcept {
  std::error_code error;
  // A file whose creation was under way comes into a directory that has just been emptied: each such file costs one
  // more try.
  for (int tries = 0; tries < 64; ++tries) {
    std::filesystem::remove_all(path, error);
    if (error != std::errc::directory_not_empty) return;
  }
}

}  // namespace fairlead::engine
